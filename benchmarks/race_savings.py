"""The cost of a race to a goal, compared with equal numbers of trials in all cells, on resampled scores of a study.

    python benchmarks/race_savings.py FOLDER [--json FILE] [--repetitions 5] [--only savings judging]

FOLDER has a study of the paper's experiment. Every cell is resampled with replacement, and a trial costs the mean time
of its cell's trials: seconds are those of one worker. The first board is the whole study, the second that of the
paper's test of bounds.

"savings" are medians over the repetitions. Each rule races to its goal. For equal numbers this searches, to a tenth,
the smallest number of trials per cell at which a method decides every pair of the goal, which is unknown beforehand in
practice. Methods that need many trials are repeated less often. The game's weights are judged with a small branching
budget.

"judging" is the time that a race of half an hour on two workers spends on judging and planning.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import recording
from untuned.collect.session import Session
from untuned.judge.judging import GAME, UNIFORM, Judging
from untuned.judge.methods import ANYTIME
from untuned.lab import CollectedPopulation
from untuned.lab.races import Course, Simulation, simulated
from untuned.races.goals import Goal, Known
from untuned.races.racing import Budget, Racing
from untuned.races.rules import RULES, rule_of
from untuned.reproduction.experiment import TESTED, TESTED_ON
from untuned.scores import Floats, Ints, ScoreTable

PARTS = ("savings", "judging")
DELTA = 0.05
#: The branching budget for a pair, under the game's weights.
REFINE = 20
#: The largest number of trials per cell; in a race, the mean over cells.
MOST = 100_000
#: Numbers are searched to this factor.
EXACT = 1.1
GOALS: Mapping[str, tuple[str, ...]] = {
    "11x15": ("best", "top:3", "q-parl2>ac-parl2", "all within 0.05"),
    "4x9": ("best", "top:2", "q-parl2>ac-parl2", "all within 0.05"),
}
WEIGHTS = {"11x15": (UNIFORM,), "4x9": (UNIFORM, GAME)}
#: The methods for equal numbers, with their largest number of repetitions.
METHODS = {UNIFORM: {"pooled": 5, "pairing": 3, "betting": 3, "pbp": 1}, GAME: {"pairing": 3, "betting": 3, "pbp": 1}}
#: As published, two algorithms differ if the intervals on their scores are disjoint. All other methods are used as in
#: the program, with bounds on differences, some of which are the same for all methods.
BY_SCORES = ("pbp",)
#: Half an hour on two workers.
LASTING, WORKERS = 1_800.0, 2


@dataclass(frozen=True)
class Board:
    """The scores to resample, and the cost of a trial of every cell."""

    name: str
    population: CollectedPopulation
    cost_ae: Floats


def boards(folder: Path) -> tuple[Board, ...]:
    """Return both boards of a study."""
    with Session.at(folder) as session:
        table = session.scores()
        found = []
        for name, part in (("11x15", table), ("4x9", table.select(TESTED, TESTED_ON))):
            cost_ae = np.array(
                [
                    [session.store.mean_seconds(a, e, int(part.trials.max())) for e in part.environments]
                    for a in part.algorithms
                ]
            )
            found.append(Board(name, CollectedPopulation(part), cost_ae))
    return tuple(found)


def savings(board: Board, repetitions: int) -> Iterator[dict[str, Any]]:
    """Compare races with equal numbers."""
    for weights in WEIGHTS[board.name]:
        judging = Judging(delta=DELTA, weights=weights, refine=REFINE, intervals=ANYTIME)
        for goal in GOALS[board.name]:
            ways: dict[str, tuple[int, Callable[[int], tuple[float, float]]]] = {
                f"race {rule}": (repetitions, _by_race(board, goal, judging, rule)) for rule in RULES
            }
            for method, most in METHODS[weights].items():
                ways[f"equal {method}"] = (min(most, repetitions), _by_numbers(board, goal, judging, method))
            for way, (count, spent) in ways.items():
                begin = time.perf_counter()
                found = np.array([spent(seed) for seed in range(count)])
                middle = np.median(found, axis=0)
                yield {
                    "part": "savings",
                    "board": board.name,
                    "weights": weights,
                    "goal": goal,
                    "way": way,
                    "repetitions": count,
                    "reached": int(np.isfinite(found[:, 0]).sum()),
                    "trials": float(middle[0]) if np.isfinite(middle[0]) else None,
                    "seconds": float(middle[1]) if np.isfinite(middle[1]) else None,
                    "took": time.perf_counter() - begin,
                }


def _by_race(board: Board, goal: str, judging: Judging, rule: str) -> Callable[[int], tuple[float, float]]:
    course = Course((goal,), rule, judging, Budget(trials=MOST * board.cost_ae.size))

    def spent(seed: int) -> tuple[float, float]:
        found = simulated(board.population, course, board.cost_ae, seed, evaluated=False)
        return (found.trials, found.seconds) if found.ending in ("reached", "within") else (math.inf, math.inf)

    return spent


def _by_numbers(board: Board, goal: str, judging: Judging, method: str) -> Callable[[int], tuple[float, float]]:
    aim, options = Goal.parse(goal), replace(judging, intervals=method)

    def spent(seed: int) -> tuple[float, float]:
        source = Simulation(board.population, board.cost_ae, seed)

        def reached(trials: int) -> bool:
            return is_reached(aim, options, first(source, trials))

        low, high = 2, 4
        while not reached(high):
            if high == MOST:
                return math.inf, math.inf
            low, high = high, min(2 * high, MOST)
        while high > EXACT * low and high - low > 1:
            middle = round(math.sqrt(low * high))
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high * float(board.cost_ae.size), high * float(board.cost_ae.sum())

    return spent


def first(source: Simulation, trials: int) -> ScoreTable:
    """Return the first trials of every cell, without the log of a race."""
    source.collect(np.full(source.scores().trials.shape, trials), lambda: False)
    table = source.scores()
    cells = tuple(tuple(cell[:trials] for cell in row) for row in table.cells)
    return replace(table, cells=cells, unbroken_ae=None, rounds=None, declared=None)


def is_reached(goal: Goal, judging: Judging, table: ScoreTable) -> bool:
    """Return whether an evaluation settles every pair of a goal."""
    (ranking,) = judging.judge(table, workers=1).rankings
    same = (table.kinds[:, :, None] == table.kinds[:, None, :]).all(axis=0)
    high_ab, better_ab = ranking.pairs.high_ab, ranking.pairs.better_ab
    if judging.method.name in BY_SCORES:
        high_ab = ranking.high_a[:, None] - ranking.low_a[None, :]
        better_ab = high_ab.T < 0.0
    known = Known(ranking.score_a, high_ab, better_ab, same)
    return not goal.open(known, table.algorithms)


class Timed(Simulation):
    """A simulation that measures the time of drawing."""

    drawing = 0.0

    def scores(self) -> ScoreTable:
        """Return all scores."""
        begin = time.process_time()
        try:
            return super().scores()
        finally:
            self.drawing += time.process_time() - begin

    def collect(self, numbers_ae: Ints, stop: Callable[[], bool]) -> bool:
        """Run trials."""
        begin = time.process_time()
        try:
            return super().collect(numbers_ae, stop)
        finally:
            self.drawing += time.process_time() - begin


def judging_time(board: Board) -> Iterator[dict[str, Any]]:
    """Measure the CPU time of judging, as a fraction of that of collecting."""
    for rule in RULES:
        # The first race compiles.
        for lasting in (10.0, LASTING):
            source = Timed(board.population, board.cost_ae, 0, WORKERS)
            judging = Judging(delta=DELTA, weights=UNIFORM, intervals=ANYTIME)
            racing = Racing(source, Goal.parse("all"), judging, rule_of(rule), Budget(seconds=lasting))
            begin = time.process_time()
            racing.run()
            spent = time.process_time() - begin - source.drawing
        yield {
            "part": "judging",
            "board": board.name,
            "rule": rule,
            "rounds": len(racing.looks),
            "trials": racing.looks[-1].trials,
            "collecting": source.seconds,
            "judging": spent,
            "share": spent / source.seconds,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    recording.add_door(parser)
    options = parser.parse_args()
    whole, small = boards(options.folder)

    def rows() -> Iterator[dict[str, Any]]:
        if "judging" in options.only:
            yield from judging_time(whole)
        if "savings" in options.only:
            for board in (small, whole):
                yield from savings(board, options.repetitions)

    recording.show(rows(), options, "race_savings", recording.plain)


if __name__ == "__main__":
    main()
