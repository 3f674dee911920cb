"""The speed of a whole trial: against a C program, against NumPy, by agent, on two threads, from a cold start.

    python benchmarks/engine.py [--limit PATH_TO_limit.py] [--json FILE] [--rounds N] [--only limit ...]
                                [--dorders 1 3 5 7 9]

Rows: per order {"dorder", "vs_limit", "vs_numpy"}, per agent {"agent", "vs_sarsa"}, then {"workers", "vs_one"} and
{"start", "seconds", "new_files"}. Rounds of compared programs are interleaved and the best of each is kept, in CPU time
for single threads: on a shared machine ratios are reproducible, times are not.

The trial is Sarsa(lambda) on Cart-Pole with its customary parameters: gamma .99, lambda .8, epsilon .05, iorder =
dorder, step size .3 / features, a few episodes. The C program is passed as its Python wrapper, a file with
``build()`` and ``microseconds_per_step(function, dorder, seed)``, which calls ``time.perf_counter()``; without it that
comparison is left out. The peer in NumPy is below: features by one matrix product and one cosine of a vector,
whole-array updates.
"""

import argparse
import importlib.util
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

# One core each: ours is one thread, so NumPy's linear algebra is, too; it reads this when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import recording
import untuned
from untuned.collect.agents.actor_critic import ActorCritic
from untuned.collect.agents.agent import Agent, Place, World
from untuned.collect.agents.features import Fourier
from untuned.collect.agents.nac_td import NacTd
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.sarsa import QLearning, Sarsa
from untuned.collect.kernels.rng import random_state
from untuned.collect.runner.trial import run_trial

DISCOUNT, DECAY, EPSILON, STEP = 0.99, 0.8, 0.05, 0.3
#: Episodes per order: the fewer, the more features there are.
EPISODES = {1: 100, 3: 60, 5: 20, 7: 8, 9: 4}
PARTS = ("limit", "numpy", "agents", "float32", "workers", "start")

#: Takes a seed, returns microseconds per step.
Measure = Callable[[int], float]

CART_POLE = untuned.environment("cart-pole", randomize=False)


def agents(features: Fourier) -> dict[str, Agent]:
    """Return every kind of agent over the same features."""
    size = STEP / features.number
    shared = (features, DISCOUNT, DECAY)
    return {
        "sarsa": Sarsa(*shared, EPSILON, size),
        "sarsa-parl2": Sarsa(*shared, EPSILON, None),
        "q": QLearning(*shared, EPSILON, size),
        "q-parl2": QLearning(*shared, EPSILON, None),
        "ac": ActorCritic(*shared, size / 2, size),
        "ac-parl2": ActorCritic(*shared, size / 2, None, 0.01),
        "nac-td": NacTd(*shared, size / 3, size, size),
        "ppo": Ppo(*shared, 1e-3, 0.2, 1e-4, 128, 5, 32),
    }


def microseconds_per_step(agent: Agent, episodes: int, seed: int, real: Any = np.float64) -> float:
    stream = random_state(seed)
    place = Place(
        CART_POLE.compiled_reset,
        CART_POLE.compiled_step,
        CART_POLE.new_state(),
        CART_POLE.draw(stream).vector,
        stream,
    )
    # Starting the learner is part of a trial.
    begin = time.thread_time()
    learner = agent.start(World(place, 2, episodes, states=None, dimensions=4, real=real))
    steps = learner.learn(np.zeros(episodes))
    return (time.thread_time() - begin) / steps * 1e6


