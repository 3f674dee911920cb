"""Sarsa(lambda) and Q(lambda) with linear functions."""

from dataclasses import dataclass

from untuned.collect.agents.agent import Learner, World
from untuned.collect.agents.features import Features


@dataclass(frozen=True)
class Sarsa:
    features: Features
    discount: float
    trace_decay: float
    epsilon: float
    step_size: float | None

    def start(self, world: World) -> Learner: ...


@dataclass(frozen=True)
class QLearning:
    features: Features
    discount: float
    trace_decay: float
    epsilon: float
    step_size: float | None

    def start(self, world: World) -> Learner: ...
