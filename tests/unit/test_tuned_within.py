import dataclasses
import pickle
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import untuned
from untuned.collect.agents.agent import Agent, Place, World
from untuned.collect.agents.features import Tabular
from untuned.collect.agents.sarsa import Sarsa
from untuned.collect.agents.tuned_within import SelfTuning, TunedWithin
from untuned.collect.definitions.definition import Definition, same_definitions
from untuned.collect.definitions.draw import Draw
from untuned.collect.definitions.tuned_within import tuned_within
from untuned.collect.environments.environment import DiscreteStates, Environment
from untuned.collect.kernels.jit import Floats
from untuned.collect.kernels.rng import random_state, uniform
from untuned.errors import InvalidInput


def world(episodes: int, seed: int = 0) -> World:
    # The fakes below take nothing of it but the number of episodes and the order of random numbers.
    place = Place(0, 0, np.zeros(1), np.zeros(0), np.full(4, seed, dtype=np.uint64))
    return World(place, actions=2, episodes=episodes, states=1, dimensions=1)


@dataclass
class Fake:
    """Learns a point per episode, from ``first`` on; records all calls."""

    first: float
    gain: float = 1.0
    diverges: bool = False
    worlds: list[World] = field(default_factory=list)
    learned: int = 0
    played: int = 0

    def start(self, world: World) -> "Fake":
        # As a learner would that draws its first weights.
        world.place.random[0] += np.uint64(1)
        self.worlds.append(world)
        return dataclasses.replace(self, learned=0, played=0)

    def learn(self, returns: Floats) -> int:
        assert len(returns) > 0
        for index in range(len(returns)):
            returns[index] = self.first + self.gain * self.learned
            self.learned += 1
        return 10 * len(returns)

    def play(self, returns: Floats) -> int:
        returns[:] = 1000 + self.learned
        self.played += len(returns)
        return 3 * len(returns)

    @property
    def diverged(self) -> bool:
        return self.diverges and self.learned > 0

    @property
    def adapted(self) -> dict[str, float]:
        return {"gain": self.gain}


def started(*fakes: Fake, episodes: int = 100) -> SelfTuning:
    return TunedWithin(fakes).start(world(episodes))


def learned(learner: SelfTuning, episodes: int, part: int | None = None) -> tuple[list[float], int]:
    returns = np.full(episodes, np.nan)
    steps = 0
    for place in range(0, episodes, part or episodes):
        steps += learner.learn(returns[place : place + (part or episodes)])
    return returns.tolist(), steps


def test_the_first_half_tries_and_the_best_learns_on_with_what_it_knows() -> None:
    learner = started(Fake(0.0), Fake(100.0), Fake(50.0), episodes=20)
    returns, steps = learned(learner, 20)
    # 20 // (2 * 3) = 3 episodes each; the second continues for the remaining 11.
    assert returns == [0, 1, 2, 100, 101, 102, 50, 51, 52, *(103.0 + episode for episode in range(11))]
    assert steps == 200
    assert learner.chosen == 1
    final = np.zeros(4)
    assert learner.play(final) == 12
    assert final.tolist() == [1014.0] * 4


def test_the_best_is_the_best_by_its_mean_and_not_by_its_end() -> None:
    assert learned(started(Fake(0.0, gain=10), Fake(30.0, gain=0), episodes=16), 16)[0][8:] == [30.0] * 8


def test_the_first_of_equals_goes_on() -> None:
    learner = started(Fake(1.0), Fake(2.0), Fake(2.0), episodes=12)
    learned(learner, 12)
    assert learner.chosen == 1


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_what_is_no_number_is_not_chosen(bad: float) -> None:
    learner = started(Fake(bad), Fake(-5.0), episodes=8)
    learned(learner, 8)
    assert learner.chosen == 1
    # If there is nothing else, the first continues: a trial always has a score.
    learner = started(Fake(bad), Fake(np.nan), episodes=8)
    learned(learner, 8)
    assert learner.chosen == 0


CANDIDATES = st.lists(st.tuples(st.floats(-5, 5), st.floats(-1, 1)), min_size=1, max_size=5)


@given(CANDIDATES, st.integers(0, 30), st.lists(st.integers(0, 9), max_size=60))
def test_the_sizes_of_the_parts_change_nothing(
    candidates: list[tuple[float, float]], more: int, parts: list[int]
) -> None:
    episodes = 2 * len(candidates) + more
    agent = TunedWithin(tuple(Fake(first, gain) for first, gain in candidates))
    whole_world, parted_world = world(episodes), world(episodes)
    whole = np.zeros(episodes)
    whole_learner = agent.start(whole_world)
    steps = whole_learner.learn(whole)

    parted = np.zeros(episodes)
    learner = agent.start(parted_world)
    place = parted_steps = 0
    for part in [*parts, episodes]:
        parted_steps += learner.learn(parted[place : place + part])
        place = min(place + part, episodes)
    assert parted.tolist() == whole.tolist()
    assert parted_steps == steps == 10 * episodes
    assert learner.chosen == whole_learner.chosen
    assert parted_world.place.random.tolist() == whole_world.place.random.tolist()