def numpy_microseconds_per_step(dorder: int, seed: int, most_steps: int = 2000) -> float:
    """Return the cost of a step of Sarsa(lambda) in idiomatic NumPy."""
    states = CART_POLE.states
    lows = np.array([low for low, _ in states.ranges])  # type: ignore[union-attr]
    widths = np.array([high - low for low, high in states.ranges])  # type: ignore[union-attr]
    frequencies = np.array(np.meshgrid(*[np.arange(dorder + 1.0)] * 4, indexing="ij")).reshape(4, -1).T.copy()
    weights = np.zeros((2, len(frequencies)))
    step_size = STEP / len(frequencies)
    draw = random.Random(seed).random
    taken = 0
    begin = time.thread_time()
    for _ in range(EPISODES[dorder]):
        state = [0.0, 0.0, 0.0, 0.0]
        traces = np.zeros_like(weights)
        phi = np.cos(np.pi * (frequencies @ ((state - lows) / widths)))
        action = int(draw() * 2) if draw() < EPSILON else int(np.argmax(weights @ phi))
        for _ in range(1000):
            ended = push(state, action)
            taken += 1
            delta = 1.0 - weights[action] @ phi
            traces *= DISCOUNT * DECAY
            traces[action] += phi
            if not ended:
                phi = np.cos(np.pi * (frequencies @ ((state - lows) / widths)))
                values = weights @ phi
                action = int(draw() * 2) if draw() < EPSILON else int(np.argmax(values))
                delta += DISCOUNT * values[action]
            weights += step_size * delta * traces
            if ended or taken >= most_steps:
                break
        if taken >= most_steps:
            break
    return (time.thread_time() - begin) / taken * 1e6


def push(state: list[float], action: int) -> bool:
    """Move a cart-pole by one time step, in plain Python; return whether the episode ended."""
    x, velocity, angle, spin = state
    force = 10.0 if action == 1 else -10.0
    sine, cosine = math.sin(angle), math.cos(angle)
    friction = 0.0005 * ((velocity > 0) - (velocity < 0))
    spin_change = (
        9.8 * sine + cosine * (friction - force - 0.05 * spin * spin * sine) / 1.1 - 0.000002 * spin / 0.05
    ) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
    velocity_change = (force + 0.05 * (spin * spin * sine - spin_change * cosine) - friction) / 1.1
    state[0] = x + 0.02 * velocity
    state[1] = velocity + 0.02 * velocity_change
    state[2] = angle + 0.02 * spin
    state[3] = spin + 0.02 * spin_change
    return abs(state[2]) > math.pi / 15 or abs(state[0]) >= 2.4


def best_of(measures: dict[str, Measure], rounds: int) -> dict[str, float]:
    """Return the best of each measure over interleaved rounds, each with its own seed."""
    best = dict.fromkeys(measures, math.inf)
    for round_ in range(1, rounds + 1):
        for name, measure in measures.items():
            best[name] = min(best[name], measure(round_))
    return best


