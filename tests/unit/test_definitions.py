import dataclasses
import math
import pickle
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import untuned
from untuned.collect.agents.actor_critic import ActorCritic
from untuned.collect.agents.agent import Agent
from untuned.collect.agents.features import Fourier, Tabular
from untuned.collect.agents.nac_td import NacTd
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.sarsa import QLearning, Sarsa
from untuned.collect.definitions.definition import Definition, Hyperparameter, same_definitions
from untuned.collect.definitions.draw import Draw
from untuned.collect.definitions.paper import ELEVEN
from untuned.collect.environments.environment import ContinuousStates, DiscreteStates, Environment
from untuned.collect.environments.names import NAMES
from untuned.errors import InvalidInput, UnknownName

PAPER = {
    "sarsa": "Sarsa(λ)",
    "sarsa-s": "Sarsa(λ)-s",
    "sarsa-parl2": "Sarsa-Parl2",
    "q": "Q(λ)",
    "q-s": "Q(λ)-s",
    "q-parl2": "Q-Parl2",
    "ac": "AC",
    "ac-s": "AC-s",
    "ac-parl2": "AC-Parl2",
    "nac-td": "NAC-TD",
    "ppo": "PPO",
}
DISCRETE = untuned.environment("gridworld-5-deterministic")
CONTINUOUS = untuned.environment("cart-pole")
BOTH = pytest.mark.parametrize("environment", [DISCRETE, CONTINUOUS], ids=["discrete", "continuous"])
ALGORITHM = pytest.mark.parametrize("name", PAPER)

# The paper's table again, independent of the code: what is drawn beyond features, gamma and lambda, in order.
# A number of weights to divide by is "features" or "weights of all actions".
SMALL, TABLE, SCALED = (1e-6, 1e-3), (1e-3, 1e-1), (1e-3, 1.0)
Range = tuple[float, float]
Row = tuple[str, Range, Range, str]
ADAPTED = (math.nan, math.nan)
EPSILON: Row = ("epsilon", (0, 0.1), (0, 0.1), "")
TEMPORAL_DIFFERENCE = {
    "": ("step_size", TABLE, SMALL, ""),
    "-s": ("step_size", TABLE, SCALED, "features"),
    "-parl2": ("step_size", ADAPTED, ADAPTED, ""),
}
DRAWN: dict[str, list[Row]] = {
    **{f"{kind}{rule}": [EPSILON, row] for kind in ("sarsa", "q") for rule, row in TEMPORAL_DIFFERENCE.items()},
    "ac": [("critic_step_size", TABLE, SMALL, ""), ("actor_step_size", TABLE, SMALL, "")],
    "ac-s": [
        ("critic_step_size", TABLE, SCALED, "features"),
        ("actor_step_size", TABLE, SCALED, "weights of all actions"),
    ],
    "ac-parl2": [
        ("critic_step_size", ADAPTED, ADAPTED, ""),
        ("actor_step_size", TABLE, SCALED, "weights of all actions"),
    ],
    "nac-td": [
        ("critic_step_size", TABLE, SMALL, ""),
        ("actor_step_size", TABLE, SMALL, ""),
        ("advantage_step_size", TABLE, SMALL, ""),
    ],
    "ppo": [
        ("clip", (0.1, 0.3), (0.1, 0.3), ""),
        ("entropy", (1e-8, 1e-2), (1e-8, 1e-2), ""),
        ("steps_per_batch", (64, 256), (64, 256), ""),
        ("epochs", (1, 10), (1, 10), ""),
        ("minibatch", (16, 64), (16, 64), ""),
        ("step_size", TABLE, SMALL, ""),
    ],
}
GAMMA: Row = ("gamma", (0.95, 0.9999), (0.95, 0.9999), "")
LAMBDA: Row = ("lambda", (0, 1), (0, 1), "")
FEATURES: list[Row] = [("dorder", (0, 0), (0, 9), ""), ("iorder", (0, 0), (1, 9), "")]


def rows(name: str, environment: Environment) -> list[Row]:
    features = FEATURES if isinstance(environment.states, ContinuousStates) else []
    return [*features, GAMMA, LAMBDA, *DRAWN[name]]


def drawn(name: str, environment: Environment, uniform: Callable[[], float]) -> tuple[Agent, Draw]:
    draw = Draw(uniform)
    return untuned.algorithm(name).agent(environment, draw), draw


def features_of(agent: Any) -> Tabular | Fourier:
    found: Tabular | Fourier = agent.features
    return found


