from dataclasses import dataclass

from untuned.collect.agents.agent import Learner, World
from untuned.collect.agents.features import Features


@dataclass(frozen=True)
class NacTd:
    features: Features
    discount: float
    trace_decay: float
    actor_step_size: float
    critic_step_size: float
    advantage_step_size: float

    def start(self, world: World) -> Learner: ...
