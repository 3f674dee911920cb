"""Familiar summaries against plain definitions, SciPy's bootstrap and rliable's numbers."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import peers
from oracle.reference import summaries as reference
from support.needs import peers as peers_installed
from untuned import summaries
from untuned.judge.jit import INTERPRETED
from untuned.judge.summaries.intervals import INTERVALS, acceleration, ends
from untuned.judge.summaries.statistics import STATISTICS
from untuned.judge.summaries.summarizing import summarized
from untuned.scores import Floats, ScoreTable

GOLDEN = Path(__file__).parents[1] / "golden" / "rliable.json"
FEW = settings(max_examples=8 if INTERPRETED else 40, deadline=None, derandomize=True, database=None)
RESAMPLES = 40 if INTERPRETED else 150
EVERYTHING = (*STATISTICS, "poi", "profile", "mean-profile")


def ragged(seed: int, n: int = 3, m: int = 4, most: int = 7) -> ScoreTable:
    """Return a table with different numbers of runs, and ties."""
    rng = np.random.default_rng(seed)
    cells = {
        f"a{a}": {f"e{e}": np.round(rng.gamma(2.0, 0.4, rng.integers(1, most)), 1) + 0.05 for e in range(m)}
        for a in range(n)
    }
    return ScoreTable.from_dict(cells)


@FEW
@given(seed=st.integers(0, 10**6), m=st.integers(1, 5), equal=st.booleans())
def test_statistics_are_as_they_are_defined(seed: int, m: int, equal: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.full(m, rng.integers(1, 8)) if equal else rng.integers(1, 8, m)
    cells = [np.round(rng.gamma(2.0, 0.5, size), 1) + 0.01 for size in sizes]
    weights = np.full(m, 1.0 / m) if equal else rng.dirichlet(np.ones(m))
    for name, statistic in STATISTICS.items():
        wanted = reference.STATISTICS[name](cells, weights.tolist())
        assert statistic.value(cells, weights) == pytest.approx(wanted, abs=1e-12), name


def test_the_interquartile_mean_of_equal_weights_is_scipys() -> None:
    cells = [np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 100.0])]
    # Six scores: one is left out at either end.
    assert STATISTICS["iqm"].value(cells, np.array([0.5, 0.5])) == pytest.approx((1 + 2 + 3 + 5) / 4)


@pytest.mark.parametrize("seed", range(3))
def test_estimates_of_a_table(seed: int) -> None:
    table = ragged(seed)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    thresholds = [0.3, 0.65, 1.0, 1.45]
    found = summarized(table, EVERYTHING, weight_e=weights, resamples=1, thresholds=thresholds)
    for each in found.summaries:
        wanted = [reference.STATISTICS[each.statistic.name](row, weights.tolist()) for row in table.cells]
        assert each.value_a == pytest.approx(wanted)
    plain = {"profile": reference.share_above, "mean-profile": reference.environments_above}
    for profile in found.profiles:
        shares = [[plain[profile.name](row, weights.tolist(), at) for at in thresholds] for row in table.cells]
        assert profile.share_at == pytest.approx(np.array(shares))
    assert found.improvement is not None
    for a, mine in enumerate(table.cells):
        for b, theirs in enumerate(table.cells):
            wins = 0.5 if a == b else reference.improvement(mine, theirs, weights.tolist())
            assert found.improvement.win_ab[a, b] == pytest.approx(wins)


def renamed(name: str) -> summaries.Statistic:
    """Return a built-in statistic as if it were a user's, so that it goes the slow way."""
    return summaries.Statistic(f"my-{name}", name, STATISTICS[name].value)


@pytest.mark.parametrize("interval", INTERVALS)
def test_kernels_and_plain_python_agree_on_the_same_resamples(interval: Any) -> None:
    table = ragged(1)
    both = [*STATISTICS, *(renamed(name) for name in STATISTICS)]
    found = summarized(table, both, interval=interval, resamples=RESAMPLES, seed=3)
    for name in STATISTICS:
        quick, slow = found.summary(name), found.summary(f"my-{name}")
        assert quick.value_a == pytest.approx(slow.value_a)
        assert quick.low_a == pytest.approx(slow.low_a, nan_ok=True)
        assert quick.high_a == pytest.approx(slow.high_a, nan_ok=True)