def test_the_eleven_are_there_by_name_and_in_order() -> None:
    assert [each.name for each in ELEVEN] == list(PAPER)
    assert {each.name: each.title for each in ELEVEN} == PAPER
    assert [each.name for each in untuned.algorithms()] == [*PAPER, "tuned-within[sarsa-s,4]"]
    for each in untuned.algorithms():
        assert untuned.algorithm(each.name) == each


@pytest.mark.parametrize("environment_name", NAMES)
@ALGORITHM
def test_everything_drawn_is_in_the_papers_range_on_every_environment(name: str, environment_name: str) -> None:
    environment = untuned.environment(environment_name)
    discrete = isinstance(environment.states, DiscreteStates)
    stream = random.Random(1).random
    # Both ends of every range, and two hundred draws between.
    ends = (0.0, 1 - 2.0**-53)
    for uniform in [lambda: ends[0], lambda: ends[1], *[stream] * 200]:
        agent, draw = drawn(name, environment, uniform)
        expected = [row for row in rows(name, environment) if row[1] is not ADAPTED]
        assert list(draw.params) == [row[0] for row in expected]
        for parameter, on_discrete, on_continuous, scaling in expected:
            low, high = on_discrete if discrete else on_continuous
            if scaling and not discrete:
                features = features_of(agent).number
                divisor = {"features": features, "weights of all actions": features * len(environment.actions)}[scaling]
                low, high = low / divisor, high / divisor
            assert low <= draw.params[parameter] <= high
        assert draw.log_density > -math.inf


@ALGORITHM
@BOTH
def test_both_ends_of_every_range_are_reached(name: str, environment: Environment) -> None:
    # A range that was narrowed by mistake passes the test above.
    discrete = environment is DISCRETE
    lowest, highest = (drawn(name, environment, lambda u=u: u) for u in (0.0, 1 - 2.0**-53))  # type: ignore[misc]
    for parameter, on_discrete, on_continuous, scaling in rows(name, environment):
        low, high = on_discrete if discrete else on_continuous
        if low is math.nan:
            continue
        found = [lowest[1].params[parameter], highest[1].params[parameter]]
        if scaling and not discrete:
            by_actions = len(environment.actions) if scaling != "features" else 1
            found = [
                value * features_of(agent).number * by_actions
                for value, (agent, _) in zip(found, (lowest, highest), strict=True)
            ]
        # A number minus a draw runs downwards.
        assert sorted(found) == pytest.approx([low, high], rel=1e-12)


@ALGORITHM
@BOTH
def test_what_was_drawn_is_what_the_agent_has(name: str, environment: Environment) -> None:
    agent: Any
    agent, draw = drawn(name, environment, random.Random(9).random)
    fields = {"gamma": "discount", "lambda": "trace_decay"}
    for parameter, value in draw.params.items():
        holder = agent.features if parameter in ("dorder", "iorder") else agent
        assert getattr(holder, fields.get(parameter, parameter)) == value
    # No two alike: else one could be taken for another.
    values = [value for parameter, value in draw.params.items() if parameter not in ("dorder", "iorder", "epochs")]
    assert len(set(values)) == len(values)
    adapted = [row[0] for row in rows(name, environment) if row[1] is ADAPTED]
    assert [getattr(agent, parameter) for parameter in adapted] == [None] * len(adapted)
    assert [(note.name, note.text) for note in draw.notes] == [(each, "adapted, starts at 1") for each in adapted]


def test_agents_are_of_their_kind() -> None:
    kinds: dict[str, type] = {"sarsa": Sarsa, "q": QLearning, "ac": ActorCritic, "nac": NacTd, "ppo": Ppo}
    for name in PAPER:
        agent, _ = drawn(name, DISCRETE, random.Random(0).random)
        assert type(agent) is kinds[name.partition("-")[0]]


def test_only_ac_parl2_has_the_bonus() -> None:
    bonus = {}
    for name in ("ac", "ac-s", "ac-parl2"):
        agent, _ = drawn(name, CONTINUOUS, random.Random(0).random)
        assert isinstance(agent, ActorCritic)
        bonus[name] = agent.surprise_bonus
    assert bonus == {"ac": 0.0, "ac-s": 0.0, "ac-parl2": 0.01}


def test_features_are_the_environments() -> None:
    agent, _ = drawn("sarsa", DISCRETE, random.Random(0).random)
    assert features_of(agent) == Tabular(25)
    agent, draw = drawn("sarsa", CONTINUOUS, random.Random(0).random)
    assert isinstance(CONTINUOUS.states, ContinuousStates)
    assert features_of(agent) == Fourier(CONTINUOUS.states.ranges, draw.params["dorder"], draw.params["iorder"])


