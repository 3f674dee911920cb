import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import untuned
from untuned.collect.distributions import Constant
from untuned.collect.environments.environment import Budget, CompiledEnvironment, ContinuousStates, DiscreteStates
from untuned.collect.environments.names import NAMES
from untuned.collect.environments.rollout import reset_once, step_once
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING
from untuned.errors import InvalidInput, UnknownName

VARIANTS = (
    *NAMES,
    "gridworld-7-stochastic[slips=perpendicular]",
    "chain-3-deterministic",
    "mountain-car[random_start=true]",
    "cart-pole[pole_mass=0.1,gravity=9.81]",
    "acrobot[random_start=true,randomize=false]",
    "pinball-box[force=0.25,randomize=false]",
)

# episodes, states (number, or dimensions), actions, step limit, score range: the paper's tables and what follows.
FACTS = {
    "gridworld-5-deterministic": (100, 25, 4, 500, (-500, -8)),
    "gridworld-5-stochastic": (100, 25, 4, 500, (-500, -8)),
    "gridworld-10-deterministic": (100, 100, 4, 2000, (-2000, -18)),
    "gridworld-10-stochastic": (100, 100, 4, 2000, (-2000, -18)),
    "chain-10-deterministic": (100, 10, 2, 200, (-199, -8)),
    "chain-10-stochastic": (100, 10, 2, 200, (-199, -8)),
    "chain-50-deterministic": (100, 50, 2, 1000, (-999, -48)),
    "chain-50-stochastic": (100, 50, 2, 1000, (-999, -48)),
    "acrobot": (500, 4, 3, 2000, (-200, 0)),
    "cart-pole": (100, 4, 2, 1000, (0, 1000)),
    "mountain-car": (100, 2, 3, 5000, (-5000, 0)),
    "pinball-empty": (100, 4, 5, 1001, (-5001, 9982)),
    "pinball-box": (100, 4, 5, 1001, (-5001, 9982)),
    "pinball-medium": (100, 4, 5, 1001, (-5001, 9982)),
    "pinball-single": (200, 4, 5, 1001, (-5001, 9982)),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_are_the_papers(name: str) -> None:
    chosen = untuned.environment(name)
    size = chosen.states.number if isinstance(chosen.states, DiscreteStates) else chosen.states.dimensions
    assert chosen.budget.episodes is not None
    found = (chosen.budget.episodes, size, len(chosen.actions), chosen.step_limit, chosen.score_range)
    assert found == FACTS[name]
    assert chosen.discount == 1.0


@pytest.mark.parametrize("name", VARIANTS)
def test_a_name_gives_the_environment_of_that_name(name: str) -> None:
    chosen = untuned.environment(name)
    assert chosen.name == name
    assert untuned.environment(chosen.name) == chosen


def test_the_order_of_options_does_not_matter() -> None:
    assert untuned.environment("cart-pole[gravity=9,pole_mass=0.1]") == untuned.environment(
        "cart-pole", pole_mass=0.1, gravity=9.0
    )


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_drawn_is_a_readable_record_within_its_ranges(name: str) -> None:
    chosen = untuned.environment(name)
    dynamics = chosen.draw(random_state(1, name))
    assert list(dynamics.values) == [parameter.name for parameter in chosen.parameters]
    for parameter in chosen.parameters:
        assert parameter.distribution.low <= dynamics.values[parameter.name] <= parameter.distribution.high
        assert f"{parameter.name}=" in str(dynamics)
    assert list(dynamics.vector[: len(dynamics.values)]) == list(dynamics.values.values())


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_plain_json(name: str) -> None:
    facts = untuned.environment(name).facts()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_trials_draw_different_dynamics_and_the_same_key_the_same() -> None:
    chosen = untuned.environment("cart-pole")
    draws = [chosen.draw(random_state(1, "cart-pole", trial)).values["gravity"] for trial in range(50)]
    assert len(set(draws)) == 50
    assert draws == [chosen.draw(random_state(1, "cart-pole", trial)).values["gravity"] for trial in range(50)]


def test_holding_one_parameter_leaves_the_others_draws_alone() -> None:
    free = untuned.environment("cart-pole").draw(random_state(1)).values
    held = untuned.environment("cart-pole", pole_half_length=0.5).draw(random_state(1)).values
    assert held == {**free, "pole_half_length": 0.5}


def test_nothing_is_drawn_when_not_randomised() -> None:
    for name in NAMES:
        chosen = untuned.environment(name, randomize=False)
        assert all(isinstance(parameter.distribution, Constant) for parameter in chosen.parameters)
        values = chosen.draw(random_state(1)).values
        assert values == {parameter.name: parameter.nominal for parameter in chosen.parameters}
        assert values == chosen.draw(random_state(2)).values


def test_given_parameters_win_over_the_customary_values() -> None:
    chosen = untuned.environment("acrobot", randomize=False, parameters={"gravity": 9.0})
    assert chosen.draw(random_state(1)).values["gravity"] == 9.0
    assert chosen.name == "acrobot[gravity=9.0,randomize=false]"


@given(size=st.integers(2, 60), stochastic=st.booleans())
def test_gridworlds_of_any_size(size: int, stochastic: bool) -> None:
    chosen = untuned.environment("gridworld", size=size, stochastic=stochastic)
    assert chosen == untuned.environment(f"gridworld-{size}-{'stochastic' if stochastic else 'deterministic'}")
    assert chosen.states == DiscreteStates(size * size)
    assert chosen.score_range == (-20 * size**2, 2 - 2 * size)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("cart-pol", "cart-pole"),
        ("Cart-Pole", "cart-pole"),
        ("cartpole", "cart-pole"),
        ("gridworld-5-stochastik", "gridworld-5-stochastic"),
        ("pinball-hard", "pinball-"),
        ("mountaincar", "mountain-car"),
    ],
)
def test_an_unknown_name_is_met_with_the_nearest(name: str, suggestion: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{suggestion}"):
        untuned.environment(name)


@pytest.mark.parametrize("name", ["zzzzzz", "", "[", "cart-pole[", "cart-pole]gravity=1[", "ünïcode"])
def test_names_like_nothing_are_met_with_the_list(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"known: acrobot, cart-pole, .*pinball-single"):
        untuned.environment(name)


@pytest.mark.parametrize("size", [-5, 0, 1, 1001, 2.5, "5", True, None, math.nan])
def test_a_bad_size_says_which_are_allowed(size: object) -> None:
    with pytest.raises(InvalidInput, match=r"size=.* is not allowed: give a whole number from 2 to 1,000"):
        untuned.environment("gridworld", size=size)


def test_a_bad_size_in_a_name_too() -> None:
    with pytest.raises(InvalidInput, match="size=-5 is not allowed"):
        untuned.environment("gridworld--5-stochastic")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gridworld-5-stochastic", {"slips": "diagonal"}, "cyclic, perpendicular"),
        ("gridworld-5-stochastic", {"stochastic": 1}, "stochastic=1 is not allowed: give True or False"),
        ("mountain-car", {"random_start": "yes"}, "give True or False"),
        ("mountain-car", {"random_starts": True}, "did you mean 'random_start'"),
        ("pinball", {"layout": "hard"}, "box, empty, medium, single"),
        ("cart-pole", {"randomize": "no"}, "randomize='no' is not allowed"),
        ("cart-pole", {"gravty": 9.8}, "did you mean 'gravity'"),
        ("cart-pole", {"gravity": math.nan}, r"gravity=nan is not allowed.*in \(0, 1000\].*9.8"),
        ("cart-pole", {"gravity": math.inf}, "gravity=inf is not allowed"),
        ("cart-pole", {"pole_mass": -1}, "pole_mass=-1 is not allowed"),
        ("cart-pole", {"pole_mass": "heavy"}, "pole_mass='heavy' is not allowed"),
        ("cart-pole", {"pole_mass": True}, "pole_mass=True is not allowed"),
        ("chain-10-stochastic", {"slip_probability": 1.5}, r"slip_probability=1.5 is not allowed.*in \[0, 1\]"),
        ("pinball-box", {"ball_radius": 0.0}, r"ball_radius=0.0 is not allowed.*in \(0, 0.1\]"),
    ],
)
def test_bad_options_say_what_is_allowed(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        untuned.environment(name, **options)  # type: ignore[arg-type]


def test_contradictions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="size=7 contradicts size=5"):
        untuned.environment("gridworld-5-stochastic", size=7)
    with pytest.raises(InvalidInput, match=r"gravity=9.0 contradicts gravity=8.0"):
        untuned.environment("cart-pole", parameters={"gravity": 9.0}, gravity=8.0)
    assert untuned.environment("gridworld-5-stochastic", size=5) == untuned.environment("gridworld-5-stochastic")


