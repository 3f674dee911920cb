"""How fast environments step with random actions: inside a kernel, through Gymnasium, and Gymnasium's own.

    python benchmarks/environments.py [--json] [--rounds N]

Rounds of all measurements are interleaved and the best of each is kept: on a shared machine ratios repeat, times do
not. The random action is drawn inside the measurement on both sides. Two things to know when reading the Acrobot line:
Gymnasium's takes one Runge-Kutta step of 0.2 s, ours, as published, ten of 0.02 s.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

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
        start = time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds:
            steps += random_returns(reset, step, state, vector, random, len(environment.actions), returns)
        return spent / steps

    return measure


def through_gymnasium(environment: gymnasium.Env[Any, Any]) -> Measure:
    environment.reset(seed=1)
    environment.action_space.seed(1)

    def measure(seconds: float) -> float:
        steps = 0
        start = time.perf_counter()
        environment.reset()
        while (spent := time.perf_counter() - start) < seconds:
            for _ in range(50):
                _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
                if terminated or truncated:
                    environment.reset()
            steps += 50
        return spent / steps

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()

    measures: dict[tuple[str, str], Measure] = {}
    for each in environments():
        measures[each.name, "kernel"] = in_kernel(each)
        measures[each.name, "gymnasium"] = through_gymnasium(UntunedEnvironment(each))
        if each.name in PEERS:
            measures[each.name, "peer"] = through_gymnasium(gymnasium.make(PEERS[each.name]))
    best = dict.fromkeys(measures, float("inf"))
    for _ in range(arguments.rounds):
        for key, measure in measures.items():
            best[key] = min(best[key], measure(0.05 if key[1] == "kernel" else 0.15))

    if not arguments.json:
        print(f"{'environment':28}{'kernel, ns':>12}{'gymnasium API, ns':>20}{'peer, ns':>12}  faster than it by")
    for each in environments():
        kernel, wrapped = best[each.name, "kernel"] * 1e9, best[each.name, "gymnasium"] * 1e9
        peer = best.get((each.name, "peer"), float("nan")) * 1e9
        if arguments.json:
            line = {"environment": each.name, "kernel_ns": round(kernel, 1), "gymnasium_ns": round(wrapped, 1)}
            if each.name in PEERS:
                line |= {"peer": PEERS[each.name], "peer_ns": round(peer, 1), "vs_peer": round(peer / kernel, 1)}
            print(json.dumps(line))
        else:
            against = f"{peer:12.0f}  {peer / kernel:.0f}x {PEERS[each.name]}" if each.name in PEERS else ""
            print(f"{each.name:28}{kernel:12.1f}{wrapped:20.0f}{against}")


if __name__ == "__main__":
    main()
