"""The speed of environments with random actions: inside a kernel, through Gymnasium, and Gymnasium's own.

    python benchmarks/environments.py [--json FILE] [--rounds N] [--environments NAME ...]

Rounds of all measurements are interleaved and the best of each is kept, in CPU time: on a shared machine ratios are
reproducible, times are not. The random action is drawn inside the measurement on both sides. About the Acrobot line:
Gymnasium's takes one Runge-Kutta step of 0.2 s, ours, as published, ten of 0.02 s.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np

import recording
from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.collect.environments.environment import CompiledEnvironment
from untuned.collect.environments.registry import environments
from untuned.collect.environments.rollout import random_returns
from untuned.collect.kernels.rng import random_state

PEERS = {"cart-pole": "CartPole-v1", "mountain-car": "MountainCar-v0", "acrobot": "Acrobot-v1"}

#: Takes a number of seconds, returns seconds per step.
Measure = Callable[[float], float]


def in_kernel(environment: CompiledEnvironment) -> Measure:
    random = random_state(1, environment.name)
    vector = environment.nominal().draw(random).vector
    state = environment.new_state()
    reset, step = environment.compiled_reset, environment.compiled_step
    # About 20,000 steps a call, so that calling costs nothing.
    trial = np.zeros(10)
    returns = np.zeros(
        max(1, 200_000 // random_returns(reset, step, state, vector, random, len(environment.actions), trial))
    )

    def measure(seconds: float) -> float:
        steps = 0
        start = time.thread_time()
        while (spent := time.thread_time() - start) < seconds:
            steps += random_returns(reset, step, state, vector, random, len(environment.actions), returns)
        return spent / steps

    return measure


def through_gymnasium(environment: gymnasium.Env[Any, Any]) -> Measure:
    environment.reset(seed=1)
    environment.action_space.seed(1)

    def measure(seconds: float) -> float:
        steps = 0
        start = time.thread_time()
        environment.reset()
        while (spent := time.thread_time() - start) < seconds:
            for _ in range(50):
                _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
                if terminated or truncated:
                    environment.reset()
            steps += 50
        return spent / steps

    return measure


def measured(chosen: list[CompiledEnvironment], rounds: int) -> Iterator[recording.Row]:
    """Yield nanoseconds a step for each environment."""
    measures: dict[tuple[str, str], Measure] = {}
    for each in chosen:
        measures[each.name, "kernel"] = in_kernel(each)
        measures[each.name, "gymnasium"] = through_gymnasium(UntunedEnvironment(each))
        if each.name in PEERS:
            measures[each.name, "peer"] = through_gymnasium(gymnasium.make(PEERS[each.name]))
    best = dict.fromkeys(measures, float("inf"))
    for _ in range(rounds):
        for key, measure in measures.items():
            best[key] = min(best[key], measure(0.05 if key[1] == "kernel" else 0.15))
    for each in chosen:
        kernel, wrapped = best[each.name, "kernel"] * 1e9, best[each.name, "gymnasium"] * 1e9
        row: recording.Row = {
            "environment": each.name,
            "kernel_ns": round(kernel, 1),
            "gymnasium_ns": round(wrapped, 1),
        }
        if each.name in PEERS:
            peer = best[each.name, "peer"] * 1e9
            row |= {"peer": PEERS[each.name], "peer_ns": round(peer, 1), "vs_peer": round(peer / kernel, 1)}
        yield row


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    against = f"{row['peer_ns']:12.0f}  {row['vs_peer']:.0f}x {row['peer']}" if "peer" in row else ""
    return f"{row['environment']:28}{row['kernel_ns']:12.1f}{row['gymnasium_ns']:20.0f}{against}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--rounds", type=int, default=7, help="rounds; the best of each counts")
    known = {each.name: each for each in environments()}
    parser.add_argument("--environments", nargs="+", choices=list(known), default=list(known), metavar="NAME")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is 1 or more")
    heading = f"{'environment':28}{'kernel, ns':>12}{'gymnasium API, ns':>20}{'peer, ns':>12}  faster than it by"
    recording.show(
        measured([known[name] for name in options.environments], options.rounds), options, "environments", line, heading
    )


if __name__ == "__main__":
    main()