def dimensions(number: int, discount: float = 1.0) -> Environment:
    ranges = ((0.0, 1.0),) * number
    states = ContinuousStates(tuple(f"x{index}" for index in range(number)), ranges, ranges)
    facts = {each.name: getattr(CONTINUOUS, each.name) for each in dataclasses.fields(Environment)}
    return Environment(**{**facts, "name": "made-up", "states": states, "discount": discount})


@pytest.mark.parametrize(("number", "highest"), [(1, 9), (4, 9), (5, 5), (6, 3), (13, 1), (14, 0), (30, 0)])
def test_no_more_than_ten_thousand_coupled_features_are_drawn(number: int, highest: int) -> None:
    agent, draw = drawn("sarsa", dimensions(number), lambda: 1 - 2.0**-53)
    assert draw.params["dorder"] == highest
    assert features_of(agent).number <= 10_000 + 9 * number


@pytest.mark.parametrize("discount", [0.99, 0.5, 0.05])
def test_the_discount_is_below_the_environments(discount: float) -> None:
    low, high = (drawn("q", dimensions(2, discount), lambda u=u: u)[1].params["gamma"] for u in (1 - 2.0**-53, 0.0))  # type: ignore[misc]
    assert (low, high) == pytest.approx((discount - 0.05, discount - 1e-4), abs=1e-12)
    (row,) = [row for row in untuned.algorithm("q").describe(dimensions(2, discount)) if row.name == "gamma"]
    assert str(row) == f"{discount:g} - ln-uniform(0.0001, 0.05)"


def test_an_environment_that_discounts_nearly_everything_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        drawn("q", dimensions(2, 0.04), lambda: 0.5)
    assert str(caught.value) == (
        "the discount of made-up is 0.04; the paper's algorithms take up to 0.05 off it, and need one of 0.05 to 1"
    )


@ALGORITHM
def test_the_paper_s_definitions_travel(name: str) -> None:
    definition = untuned.algorithm(name)
    copy: Definition = pickle.loads(pickle.dumps(definition))
    stream, same_stream = random.Random(2).random, random.Random(2).random
    assert copy.agent(CONTINUOUS, Draw(stream)) == definition.agent(CONTINUOUS, Draw(same_stream))
    assert [copy.same_as(each) for each in (DISCRETE, CONTINUOUS)] == [
        definition.same_as(each) for each in (DISCRETE, CONTINUOUS)
    ]


# Where text and numbers differ.


def test_every_difference_is_noted_where_it_is() -> None:
    noted = {
        word: [each.name for each in ELEVEN if any(word in note for note in each.differs)]
        for word in ("epsilon", "exponent", "bonus", "sign")
    }
    assert noted == {
        "epsilon": ["sarsa", "sarsa-s", "sarsa-parl2", "q", "q-s", "q-parl2"],
        "exponent": ["sarsa-s", "q-s", "ac-s", "ac-parl2"],
        "bonus": ["ac-parl2"],
        "sign": ["ppo"],
    }


# What is one and the same.


@pytest.mark.parametrize("environment_name", NAMES)
def test_scaled_versions_are_the_same_on_discrete_states_alone(environment_name: str) -> None:
    environment = untuned.environment(environment_name)
    expected = (
        (("sarsa", "sarsa-s"), ("q", "q-s"), ("ac", "ac-s")) if isinstance(environment.states, DiscreteStates) else ()
    )
    assert same_definitions(ELEVEN, environment) == expected


@ALGORITHM
@BOTH
def test_what_is_declared_the_same_is_built_the_same_and_nothing_else_is(name: str, environment: Environment) -> None:
    (group,) = [group for group in (*same_definitions(ELEVEN, environment), (name,)) if name in group][:1]
    mine = drawn(name, environment, random.Random(4).random)
    for other in PAPER:
        theirs = drawn(other, environment, random.Random(4).random)
        assert ((mine[0], mine[1].record) == (theirs[0], theirs[1].record)) == (other in group)


def named(name: str, other: str | None = None) -> Definition:
    return Definition(name, name, 1, "", untuned.algorithm("q").build, lambda environment: other)


