"""How often a race is wrong about anything, at any look: on populations with known truth, misled on purpose.

    python benchmarks/race_errors.py [--json FILE] [--races 5] [--deltas 0.05 0.2] [--trials 3000]
                                     [--populations tied coins ...]

Every population is raced ``--races`` times by every rule, including those of `untuned.lab.races.ADVERSARIES`, under
every weighting, to random goals. The cost of a trial differs between cells by a factor of ten or more. Half of all
races are stopped within rounds and resumed, and continue with another goal after the first. One race of ten may use
three times as many trials. Every second one is evaluated at its end.

A race is wrong if it has a wrong verdict at any look, a bound that missed a difference, a difference that is called too
small to matter and is not, or any error in the evaluation of all its rounds. The allowed probability of all of these
together is delta.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import recording
from untuned.judge.judging import Judging
from untuned.lab import KnownPopulation, Rate, few_runs, population, populations
from untuned.lab.races import ADVERSARIES, Course, Outcome, simulated
from untuned.races.racing import Budget
from untuned.races.rules import RULES

GOALS = ("best", "all", "top:2", "vs:A", "A>B", "best within 0.05", "all within 0.1")
WEIGHTS = ("uniform", "game", "both", "given")
EVENTS = ("verdicts", "bounds", "within", "evaluation", "anything")
GROUPS = ("all", "population", "rule", "goal", "weights")
#: The branching budget, as in the lab's experiments on intervals.
REFINE = 20
STOPS = 0.005


def courses(
    names: Sequence[str], delta: float, races: int, trials: int
) -> Iterator[tuple[KnownPopulation, dict[str, str], Course, bool]]:
    """Yield every population with its rules and weightings, random goals, and whether all rounds are evaluated."""
    combinations = itertools.product(map(population, names), (*RULES, *ADVERSARIES), WEIGHTS, range(races))
    for number, (chosen, rule, weights, _) in enumerate(combinations):
        n, m = chosen.shape
        rng = np.random.default_rng([round(1000 * delta), number])
        goals = rng.permutation([goal for goal in GOALS if n > 2 or goal != "top:2"]).tolist()
        changed = bool(rng.random() < 0.5)
        course = Course(
            tuple(goals[: 1 + changed]),
            rule,
            Judging(delta=delta, refine=REFINE, weights=given(m) if weights == "given" else weights),
            Budget(trials=3 * trials if rng.random() < 0.1 else trials),
            STOPS if changed else 0.0,
        )
        called = {"population": chosen.name, "rule": rule, "goal": goals[0], "weights": weights, "all": "all"}
        yield chosen, called, course, bool(rng.random() < 0.5)


def given(environments: int) -> list[float]:
    """Return unequal weights, with some of 0 if there are enough environments."""
    return [float(e % 3 + (environments < 4)) for e in range(environments)]


def raced(names: Sequence[str], delta: float, races: int, trials: int) -> Iterator[dict[str, Any]]:
    """Race, and summarise."""
    found: list[tuple[Mapping[str, str], Outcome]] = []
    all_courses = list(courses(names, delta, races, trials))
    for number, (chosen, called, course, evaluated) in enumerate(all_courses):
        seed = (round(1000 * delta) << 32) + number
        cost_ae = np.random.default_rng([seed, 2]).lognormal(0.0, 1.5, chosen.shape)
        found.append((called, simulated(chosen, course, cost_ae, seed, evaluated=evaluated)))
        if number % 100 == 99:
            print(f"delta {delta:g}: {number + 1} of {len(all_courses)} races", file=sys.stderr, flush=True)
    for group in GROUPS:
        for name in dict.fromkeys(names[group] for names, _ in found):
            yield {
                "delta": delta,
                "by": group,
                "name": name,
                **summary([o for names, o in found if names[group] == name]),
            }


def summary(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return counts and rates of errors."""
    count = len(outcomes)
    return {
        "races": count,
        **{event: rate([getattr(each, event) for each in outcomes]) for event in EVENTS},
        "reached": sum(each.ending in ("reached", "within") for each in outcomes),
        "decided": sum(each.decided > 0 for each in outcomes),
        "stopped": sum(each.sessions > 1 for each in outcomes),
        "looks": sum(each.rounds for each in outcomes),
        "trials": float(np.mean([each.trials for each in outcomes])),
    }


def rate(happened: list[bool | None]) -> dict[str, Any]:
    """Return the rate of an event, of the cases in which it was possible."""
    possible = [each for each in happened if each is not None]
    if not possible:
        return {"count": 0, "total": 0, "rate": 0.0, "low": 0.0, "high": 1.0}
    return Rate.of(sum(possible), len(possible)).facts()


def line(row: dict[str, Any]) -> str:
    """Return the line of a group."""
    rates = "  ".join(f"{event} {row[event]['count']}" for event in EVENTS)
    anything = row["anything"]
    broken = "  BROKEN" if anything["low"] > row["delta"] else ""
    return (
        f"{row['delta']:<5g} {row['by']:10} {row['name']:17} {row['races']:5}  {rates}  "
        f"({100 * anything['low']:.1f} to {100 * anything['high']:.1f} %){broken}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=5, help="for each population, rule and weighting")
    parser.add_argument("--deltas", type=float, nargs="+", default=[0.05, 0.2])
    parser.add_argument("--trials", type=int, default=3_000, help="of a race, at most")
    every = [each.name for each in (*populations(), *few_runs())]
    parser.add_argument("--populations", nargs="+", choices=every, default=every, metavar="NAME")
    recording.add_door(parser)
    options = parser.parse_args()
    if min(options.races, options.trials) < 1 or not all(0.0 < delta <= 0.5 for delta in options.deltas):
        parser.error("pass at least one race and one trial, and deltas of at most a half")
    rows = (row for delta in options.deltas for row in raced(options.populations, delta, options.races, options.trials))
    found = recording.show(rows, options, "race_errors", line)
    if any(row[event]["low"] > row["delta"] for row in found for event in EVENTS):
        sys.exit("a rate is above delta")


if __name__ == "__main__":
    main()