def test_an_environment_without_parameters_keeps_its_plain_name() -> None:
    plain = dataclasses.replace(untuned.environment("chain-10-deterministic"), name="mine", parameters=())
    assert plain.with_parameters({}) == plain.nominal() == plain


def test_a_name_does_not_depend_on_the_way_to_it() -> None:
    plain = untuned.environment("cart-pole")
    expected = untuned.environment("cart-pole", randomize=False, gravity=5.0)
    assert plain.nominal().with_parameters({"gravity": 5.0}) == expected
    assert plain.with_parameters({"gravity": 9.0}).with_parameters({"gravity": 5.0}).nominal() == expected
    assert plain.with_parameters({}) == plain
    assert plain.nominal().nominal() == plain.nominal()


@pytest.mark.parametrize("name", NAMES)
def test_no_allowed_parameter_makes_the_dynamics_explode(name: str) -> None:
    # The corners of what may be set: random play stays finite, so that no trial is quietly made of NaN.
    chosen = untuned.environment(name)
    corners = itertools.islice(itertools.product((0, 1), repeat=len(chosen.parameters)), 32)
    for number, corner in enumerate(corners):
        values = {
            each.name: (each.allowed.high if upper else each.allowed.low + 1e-3 * each.allowed.low_excluded)
            for each, upper in zip(chosen.parameters, corner, strict=True)
        }
        held = chosen.with_parameters(values)
        random = random_state(8, name, number)
        vector = held.draw(random).vector
        state = held.new_state()
        actions = np.random.default_rng(number)
        reset_once(held.compiled_reset, state, vector, random)
        for _ in range(200):
            _, status = step_once(held.compiled_step, state, vector, random, int(actions.integers(len(held.actions))))
            assert np.all(np.isfinite(state)), values
            if status != RUNNING:
                reset_once(held.compiled_reset, state, vector, random)


