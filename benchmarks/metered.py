"""What counting costs a trainer: a step in the metered environment against a step in the bare one.

    python benchmarks/metered.py [--rounds N]

Rounds are interleaved and the best of each is kept. Resets are part of it: on FrozenLake there is one every few steps.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium

from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.adapters.training.metered import Metered
from untuned.collect.environments.environment import Budget

STEPS = 20_000


def seconds_per_step(environment: gymnasium.Env[Any, Any], action: Any) -> float:
    environment.reset()
    step = environment.step
    begin = time.perf_counter()
    for _ in range(STEPS):
        _, _, terminated, truncated, _ = step(action)
        if terminated or truncated:
            environment.reset()
    return (time.perf_counter() - begin) / STEPS


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    made: dict[str, Callable[[], gymnasium.Env[Any, Any]]] = {
        "cart-pole": lambda: UntunedEnvironment("cart-pole"),
        "mountain-car": lambda: UntunedEnvironment("mountain-car"),
        "CartPole-v1": lambda: gymnasium.make("CartPole-v1"),
        "FrozenLake-v1": lambda: gymnasium.make("FrozenLake-v1"),
    }
    print(f"{'environment':16}{'bare, ns':>12}{'metered, ns':>14}{'more, ns':>12}")
    for name, make in made.items():
        bare = make()
        bare.reset(seed=1)
        bare_best = metered_best = float("inf")
        for _ in range(rounds):
            bare_best = min(bare_best, seconds_per_step(bare, 1))
            metered = Metered(make(), Budget(episodes=10**9), seed=1, own_seed=1, stop=lambda: False)
            metered_best = min(metered_best, seconds_per_step(metered, 1))
        more = metered_best - bare_best
        print(f"{name:16}{bare_best * 1e9:12.0f}{metered_best * 1e9:14.0f}{more * 1e9:12.0f}")


if __name__ == "__main__":
    main()