@given(CANDIDATES, st.integers(0, 40))
def test_every_candidate_gets_the_same_number_of_episodes(candidates: list[tuple[float, float]], more: int) -> None:
    number = len(candidates)
    episodes = 2 * number + more
    fakes = [Fake(100.0 * turn, 0) for turn in range(number)]
    returns, _ = learned(started(*fakes, episodes=episodes), episodes, part=1)
    tries = episodes // 2 // number
    assert returns[: tries * number] == [100.0 * turn for turn in range(number) for _ in range(tries)]
    assert returns[tries * number :] == [100.0 * (number - 1)] * (episodes - tries * number)


def test_each_candidate_knows_how_long_it_would_learn() -> None:
    fakes = [Fake(0.0), Fake(1.0), Fake(2.0)]
    learned(started(*fakes, episodes=20), 20)
    # 3 episodes of trying and the 11 that remain.
    assert [each.episodes for fake in fakes for each in fake.worlds] == [14, 14, 14]


def test_a_single_candidate_simply_learns() -> None:
    learner = started(Fake(5.0), episodes=9)
    assert learned(learner, 9)[0] == [5.0 + episode for episode in range(9)]
    assert learner.chosen == 0


def test_nothing_is_carried_over_between_trials() -> None:
    agent = TunedWithin((Fake(0.0), Fake(7.0)))
    first, again = (learned(agent.start(world(10)), 10) for _ in range(2))
    assert first == again


def test_learning_beyond_the_budget_goes_on_with_the_chosen() -> None:
    learner = started(Fake(0.0, 0), Fake(7.0, 0), episodes=4)
    assert learned(learner, 9)[0] == [0.0, *[7.0] * 8]


def test_playing_before_the_choice_plays_whose_turn_it_is() -> None:
    learner = started(Fake(0.0), Fake(7.0), episodes=8)
    returns = np.zeros(1)
    learner.play(returns)
    assert returns.tolist() == [1000.0]
    learner.learn(np.zeros(2))
    learner.play(returns)
    assert returns.tolist() == [1000.0]
    assert learner.chosen is None
    assert learned(learner, 6)[0] == [7, 8, 9, 10, 11, 12]


@pytest.mark.parametrize(("diverging", "before", "after"), [(0, True, True), (1, False, True), (2, False, False)])
def test_a_candidate_that_diverged_is_not_forgotten(diverging: int, before: bool, after: bool) -> None:
    fakes = [Fake(0.0, diverges=diverging == 0), Fake(7.0, diverges=diverging == 1)]
    learner = started(*fakes, episodes=8)
    assert learner.diverged is False
    learner.learn(np.zeros(1))
    assert learner.diverged is before
    assert learner.adapted == {}
    learner.learn(np.zeros(7))
    assert learner.chosen == 1
    assert learner.diverged is after
    assert learner.adapted == {"chosen": 2, "gain": 1.0}


@pytest.mark.parametrize(("number", "episodes"), [(4, 7), (1, 1), (50, 99)])
def test_too_few_episodes_say_how_many_are_needed(number: int, episodes: int) -> None:
    agent = TunedWithin(tuple(Fake(0.0) for _ in range(number)))
    with pytest.raises(InvalidInput) as caught:
        agent.start(world(episodes))
    assert str(caught.value) == (
        f"{episodes} episodes are too few to tune within: half of them are for trying, so {number} candidates need "
        f"{2 * number} at least; give more episodes, or fewer candidates"
    )
    agent.start(world(2 * number))


def test_no_candidates_are_refused() -> None:
    with pytest.raises(InvalidInput, match="candidates is empty: give at least one agent to choose from"):
        TunedWithin(())


# The definition.


def uniform_of(seed: int) -> Draw:
    return Draw(random.Random(seed).random)


def test_candidates_are_draws_of_the_base_in_order() -> None:
    environment = untuned.environment("cart-pole")
    base = untuned.algorithm("sarsa-s")
    draw, by_hand = uniform_of(3), uniform_of(3)
    agent = tuned_within(base, 3).agent(environment, draw)
    assert isinstance(agent, TunedWithin)
    assert agent.candidates == tuple(base.agent(environment, by_hand.within(f"{turn}.")) for turn in (1, 2, 3))
    assert len(set(map(str, agent.candidates))) == 3
    assert draw.record == by_hand.record
    names = ("dorder", "iorder", "gamma", "lambda", "epsilon", "step_size")
    assert list(draw.params) == [f"{turn}.{name}" for turn in (1, 2, 3) for name in names]