def test_profiles_and_wins_of_kernels_are_those_of_the_drawn_runs() -> None:
    scores = peers.board(2, 3, 5, seed=4)
    table = peers.table_of(scores)
    thresholds = [0.2, 0.5, 1.0]
    found = summarized(table, ["profile", "mean-profile", "poi"], resamples=RESAMPLES, seed=5, thresholds=thresholds)
    runs = peers.drawn_runs(table, RESAMPLES, 5)
    drawn = np.take_along_axis(scores[None], runs, axis=2).transpose(0, 1, 3, 2)
    w = [1 / 3] * 3
    plain = {"profile": reference.share_above, "mean-profile": reference.environments_above}
    for profile in found.profiles:
        values = np.array(
            [[[plain[profile.name](list(row), w, at) for at in thresholds] for row in each] for each in drawn]
        )
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        assert profile.low_at == pytest.approx(low)
        assert profile.high_at == pytest.approx(high)
    wins = [reference.improvement(list(each[0]), list(each[1]), w) for each in drawn]
    assert found.improvement is not None
    assert found.improvement.low_ab[0, 1] == pytest.approx(np.quantile(wins, 0.025))
    assert found.improvement.high_ab[1, 0] == pytest.approx(1.0 - np.quantile(wins, 0.025))


def test_resamples_draw_every_run_alike() -> None:
    table = peers.table_of(peers.board(1, 1, 6))
    runs = peers.drawn_runs(table, 4_000, 0)
    times = np.bincount(runs.ravel(), minlength=6)
    # 24,000 draws: within five standard deviations of 4,000.
    assert abs(times - 4_000).max() < 5 * np.sqrt(24_000 * 5 / 36)


@pytest.mark.parametrize("kind", INTERVALS)
@pytest.mark.parametrize("strata", [1, 3])
@pytest.mark.parametrize("name", ["mean", "iqm", "median"])
def test_intervals_are_scipys(kind: Any, strata: int, name: str) -> None:
    rng = np.random.default_rng(7)
    # Of different sizes from five on, so that no statistic is constant; one stratum is SciPy's usual bootstrap.
    cells = [rng.gamma(1.5, 1.0, 5 + 2 * e) for e in range(strata)]
    table = ScoreTable.from_dict({"a": {f"e{e}": cell for e, cell in enumerate(cells)}})
    weights = np.full(strata, 1.0 / strata)
    value = STATISTICS[name].value

    def statistic(given: Sequence[Floats]) -> float:
        return value([np.sort(each) for each in given], weights)

    found = summarized(table, name, interval=kind, resamples=RESAMPLES, seed=2)
    runs = [np.sort(cell) for cell in cells]
    kept: list[float] = []

    def recorded(drawn: Sequence[Floats]) -> float:
        kept.append(statistic(drawn))
        return kept[-1]

    summarized(table, recorded, resamples=RESAMPLES, seed=2)
    # The first is the estimate.
    wanted = reference.interval(runs, statistic, np.array(kept[1:]), kind, 0.05)
    assert (found.summaries[0].low_a[0], found.summaries[0].high_a[0]) == pytest.approx(wanted)


