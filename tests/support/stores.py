"""A small store, and what it says."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np

from untuned.collect.definitions.draw import Drawn
from untuned.collect.session import Session
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial

ALGORITHMS = ("zeta", "alpha")
ENVIRONMENTS = ("hill", "cave", "lake")
FACTS: dict[str, Any] = {
    "name": "small",
    "seed": 5,
    "failures": "worst",
    "algorithms": list(ALGORITHMS),
    "environments": [{"name": name, "score_range": [-10.0, 10.0]} for name in ENVIRONMENTS],
}


def made(folder: Path, trials: int = 12) -> Path:
    """Make a store with some trials of every cell, returns and a trial that failed included."""
    stream = random.Random(1)
    cells = itertools.product(range(trials), ALGORITHMS, ENVIRONMENTS)
    with Store.create(folder, FACTS) as store:
        store.add(
            Trial(
                seed=5,
                algorithm=algorithm,
                environment=environment,
                trial=number,
                score=stream.uniform(-10, 10),
                final_return=stream.uniform(-10, 10),
                steps=stream.randrange(10**6),
                seconds=stream.random(),
                draws=(Drawn("order", stream.randrange(9), -2.5, "U{0..8}"), Drawn("kind", "a", -1.0, "{a, b}")),
                dynamics={"slip": stream.random()},
                definition_version="1",
                fingerprint="kernels",
                returns=np.arange(5.0) * number,
                final_returns=np.arange(3.0),
            )
            for number, algorithm, environment in cells
        )
        failed = store.trial("alpha", "cave", 2)
        store.add([Trial(**(vars(failed) | {"trial": trials, "score": float("nan"), "failure": "no memory"}))])
    return folder


def outcome(folder: Path) -> tuple[object, ...]:
    """Return everything that a verdict rests on."""
    with Session.at(folder) as session:
        table = session.scores()
        status = session.status()
    cells = [cell.tobytes() for row in table.cells for cell in row]
    flags = [None if each is None else each.tolist() for each in (table.unbroken_ae, table.failed_ae, table.kinds)]
    return table.algorithms, table.environments, table.ranges, str(table.provenance), cells, flags, status


def labelled(folder: Path) -> dict[str, str]:
    """Return every trial of a store as text, by its label."""
    with Store.open(folder) as store:
        return {each.label: repr(each.as_dict()) for each in store.trials()}
