"""Files that look like more evidence than they are: they are refused, or read for what they are, never silently."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import untuned
from support.calling import Call, caller
from untuned.collect.session import Session
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput

ALGORITHMS = ("sarsa", "q", "ppo")
ENVIRONMENTS = ("maze", "arm")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(InvalidInput) as error:
        untuned.evaluate(source, **options)
    return str(error.value)


# --- points of learning curves are not trials


@pytest.fixture
def curves(tmp_path: Path) -> Path:
    """10 seeds x 100 steps of three algorithms on two environments."""
    rng = np.random.default_rng(11)
    rows = [
        (a, e, seed, step, level + rng.normal(0, 0.1) + shift * step / 10_000)
        for a, shift in zip(ALGORITHMS, (1.0, 0.9, 1.4), strict=True)
        for e in ENVIRONMENTS
        for seed in range(10)
        for level in [rng.normal()]
        for step in range(0, 10_000, 100)
    ]
    path = tmp_path / "curves.csv"
    headings = ["algorithm", "environment", "seed", "step", "return"]
    polars.DataFrame(rows, schema=headings, orient="row").write_csv(path)
    return path


@pytest.mark.parametrize("options", [{}, {"columns": "algorithm,environment,return"}, {"score": "return"}])
def test_curves_are_refused_without_a_reduction(curves: Path, options: dict[str, str]) -> None:
    said = refusal(curves, **options)
    assert "about 100 points per run, and a run is one trial, not 100" in said
    assert "--reduce HOW" in said
    assert "learning curves" in refusal(polars.read_csv(curves), **options)


def test_curves_are_refused_on_the_command_line(curves: Path, call: Call) -> None:
    for options in ((), ("--columns", "algorithm,environment,return")):
        said = call("evaluate", curves, *options)
        assert (said.code, said.out) == (2, "")
        assert "--reduce HOW" in said.err


def test_a_reduced_curve_is_one_run(curves: Path, call: Call) -> None:
    table = untuned.read_scores(curves, reduce="mean")
    assert table.trials.tolist() == [[10, 10]] * 3
    said = call("evaluate", curves, "--reduce", "mean", "--json", "--weights", "uniform")
    assert said.code == 0, said.err
    assert said.err.startswith("3 algorithms x 2 environments x 10 runs from curves.csv")


def test_curves_without_a_column_of_runs_are_not_a_thousand_runs(curves: Path, tmp_path: Path) -> None:
    path = tmp_path / "anonymous.csv"
    polars.read_csv(curves).drop("seed").write_csv(path)
    for options in ({}, {"reduce": "mean"}):
        assert "no column says which run" in refusal(path, **options)


def test_points_without_a_column_of_steps_are_no_runs(curves: Path, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    polars.read_csv(curves).drop("step").write_csv(path)
    assert "row 1 of points.csv and row 2 of points.csv are both run '0' (column 'seed')" in refusal(path)
    assert untuned.read_scores(path, reduce="mean").trials.tolist() == [[10, 10]] * 3


# --- rows that were pasted twice


def runs(trials: int = 20) -> polars.DataFrame:
    rng = np.random.default_rng(12)
    rows = [
        (a, e, seed, float(rng.normal(shift)))
        for a, shift in zip(ALGORITHMS, (0.0, 0.5, 1.0), strict=True)
        for e in ENVIRONMENTS
        for seed in range(trials)
    ]
    return polars.DataFrame(rows, schema=["algorithm", "environment", "seed", "score"], orient="row")


def test_pasted_rows_with_seeds_are_refused(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "pasted.csv"
    polars.concat([runs(), runs()]).write_csv(path)
    said = call("evaluate", path)
    assert (said.code, said.out) == (2, "")
    assert "row 1 of pasted.csv and row 121 of pasted.csv are both run '0' (column 'seed')" in said.err
    assert "remove the copies" in said.err
    # The finding is about scores; that a run is there twice is certain.
    assert call("evaluate", path, "--accept", "repeated-runs").code == 2


@pytest.mark.parametrize("order", ["whole", "rows"])
def test_pasted_rows_without_seeds_are_refused_and_can_be_accepted(order: str, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "pasted.csv"
    rows = runs().drop("seed")
    (polars.concat([rows, rows]) if order == "whole" else rows[np.repeat(np.arange(rows.height), 2)]).write_csv(path)
    said = call("evaluate", path)
    assert (said.code, said.out) == (2, "")
    assert "--accept repeated-runs" in said.err
    assert "twice" in said.err
    # Copies next to each other depend on each other, too.
    codes = "repeated-runs" if order == "whole" else "repeated-runs,curve-as-runs"
    accepted = call("evaluate", path, "--accept", codes, "--json", "--weights", "uniform")
    assert accepted.code == 0, accepted.err
    finding = next(each for each in accepted.json["findings"] if each["code"] == "repeated-runs")
    assert finding["severity"] == "serious"
    assert any(finding["found"] in warning for warning in accepted.json["warnings"])
    text = call("evaluate", path, "--accept", codes, "--weights", "uniform").words
    assert " ".join(finding["found"].split()) in text


def test_rows_that_were_not_pasted_are_judged(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "scores.csv"
    runs().drop("seed").write_csv(path)
    facts = call("evaluate", path, "--json", "--weights", "uniform").json
    assert not [each for each in facts["findings"] if each["severity"] == "serious"]


# --- arrays whose axes could be several things


def test_stacked_arrays_of_rliable_are_not_read_in_the_wrong_order() -> None:
    """3 algorithms x 10 runs x 6 tasks are not 10 environments with 6 trials each."""
    rng = np.random.default_rng(13)
    for spread in (0.0, 1.0, 10.0):
        tasks = spread * np.arange(6)
        scores = {name: rng.normal(shift, 1.0, (10, 6)) + tasks for name, shift in zip("abc", range(3), strict=True)}
        array = np.stack(list(scores.values()))
        for given in (array, array.tolist()):
            assert "axes" in refusal(given)
        table = untuned.read_scores(array, axes="algorithm,run,environment")
        assert table.trials.tolist() == [[10] * 6] * 3
        assert table.cells[1][2].tolist() == scores["b"][:, 2].tolist()
        assert untuned.read_scores(scores).trials.tolist() == [[10] * 6] * 3


# --- algorithms that crashed


SENTENCE = "ppo failed in all of its 40 trials: each counts as the worst score of its environment."


def exported(folder: Path) -> Path:
    """Return what ``untuned export`` writes of a study one of whose algorithms crashed in all of its trials."""
    facts = {
        "name": "small",
        "seed": 1,
        "failures": "worst",
        "algorithms": list(ALGORITHMS),
        "environments": [{"name": name, "score_range": [-9.0, 9.0]} for name in ENVIRONMENTS],
    }
    nan = float("nan")
    with Store.create(folder / "study", facts) as store:
        store.add(
            Trial(
                seed=1,
                algorithm=a,
                environment=e,
                trial=trial,
                score=nan if a == "ppo" else score,
                final_return=nan if a == "ppo" else score,
                failure="RuntimeError: no such layer" if a == "ppo" else None,
            )
            for a, e, trial, score in runs().iter_rows()
        )
    untuned.export(folder / "study", folder / "exported.csv")
    return folder / "exported.csv"


def missing(folder: Path) -> Path:
    """Return a table in which the scores of a crashed algorithm are NaN."""
    path = folder / "missing.csv"
    crashed = polars.col("algorithm") == "ppo"
    runs().with_columns(score=polars.when(crashed).then(float("nan")).otherwise("score")).write_csv(path)
    return path


CRASHED = pytest.mark.parametrize(
    ("source", "options"),
    [(exported, ()), (exported, ("--range=-9:9",)), (missing, ("--range=-9:9", "--nonfinite", "worst"))],
    ids=["exported", "exported with ranges", "missing"],
)


@CRASHED
def test_who_crashed_is_said_first_in_text(source: Any, options: tuple[str, ...], tmp_path: Path, call: Call) -> None:
    said = call("evaluate", source(tmp_path), *options)
    assert said.code == 0, said.err
    assert said.out.splitlines()[:2] == [
        "3 algorithms on 2 environments, 20 trials per cell; delta = 0.05",
        SENTENCE,
    ]


@CRASHED
def test_who_crashed_is_said_first_in_json(source: Any, options: tuple[str, ...], tmp_path: Path, call: Call) -> None:
    said = call("evaluate", source(tmp_path), *options, "--json")
    assert next(iter(json.loads(said.out).items())) == (
        "failures",
        [{"algorithm": "ppo", "failed": 40, "trials": 40, "environments": list(ENVIRONMENTS)}],
    )


@CRASHED
def test_who_crashed_is_on_the_page_before_the_ranking(
    source: Any, options: tuple[str, ...], tmp_path: Path, call: Call
) -> None:
    page = tmp_path / "report.html"
    said = call("report", source(tmp_path), *options, "--out", page)
    assert said.code == 0, said.err
    text = page.read_text(encoding="utf-8")
    body = text[text.index("<body") :]
    assert SENTENCE in body
    assert body.index(SENTENCE) < body.index("<table")


def test_who_crashed_is_known_to_a_study_and_to_its_export(tmp_path: Path) -> None:
    path = exported(tmp_path)
    with Session.at(tmp_path / "study") as session:
        known = session.scores()
    table = untuned.read_scores(path)
    assert known.failed_ae is not None
    assert table.failed_ae is not None
    assert table.failed_ae.tolist() == known.failed_ae.tolist() == [[0, 0], [0, 0], [20, 20]]
    for name in ("out.csv", "out.jsonl", "out.parquet"):
        untuned.write_scores(path, tmp_path / name)
        again = untuned.read_scores(tmp_path / name).failed_ae
        assert again is not None
        assert again.tolist() == [[0, 0], [0, 0], [20, 20]]


def test_scores_that_are_missing_are_not_dropped(tmp_path: Path) -> None:
    path = missing(tmp_path)
    assert "the scores of 'ppo' on 'maze' are not all finite" in refusal(path)
    assert "declares no worst score" in refusal(path, nonfinite="worst")
    assert untuned.evaluate(path, without=["ppo"], weights="uniform").failures == []
