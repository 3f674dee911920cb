from dataclasses import dataclass

from untuned.collect.agents.agent import Learner, World
from untuned.collect.agents.features import Features


@dataclass(frozen=True)
class Ppo:
    features: Features
    discount: float
    trace_decay: float
    step_size: float
    clip: float
    entropy: float
    steps_per_batch: int
    epochs: int
    minibatch: int

    def start(self, world: World) -> Learner: ...
