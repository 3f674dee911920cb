"""Algorithms written in Python, for studies: `untuned.collect.resolve` loads this when a study names one."""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from untuned.adapters.training.trainer import Trainer
from untuned.collect.engines.engine import Stop
from untuned.collect.trial import Trial

if TYPE_CHECKING:
    # This needs Gymnasium; looking up the name of a compiled algorithm must not.
    from untuned.adapters.training.trial import Place

#: Built-in trainers by name, and the function that makes each; they need an extra.
_TRAINERS = {"sb3-ppo": "ppo", "sb3-a2c": "a2c", "sb3-dqn": "dqn"}


@dataclass(frozen=True)
class TrainedRun:
    """Runs trials of an algorithm that is written in Python."""

    trainer: Trainer
    place: "Place"
    seed: int

    def __call__(self, trial: int, stop: Stop | None) -> Trial:
        """Return the result of a trial."""
        from untuned.adapters.training.trial import train_trial

        return train_trial(self.trainer, self.place, seed=self.seed, trial=trial, stop=stop)


def algorithm(use: object, name: str | None) -> Trainer | None:
    """Return the trainer that a study names, None for a name that is not built in.

    Parameters
    ----------
    use
        A name, a trainer or a function.
    name
        Its name in the study; None for its own name.
    """
    if isinstance(use, str):
        if use not in _TRAINERS:
            return None
        from untuned.adapters import sb3

        use = getattr(sb3, _TRAINERS[use])()
    return Trainer.of(use, name)  # type: ignore[arg-type]


def run(trainer: Trainer, place: "Place", seed: int) -> TrainedRun:
    """Return the runner of a trainer's trials in an environment; raises MissingExtra without Gymnasium."""
    # Fail now, not in the first trial.
    import untuned.adapters.training.trial  # noqa: F401

    # The current source is the version from here on, in worker processes, too.
    return TrainedRun(dataclasses.replace(trainer, version=trainer.fingerprint), place, seed)
