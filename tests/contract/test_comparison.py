"""The page on other tools is made of the benchmark's file, and the benchmark knows the truth it compares with."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import trim_mean

import pages
import untuned
from rendering.files import Results
from untuned import lab

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return importlib.import_module("comparison")


def test_the_page_is_made_of_the_benchmark_s_file(benchmark: ModuleType) -> None:
    results = Results(ROOT / "docs" / "results")
    rows = results.content("comparison")["rows"]
    assert {row["data_sets"] for row in rows} == {300}
    assert {row["population"] for row in rows} == {each.name for each in benchmark.POPULATIONS}
    # Guaranteed intervals keep their level.
    for row in rows:
        if row["method"] in ("pooled", "pairing", "anderson"):
            assert lab.Rate.of(row["missed"], row["data_sets"]).finding(benchmark.DELTA) == "kept", row
    # What the page says in sentences, counted again.
    answer = pages.rendered(results, "comparison-in-short")
    improvement = [row for row in rows if row["quantity"] == benchmark.IMPROVEMENT]
    suites = [row for row in improvement if row["population"].startswith("suite") and row["method"] == "rliable"]
    rates = [100.0 * row["missed"] / row["data_sets"] for row in suites]
    assert f"in {min(rates):.0f} to {max(rates):.0f} %" in answer
    methods = [name for name in ("pooled", "pairing") if any(row["method"] == name for row in rows)]
    for method in methods:
        missed = sum(row["missed"] for row in improvement if row["method"] == method)
        assert f"{missed:,} of {300 * 4 * len(benchmark.POPULATIONS):,} (`{method}`)" in answer
    # Small boards and each suite are never pooled.
    names = [each.name for each in benchmark.SUITES]
    for method in ("rliable", *methods):
        many = [row for row in improvement if row["trials"] == 100 and row["method"] == method]
        small = [row for row in many if row["population"] not in names]
        assert f"{sum(row['decided'] for row in small):,} of {300 * len(small):,} on small boards" in answer
        for name in names:
            row = next(row for row in many if row["population"] == name)
            assert f"{row['decided']:,} of 300 on {name}" in answer
    # Where both are limited by the same bound, the widths of the two are the same.
    told = pages.rendered(results, "comparison-wilson")
    for name in names:
        ratios = []
        for trials in benchmark.TRIALS:
            widths = {
                row["method"]: row["width"]
                for row in improvement
                if (row["population"], row["trials"]) == (name, trials)
            }
            ratios.append(f"{widths['wilson'] / widths['pairing']:.2f}")
        assert f"{' / '.join(ratios)} on {name}" in told


def test_the_truth_is_what_large_samples_show(benchmark: ModuleType) -> None:
    for population in benchmark.POPULATIONS:
        if population.name in ("lognormal", "scales"):
            continue  # no sample of this size shows these means
        cells = population.sample(20_000, np.random.default_rng(1)).cells[0]
        scores = np.concatenate(cells)
        known = benchmark.truths(population)
        near = 5.0 * scores.std() / np.sqrt(scores.size)
        assert known[benchmark.MEAN][0] == pytest.approx(float(scores.mean()), abs=near + 1e-9), population.name
        middle = float(trim_mean(scores, 0.25))
        assert known[benchmark.MIDDLE][0] == pytest.approx(middle, abs=near + 1e-9), population.name


def test_the_plain_bootstrap_is_a_bootstrap(benchmark: ModuleType) -> None:
    rng = np.random.default_rng(2)
    cells = [rng.normal(0.0, 1.0, 12), rng.normal(3.0, 2.0, 12)]
    drawn = np.stack([rng.choice(cell, (20_000, 12)) for cell in cells], axis=1)
    expected = {
        0: np.percentile(drawn.mean(axis=(1, 2)), [2.5, 97.5]),
        1: np.percentile(trim_mean(drawn.reshape(20_000, 24), 0.25, axis=1), [2.5, 97.5]),
    }
    found = benchmark.bootstrap_means(cells, 20_000, rng)
    for number, ends in expected.items():
        np.testing.assert_allclose(found[number], ends, atol=0.04)
    won = (drawn[:, 0] > 0.2).mean(axis=1)
    low, high = benchmark.bootstrap_improvement(cells[:1], [np.full(12, 0.2)], 20_000, rng)
    np.testing.assert_allclose((low, high), np.percentile(won, [2.5, 97.5]), atol=1e-9)


def test_the_default_s_interval_excludes_a_half_where_there_is_a_verdict(benchmark: ModuleType) -> None:
    population = next(each for each in benchmark.POPULATIONS if each.name == "suite-crashes")
    table = population.sample(30, np.random.default_rng(0))
    truth = benchmark.true_improvement(population, 0, 2)
    for first, second, mean in ((0, 2, truth), (2, 0, 1.0 - truth)):
        pair = table.select([table.algorithms[first], table.algorithms[second]])
        low, high = benchmark.default_improvement(pair)
        verdict = untuned.evaluate(pair, weights="uniform").verdict(*pair.algorithms)
        assert verdict == ("better" if mean > 0.5 else "worse")
        assert (low > 0.5, high < 0.5) == (mean > 0.5, mean < 0.5)
        assert low <= mean <= high
    # Two copies: an interval around 1/2.
    same = untuned.read_scores({name: {"maze": [1.0, 2.0, 3.0]} for name in ("a", "b")})
    low, high = benchmark.default_improvement(same)
    assert low < 0.5 < high
