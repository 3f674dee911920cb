"""The histories of a study's trials, from its folder."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from untuned.collect.session import Session
from untuned.collect.trial import Trial
from untuned.histories import Histories, History

#: Number of trials of a cell to read: enough for a figure, in seconds for the paper's 165 cells.
MOST = 500


def read_histories(folder: str | Path, *, most: int = MOST) -> Histories:
    """Return the histories of the first trials of every cell of a study.

    Parameters
    ----------
    folder
        The study's folder, its TOML file or its ``results.sqlite``.
    most
        Number of trials of a cell to read: the first ones by number, 500 by default.

    Raises
    ------
    InvalidInput
        If there is no study.
    """
    with Session.at(folder) as session:
        store = session.store
        # Figures show failures, too: "error" is for judging.
        table = session.scores(nonfinite="worst")
        facts = _facts(store.facts, table.algorithms, sum(store.failures().values()))
        cells: dict[tuple[str, str], History] = {}
        for a, algorithm in enumerate(table.algorithms):
            for e, environment in enumerate(table.environments):
                trials = list(itertools.islice(store.trials([algorithm], [environment]), most))
                if trials:
                    cells[algorithm, environment] = _history(trials, table.cells[a][e][: len(trials)])
    return Histories(cells, most, facts)


def _facts(study: Mapping[str, Any], algorithms: Sequence[str], failed: int) -> dict[str, str]:
    chosen = {
        "study's seed": study.get("seed"),
        "metric": study.get("metric"),
        "precision": study.get("precision"),
        "collected with untuned": study.get("untuned"),
        "trials that failed": f"{failed:,}, counted as the worst" if failed else "none",
        "definitions": ", ".join(
            f"{each['name']} {each.get('version', '')}".strip()
            for each in study.get("algorithms", ())
            if isinstance(each, Mapping) and each.get("name") in algorithms
        ),
    }
    return {name: str(value) for name, value in chosen.items() if value not in (None, "")}


def _history(trials: list[Trial], scores: np.ndarray[Any, np.dtype[np.float64]]) -> History:
    distributions = {drawn.name: drawn.distribution_text for trial in trials for drawn in trial.draws}
    values: dict[str, list[Any]] = {name: [None] * len(trials) for name in distributions}
    for number, trial in enumerate(trials):
        for drawn in trial.draws:
            values[drawn.name][number] = drawn.value
    kept = all(trial.returns is not None or trial.failure is not None for trial in trials)
    returns = tuple(np.empty(0) if trial.returns is None else trial.returns for trial in trials)
    return History(
        scores,
        {name: tuple(each) for name, each in values.items()},
        distributions,
        returns if kept and any(each.size for each in returns) else (),
    )
