"""Our environments as Gymnasium's: its rules kept, and the kernels' numbers unchanged by them."""

import copy
import itertools
import math
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import untuned
from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.collect.environments.environment import ContinuousStates, DiscreteStates, Parameter
from untuned.collect.environments.rollout import reset_once, step_once
from untuned.collect.kernels.jit import INTERPRETED
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.errors import InvalidInput, MissingExtra, UnknownName, UntunedError

GymnasiumEnv = gymnasium.Env[Any, Any]
Policy = Callable[[Any, int], int]

# Written out and not computed: these are what users type.
IDS = {
    "gridworld-5-deterministic": "untuned/Gridworld5Deterministic-v0",
    "gridworld-5-stochastic": "untuned/Gridworld5Stochastic-v0",
    "gridworld-10-deterministic": "untuned/Gridworld10Deterministic-v0",
    "gridworld-10-stochastic": "untuned/Gridworld10Stochastic-v0",
    "chain-10-deterministic": "untuned/Chain10Deterministic-v0",
    "chain-10-stochastic": "untuned/Chain10Stochastic-v0",
    "chain-50-deterministic": "untuned/Chain50Deterministic-v0",
    "chain-50-stochastic": "untuned/Chain50Stochastic-v0",
    "acrobot": "untuned/Acrobot-v0",
    "cart-pole": "untuned/CartPole-v0",
    "mountain-car": "untuned/MountainCar-v0",
    "pinball-empty": "untuned/PinballEmpty-v0",
    "pinball-box": "untuned/PinballBox-v0",
    "pinball-medium": "untuned/PinballMedium-v0",
    "pinball-single": "untuned/PinballSingle-v0",
}
ALL = pytest.mark.parametrize("name", IDS)
# One of each family, with randomness in its steps where the family has any.
ONE_EACH = pytest.mark.parametrize(
    "name",
    ["gridworld-5-stochastic", "chain-10-stochastic", "acrobot", "cart-pole", "mountain-car", "pinball-medium"],
)

STEPS = 40 if INTERPRETED else 400


def make(name: str, **options: Any) -> GymnasiumEnv:
    return gymnasium.make(IDS[name], **options)


def ours(env: GymnasiumEnv) -> UntunedEnvironment:
    assert isinstance(env.unwrapped, UntunedEnvironment)
    return env.unwrapped


def held_actions(number: int, steps: int, seed: int) -> list[int]:
    """Random actions, each held for a while, so that cars, balls and pendulums get somewhere."""
    generator = np.random.default_rng(seed)
    actions = [0]
    for _ in range(steps - 1):
        actions.append(int(generator.integers(number)) if generator.random() < 0.2 else actions[-1])
    return actions


def trajectory(env: GymnasiumEnv, actions: list[int], **reset: Any) -> list[tuple[Any, ...]]:
    """Everything that comes back over the actions, plain numbers all; a new episode begins when one is over."""
    observation, info = env.reset(**reset)
    found: list[tuple[Any, ...]] = [(np.array(observation).tolist(), info["dynamics"])]
    over = False
    for action in actions:
        if over:
            observation, info = env.reset()
            found.append((np.array(observation).tolist(), info["dynamics"]))
        observation, reward, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
        found.append((np.array(observation).tolist(), float(reward), terminated, truncated))
    return found


def play(env: GymnasiumEnv, policy: Policy, seed: int = 1) -> tuple[int, float, bool, bool]:
    """Steps, return and ending of one whole episode."""
    observation, _ = env.reset(seed=seed)
    total = 0.0
    for step in itertools.count():
        observation, reward, terminated, truncated, _ = env.step(policy(observation, step))
        total += float(reward)
        if terminated or truncated:
            return step + 1, total, terminated, truncated
    raise AssertionError


# Registration, and Gymnasium's own checks.


@ALL
def test_each_of_the_fifteen_has_its_id(name: str) -> None:
    env = make(name)
    assert env.spec is not None
    assert env.spec.id == IDS[name]
    assert ours(env).environment == untuned.environment(name)


def test_no_environment_of_the_paper_is_left_out() -> None:
    assert list(IDS) == [each.name for each in untuned.environments()]


@pytest.mark.parametrize(
    ("identifier", "options", "name"),
    [
        ("untuned/Gridworld-v0", {"size": 7, "stochastic": True}, "gridworld-7-stochastic"),
        (
            "untuned/Gridworld-v0",
            {"size": 3, "stochastic": True, "slips": "perpendicular"},
            "gridworld-3-stochastic[slips=perpendicular]",
        ),
        ("untuned/Chain-v0", {"size": 4}, "chain-4-deterministic"),
        ("untuned/Pinball-v0", {"layout": "box", "random_start": True}, "pinball-box[random_start=true]"),
        ("untuned/MountainCar-v0", {"random_start": True}, "mountain-car[random_start=true]"),
    ],
)
def test_families_take_their_options(identifier: str, options: dict[str, Any], name: str) -> None:
    env = gymnasium.make(identifier, **options)
    assert ours(env).environment == untuned.environment(name)


