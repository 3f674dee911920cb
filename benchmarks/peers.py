"""Speed compared with other tools, measured in one run: rliable and OpenSpiel.

    python benchmarks/peers.py [--json FILE] [--resamples 50000] [--peer-resamples 1000] [--python PYTHON]

What is timed: the interval of the interquartile mean and that of the probability of improvement, from rliable's usual
number of resamples on boards of the sizes of its examples; and the equilibrium of the game on a synthetic board of the
paper's size against alpha-rank, which finds the stationary distribution of a chain over the same 11 x 165 profiles.
rliable takes fewer resamples, and its time is extrapolated. The scores are generated. Ours runs on two threads, as it
would; the peers have the same two processors.

rliable 1.2.0 needs a version of arch that does not work with pandas 3, so the peers have a separate environment,
build/peers, which is created if missing (``--python`` names another). `peer_programs.py` runs in it.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recording
from untuned.judge.bootstrap import layout_of
from untuned.judge.game import equilibrium
from untuned.judge.pool import pools
from untuned.judge.streams import streams
from untuned.judge.summaries.resampling import drawn, first_places, layout_values
from untuned.judge.summaries.summarizing import summarized
from untuned.scores import Floats, Ints, ScoreTable

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "build" / "peers"
#: Alpha-rank's module needs networkx and matplotlib, without declaring it.
OPEN_SPIEL = ("open_spiel", "networkx", "matplotlib")
PROGRAM = Path(__file__).with_name("peer_programs.py")
THREADS = 2
#: Runs and environments of generated boards: few runs on 26 games, more on 55.
BOARDS = ((10, 26), (5, 55))
ALGORITHMS, ENVIRONMENTS = 11, 15


def peer_python() -> Path:
    """Return the interpreter of the peers' environment, after installing OpenSpiel if necessary."""
    subprocess.run(["make", "--silent", "peers"], check=True, cwd=ROOT)
    python = HOME / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *OPEN_SPIEL], check=True)
    return python


def ask(python: Path, what: str, **arrays: Any) -> dict[str, Any]:
    """Return the answer of a peer's program: numbers, and their seconds."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.json"
        np.savez(given, **arrays)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(THREADS), "OMP_NUM_THREADS": str(THREADS)}
        subprocess.run([str(python), str(PROGRAM), what, str(given), str(answer)], check=True, env=environment)
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return found


def board(algorithms: int, environments: int, runs: int, seed: int = 0) -> Floats:
    """Return generated normalised scores, [algorithm, run, environment]: most small, some many times larger."""
    rng = np.random.default_rng(seed)
    level = rng.normal(-1.0, 1.2, size=(1, 1, environments)) + 0.15 * np.arange(algorithms)[:, None, None]
    noise = rng.normal(0.0, 0.35, size=(algorithms, runs, environments))
    return np.round(np.exp(level + noise) - 0.05, 4)


def table_of(scores_are: Floats) -> ScoreTable:
    """Return scores [algorithm, run, environment] as a table whose names are in order."""
    a, _, m = scores_are.shape
    names = [f"a{number:03}" for number in range(a)], [f"e{number:03}" for number in range(m)]
    return ScoreTable.from_array(scores_are.transpose(0, 2, 1), *names)


def drawn_runs(table: ScoreTable, resamples: int, seed: int) -> Ints:
    """Return which runs our resamples are made of, [resample, algorithm, run, environment]; no order among runs."""
    layout = layout_of(pools(table))
    values = layout_values(layout, table)
    places = first_places(layout)
    counts = np.empty((resamples, int(layout.distinct.sum())), dtype=np.int32)
    drawn(layout, streams(seed, resamples), counts)
    n, m = len(table.algorithms), len(table.environments)
    runs = table.cells[0][0].size
    found = np.empty((resamples, n, runs, m), dtype=np.int64)
    for a in range(n):
        for e in range(m):
            s = e * n + a
            # The run of each distinct score: of equal scores any will do.
            of = np.array([int(np.argmax(table.cells[a][e] == value)) for value in values[s]])
            for b in range(resamples):
                found[b, a, :, e] = np.repeat(of, counts[b, places[s] : places[s] + of.size])
    return found


def timed(work: Callable[[], Any], rounds: int = 3) -> float:
    """Return the seconds of the fastest of some rounds; the first, which may compile, is not counted."""
    work()
    best = np.inf
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return float(best)


def against_rliable(python: Path, resamples: int, few: int) -> Iterator[dict[str, Any]]:
    for runs, environments in BOARDS:
        scores = board(2, environments, runs)
        table = table_of(scores)
        for statistic, peer in (("iqm", few * 10), ("poi", few)):
            part = table.select(table.algorithms[:1]) if statistic == "iqm" else table
            ours = timed(lambda t=part, s=statistic: summarized(t, s, resamples=resamples, workers=THREADS))  # type: ignore[misc]
            theirs = ask(python, statistic, scores=scores, resamples=peer)["seconds"] * resamples / peer
            yield {
                "peer": "rliable",
                "what": statistic,
                "runs": runs,
                "environments": environments,
                "resamples": resamples,
                "peer_resamples": peer,
                "seconds": ours,
                "peer_seconds": theirs,
                "faster": theirs / ours,
            }


def against_alpharank(python: Path) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(ALGORITHMS, ENVIRONMENTS))
    z_aer = 1.0 / (1.0 + np.exp(-1.5 * (skill[:, :, None] - skill.T[None, :, :])))
    ours = timed(lambda: equilibrium(z_aer), 10)
    theirs = ask(python, "alpharank", payoffs=z_aer.reshape(ALGORITHMS, -1))["seconds"]
    return {
        "peer": "OpenSpiel's alpha-rank",
        "what": "equilibrium",
        "states": ALGORITHMS * ALGORITHMS * ENVIRONMENTS,
        "seconds": ours,
        "peer_seconds": theirs,
        "faster": theirs / ours,
    }


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    python = options.python or peer_python()
    yield from against_rliable(python, options.resamples, options.peer_resamples)
    yield against_alpharank(python)


def line(row: dict[str, Any]) -> str:
    size = f"{row['runs']} x {row['environments']}" if "runs" in row else f"{row['states']:,} states"
    return (
        f"{row['what']:<12} {size:<13} {1e3 * row['seconds']:10.2f} ms, {row['peer']} {row['peer_seconds']:8.1f} s: "
        f"{row['faster']:,.0f} times as fast"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--resamples", type=int, default=50_000)
    parser.add_argument("--peer-resamples", type=int, default=1_000, help="of the probability of improvement")
    parser.add_argument("--python", type=Path, help="of an environment with both peers")
    options = parser.parse_args()
    recording.show(measured(options), options, "peers", line)


if __name__ == "__main__":
    main()