@pytest.mark.parametrize(
    ("declared", "groups"),
    [
        ({"a": None, "b": None}, ()),
        ({"a": "b", "b": None}, (("a", "b"),)),
        ({"a": None, "b": "a"}, (("a", "b"),)),
        ({"a": "b", "b": "a"}, (("a", "b"),)),
        ({"a": "a", "b": None}, ()),
        ({"a": "b", "b": "c", "c": None, "d": None}, (("a", "b", "c"),)),
        ({"a": "c", "b": "c", "c": "d", "d": "a"}, (("a", "b", "c", "d"),)),
        ({"a": "elsewhere", "b": "elsewhere", "c": None}, (("a", "b"),)),
        ({"a": "elsewhere", "b": None}, ()),
        ({"d": "b", "c": "a", "b": None, "a": None}, (("d", "b"), ("c", "a"))),
        # Names that look alike are not.
        ({"x": None, "x-s": None, "X": None}, ()),
    ],
)
def test_groups_follow_from_what_is_declared(declared: dict[str, str | None], groups: tuple[Any, ...]) -> None:
    definitions = [named(name, other) for name, other in declared.items()]
    assert same_definitions(definitions, DISCRETE) == groups
    assert {frozenset(group) for group in same_definitions(reversed(definitions), DISCRETE)} == set(
        map(frozenset, groups)
    )


def test_two_definitions_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="two definitions are called 'a': give each a name of its own"):
        same_definitions([named("a"), named("a", "b")], DISCRETE)
    one = named("a", "b")
    assert same_definitions([one, one, named("b")], DISCRETE) == (("a", "b"),)


def test_a_declaration_is_a_name_or_none() -> None:
    anything: Any = True
    broken = dataclasses.replace(named("a"), same_as=lambda environment: anything)
    with pytest.raises(InvalidInput, match="same_as of a returned True: return a definition's name, or None"):
        same_definitions([broken], DISCRETE)


# Describing.


def conditional(environment: Environment, draw: Draw) -> Agent:
    draw.suggest_float("always", 0, 1)
    optimizer = draw.suggest_categorical("optimizer", ["sgd", "adam", "none"])
    if optimizer == "none":
        draw.note("rate", "nothing to set")
    else:
        draw.suggest_float("rate", *((1e-3, 1e-1) if optimizer == "sgd" else (1e-5, 1e-3)), log=True)
    if optimizer == "adam":
        draw.suggest_float("beta", 0.8, 1)
    return Sarsa(Tabular(2), 0.9, 0.5, 0.1, 0.1)


def test_a_description_shows_what_depends_on_what() -> None:
    definition = Definition("mine", "Mine", 1, "", conditional)
    described = {row.name: row for row in definition.describe(DISCRETE)}
    assert list(described)[:3] == ["always", "optimizer", "rate"]
    assert described["always"] == Hyperparameter("always", ("U(0, 1)",), False)
    assert described["optimizer"] == Hyperparameter("optimizer", ("one of 'sgd', 'adam', 'none'",), False)
    assert set(described["rate"].distributions) == {
        "ln-uniform(0.001, 0.1)",
        "ln-uniform(1e-05, 0.001)",
        "nothing to set",
    }
    assert not described["rate"].sometimes
    assert described["beta"] == Hyperparameter("beta", ("U(0.8, 1)",), True)
    assert str(described["beta"]) == "U(0.8, 1) (sometimes)"
    assert str(described["rate"]) == " or ".join(described["rate"].distributions)
    assert described["beta"].facts() == {"name": "beta", "distributions": ["U(0.8, 1)"], "sometimes": True}


def test_a_description_is_always_the_same() -> None:
    definition = Definition("mine", "Mine", 1, "", conditional)
    assert definition.describe(DISCRETE) == definition.describe(DISCRETE)


@ALGORITHM
@BOTH
def test_descriptions_of_the_eleven_have_every_hyperparameter(name: str, environment: Environment) -> None:
    described = untuned.algorithm(name).describe(environment)
    assert [row.name for row in described] == [row[0] for row in rows(name, environment)]
    assert not any(row.sometimes or len(row.distributions) > 1 for row in described)


def test_a_description_draws_256_times() -> None:
    calls: Counter[str] = Counter()

    def build(environment: Environment, draw: Draw) -> Agent:
        calls[environment.name] += 1
        assert draw.number == sum(calls.values()) - 1
        return Sarsa(Tabular(2), 0.9, 0.5, 0.1, 0.1)

    assert Definition("mine", "Mine", 1, "", build).describe(CONTINUOUS) == ()
    assert calls == {"cart-pole": 256}


# One's own definitions.


def test_mistakes_of_a_build_function_are_its_authors() -> None:
    def build(environment: Environment, draw: Draw) -> Agent:
        raise ZeroDivisionError("mine")

    definition = Definition("mine", "Mine", 1, "", build)
    with pytest.raises(ZeroDivisionError, match="mine"):
        definition.agent(DISCRETE, Draw(random.Random(0).random))
    with pytest.raises(ZeroDivisionError, match="mine"):
        definition.describe(DISCRETE)