@ALL
@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_gymnasiums_checker_is_content(name: str, render_mode: str | None) -> None:
    env = make(name, render_mode=render_mode)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env.unwrapped)
    found = [str(warning.message) for warning in caught]
    if name == "cart-pole":
        # As for Gymnasium's own: speeds have no bound.
        allowed = ("minimum value is -infinity", "maximum value is infinity")
        found = [message for message in found if not any(text in message for text in allowed)]
    assert found == []


def test_the_tolerated_warnings_are_those_of_gymnasiums_own_cart_pole() -> None:
    messages = []
    for identifier in ("CartPole-v1", IDS["cart-pole"]):
        env = gymnasium.make(identifier)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_env(env.unwrapped, skip_render_check=True)
        messages.append({str(warning.message) for warning in caught})
    assert messages[1] == messages[0]
    assert len(messages[1]) == 2


@ALL
def test_ordinary_use_warns_of_nothing(name: str) -> None:
    # With Gymnasium's passive checker looking on, and warnings being errors here.
    env = make(name, render_mode="rgb_array")
    trajectory(env, held_actions(len(ours(env).environment.actions), 30, 0), seed=3)
    env.render()
    env.close()


@ALL
def test_the_spaces_are_the_environments(name: str) -> None:
    env = make(name)
    environment = untuned.environment(name)
    assert env.action_space == spaces.Discrete(len(environment.actions))
    if isinstance(environment.states, DiscreteStates):
        assert env.observation_space == spaces.Discrete(environment.states.number)
    else:
        assert isinstance(env.observation_space, spaces.Box)
        assert env.observation_space.dtype == np.float64
        bounds = np.stack([env.observation_space.low, env.observation_space.high], axis=1)
        assert bounds.tolist() == [list(limits) for limits in environment.states.bounds]


# The same numbers as the kernels on their own.


@ALL
@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1, 2**70])
def test_a_seed_gives_the_kernels_trajectory(name: str, seed: int) -> None:
    env = make(name)
    environment = untuned.environment(name)
    random = random_state(seed, name)
    dynamics = environment.draw(random)
    state = environment.new_state()
    dimensions = environment.states.dimensions
    observation, info = env.reset(seed=seed)
    reset_once(environment.compiled_reset, state, dynamics.vector, random)
    assert info["dynamics"] == dynamics.values
    for action in held_actions(len(environment.actions), STEPS, seed % 1000):
        assert np.atleast_1d(observation).tolist() == state[:dimensions].tolist()
        observation, reward, terminated, truncated, _ = env.step(action)
        expected, status = step_once(environment.compiled_step, state, dynamics.vector, random, action)
        assert reward == expected
        assert (terminated, truncated) == (status == TERMINATED, status == TRUNCATED)
        if status != RUNNING:
            observation, _ = env.reset()
            reset_once(environment.compiled_reset, state, dynamics.vector, random)


@ONE_EACH
def test_environments_side_by_side_do_not_touch_each_other(name: str) -> None:
    actions = held_actions(len(untuned.environment(name).actions), 60, 5)
    alone = [trajectory(make(name), actions, seed=seed) for seed in (1, 2)]
    pair = [make(name), make(name)]
    together: list[list[tuple[Any, ...]]] = [[], []]
    for env, seed, record in zip(pair, (1, 2), together, strict=True):
        observation, info = env.reset(seed=seed)
        record.append((np.array(observation).tolist(), info["dynamics"]))
    over = [False, False]
    for action in actions:
        for index, env in enumerate(pair):
            if over[index]:
                observation, info = env.reset()
                together[index].append((np.array(observation).tolist(), info["dynamics"]))
            observation, reward, terminated, truncated, _ = env.step(action)
            over[index] = terminated or truncated
            together[index].append((np.array(observation).tolist(), float(reward), terminated, truncated))
    assert together == alone


# Seeds and draws.


@ALL
def test_a_seed_fixes_everything(name: str) -> None:
    actions = held_actions(len(untuned.environment(name).actions), 100, 1)
    env = make(name)
    first = trajectory(env, actions, seed=11)
    assert trajectory(make(name), actions, seed=11) == first
    # The same instance as well, whatever it did before.
    assert trajectory(env, actions, seed=11) == first
    assert trajectory(env, actions, seed=12) != first


@ALL
def test_without_a_seed_every_instance_draws_its_own(name: str) -> None:
    drawn = [make(name).reset()[1]["dynamics"] for _ in range(3)]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def test_the_seed_an_unseeded_environment_chose_can_be_asked_for_and_used_again() -> None:
    env = make("pinball-single")
    actions = held_actions(5, 50, 2)
    first = trajectory(env, actions)
    again = make("pinball-single")
    assert trajectory(again, actions, seed=ours(env).np_random_seed) == first


