"""Several seeds of one setting of hyperparameters are one draw: the lowest seed counts."""

import itertools
import random
from pathlib import Path

import pytest

import untuned
from untuned.adapters.sources import read

HEAD = "algo,environment,seed,hp.lr,hp.gamma,performance"
#: Seeds are compared as numbers: 9 is below 10.
ROWS = [
    f"{algorithm},pong,{seed},{rate},0.9,{100 * number + 10 * index + seed}"
    for number, algorithm in enumerate(("dqn", "ppo"))
    for index, rate in enumerate((0.1, 0.2, 0.3))
    for seed in (10, 9)
]


def written(folder: Path, rows: list[str], head: str = HEAD) -> Path:
    path = folder / "runs.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("columns", ["hp.*", "hp.lr,hp.gamma", "hp.lr"])
def test_the_lowest_seed_of_every_configuration_counts(columns: str, tmp_path: Path) -> None:
    rows = list(ROWS)
    random.Random(1).shuffle(rows)
    found = read(written(tmp_path, rows), configuration=columns)
    assert sorted(found.table.cell("dqn", "pong")) == [9.0, 19.0, 29.0]
    assert sorted(found.table.cell("ppo", "pong")) == [109.0, 119.0, 129.0]
    assert "one run per configuration" in found.summary


def test_without_it_repeated_seeds_are_refused_and_it_is_offered(tmp_path: Path) -> None:
    with pytest.raises(untuned.InvalidInput, match="--configuration"):
        untuned.read_scores(written(tmp_path, ROWS))


def test_curves_of_the_lowest_seed_are_reduced(tmp_path: Path) -> None:
    rows = [f"{row},{step}" for row, step in itertools.product(ROWS, (1, 2, 3))]
    path = written(tmp_path, rows, f"{HEAD},step")
    table = untuned.read_scores(path, configuration="hp.*", reduce="final")
    assert sorted(table.cell("dqn", "pong")) == [9.0, 19.0, 29.0]


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(untuned.InvalidInput, match="no column 'lr', which --configuration names"):
        untuned.read_scores(written(tmp_path, ROWS), configuration="lr")