def test_bca_of_the_probability_of_improvement_is_scipys() -> None:
    rng = np.random.default_rng(11)
    x, y = np.sort(rng.normal(0.6, 1.0, 9)), np.sort(rng.normal(0.0, 1.0, 6))
    table = ScoreTable.from_dict({"x": {"e": x}, "y": {"e": y}})
    found = summarized(table, "poi", interval="bca", resamples=RESAMPLES, seed=1)
    assert found.improvement is not None
    drawn = np.random.default_rng(0)
    values = np.array(
        [reference.improvement([drawn.choice(x, 9)], [drawn.choice(y, 6)], [1.0]) for _ in range(RESAMPLES)]
    )
    wanted = reference.interval([x, y], lambda s: reference.improvement(s[:1], s[1:], [1.0]), values, "bca", 0.05)
    # On these resamples, with our acceleration.
    px = np.array([np.mean(y < score) for score in x])
    py = np.array([np.mean(x > score) for score in y])
    accelerated = acceleration([px - px.mean(), py - py.mean()], ())
    estimate = found.improvement.win_ab[0, 1]
    got = ends("bca", values[:, None], np.array([estimate]), 0.05, np.array([accelerated]))
    assert [float(each[0]) for each in got] == pytest.approx(wanted)
    assert found.improvement.low_ab[0, 1] < estimate < found.improvement.high_ab[0, 1]
    # What one wins the other loses, interval and all.
    assert found.improvement.low_ab[1, 0] == pytest.approx(1.0 - found.improvement.high_ab[0, 1], abs=0.02)


# --- rliable


THRESHOLDS = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 2.0])
SEED = 8
COUNT = 30


def example() -> tuple[ScoreTable, Floats]:
    """Return scores of the shape of rliable's example: 26 games, 10 runs."""
    scores = peers.board(3, 26, 10, seed=26)
    return peers.table_of(scores), scores


def asked_of_rliable(python: Path) -> dict[str, Any]:
    table, scores = example()
    runs = peers.drawn_runs(table, COUNT, SEED)
    return {
        "scores": scores.tolist(),
        "numbers": peers.ask(python, "numbers", scores=scores, runs=runs, thresholds=THRESHOLDS),
    }


def test_the_numbers_are_rliables_under_the_same_resamples() -> None:
    """Numbers of rliable 1.2.0 are in tests/golden; UNTUNED_RENEW_GOLDEN=1 asks it again, in build/peers."""
    table, scores = example()
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    # Otherwise the generator has changed, and the numbers are of other scores.
    assert golden["scores"] == scores.tolist()
    wanted = golden["numbers"]
    for kind in ("percentile", "basic"):
        found = summarized(
            table, EVERYTHING, interval=kind, resamples=COUNT, seed=SEED, thresholds=THRESHOLDS.tolist(), workers=2
        )
        n = len(THRESHOLDS)
        for a, (summary, profile) in enumerate(zip(wanted["summaries"], wanted["profiles"], strict=True)):
            for place, name in enumerate(("iqm", "median", "mean", "optimality-gap")):
                each = found.summary(name)
                assert each.value_a[a] == pytest.approx(summary["value"][place])
                assert each.low_a[a] == pytest.approx(summary[kind][place])
                assert each.high_a[a] == pytest.approx(summary[kind][4 + place])
            shares = np.concatenate([each.share_at[a] for each in found.profiles])
            assert shares == pytest.approx(profile["value"])
            assert np.concatenate([each.low_at[a] for each in found.profiles]) == pytest.approx(profile[kind][: 2 * n])
            assert np.concatenate([each.high_at[a] for each in found.profiles]) == pytest.approx(profile[kind][2 * n :])
        assert found.improvement is not None
        for each in wanted["improvement"]:
            a, b = each["pair"]
            assert found.improvement.win_ab[a, b] == pytest.approx(each["value"][0])
            assert found.improvement.low_ab[a, b] == pytest.approx(each[kind][0])
            assert found.improvement.high_ab[a, b] == pytest.approx(each[kind][1])


@pytest.mark.skipif(INTERPRETED, reason="compiled or not, rliable's numbers are the same")
def test_the_golden_numbers_are_what_rliable_says() -> None:
    found = asked_of_rliable(peers_installed())
    if os.environ.get("UNTUNED_RENEW_GOLDEN") == "1":
        GOLDEN.write_text(json.dumps(found), encoding="utf-8")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert found["scores"] == golden["scores"]
    for key, entries in golden["numbers"].items():
        for got, kept in zip(found["numbers"][key], entries, strict=True):
            for part, values in kept.items():
                assert got[part] == pytest.approx(values)