@pytest.mark.parametrize("seed", [-1, 1.5, "one"])
def test_gymnasium_refuses_what_is_no_seed(seed: Any) -> None:
    with pytest.raises(gymnasium.error.Error, match=r"[Ss]eed"):
        make("cart-pole").reset(seed=seed)


@ALL
def test_dynamics_stay_between_episodes_and_change_when_asked(name: str) -> None:
    env = make(name)
    first = env.reset(seed=4)[1]["dynamics"]
    assert list(first) == [each.name for each in untuned.environment(name).parameters]
    env.step(0)
    assert env.reset()[1]["dynamics"] == first
    assert env.reset(options={})[1]["dynamics"] == first
    assert env.reset(options={"redraw": False})[1]["dynamics"] == first
    second = env.reset(options={"redraw": True})[1]["dynamics"]
    assert all(second[key] != first[key] for key in first)
    assert env.reset()[1]["dynamics"] == second
    # Redrawn values follow from the seed too.
    assert env.reset(seed=4)[1]["dynamics"] == first
    env.step(0)
    assert env.reset(options={"redraw": True})[1]["dynamics"] == second


@ALL
def test_what_is_drawn_lies_where_it_is_declared_to(name: str) -> None:
    env = make(name)
    env.reset(seed=0)
    for _ in range(50):
        drawn = env.reset(options={"redraw": True})[1]["dynamics"]
        for parameter in untuned.environment(name).parameters:
            assert parameter.distribution.low <= drawn[parameter.name] <= parameter.distribution.high


@pytest.mark.parametrize("options", [{"redrow": True}, {"redraw": True, "seed": 3}, {"redraw": "no"}, {"redraw": 1}, 5])
def test_reset_refuses_options_it_does_not_know(options: Any) -> None:
    env = make("cart-pole")
    before = env.reset(seed=1)[1]
    with pytest.raises(InvalidInput, match=r"'redraw'.*True or False"):
        env.reset(options=options)
    assert env.reset()[1] == before


def test_a_refused_reset_leaves_no_trace() -> None:
    env = make("chain-10-stochastic")
    expected = trajectory(make("chain-10-stochastic"), [1] * 5, seed=1)
    assert trajectory(env, [1] * 5, seed=1) == expected
    with pytest.raises(InvalidInput):
        env.reset(seed=2, options={"redrow": True})
    # The seed one can ask for is still that of what was drawn.
    assert trajectory(make("chain-10-stochastic"), [1] * 5, seed=ours(env).np_random_seed) == expected


def test_the_info_is_the_callers_to_change() -> None:
    env = make("chain-10-stochastic")
    _, info = env.reset(seed=1)
    kept = dict(info["dynamics"])
    info["dynamics"]["slip_probability"] = 1.0
    assert env.reset()[1]["dynamics"] == kept
    assert ours(env).dynamics.values == kept


# Parameters.


@ALL
def test_without_randomising_the_customary_values_hold(name: str) -> None:
    env = make(name, randomize=False)
    nominal = {each.name: each.nominal for each in untuned.environment(name).parameters}
    for reset in ({"seed": 1}, {"seed": 2}, {}, {"options": {"redraw": True}}):
        assert env.reset(**reset)[1]["dynamics"] == nominal


@pytest.mark.parametrize("as_keyword", [True, False])
@pytest.mark.parametrize("randomize", [True, False])
def test_explicit_parameters_are_held(as_keyword: bool, randomize: bool) -> None:
    given = {"gravity": 3.7, "pole_mass": 0.2}
    options: dict[str, Any] = given if as_keyword else {"parameters": given}
    env = make("cart-pole", randomize=randomize, **options)
    drawn = [
        env.reset(**reset)[1]["dynamics"] for reset in ({"seed": 1}, {"seed": 2}, {}, {"options": {"redraw": True}})
    ]
    assert all(each["gravity"] == 3.7 and each["pole_mass"] == 0.2 for each in drawn)
    masses = {each["cart_mass"] for each in drawn}
    # The third is a reset that keeps what the second drew.
    assert len(masses) == (3 if randomize else 1)


def test_a_parameter_acts_the_same_however_it_is_given() -> None:
    actions = held_actions(3, 100, 3)
    ways = [
        make("mountain-car", acceleration=0.002),
        make("mountain-car", parameters={"acceleration": 0.002}),
        UntunedEnvironment("mountain-car[acceleration=0.002]"),
        UntunedEnvironment(untuned.environment("mountain-car", acceleration=0.002)),
        UntunedEnvironment(untuned.environment("mountain-car"), acceleration=0.002),
    ]
    found = [trajectory(env, actions, seed=9) for env in ways]
    assert all(each == found[0] for each in found)
    assert found[0] != trajectory(make("mountain-car", acceleration=0.001), actions, seed=9)


