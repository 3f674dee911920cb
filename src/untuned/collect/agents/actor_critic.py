from dataclasses import dataclass

from untuned.collect.agents.agent import Learner, World
from untuned.collect.agents.features import Features


@dataclass(frozen=True)
class ActorCritic:
    features: Features
    discount: float
    trace_decay: float
    actor_step_size: float
    critic_step_size: float | None
    surprise_bonus: float = 0.0

    def start(self, world: World) -> Learner: ...
