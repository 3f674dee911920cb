"""The overhead of counting: a step in the metered environment against a step in the bare one.

    python benchmarks/metered.py [--json FILE] [--rounds N]

Rounds are interleaved and the best of each is kept, in CPU time. Resets are included: on FrozenLake there is one every
few steps.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium

import recording
from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.adapters.training.budgeted import Meter, Metered
from untuned.collect.environments.environment import Budget

STEPS = 20_000


def seconds_per_step(environment: gymnasium.Env[Any, Any], action: Any) -> float:
    environment.reset()
    step = environment.step
    begin = time.thread_time()
    for _ in range(STEPS):
        _, _, terminated, truncated, _ = step(action)
        if terminated or truncated:
            environment.reset()
    return (time.thread_time() - begin) / STEPS


def measured(rounds: int) -> Iterator[recording.Row]:
    """Yield nanoseconds a step, bare and metered, for every environment."""
    made: dict[str, Callable[[], gymnasium.Env[Any, Any]]] = {
        "cart-pole": lambda: UntunedEnvironment("cart-pole"),
        "mountain-car": lambda: UntunedEnvironment("mountain-car"),
        "CartPole-v1": lambda: gymnasium.make("CartPole-v1"),
        "FrozenLake-v1": lambda: gymnasium.make("FrozenLake-v1"),
    }
    for name, make in made.items():
        bare = make()
        bare.reset(seed=1)
        bare_best = metered_best = float("inf")
        for _ in range(rounds):
            bare_best = min(bare_best, seconds_per_step(bare, 1))
            metered = Metered(Meter(make(), Budget(episodes=10**9), seed=1, stop=lambda: False), own_seed=1)
            metered_best = min(metered_best, seconds_per_step(metered, 1))
        yield {
            "environment": name,
            "wrapped": isinstance(bare, gymnasium.Wrapper),
            "bare_ns": round(bare_best * 1e9),
            "metered_ns": round(metered_best * 1e9),
            "more_ns": round((metered_best - bare_best) * 1e9),
        }


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    return f"{row['environment']:16}{row['bare_ns']:12}{row['metered_ns']:14}{row['more_ns']:12}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--rounds", type=int, default=7, help="rounds; the best of each counts")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is 1 or more")
    heading = f"{'environment':16}{'bare, ns':>12}{'metered, ns':>14}{'more, ns':>12}"
    recording.show(measured(options.rounds), options, "metered", line, heading)


if __name__ == "__main__":
    main()