@pytest.mark.parametrize(("kind", "value"), [("whole", 9), ("numpy's", np.float32(9)), ("numpy's whole", np.int64(9))])
def test_a_parameter_may_be_any_kind_of_number(kind: str, value: Any) -> None:
    env = make("cart-pole", gravity=value)
    found = env.reset(seed=1)[1]["dynamics"]["gravity"]
    assert found == 9.0
    assert type(found) is float
    assert ours(env).environment.name == "cart-pole[gravity=9.0]"


BAD_OPTIONS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("untuned/CartPole-v0", {"gravity": math.nan}, ("gravity=nan", "(0, 1000]", "9.8")),
    ("untuned/CartPole-v0", {"parameters": {"gravity": math.nan}}, ("gravity=nan", "(0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": math.inf}, ("gravity=inf", "(0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": -math.inf}, ("gravity=-inf", "(0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": 0}, ("gravity=0", "(0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": "9.8"}, ("gravity='9.8'", "a number in (0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": True}, ("gravity=True", "a number in (0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": None}, ("gravity=None", "a number in (0, 1000]")),
    ("untuned/CartPole-v0", {"gravity": 10**400}, ("a number in (0, 1000]",)),
    ("untuned/CartPole-v0", {"gravty": 9.8}, ("'gravty'", "did you mean 'gravity'", "pole_mass")),
    ("untuned/CartPole-v0", {"parameters": {"gravty": 9.8}}, ("'gravty'", "did you mean 'gravity'")),
    ("untuned/CartPole-v0", {"parameters": 5}, ("parameters=5",)),
    ("untuned/CartPole-v0", {"parameters": ["gravity"]}, ("parameters=['gravity']",)),
    ("untuned/CartPole-v0", {"randomize": "no"}, ("randomize='no'", "True or False")),
    ("untuned/Chain10Stochastic-v0", {"slip_probability": 1.1}, ("slip_probability=1.1", "[0, 1]")),
    ("untuned/Chain10Stochastic-v0", {"slip_probability": -0.1}, ("slip_probability=-0.1", "[0, 1]")),
    ("untuned/Gridworld-v0", {"size": -3}, ("size=-3", "from 2 to 1,000")),
    ("untuned/Gridworld-v0", {"size": 1}, ("size=1", "from 2 to 1,000")),
    ("untuned/Gridworld-v0", {"size": 5.0}, ("size=5.0", "whole number")),
    ("untuned/Gridworld-v0", {"size": True}, ("size=True", "whole number")),
    ("untuned/Chain-v0", {"size": 10**9}, ("size=1000000000", "from 2 to 100,000")),
    ("untuned/Chain-v0", {"stochastic": "yes"}, ("stochastic='yes'", "True or False")),
    ("untuned/Gridworld-v0", {"slips": "perpendiculer"}, ("'perpendiculer'", "did you mean 'perpendicular'", "cyclic")),
    ("untuned/Pinball-v0", {"layout": "boxx"}, ("'boxx'", "did you mean 'box'", "medium")),
    ("untuned/PinballBox-v0", {"ball_radius": 0.2}, ("ball_radius=0.2", "(0, 0.1]")),
    ("untuned/MountainCar-v0", {"random_strat": True}, ("did you mean 'random_start'",)),
    ("untuned/CartPole-v0", {"environment": 5}, ("5", "cart-pole")),
]


@pytest.mark.parametrize(("identifier", "options", "parts"), BAD_OPTIONS)
def test_a_bad_option_is_an_error_that_says_what_is_allowed(
    identifier: str, options: dict[str, Any], parts: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidInput) as caught:
        gymnasium.make(identifier, **options)
    for part in parts:
        assert part in str(caught.value)


def test_an_unknown_render_mode_is_an_error_that_says_which_exist() -> None:
    with pytest.raises(InvalidInput, match=r"'ansi'.*'rgb_array'"):
        UntunedEnvironment("cart-pole", render_mode="ansi")


@pytest.mark.parametrize(
    ("identifier", "error", "advice"),
    [
        ("untuned/CartPol-v0", gymnasium.error.NameNotFound, "CartPole"),
        ("untuned/cartpole-v0", gymnasium.error.NameNotFound, "CartPole"),
        ("untunde/CartPole-v0", gymnasium.error.NamespaceNotFound, "untuned"),
        ("untuned/CartPole-v7", gymnasium.error.VersionNotFound, "v0"),
    ],
)
def test_an_unknown_id_is_gymnasiums_error_with_the_nearest(
    identifier: str, error: type[Exception], advice: str
) -> None:
    with pytest.raises(error, match=f"`{advice}`"):
        gymnasium.make(identifier)


