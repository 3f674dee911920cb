"""Build the documentation as a site; warnings are errors.

python docs_tools/build_site.py            # into the folder site
python docs_tools/build_site.py FOLDER
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: From this width on the navigation has a column of its own. The theme's 1,220 pixels hide it on many laptops.
BREAKPOINT = {"76.25em": "70em", "76.234375em": "69.984375em"}


def build(folder: Path) -> None:
    """Write the site into a folder.

    Raises
    ------
    subprocess.CalledProcessError
        If the builder warns of anything.
    """
    with tempfile.TemporaryDirectory() as temporary:
        # The builder writes below its project only, a cache as well.
        project = Path(temporary)
        shutil.copytree(ROOT / "docs", project / "docs")
        shutil.copy(ROOT / "mkdocs.yml", project)
        for needed in ("src", "docs_tools"):
            (project / needed).symlink_to(ROOT / needed)
        subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict"],
            cwd=project,
            # The extension for equations is found by its package's name.
            env={**os.environ, "PYTHONPATH": str(project)},
            check=True,
        )
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(project / "site", folder)
    for path in [*folder.rglob("assets/**/*.css"), *folder.rglob("assets/**/*.js")]:
        text = path.read_text(encoding="utf-8")
        for theirs, ours in BREAKPOINT.items():
            text = text.replace(theirs, ours)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "site")
    build(parser.parse_args().folder)
