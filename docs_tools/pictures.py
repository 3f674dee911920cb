"""Draw the pictures of the documentation that are not diagrams or figures of the gallery: ``make figures``.

python docs_tools/pictures.py            # docs/images/{answer,environments,summary}.png
python docs_tools/pictures.py --report   # and report.png, a page in Chromium
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "agg")

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

import untuned
from untuned import figures

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SCORES = ROOT / "examples" / "scores.csv"


def moment(name: str) -> np.ndarray:
    """Return a picture of an environment after 25 random actions."""
    identifier = "".join(word.capitalize() for word in name.split("-"))
    environment = gymnasium.make(f"untuned/{identifier}-v0", render_mode="rgb_array")
    environment.reset(seed=4)
    environment.action_space.seed(4)
    for _ in range(25):
        _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
        if terminated or truncated:
            environment.reset()
    frame = np.asarray(environment.render())
    environment.close()
    return frame


def environments(path: Path) -> None:
    """Draw all fifteen environments with their names: chains in two rows of two, the others in rows of four."""
    names = [each.name for each in untuned.environments()]
    chains = [name for name in names if name.startswith("chain")]
    others = [name for name in names if name not in chains]
    figure = plt.figure(figsize=(8, 6.6), layout="constrained")
    rows = figure.add_gridspec(5, 12, height_ratios=(1, 0.16, 0.16, 1, 1))
    places = [rows[0, 3 * column : 3 * column + 3] for column in range(4)]
    places += [rows[3, 4 * column : 4 * column + 4] for column in range(3)]
    places += [rows[4, 3 * column : 3 * column + 3] for column in range(4)]
    shown = list(zip(others, places, strict=True))
    shown += [(name, rows[1 + place // 2, 6 * (place % 2) : 6 * (place % 2) + 6]) for place, name in enumerate(chains)]
    for name, place in shown:
        ax = figure.add_subplot(place)
        ax.imshow(moment(name))
        ax.set_title(name, fontsize=9)
        ax.set_axis_off()
    figure.savefig(path, dpi=160, metadata={"Software": None})
    plt.close(figure)


def report(path: Path) -> None:
    """Take a picture of the beginning of a page that `untuned report` writes."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = Path(folder) / "report.html"
        untuned.report(untuned.evaluate(SCORES), page)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        visit = browser.new_page(viewport={"width": 1200, "height": 1250}, color_scheme="light")
        visit.goto(page.as_uri())
        visit.screenshot(path=path)
        browser.close()


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="also report.png, which needs Chromium and playwright")
    arguments = parser.parse_args()
    subprocess.run([sys.executable, str(ROOT / "examples" / "picture_of_an_answer.py")], check=True)
    environments(IMAGES / "environments.png")
    figures.save(figures.summary(untuned.evaluate(SCORES)), IMAGES / "summary.png")
    if arguments.report:
        report(IMAGES / "report.png")


if __name__ == "__main__":
    main()