@pytest.mark.parametrize(
    "raised", [InvalidInput("no"), UnknownName("environment", "card-pole", ["cart-pole"]), MissingExtra("Ray", "ray")]
)
def test_errors_survive_the_way_between_processes(raised: UntunedError) -> None:
    # Environments run in workers, and an error that cannot be unpickled takes the whole pool with it.
    returned = pickle.loads(pickle.dumps(raised))
    assert type(returned) is type(raised)
    assert str(returned) == str(raised)
    assert vars(returned) == vars(raised)


# Steps.


@ALL
@pytest.mark.parametrize("action", [-1, 99, 2**70, 0.5, 1.0, math.nan, "0", None, True, [0], np.array([0, 1])])
def test_an_action_that_does_not_exist_is_an_error_that_lists_those_that_do(name: str, action: Any) -> None:
    env = make(name)
    env.reset(seed=1)
    names = untuned.environment(name).actions
    with pytest.raises(InvalidInput) as caught:
        env.step(action)
    assert repr(action) in str(caught.value)
    assert all(f"{index} ({each})" in str(caught.value) for index, each in enumerate(names))


@ALL
def test_the_last_action_is_allowed_and_the_one_after_it_is_not(name: str) -> None:
    env = make(name)
    env.reset(seed=1)
    number = len(untuned.environment(name).actions)
    env.step(number - 1)
    env.reset()
    with pytest.raises(InvalidInput, match=f"action {number} is not allowed"):
        env.step(number)