@pytest.mark.parametrize("returned", [None, 3, "agent", object()])
def test_a_build_function_returns_an_agent(returned: Any) -> None:
    definition = Definition("mine", "Mine", 1, "", lambda environment, draw: returned)
    for use in (
        lambda: definition.agent(DISCRETE, Draw(random.Random(0).random)),
        lambda: definition.describe(DISCRETE),
    ):
        with pytest.raises(InvalidInput) as caught:
            use()
        assert str(caught.value) == (
            f"build of mine returned {returned!r}, which has no start: return an agent, such as "
            "untuned.collect.agents.sarsa.Sarsa"
        )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"name": ""}, "name='' is not allowed for a definition: give a text that is not empty"),
        ({"name": 3}, "name=3 is not allowed for a definition"),
        ({"title": " "}, "title=' ' is not allowed for a definition"),
        ({"version": None}, "version=None of mine is not allowed: give a text or a whole number"),
        ({"version": ""}, "version='' of mine is not allowed"),
        ({"version": True}, "version=True of mine is not allowed"),
        ({"version": 1.5}, "version=1.5 of mine is not allowed"),
        ({"build": None}, "build=None of mine is not allowed: give a function"),
        ({"same_as": "sarsa"}, "same_as='sarsa' of mine is not allowed: give a function"),
    ],
)
def test_a_definition_says_what_it_lacks(facts: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {"name": "mine", "title": "Mine", "version": 1, "summary": "", "build": conditional}
    with pytest.raises(InvalidInput) as caught:
        Definition(**{**whole, **facts})
    assert message in str(caught.value)
    assert Definition(**whole).same_as(DISCRETE) is None


# Names.


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tuned-within[sarsa-s,4]", "tuned-within[sarsa-s,4]"),
        ("tuned-within(sarsa-s, 4)", "tuned-within[sarsa-s,4]"),
        (" tuned-within( ppo ,  12 ) ", "tuned-within[ppo,12]"),
        ("tuned-within[q-parl2,1]", "tuned-within[q-parl2,1]"),
        ("tuned-within[ac,007]", "tuned-within[ac,7]"),
    ],
)
def test_both_spellings_of_tuned_within_are_read(spelling: str, name: str) -> None:
    assert untuned.algorithm(spelling).name == name
    assert untuned.algorithm(spelling) == untuned.algorithm(name)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("srsa", "sarsa"), ("SARSA-S", "sarsa-s"), ("nactd", "nac-td"), ("tuned-within", "tuned-within[sarsa-s,4]")],
)
def test_unknown_names_get_a_suggestion(name: str, suggestion: str) -> None:
    with pytest.raises(UnknownName) as caught:
        untuned.algorithm(name)
    assert caught.value.suggestion == suggestion
    assert f"no algorithm is called {name!r}: did you mean {suggestion!r}? known: ac, " in str(caught.value)
    assert "tuned-within[sarsa-s,4] draws four of sarsa-s and continues with the best" in str(caught.value)


@pytest.mark.parametrize("name", [None, 3, "", "zzz", "tuned-within[q,2", "tuned-within[q,2)"])
def test_what_is_no_name_is_unknown(name: Any) -> None:
    with pytest.raises(UnknownName, match="no algorithm is called"):
        untuned.algorithm(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tuned-within[sarsa-s]", "is not a base and a number of candidates: tuned-within[sarsa-s,4] draws four"),
        ("tuned-within[]", "is not a base and a number of candidates"),
        ("tuned-within(q, many)", "is not a base and a number of candidates"),
        ("tuned-within(q, 2.5)", "is not a base and a number of candidates"),
        ("tuned-within[q,2,3]", "is not a base and a number of candidates"),
        ("tuned-within[q,0]", "k=0 is not allowed: give a whole number from 1 to 100,000"),
        ("tuned-within[q,-3]", "k=-3 is not allowed"),
        ("tuned-within[q," + "9" * 5000 + "]", "k=9999999999 is not allowed"),
        ("tuned-within[tuned-within[q,2],2]", "tunes what tunes itself already, which is not supported"),
        ("tuned-within(tuned-within(q, 2), 2)", "tunes what tunes itself already"),
        ("tuned-within[srsa,4]", "no algorithm is called 'srsa': did you mean 'sarsa'?"),
    ],
)
def test_mistakes_within_tuned_within_say_what_is_allowed(name: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        untuned.algorithm(name)
    assert message in str(caught.value)
