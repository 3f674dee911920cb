"""The cost of a compiled agent in an environment stepped from Python: its steps against those of the environment alone.

    python benchmarks/stepped.py [--json FILE] [--rounds N]

Rounds are interleaved and the best of each is kept, in CPU time. Alone, the environment gets the actions 0 and 1 in
turn; the agent is Sarsa(lambda), over 20 Fourier features in CartPole-v1 and a table in FrozenLake-v1.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

import recording
import untuned
from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment
from untuned.collect.agents.agent import Place, World
from untuned.collect.agents.features import Fourier, Tabular
from untuned.collect.agents.sarsa import Sarsa
from untuned.collect.environments.environment import DiscreteStates
from untuned.collect.kernels.rng import random_state

STEPS = 20_000


def alone(place: GymnasiumEnvironment) -> float:
    """Return the seconds of a step without any agent, resets included."""
    environment = place.make()
    environment.reset(seed=1)
    step = environment.step
    begin = time.thread_time()
    for number in range(STEPS):
        _, _, terminated, truncated, _ = step(number % 2)
        if terminated or truncated:
            environment.reset()
    return (time.thread_time() - begin) / STEPS


def with_agent(place: GymnasiumEnvironment) -> float:
    """Return the seconds of a step of Sarsa(lambda), resets included."""
    seen = place.for_agents()
    states = seen.states
    discrete = isinstance(states, DiscreteStates)
    features = Tabular(states.number) if isinstance(states, DiscreteStates) else Fourier(states.ranges, 1, 2)
    random = random_state(1)
    with seen.opened(random) as opened:
        learner = Sarsa(features, 0.99, 0.5, 0.1, 1e-3).start(
            World(
                Place(opened.reset, opened.step, opened.state, opened.parameters, random),
                actions=len(seen.actions),
                episodes=10**9,
                states=features.number if discrete else None,
                dimensions=states.dimensions,
            )
        )
        steps = 0
        begin = time.thread_time()
        while steps < STEPS:
            steps += learner.learn(np.zeros(20))
        spent = time.thread_time() - begin
        opened.check()
    return spent / steps


def measured(rounds: int) -> Iterator[recording.Row]:
    """Yield nanoseconds a step, alone and with the agent, for every environment."""
    for name in ("CartPole-v1", "FrozenLake-v1"):
        place = untuned.from_gymnasium(name)
        with_agent(place)
        pairs = [(alone(place), with_agent(place)) for _ in range(rounds)]
        bare, agent = (min(each) for each in zip(*pairs, strict=True))
        yield {
            "environment": name,
            "alone_ns": round(bare * 1e9),
            "agent_ns": round(agent * 1e9),
            "ratio": round(agent / bare, 2),
        }


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    return f"{row['environment']:16}{row['alone_ns']:12}{row['agent_ns']:17}{row['ratio']:9}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--rounds", type=int, default=7, help="rounds; the best of each counts")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is 1 or more")
    heading = f"{'environment':16}{'alone, ns':>12}{'with agent, ns':>17}{'ratio':>9}"
    recording.show(measured(options.rounds), options, "stepped", line, heading)


if __name__ == "__main__":
    main()