@ALL
def test_a_refused_action_leaves_no_trace(name: str) -> None:
    actions = held_actions(len(untuned.environment(name).actions), 30, 8)
    expected = trajectory(make(name), actions, seed=6)
    env = make(name)

    class Clumsy(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            with pytest.raises(InvalidInput):
                super().step(99)
            return super().step(action)

    assert trajectory(Clumsy(env), actions, seed=6) == expected


@pytest.mark.parametrize("one", [np.int64(1), np.int32(1), np.uint8(1), np.array(1), np.array([1])])
def test_numpys_integers_are_actions(one: Any) -> None:
    first, second = make("cart-pole"), make("cart-pole")
    first.reset(seed=1)
    second.reset(seed=1)
    assert first.step(one)[0].tolist() == second.step(1)[0].tolist()


@ALL
def test_observations_are_new_and_of_the_declared_type(name: str) -> None:
    env = make(name)
    environment = untuned.environment(name)
    observations: list[Any] = [env.reset(seed=2)[0]]
    for action in held_actions(len(environment.actions), 40, 2):
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        assert info == {}
        if terminated or truncated:
            observations.append(env.reset()[0])
    if isinstance(environment.states, DiscreteStates):
        assert all(type(each) is np.int64 for each in observations)
    else:
        assert all(type(each) is np.ndarray and each.dtype == np.float64 for each in observations)
        assert all(each.shape == (environment.states.dimensions,) for each in observations)
        pairs = itertools.combinations(observations, 2)
        assert not any(np.shares_memory(one, other) for one, other in pairs)


@pytest.mark.parametrize("name", ["acrobot", "cart-pole", "mountain-car", "pinball-medium"])
def test_what_a_caller_does_to_an_observation_does_not_reach_the_environment(name: str) -> None:
    first, second = make(name), make(name)
    spoilt, _ = first.reset(seed=3)
    second.reset(seed=3)
    for _ in range(10):
        spoilt[:] = math.nan
        spoilt = first.step(0)[0]
        assert spoilt.tolist() == second.step(0)[0].tolist()


def corners(parameters: tuple[Parameter, ...]) -> list[dict[str, float]]:
    """Every parameter at an end of where it is drawn from, in some of the combinations."""
    ends = [(each.distribution.low, each.distribution.high) for each in parameters]
    chosen = [tuple(low for low, _ in ends), tuple(high for _, high in ends)]
    generator = np.random.default_rng(1)
    chosen += [tuple(pair[int(generator.integers(2))] for pair in ends) for _ in range(2)]
    return [dict(zip((each.name for each in parameters), values, strict=True)) for values in chosen]


@ALL
def test_random_play_stays_within_the_declared_space_and_score_range(name: str) -> None:
    environment = untuned.environment(name)
    variants: list[dict[str, Any]] = [{}, {}, {"randomize": False}]
    variants += [{"parameters": values} for values in corners(environment.parameters)]
    for seed, options in enumerate(variants if not INTERPRETED else variants[:1]):
        # Without the passive checker, which would make the same test at half the speed.
        env = make(name, disable_env_checker=True, **options)
        assert ours(env).environment.score_range is not None
        worst, best = ours(env).environment.score_range or (0.0, 0.0)
        generator = np.random.default_rng(seed)
        observation, _ = env.reset(seed=seed)
        assert observation in env.observation_space
        action, total, steps, over = 0, 0.0, 0, False
        while not over:
            if generator.random() < 0.2:
                action = int(generator.integers(len(environment.actions)))
            observation, reward, terminated, truncated, _ = env.step(action)
            assert observation in env.observation_space, (options, steps, observation)
            total += float(reward)
            steps += 1
            over = terminated or truncated
        assert worst <= total <= best
        assert steps <= (environment.step_limit or 0)


@ONE_EACH
def test_whatever_parameter_is_allowed_observations_stay_within_the_space(name: str) -> None:
    # A thousand times less and more than is customary, where that is allowed.
    environment = untuned.environment(name)
    left = []
    for parameter, factor in itertools.product(environment.parameters, (1e-3, 1e-1, 10.0, 1e3)):
        value = parameter.nominal * factor
        if value not in parameter.allowed:
            continue
        env = make(name, disable_env_checker=True, randomize=False, parameters={parameter.name: value})
        observation, _ = env.reset(seed=1)
        for action in held_actions(len(environment.actions), STEPS // 2, 4):
            observation, _, terminated, truncated, _ = env.step(action)
            if observation not in env.observation_space:
                left.append((parameter.name, value, observation.tolist()))
                break
            if terminated or truncated:
                observation, _ = env.reset()
    assert left == []


def _upright(observation: NDArray[np.float64], step: int) -> int:
    return int(observation[2] + 0.3 * observation[3] > 0)


NEVER_ENDING: dict[str, tuple[Policy, dict[str, Any]]] = {
    "gridworld-5-deterministic": (lambda observation, step: 0, {}),
    "gridworld-5-stochastic": (lambda observation, step: 2 * (step % 2), {}),
    "gridworld-10-deterministic": (lambda observation, step: 0, {}),
    "chain-10-deterministic": (lambda observation, step: 0, {}),
    "chain-50-stochastic": (lambda observation, step: 0, {}),
    "acrobot": (lambda observation, step: 1, {}),
    "cart-pole": (_upright, {"randomize": False}),
    "mountain-car": (lambda observation, step: 1, {}),
    "pinball-single": (lambda observation, step: 4, {"noise": 0.0}),
}


@pytest.mark.parametrize("name", NEVER_ENDING)
def test_when_the_time_is_up_the_episode_is_truncated_and_not_terminated(name: str) -> None:
    policy, options = NEVER_ENDING[name]
    steps, _, terminated, truncated = play(make(name, disable_env_checker=True, **options), policy)
    assert (terminated, truncated) == (False, True)
    assert steps == untuned.environment(name).step_limit


AT_THE_HOLE = {"target_radius": 0.5, "ball_radius": 0.1, "noise": 0.0, "force": 1.0}
REACHING: dict[str, tuple[Policy, dict[str, Any]]] = {
    "gridworld-5-deterministic": (lambda observation, step: (1, 3)[step % 2], {}),
    "gridworld-10-stochastic": (lambda observation, step: (1, 3)[step % 2], {}),
    "chain-10-deterministic": (lambda observation, step: 1, {}),
    "chain-50-stochastic": (lambda observation, step: 1, {}),
    "acrobot": (lambda observation, step: 2 if observation[3] > 0 else 0, {"randomize": False}),
    "cart-pole": (lambda observation, step: 1, {}),
    "mountain-car": (lambda observation, step: 2 if observation[1] >= 0 else 0, {}),
    "pinball-empty": (lambda observation, step: (0, 1)[step % 2], AT_THE_HOLE),
    "pinball-medium": (lambda observation, step: (0, 1)[step % 2], AT_THE_HOLE),
}


@pytest.mark.parametrize("name", REACHING)
def test_when_the_task_is_over_the_episode_is_terminated_and_not_truncated(name: str) -> None:
    policy, options = REACHING[name]
    steps, _, terminated, truncated = play(make(name, **options), policy)
    assert (terminated, truncated) == (True, False)
    assert steps < (untuned.environment(name).step_limit or 0)


@pytest.mark.parametrize("name", ["gridworld-5-deterministic", "chain-10-deterministic"])
def test_the_shortest_way_earns_the_best_score(name: str) -> None:
    policy, _ = REACHING[name]
    _, total, _, _ = play(make(name), policy)
    assert untuned.environment(name).score_range is not None
    assert total == (untuned.environment(name).score_range or (0.0, 0.0))[1]


@pytest.mark.parametrize("ending", [REACHING, NEVER_ENDING])
@pytest.mark.parametrize("name", ["gridworld-5-deterministic", "chain-10-deterministic"])
def test_a_step_after_the_end_needs_a_reset(name: str, ending: dict[str, tuple[Policy, dict[str, Any]]]) -> None:
    env = make(name)
    play(env, ending[name][0])
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
            env.step(0)
    env.reset()
    env.step(0)


@ALL
def test_before_the_first_reset_there_is_nothing_to_step_or_see(name: str) -> None:
    for env in (make(name, render_mode="rgb_array"), UntunedEnvironment(name, render_mode="rgb_array")):
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.render()
    with pytest.raises(gymnasium.error.ResetNeeded):
        _ = UntunedEnvironment(name).dynamics


# Copies, wrappers, vectors.


@ALL
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_by_itself_from_the_same_moment(
    name: str, duplicate: Callable[[GymnasiumEnv], GymnasiumEnv]
) -> None:
    env = make(name, render_mode="rgb_array")
    unused = duplicate(env)
    actions = held_actions(len(untuned.environment(name).actions), 40, 7)
    start = trajectory(env, actions[:3], seed=5)
    assert trajectory(unused, actions[:3], seed=5) == start
    twin = duplicate(env)
    assert np.array_equal(np.asarray(twin.render()), np.asarray(env.render()))
    assert ours(twin).environment == ours(env).environment
    # One goes all the way before the other starts: nothing is shared.
    ways: list[list[tuple[Any, ...]]] = []
    for each in (env, twin):
        way: list[tuple[Any, ...]] = []
        for action in actions[3:]:
            observation, reward, terminated, truncated, _ = each.step(action)
            way.append((np.array(observation).tolist(), reward, terminated, truncated))
            if terminated or truncated:
                each.reset()
        way.append((each.reset(options={"redraw": True})[1]["dynamics"],))
        ways.append(way)
    assert ways[0] == ways[1]


def test_a_specification_makes_the_same_environment_again() -> None:
    env = make("cart-pole", gravity=3.7, randomize=False)
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    assert ours(again).environment == ours(env).environment
    assert gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()).kwargs == env.spec.kwargs


def test_gymnasiums_time_limit_can_be_shorter_than_ours() -> None:
    steps, _, terminated, truncated = play(make("chain-10-deterministic", max_episode_steps=7), lambda *_: 0)
    assert (steps, terminated, truncated) == (7, False, True)


def test_gymnasiums_wrappers_fit() -> None:
    env: GymnasiumEnv = gymnasium.wrappers.RecordEpisodeStatistics(make("chain-10-deterministic"))
    env = gymnasium.wrappers.FlattenObservation(env)
    observation, _ = env.reset(seed=1)
    assert observation.tolist() == [1.0] + [0.0] * 9
    info: dict[str, Any] = {}
    for _ in range(9):
        observation, _, _, _, info = env.step(1)
    assert observation.tolist() == [0.0] * 9 + [1.0]
    assert (info["episode"]["r"], info["episode"]["l"]) == (-8.0, 9)


@pytest.mark.parametrize("name", ["chain-10-stochastic", "cart-pole"])
def test_a_vector_of_environments_is_those_environments(name: str) -> None:
    vector = gymnasium.make_vec(IDS[name], num_envs=3, vectorization_mode="sync")
    observations, _ = vector.reset(seed=20)
    singles = [make(name) for _ in range(3)]
    expected = np.array([env.reset(seed=20 + index)[0] for index, env in enumerate(singles)])
    assert observations.tolist() == expected.tolist()
    generator = np.random.default_rng(2)
    over = [False] * 3
    endings = 0
    for _ in range(300):
        actions = generator.integers(2, size=3)
        observations, rewards, terminated, truncated, _ = vector.step(actions)
        for index, env in enumerate(singles):
            if over[index]:
                # Gymnasium's way: the step after the last one resets.
                expected_observation, _ = env.reset()
                outcome: tuple[Any, ...] = (0.0, False, False)
            else:
                expected_observation, *rest, _ = env.step(actions[index])
                outcome = tuple(rest)
            over[index] = bool(outcome[1] or outcome[2])
            endings += over[index]
            assert observations[index].tolist() == expected_observation.tolist()
            assert (rewards[index], terminated[index], truncated[index]) == outcome
    assert endings > 0
    assert vector.single_observation_space == singles[0].observation_space
    vector.close()


# Pictures.


def picture(env: GymnasiumEnv) -> NDArray[np.uint8]:
    frame = env.render()
    assert isinstance(frame, np.ndarray)
    assert frame.dtype == np.uint8
    assert frame.ndim == 3
    assert frame.shape[2] == 3
    return frame


MOVING = {
    "gridworld": [1, 3, 1, 3, 1, 3],
    "chain": [1] * 6,
    "acrobot": [2] * 6,
    "cart-pole": [1] * 6,
    "mountain-car": [2] * 6,
    "pinball": [0] * 6,
}


@ALL
def test_a_picture_follows_the_state(name: str) -> None:
    options = {"slip_probability": 0.0} if "chain" in name or "gridworld" in name else {}
    env = make(name, render_mode="rgb_array", randomize=False, **options)
    env.reset(seed=3)
    first = picture(env)
    pictures = [first]
    for number, action in enumerate(MOVING[untuned.environment(name).family]):
        env.step(action)
        # Every other one: a push on a cart at rest changes its speed first, which no picture shows.
        if number % 2:
            pictures.append(picture(env))
    assert all(each.shape == first.shape for each in pictures)
    assert all(not np.array_equal(one, other) for one, other in itertools.combinations(pictures, 2))
    # The same state again, the same picture again, in new memory.
    env.reset()
    again = picture(env)
    assert np.array_equal(again, first)
    again[:] = 0
    assert np.array_equal(picture(env), first)


@pytest.mark.parametrize("name", ["gridworld-5-deterministic", "chain-10-deterministic", "chain-50-deterministic"])
def test_every_discrete_state_has_its_own_picture(name: str) -> None:
    env = make(name, render_mode="rgb_array")
    states = untuned.environment(name).states
    assert isinstance(states, DiscreteStates)
    side = math.isqrt(states.number)
    # Back and forth over the board, the goal last; the chain is one row.
    sweep = [1] * (states.number - 1) if "chain" in name else ([3] * (side - 1) + [1] + [2] * (side - 1) + [1]) * side
    observation, _ = env.reset(seed=1)
    seen = {int(observation): picture(env).tobytes()}
    for action in sweep:
        observation, _, terminated, _, _ = env.step(action)
        seen[int(observation)] = picture(env).tobytes()
        if terminated:
            break
    assert set(seen) == set(range(states.number))
    assert len(set(seen.values())) == states.number


@ALL
def test_looking_changes_nothing(name: str) -> None:
    class Seen(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            self.render()
            return super().step(action)

    actions = held_actions(len(untuned.environment(name).actions), 20, 9)
    expected = trajectory(make(name), actions, seed=8)
    assert trajectory(Seen(make(name, render_mode="rgb_array")), actions, seed=8) == expected


def test_pictures_are_taken_only_when_asked_for() -> None:
    env = UntunedEnvironment("cart-pole")
    env.reset(seed=1)
    assert env.render() is None
    assert "rgb_array" in env.metadata["render_modes"]


def test_the_last_moment_of_an_episode_can_be_seen() -> None:
    env = make("chain-10-deterministic", render_mode="rgb_array")
    env.reset(seed=1)
    first = picture(env)
    play(env, lambda *_: 1)
    assert not np.array_equal(picture(env), first)


def test_gymnasium_collects_pictures() -> None:
    env = make("cart-pole", render_mode="rgb_array_list")
    env.reset(seed=1)
    for _ in range(3):
        env.step(0)
    frames = env.render()
    assert isinstance(frames, list)
    assert len(frames) == 4
    assert len({np.asarray(frame).tobytes() for frame in frames}) >= 3


# Our names, where Gymnasium is not in between.


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("card-pole", ("'card-pole'", "did you mean 'cart-pole'?", "mountain-car")),
        ("CartPole", ("did you mean 'cart-pole'?",)),
        ("pinball-boxx", ("did you mean 'pinball-box'?",)),
        ("gridworld--3-stochastic", ("size=-3", "from 2 to 1,000")),
        ("gridworld-" + "9" * 5000 + "-stochastic", ("from 2 to 1,000",)),
        ("chain-1-stochastic", ("size=1", "from 2 to 100,000")),
        ("cart-pole[gravity=nan]", ("gravity=nan", "(0, 1000]")),
        ("cart-pole[gravity=]", ("gravity=''", "(0, 1000]")),
        ("cart-pole[gravity]", ("'gravity'", "name=value")),
        ("cart-pole[gravty=1]", ("did you mean 'gravity'?",)),
        ("cart-pole[", ("'cart-pole['", "did you mean 'cart-pole'?")),
        ("", ("''", "cart-pole")),
    ],
)
def test_an_unknown_name_is_an_error_that_says_which_is_nearest(name: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        UntunedEnvironment(name)
    for part in parts:
        assert re.search(re.escape(part), str(caught.value)), str(caught.value)


def test_continuous_bounds_hold_where_declared_ranges_need_not() -> None:
    # What scales features may be left; what Gymnasium checks may not.
    states = untuned.environment("mountain-car").states
    assert isinstance(states, ContinuousStates)
    env = make("mountain-car", acceleration=0.002)
    observation, _ = env.reset(seed=1)
    over = False
    while not over:
        observation, _, terminated, truncated, _ = env.step(2 if observation[1] >= 0 else 0)
        over = terminated or truncated
    assert observation[0] >= states.ranges[0][1]
    assert observation in env.observation_space
