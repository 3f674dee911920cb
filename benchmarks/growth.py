"""How time and memory of the commands on a study grow with trials, algorithms and environments.

    python benchmarks/growth.py [--json FILE] [--most N] [--patience SECONDS] [--only trials boards]

Rows: {"board", "trials", "command", "seconds", "megabytes"}: of the whole program, including its start; "seconds" is
null if it exceeded the time limit, with the last line that it printed as "estimate". Scores are noise of four digits,
which gives ties; on the board "all ties" every score is the same. The trials have two draws and no returns.
``evaluate`` judges by the default methods; ``evaluate --weights uniform`` leaves the game out. Every evaluation is run
once on a small board before, so that nothing is compiled.
"""

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import recording
from untuned.collect.definitions.draw import Drawn
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial

#: Boards: algorithms, environments, trials per cell.
GROWING = (10_000, 100_000, 1_000_000, 10_000_000)
BOARDS = {
    "500 x 3": (500, 3, 20),
    "3 x 2,000": (3, 2000, 5),
    "one algorithm": (1, 15, 1000),
    "one environment": (15, 1, 1000),
    "all ties": (5, 5, 1000),
}
PARTS = ("trials", "boards")
COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status", "STUDY", "--json"),
    "show": ("show", "STUDY", "algorithm-0", "environment-0", "1"),
    "export": ("export", "STUDY", "--out", "OUT.csv"),
    "merge": ("merge", "OUT.merged", "STUDY"),
    "evaluate --weights uniform": ("evaluate", "STUDY", "--weights", "uniform", "--json"),
    "evaluate": ("evaluate", "STUDY", "--json"),
}
METERED = """
import sys; sys.argv[0] = 'untuned'
from recording import peak
from untuned.cli.main import main
try: main()
finally: print('peak', peak(), file=sys.stderr)
"""


def collected(folder: Path, algorithms: int, environments: int, trials: int, ties: bool) -> None:
    """Make a study."""
    names = [f"algorithm-{number}" for number in range(algorithms)]
    places = [f"environment-{number}" for number in range(environments)]
    facts = {
        "name": "growth",
        "seed": 1,
        "failures": "worst",
        "algorithms": names,
        "environments": [{"name": name, "score_range": [0.0, 1.0]} for name in places],
    }
    noise = np.random.default_rng(1)
    with Store.create(folder, facts) as store:
        cells = itertools.product(range(trials), names, places)
        while chunk := list(itertools.islice(cells, 20_000)):
            scores = np.full(len(chunk), 0.5) if ties else noise.random(len(chunk)).round(4)
            store.add(
                Trial(
                    seed=1,
                    algorithm=algorithm,
                    environment=environment,
                    trial=number,
                    score=score,
                    final_return=score,
                    steps=1000,
                    seconds=0.1,
                    draws=(Drawn("rate", score, -1.0, "U(0, 1)"), Drawn("order", 3, -2.0, "U{0..8}")),
                    definition_version="1",
                )
                for (number, algorithm, environment), score in zip(chunk, scores.tolist(), strict=True)
            )


def timed(arguments: Sequence[str], patience: float) -> tuple[float | None, float | None, str]:
    """Return the program's time and memory, None if it was ended; and its output."""
    begin = time.perf_counter()
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(
            [sys.executable, "-c", METERED, *arguments],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return None, None, (error.stderr or b"").decode()
    said, _, peak = done.stderr.decode().strip().rpartition("peak ")
    assert done.returncode in (0, 3), said
    return time.perf_counter() - begin, int(peak) / 1e6, said


def measure(only: Sequence[str], most: int, patience: float) -> Iterator[recording.Row]:
    boards = {f"3 x 3, {size:,} trials": (3, 3, size // 9) for size in GROWING if size <= most and "trials" in only}
    boards |= BOARDS if "boards" in only else {}
    with tempfile.TemporaryDirectory() as parent:
        study = Path(parent) / "study"
        collected(study, 8, 3, 40, ties=False)
        for words in COMMANDS.values():
            if words[0] == "evaluate":
                timed([word.replace("STUDY", str(study)) for word in words], 600.0)
    for board, (algorithms, environments, trials) in boards.items():
        with tempfile.TemporaryDirectory() as parent:
            study = Path(parent) / "study"
            collected(study, algorithms, environments, trials, board == "all ties")
            for command, words in COMMANDS.items():
                if algorithms == 1 and command.startswith("evaluate"):
                    continue
                out = str(Path(parent) / "out")
                seconds, megabytes, said = timed(
                    [word.replace("STUDY", str(study)).replace("OUT", out) for word in words], patience
                )
                yield {
                    "board": board,
                    "trials": algorithms * environments * trials,
                    "command": command,
                    "seconds": None if seconds is None else round(seconds, 2),
                    "megabytes": None if megabytes is None else round(megabytes),
                    "estimate": said.strip().splitlines()[-1] if seconds is None and said.strip() else None,
                }
                shutil.rmtree(f"{out}.merged", ignore_errors=True)


def line(found: recording.Row) -> str:
    """Return a line of the table."""
    time_ = f"{found['seconds']:.2f}" if found["seconds"] is not None else "longer"
    return (
        f"{found['board']:<28}{found['command']:<48}{time_:>9}{found['megabytes'] or '':>7}  {found['estimate'] or ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recording.add_door(parser)
    parser.add_argument("--most", type=int, default=1_000_000, help="trials of the largest board with three algorithms")
    parser.add_argument("--patience", type=float, default=35.0, help="seconds after which a command is ended")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    heading = f"{'board':<28}{'command':<48}{'seconds':>9}{'MB':>7}"
    recording.show(measure(options.only, options.most, options.patience), options, "growth", line, heading)


if __name__ == "__main__":
    main()
