"""Random play in all fifteen environments: how it scores, how fast it runs, and what it looks like.

    python examples/fifteen_environments.py [--trials 20] [--out demo]

Every trial draws fresh dynamics and plays as many episodes as the paper gives an algorithm. The pictures, one per
environment in the middle of an episode, go into one file.
"""

import argparse
import time
from pathlib import Path

import gymnasium
import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

import untuned
from untuned.kernels import random_returns, random_state


def scores_of_random_play(name: str, trials: int) -> tuple[list[float], int, float]:
    """The trials' scores (mean return over a trial's episodes), the steps taken and the seconds they took."""
    environment = untuned.environment(name)
    reset, step, state = environment.compiled_reset, environment.compiled_step, environment.new_state()
    returns = np.zeros(environment.budget.episodes or 1)
    scores, steps, seconds = [], 0, 0.0
    # Compiles, the first time on a machine, and plays nothing.
    random_returns(reset, step, state, environment.draw(random_state(0)).vector, random_state(0), 1, np.zeros(0))
    for trial in range(trials):
        random = random_state(1, "random", name, trial)
        dynamics = environment.draw(random)
        start = time.perf_counter()
        steps += random_returns(reset, step, state, dynamics.vector, random, len(environment.actions), returns)
        seconds += time.perf_counter() - start
        scores.append(float(returns.mean()))
    return scores, steps, seconds


def picture_of(name: str) -> Image.Image:
    """A moment of random play, through Gymnasium."""
    identifier = "".join(word.capitalize() for word in name.split("-"))
    environment = gymnasium.make(f"untuned/{identifier}-v0", render_mode="rgb_array")
    environment.reset(seed=4)
    environment.action_space.seed(4)
    for _ in range(25):
        _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
        if terminated or truncated:
            environment.reset()
    frame = environment.render()
    environment.close()
    assert isinstance(frame, np.ndarray)
    return Image.fromarray(frame)


def contact_sheet(pictures: list[Image.Image], columns: int = 5, side: int = 300) -> Image.Image:
    """All pictures in rows, each scaled to fit its square."""
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * side, rows * side), "white")
    for index, picture in enumerate(pictures):
        picture.thumbnail((side - 12, side - 12), Image.Resampling.LANCZOS)
        left = index % columns * side + (side - picture.width) // 2
        top = index // columns * side + (side - picture.height) // 2
        sheet.paste(picture, (left, top))
    return sheet


def main() -> None:
    """Print the table, write the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("demo"))
    arguments = parser.parse_args()

    table = Table(title="Random play", title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("environment", no_wrap=True)
    for heading in ("worst", "median", "best", "steps", "million steps/s"):
        table.add_column(heading, justify="right")
    pictures = []
    for environment in untuned.environments():
        scores, steps, seconds = scores_of_random_play(environment.name, arguments.trials)
        numbers = (f"{score:,.1f}" for score in (min(scores), float(np.median(scores)), max(scores)))
        table.add_row(environment.name, *numbers, f"{steps:,}", f"{steps / seconds / 1e6:.1f}")
        pictures.append(picture_of(environment.name))
    Console().print(table)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "environments.png"
    contact_sheet(pictures).save(path)
    print(f"\npictures of all fifteen: {path}")


if __name__ == "__main__":
    main()