def orders(limit: ModuleType | None, parts: set[str], rounds: int, dorders: list[int]) -> Iterator[dict[str, Any]]:
    function = limit.build() if limit is not None and "limit" in parts else None
    for dorder in dorders:
        episodes = EPISODES[dorder]
        agent = agents(Fourier(CART_POLE.states.ranges, dorder, dorder))["sarsa"]  # type: ignore[union-attr]
        measures: dict[str, Measure] = {"ours": partial(microseconds_per_step, agent, episodes)}
        if "float32" in parts:
            measures["float32"] = partial(microseconds_per_step, agent, episodes, real=np.float32)
        if limit is not None and function is not None:
            measures["limit"] = partial(limit.microseconds_per_step, function, dorder)
        for measure in measures.values():
            measure(0)
        best = best_of(measures, rounds)
        line: dict[str, Any] = {"dorder": dorder, "features": (dorder + 1) ** 4, "microseconds": round(best["ours"], 4)}
        if "limit" in best:
            line["vs_limit"] = round(best["ours"] / best["limit"], 3)
        if "numpy" in parts:
            # Slow and steady: a few rounds are enough, right after ours.
            slow = min(numpy_microseconds_per_step(dorder, seed) for seed in range(max(2, rounds // 4)))
            line["vs_numpy"] = round(slow / best["ours"], 1)
        if "float32" in best:
            line["float32_vs_float64"] = round(best["float32"] / best["ours"], 3)
        yield line


def each_agent(rounds: int, dorders: list[int]) -> Iterator[dict[str, Any]]:
    """Yield every agent's cost per step against Sarsa's, per order, and their geometric mean."""
    ratios: dict[str, dict[int, float]] = {}
    for dorder in dorders:
        episodes = EPISODES[dorder]
        features = Fourier(CART_POLE.states.ranges, dorder, dorder)  # type: ignore[union-attr]
        # PPO learns in batches that are longer than a few first episodes.
        measures: dict[str, Measure] = {
            name: partial(microseconds_per_step, agent, 10 * episodes if name == "ppo" else episodes)
            for name, agent in agents(features).items()
        }
        for measure in measures.values():
            measure(0)
        best = best_of(measures, rounds)
        for name, value in best.items():
            ratios.setdefault(name, {})[dorder] = round(value / best["sarsa"], 3)
    for name, per_order in ratios.items():
        mean = math.exp(math.fsum(map(math.log, per_order.values())) / len(per_order))
        yield {"agent": name, "vs_sarsa": round(mean, 3), "per_dorder": per_order}


def two_workers(rounds: int, trials: int = 24) -> dict[str, Any]:
    """Return the speed-up of two threads over one on the same trials, and whether the scores agree."""

    def scores(workers: int) -> tuple[float, list[float]]:
        begin = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            found = list(pool.map(lambda t: run_trial("sarsa-s", "cart-pole", seed=1, trial=t).score, range(trials)))
        return time.perf_counter() - begin, found

    scores(2)
    times: dict[int, float] = {1: math.inf, 2: math.inf}
    seen = set()
    for _ in range(max(2, rounds // 4)):
        for workers in times:
            spent, found = scores(workers)
            times[workers] = min(times[workers], spent)
            seen.add(tuple(found))
    return {"workers": 2, "vs_one": round(times[1] / times[2], 2), "identical": len(seen) == 1}


def starts() -> Iterator[dict[str, Any]]:
    """Yield the CPU seconds of one short trial from the command line: with nothing compiled, and again."""
    with tempfile.TemporaryDirectory() as cache:
        for start in ("cold", "warm", "warm, another process of the same"):
            before = {path for path in Path(cache).rglob("*") if path.is_file()}
            begin = os.times()
            subprocess.run(
                [sys.executable, "-m", "untuned", "trial", "sarsa", "cart-pole", "--seed", "1", "--trial", "7"],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            end = os.times()
            spent = end.children_user + end.children_system - begin.children_user - begin.children_system
            after = {path for path in Path(cache).rglob("*") if path.is_file()}
            yield {"start": start, "seconds": round(spent, 2), "new_files": len(after - before)}


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("limit", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # It uses our clock, the CPU time of this thread: on a busy machine the best wall-clock time is too long.
    assert module.time is time
    module.__dict__["time"] = SimpleNamespace(perf_counter=time.thread_time)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=Path, metavar="PATH", help="the Python wrapper of the C program")
    recording.add_door(parser)
    parser.add_argument("--rounds", type=int, default=16, help="rounds; the best of each counts")
    parser.add_argument("--dorders", nargs="+", type=int, choices=list(EPISODES), default=list(EPISODES))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    arguments = parser.parse_args()
    if arguments.limit is not None and not arguments.limit.is_file():
        parser.error(f"{arguments.limit} is not there: --limit takes the Python file that wraps the C program")
    if arguments.rounds < 1:
        parser.error("--rounds is 1 or more")
    parts = set(arguments.only)

    def lines() -> Iterator[dict[str, Any]]:
        if parts & {"limit", "numpy", "float32"}:
            limit = None if arguments.limit is None else loaded(arguments.limit)
            yield from orders(limit, parts, arguments.rounds, arguments.dorders)
        if "agents" in parts:
            yield from each_agent(arguments.rounds, arguments.dorders)
        if "workers" in parts:
            yield two_workers(arguments.rounds)
        if "start" in parts:
            yield from starts()

    recording.show(lines(), arguments, "engine", recording.plain)


if __name__ == "__main__":
    main()
