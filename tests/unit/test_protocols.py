"""Protocols that tune first, on agents whose best hyperparameters are known."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from untuned import protocols
from untuned.collect.agents.agent import World
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw
from untuned.collect.environments.environment import Environment
from untuned.collect.kernels.jit import Floats
from untuned.collect.kernels.rng import uniform
from untuned.collect.store.cells import Cells
from untuned.collect.store.store import Store
from untuned.errors import InvalidInput, Stopped, UnknownName

UP, DOWN = "chain-10-deterministic", "chain-10-stochastic"


@dataclass(frozen=True)
class Scoring:
    """An agent whose every return is its value and noise."""

    value: float
    noise: float

    def start(self, world: World) -> "ScoringLearner":
        return ScoringLearner(self.value + self.noise * (uniform(world.place.random) - 0.5))


@dataclass(frozen=True)
class ScoringLearner:
    score: float

    def learn(self, returns: Floats) -> int:
        returns[:] = self.score
        return len(returns)

    def play(self, returns: Floats) -> int:
        return self.learn(returns)

    @property
    def diverged(self) -> bool:
        return False

    @property
    def adapted(self) -> dict[str, float]:
        return {}


def definition(
    name: str, value: Callable[[float, str], float], noise: float = 0.0, same_as: str | None = None
) -> Definition:
    def build(environment: Environment, draw: Draw) -> Scoring:
        # A hyperparameter that one environment has and the other has not, drawn before the one that counts.
        if environment.name == DOWN:
            draw.suggest_float("extra", 0.0, 1.0)
        return Scoring(value(draw.suggest_float("x", 0.0, 1.0), environment.name), noise)

    return Definition(name, name, 1, "", build, lambda environment: same_as)


def up(x: float, place: str) -> float:
    return x


def opposite(x: float, place: str) -> float:
    return x if place == UP else 1.0 - x


def study(*definitions: Definition, trials: Any = 4, environments: tuple[str, ...] = (UP, DOWN)) -> Any:
    return untuned.Study("protocols", definitions, environments, trials, seed=5, score_range=(-1.0, 2.0))


def drawn(folder: Path, name: str, place: str) -> list[float]:
    with untuned.Session.at(folder) as session:
        trials = session.store.trials([name], [place])
        return [{each.name: each.value for each in trial.draws}["x"] for trial in trials]


def test_tune_and_report_scores_the_best_of_its_own_draws(tmp_path: Path) -> None:
    found = protocols.tune_and_report(study(definition("up", up)), tmp_path / "r", draws=5, seeds=3)
    for place in (UP, DOWN):
        tried = np.reshape(drawn(tmp_path / "r", "up (tuning)", place), (4, 5))
        assert found.scores.cell("up", place) == pytest.approx(tried.max(axis=1))
        # Test runs have the chosen hyperparameters.
        assert drawn(tmp_path / "r", "up (test)", place) == pytest.approx(np.repeat(tried.max(axis=1), 3))
        assert found.hyperparameters("up", place, 2)["x"] == pytest.approx(tried[2].max())
        assert found.without_tuning is not None
        assert found.without_tuning.cell("up", place) == pytest.approx(tried.ravel())
        assert found.reported(1)["up"][place] == pytest.approx([tried[1].max()] * 3)
    assert set(drawn(tmp_path / "r", "up (tuning)", UP)).isdisjoint(drawn(tmp_path / "r", "up (tuning)", DOWN))
    assert found.cost.runs_by_part == {"tuning": 40, "test": 24}
    assert (found.cost.samples, found.cost.episodes) == (8, 6400)


def test_the_expected_best_of_n_uniform_draws_is_known(tmp_path: Path) -> None:
    found = protocols.tune_and_report(
        study(definition("up", up), trials=400, environments=(UP,)), tmp_path / "r", draws=4, seeds=1
    )
    # The maximum of 4 uniform numbers has mean 4/5 and variance 4/(25 * 6); five standard errors.
    scores = found.scores.cell("up", UP)
    assert abs(scores.mean() - 0.8) < 5 * (4 / 150 / 400) ** 0.5
    assert found.without_tuning is not None
    complete = found.without_tuning.cell("up", UP)
    assert abs(complete.mean() - 0.5) < 5 * (1 / 12 / 1600) ** 0.5


def test_test_runs_are_fresh_and_several_tuning_seeds_decide_by_their_mean(tmp_path: Path) -> None:
    found = protocols.tune_and_report(
        study(definition("up", up, noise=0.8)), tmp_path / "r", draws=3, seeds=2, tuning_seeds=2
    )
    with untuned.Session.at(tmp_path / "r") as session:
        tuning = np.reshape([each.score for each in session.store.trials(["up (tuning)"], [UP])], (4, 3, 2))
        tests = np.reshape([each.score for each in session.store.trials(["up (test)"], [UP])], (4, 2))
    values = np.reshape(drawn(tmp_path / "r", "up (tuning)", UP), (4, 3, 2))
    assert (values[..., 0] == values[..., 1]).all()
    best = [replication.mean(axis=1).argmax() for replication in tuning]
    assert drawn(tmp_path / "r", "up (test)", UP) == [values[r, n, 0] for r, n in enumerate(best) for _ in range(2)]
    assert found.scores.cell("up", UP) == pytest.approx(tests.mean(axis=1))
    assert not set(tests.ravel()) & set(tuning.ravel())
    assert found.without_tuning is None


@pytest.mark.parametrize("weights", [None, (0.0, 3.0, 1.0)])
def test_dabney_is_a_weighted_mean_over_all_iterations(tmp_path: Path, weights: tuple[float, ...] | None) -> None:
    found = protocols.dabney(study(definition("up", up, noise=0.1)), tmp_path / "r", draws=3, iteration_weights=weights)
    assert found.without_tuning is not None
    runs = found.without_tuning.cell("up", DOWN).reshape(4, 3)
    for scores, score in zip(runs, found.scores.cell("up", DOWN), strict=True):
        expected = sum(scores) / 3 if weights is None else (3.0 * scores[1] + scores[2]) / 4.0
        assert score == pytest.approx(expected)
    assert found.cost.runs == 24
    with pytest.raises(InvalidInput, match="no test runs"):
        found.reported()


def test_the_cross_environment_setting_against_loops(tmp_path: Path) -> None:
    """Every step written out: percentiles among reference runs, one setting for both environments, and own ones."""
    folder = tmp_path / "r"
    chosen = study(definition("up", up, 0.2), definition("opposite", opposite, 0.2))
    found = protocols.cross_environment(chosen, folder, draws=4, seeds=2, tuning_seeds=3, reference=7)

    def scores(algorithm: str, part: str, place: str) -> list[float]:
        with untuned.Session.at(folder) as session:
            return [each.score for each in session.store.trials([f"{algorithm} ({part})"], [place])]

    pools = {place: scores("up", "reference", place) + scores("opposite", "reference", place) for place in (UP, DOWN)}

    def percentile(score: float, place: str) -> float:
        return sum((other < score) + 0.5 * (other == score) for other in pools[place]) / len(pools[place])

    for algorithm in ("up", "opposite"):
        tuning = {place: scores(algorithm, "tuning", place) for place in (UP, DOWN)}
        values = {place: drawn(folder, f"{algorithm} (tuning)", place) for place in (UP, DOWN)}
        # The same settings everywhere, although one environment has a hyperparameter more.
        assert values[UP] == values[DOWN]
        assert len(set(values[UP])) == 16
        for replication in range(4):
            means = {
                place: [
                    sum(percentile(tuning[place][(replication * 4 + n) * 3 + k], place) for k in range(3)) / 3
                    for n in range(4)
                ]
                for place in (UP, DOWN)
            }
            best = max(range(4), key=lambda n: means[UP][n] + means[DOWN][n])
            total, own = 0.0, 0.0
            for place in (UP, DOWN):
                here = max(range(4), key=lambda n: means[place][n])
                for test in (2 * replication, 2 * replication + 1):
                    tried = [values[place][(replication * 4 + n) * 3] for n in (best, here)]
                    assert drawn(folder, f"{algorithm} (test)", place)[test] == tried[0]
                    assert drawn(folder, f"{algorithm} (own test)", place)[test] == tried[1]
                    total += percentile(scores(algorithm, "test", place)[test], place) / 4
                    own += percentile(scores(algorithm, "own test", place)[test], place) / 4
            assert found.scores.cell(algorithm, "all environments")[replication] == pytest.approx(total)
            assert found.lost is not None
            assert found.lost.cell(algorithm, "all environments")[replication] == pytest.approx(total - own)
    assert found.cost.runs_by_part == {"reference": 28, "tuning": 192, "test": 32, "own test": 32}
    assert found.cost.samples == 8


def test_who_needs_least_tuning_per_environment(tmp_path: Path) -> None:
    chosen = study(definition("up", up), definition("opposite", opposite), trials=30)
    found = protocols.cross_environment(chosen, tmp_path / "r", draws=8, seeds=1, reference=50)
    assert found.lost is not None
    assert not found.lost.cell("up", "all environments").any()
    assert found.lost.cell("opposite", "all environments").mean() < -0.2
    ranking = untuned.evaluate(found.lost, weights="uniform")
    assert ranking.verdicts[0] == "up is better than opposite."
    assert found.losses()[0].startswith("up: nothing is lost")


@pytest.mark.parametrize("protocol", ["tune-and-report", "dabney", "cross-environment"])
def test_resuming_adds_replications_and_nothing_else_changes(tmp_path: Path, protocol: str) -> None:
    chosen = protocols.protocol(protocol, draws=2, reference=5 if protocol == "cross-environment" else None)
    algorithms = ("sarsa", "q")

    def run(folder: str, trials: int, **options: Any) -> protocols.Outcome:
        made = untuned.Study("s", algorithms, [UP, DOWN], trials)
        return protocols.run(chosen, made, tmp_path / folder, **options)

    few = run("r", 2, workers=1)
    more, again, whole = run("r", 3), run("r", 3), run("w", 3, workers=2)
    assert more.scores.fingerprint == whole.scores.fingerprint == again.scores.fingerprint
    for a, row in enumerate(few.scores.cells):
        for e, cell in enumerate(row):
            assert more.scores.cells[a][e][:2].tolist() == cell.tolist()
    assert untuned.read_scores(tmp_path / "r").fingerprint == more.scores.fingerprint
    assert "One trial is a whole procedure" in untuned.evaluate(tmp_path / "r").statement
    html = tmp_path / "report.html"
    untuned.report(tmp_path / "r", html)
    assert html.stat().st_size > 0


def test_what_is_not_complete_gives_no_score(tmp_path: Path) -> None:
    chosen = study(definition("up", up), environments=(UP,))
    options: dict[str, Any] = {"draws": 2, "seeds": 2, "engine": "in-process"}
    whole = protocols.tune_and_report(chosen, tmp_path / "whole", **options)
    parts = [np.empty(0)]

    def rerun() -> protocols.Outcome | None:
        polls = iter([False] * 15)
        with contextlib.suppress(Stopped):
            return protocols.tune_and_report(chosen, tmp_path / "r", stop=lambda: next(polls, True), **options)
        # Refused while nothing is complete.
        with contextlib.suppress(InvalidInput):
            parts.append(untuned.read_scores(tmp_path / "r").cell("up", UP))
        return None

    found = next(found for found in (rerun() for _ in range(100)) if found is not None)
    sizes = [part.size for part in parts]
    assert all(part.tolist() == whole.scores.cell("up", UP)[: part.size].tolist() for part in parts)
    assert found.scores.fingerprint == whole.scores.fingerprint
    assert sizes == sorted(sizes)
    assert 0 < sizes[-1] < 4


def test_definitions_that_are_the_same_stay_so(tmp_path: Path) -> None:
    twins = (definition("up", up), definition("twin", up, same_as="up"))
    kinds = protocols.tune_and_report(study(*twins), tmp_path / "r", draws=2, seeds=1).scores.kinds
    assert (kinds[:, 0] == kinds[:, 1]).all()
    # One setting for all environments is chosen by what happens elsewhere, too.
    kinds = protocols.cross_environment(study(*twins), tmp_path / "c", draws=2, seeds=1, reference=2).scores.kinds
    assert (kinds[:, 0] != kinds[:, 1]).all()


def test_a_folder_keeps_to_its_protocol(tmp_path: Path) -> None:
    chosen = study(definition("up", up))
    protocols.tune_and_report(chosen, tmp_path / "r", draws=2, seeds=1)
    for other in (
        lambda: untuned.collect_scores(chosen, tmp_path / "r"),
        lambda: protocols.tune_and_report(chosen, tmp_path / "r", draws=3, seeds=1),
        lambda: protocols.dabney(chosen, tmp_path / "r", draws=2),
    ):
        with pytest.raises(InvalidInput, match="the protocol of the study"):
            other()
    untuned.collect_scores(chosen, tmp_path / "plain")
    with pytest.raises(InvalidInput, match="the protocol of the study"):
        protocols.dabney(chosen, tmp_path / "plain", draws=2)


def test_the_cost_is_known_beforehand(tmp_path: Path) -> None:
    chosen = study(definition("up", up), trials=3)
    protocol = protocols.protocol("tune-and-report", draws=6, seeds=4, tuning_seeds=2)
    before = protocols.cost(protocol, chosen)
    assert str(before) == (
        "96 runs (72 tuning, 24 test), 9,600 episodes, for 6 independent scores: 16 runs per score, where complete "
        "trials take 1"
    )
    assert before == protocols.run(protocol, chosen, tmp_path / "r").cost
    assert protocols.cost(protocol, chosen, trials=30).runs == 10 * before.runs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "dabny"}, "did you mean 'dabney'"),
        ({"name": "dabney", "draws": 0}, "draws=0"),
        ({"name": "dabney", "draws": 2.5}, "draws=2.5"),
        ({"name": "dabney", "draws": 2, "seeds": 3}, "seeds=3 does not go with dabney"),
        ({"name": "dabney", "draws": 2, "tuning_seeds": 2}, "tuning_seeds=2 does not go"),
        ({"name": "dabney", "draws": 2, "iteration_weights": (1.0,)}, "give 2 numbers"),
        ({"name": "dabney", "draws": 2, "iteration_weights": (0.0, 0.0)}, "not all zero"),
        ({"name": "dabney", "draws": 2, "iteration_weights": (1e308, 1e308)}, "sum is too large"),
        ({"name": "dabney", "draws": 2, "iteration_weights": 5}, "give 2 numbers"),
        ({"name": "dabney", "draws": 2, "iteration_weights": (1.0, float("nan"))}, "not negative"),
        ({"name": "dabney", "draws": 2, "iteration_weights": ("a", "b")}, "give 2 numbers"),
        ({"name": "tune-and-report", "seeds": 0}, "seeds=0"),
        ({"name": "tune-and-report", "reference": 5}, "reference=5 does not go"),
        ({"name": "tune-and-report", "draws": 1, "iteration_weights": (1.0,)}, "are for dabney"),
        ({"name": "cross-environment", "reference": 0}, "reference=0"),
    ],
)
def test_bad_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=message):
        protocols.protocol(**options)


def test_bad_studies(tmp_path: Path) -> None:
    def trained(environment: Any, draw: Any) -> None: ...

    with pytest.raises(InvalidInput, match="'trained' is written in Python"):
        protocols.dabney(study(trained), tmp_path / "r", draws=2)  # type: ignore[arg-type]
    uneven = study(definition("up", up), trials={("up", UP): 3, ("up", DOWN): 2})
    with pytest.raises(InvalidInput, match="one number for all"):
        protocols.cross_environment(uneven, tmp_path / "r", draws=2)
    with pytest.raises(InvalidInput, match="at least 1"):
        protocols.dabney(study(definition("up", up), trials={}), tmp_path / "r", draws=2)
    found = protocols.dabney(uneven, tmp_path / "r", draws=2)
    assert found.scores.trials.tolist() == [[3, 2]]
    report = protocols.tune_and_report(study(definition("up", up)), tmp_path / "t", draws=2, seeds=1)
    for replication in (-1, 4):
        with pytest.raises(InvalidInput, match="is not complete in every cell"):
            report.reported(replication)


def test_scores_of_a_protocol_that_runs_are_of_one_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = study(definition("up", up), trials=3, environments=(UP,))
    protocols.tune_and_report(one, tmp_path / "whole", draws=2, seeds=3)
    # Run 5 of 9 arrives last, while the scores are read.
    with Store.open(tmp_path / "whole") as whole, Store.create(tmp_path / "part", whole.facts) as writer:
        late = whole.trial("up (test)", UP, 5)
        writer.add(each for each in whole.trials() if each.label != late.label)
        read = Cells.scores

        def reading(cells: Cells) -> Any:
            found = read(cells)
            writer.add([late])
            return found

        monkeypatch.setattr(Cells, "scores", reading)
        with untuned.Session.at(tmp_path / "part") as session:
            assert session.scores().cell("up", UP).size == 1
            assert session.scores().cell("up", UP).size == 3


def test_a_part_of_a_protocol_cannot_be_dropped(tmp_path: Path) -> None:
    one = study(definition("up", up), definition("opposite", opposite), trials=1, environments=(UP,))
    protocols.tune_and_report(one, tmp_path / "r", draws=1, seeds=1)
    with contextlib.closing(untuned.Session.at(tmp_path / "r")) as session:
        with pytest.raises(InvalidInput, match="is a part of a protocol"):
            session.drop("up (test)")
        assert session.scores().algorithms == ("up", "opposite")


def test_the_cost_is_of_all_that_was_run(tmp_path: Path) -> None:
    one = study(definition("up", up), environments=(UP,))
    found = [
        protocols.cross_environment(one, tmp_path / "r", draws=2, seeds=1, reference=3, trials=trials)
        for trials in (3, 1)
    ]
    assert found[1].cost == found[0].cost == protocols.cost(found[0].protocol, one, trials=3)
    assert found[1].scores.trials.tolist() == [[3]]
    assert found[1].cost.runs_by_part == {"reference": 3, "tuning": 6, "test": 3, "own test": 3}
