"""Draws the pictures of docs/figures.md by running the code of the page: ``make figures``."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "figures.md"
PICTURES = PAGE.parent / "images" / "figures"


def code(text: str) -> list[tuple[str | None, str]]:
    """Return the Python blocks of a page: the name of the block's file, or None, and its text."""
    found = re.findall(r'^```python(?: title="([^"]+)")?\n(.*?)^```', text, flags=re.M | re.S)
    return [(file or None, block) for file, block in found]


def main() -> None:
    """Run every block in one folder, and keep the pictures that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    wanted = re.findall(r"\]\(images/figures/([^)]+)\)", text)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for file, block in code(text):
            if file is not None:
                (Path(place) / file).write_text(block, encoding="utf-8")
            else:
                subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=place, check=True)
        for name in wanted:
            shutil.copyfile(Path(place) / name, PICTURES / name)
    for old in PICTURES.iterdir():
        if old.name not in wanted:
            old.unlink()
    print(f"{len(wanted)} pictures in {PICTURES.relative_to(PAGE.parents[1])}")


if __name__ == "__main__":
    main()