def test_the_definition_says_what_it_is() -> None:
    base = untuned.algorithm("ac-parl2")
    tuned = tuned_within(base, 5)
    assert (tuned.name, tuned.title) == ("tuned-within[ac-parl2,5]", "AC-Parl2, tuned within: 5")
    assert tuned.version == "1+1"
    assert dataclasses.replace(base, version="7b").version == "7b"
    assert tuned_within(dataclasses.replace(base, version="7b"), 5).version == "1+7b"
    assert "best of 5 draws of ac-parl2" in tuned.summary
    assert tuned.differs == base.differs
    assert tuned_within(base, 5) == tuned != tuned_within(base, 4)
    assert pickle.loads(pickle.dumps(tuned)).name == tuned.name


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "4", 10**9])
def test_a_number_of_candidates_is_a_whole_number(k: object) -> None:
    with pytest.raises(InvalidInput, match=r"k=.* is not allowed: give a whole number from 1 to 100,000"):
        tuned_within(untuned.algorithm("q"), k)  # type: ignore[arg-type]


def test_descriptions_have_every_candidate() -> None:
    rows = untuned.algorithm("tuned-within[sarsa-parl2,2]").describe(untuned.environment("chain-10-stochastic"))
    names = ("gamma", "lambda", "epsilon", "step_size")
    assert [row.name for row in rows] == [f"{turn}.{name}" for turn in (1, 2) for name in names]
    assert str(rows[-1]) == "adapted, starts at 1"


def test_tuned_within_are_the_same_where_their_bases_are() -> None:
    names = ("sarsa", "sarsa-s", "q-s", "tuned-within[sarsa,4]", "tuned-within[sarsa-s,4]", "tuned-within[sarsa-s,3]")
    definitions = [untuned.algorithm(name) for name in names]
    assert same_definitions(definitions, untuned.environment("chain-10-stochastic")) == (
        ("sarsa", "sarsa-s"),
        ("tuned-within[sarsa,4]", "tuned-within[sarsa-s,4]"),
    )
    assert same_definitions(definitions, untuned.environment("cart-pole")) == ()


def test_a_single_candidate_is_the_base_itself() -> None:
    discrete, continuous = untuned.environment("chain-10-stochastic"), untuned.environment("cart-pole")
    names = ("sarsa", "sarsa-s", "tuned-within[sarsa,1]", "tuned-within[sarsa-s,1]")
    definitions = [untuned.algorithm(name) for name in names]
    assert same_definitions(definitions, discrete) == (names,)
    assert same_definitions(definitions, continuous) == (
        ("sarsa", "tuned-within[sarsa,1]"),
        ("sarsa-s", "tuned-within[sarsa-s,1]"),
    )
    # Also where the bases are not there to say so.
    assert same_definitions(definitions[2:], discrete) == (names[2:],)
    assert same_definitions(definitions[2:], continuous) == ()


def test_a_definition_of_ones_own_can_be_tuned_within() -> None:
    def build(environment: Environment, draw: Draw) -> Agent:
        assert isinstance(environment.states, DiscreteStates)
        return Sarsa(Tabular(environment.states.number), 0.99, 0.5, 0.05, draw.suggest_float("alpha", 0, 1))

    mine = Definition("mine", "Mine", 1, "my own", build)
    draw = uniform_of(0)
    agent = tuned_within(mine, 2).agent(untuned.environment("chain-10-stochastic"), draw)
    assert isinstance(agent, TunedWithin)
    assert [getattr(each, "step_size", None) for each in agent.candidates] == list(draw.params.values())


# With agents that learn.


def trial(name: str, part: int) -> tuple[list[float], list[float], int]:
    environment = untuned.environment("chain-10-stochastic")
    random_numbers = random_state(5, "a trial")
    dynamics = environment.draw(random_numbers)
    agent = untuned.algorithm(name).agent(environment, Draw(lambda: uniform(random_numbers)))
    place = Place(
        environment.compiled_reset,
        environment.compiled_step,
        environment.new_state(),
        dynamics.vector,
        random_numbers,
    )
    assert environment.budget.episodes is not None
    learner = agent.start(
        World(
            place,
            len(environment.actions),
            environment.budget.episodes,
            states=environment.states.number if isinstance(environment.states, DiscreteStates) else None,
            dimensions=environment.states.dimensions,
        )
    )
    returns, final = np.zeros(environment.budget.episodes), np.zeros(30)
    steps = sum(learner.learn(returns[first : first + part]) for first in range(0, len(returns), part))
    learner.play(final)
    return returns.tolist(), final.tolist(), steps


@pytest.mark.parametrize("base", ["sarsa-s", "ppo"])
def test_a_trial_is_the_same_in_parts_of_any_size(base: str) -> None:
    whole = trial(f"tuned-within[{base},4]", 100)
    assert all(value < 0 for value in whole[0] + whole[1])
    assert trial(f"tuned-within[{base},4]", 1) == trial(f"tuned-within[{base},4]", 7) == whole


@pytest.mark.parametrize("base", ["sarsa-s", "ppo"])
def test_a_trial_with_a_single_candidate_is_one_of_the_base(base: str) -> None:
    assert trial(f"tuned-within[{base},1]", 100) == trial(base, 100) != trial(f"tuned-within[{base},2]", 100)


def test_trials_of_what_is_declared_the_same_are_the_same() -> None:
    assert trial("tuned-within[sarsa-s,4]", 100) == trial("tuned-within[sarsa,4]", 100)
    assert trial("sarsa-s", 100) == trial("sarsa", 100) != trial("q", 100)