def test_bad_text_in_brackets_says_how_to_write_it() -> None:
    with pytest.raises(InvalidInput, match="write name=value"):
        untuned.environment("cart-pole[gravity]")
    with pytest.raises(InvalidInput, match="gravity='heavy' is not allowed"):
        untuned.environment("cart-pole[gravity=heavy]")


@pytest.mark.parametrize("arguments", [{}, {"episodes": 1, "steps": 1}])
def test_a_budget_is_episodes_or_steps(arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="exactly one"):
        Budget(**arguments)


@pytest.mark.parametrize("number", [0, -1, 2.0, True, "ten"])
def test_a_budget_is_a_whole_number(number: object) -> None:
    with pytest.raises(InvalidInput, match=r"episodes=.* is not allowed: give a whole number from 1"):
        Budget(episodes=number)  # type: ignore[arg-type]


def test_records_are_frozen() -> None:
    chosen = untuned.environment("cart-pole")
    assert isinstance(chosen, CompiledEnvironment)
    with pytest.raises(AttributeError):
        chosen.step_limit = 5  # type: ignore[misc]


def test_ranges_for_scaling_are_the_published_ones() -> None:
    expected: dict[str, list[tuple[float, float]]] = {
        "cart-pole": [(-2.4, 2.4), (-10, 10), (-np.pi / 12, np.pi / 12), (-np.pi, np.pi)],
        "mountain-car": [(-1.2, 0.5), (-0.07, 0.07)],
        "acrobot": [(-np.pi, np.pi), (-np.pi, np.pi), (-4 * np.pi, 4 * np.pi), (-9 * np.pi, 9 * np.pi)],
        "pinball-single": [(0, 1), (0, 1), (-2, 2), (-2, 2)],
    }
    for name, ranges in expected.items():
        states = untuned.environment(name).states
        assert isinstance(states, ContinuousStates)
        assert np.allclose(states.ranges, ranges, rtol=1e-15)


def test_distributions_are_the_published_ones() -> None:
    found = {
        each.name: {parameter.name: str(parameter.distribution) for parameter in each.parameters}
        for each in untuned.environments()
    }
    slip = {"slip_probability": "U(0, 0.25)"}
    pinball = {
        "target_radius": "U(0.036, 0.044)",
        "ball_radius": "U(0.018, 0.022)",
        "noise": "U(0, 0.25)",
        "drag": "1 - ln-uniform(0.001, 0.1)",
        "force": "U(0.1, 0.3)",
    }
    links = dict.fromkeys(("mass_1", "mass_2", "length_1", "length_2"), "U(0.8, 1.2)")
    expected = {
        **{name: slip for name in NAMES if "world" in name or "chain" in name},
        "cart-pole": {
            "pole_mass": "U(0.025, 0.25)",
            "pole_half_length": "U(0.1, 1)",
            "cart_mass": "U(0.1, 5)",
            "gravity": "U(8, 10)",
        },
        "mountain-car": {"acceleration": "U(0.0008, 0.0012)"},
        "acrobot": {**links, "gravity": "U(8, 10)"},
        **{name: pinball for name in NAMES if "pinball" in name},
    }
    assert found == expected


def test_places_that_differ_from_the_papers_text_are_named() -> None:
    differing = {each.name for each in untuned.environments() if each.differs}
    assert differing == {name for name in NAMES if name not in ("cart-pole",) and "chain" not in name} - {
        "gridworld-5-deterministic",
        "gridworld-10-deterministic",
    }
