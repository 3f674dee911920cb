"""An agent that tunes itself within its trial: it tries several candidates and continues with the best."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from untuned.collect.agents.agent import Agent, Learner, World
from untuned.collect.kernels.jit import Floats
from untuned.errors import InvalidInput


@dataclass(frozen=True)
class TunedWithin:
    """Several agents; the best in the trial's first half continues.

    Half of the trial's episodes, rounded down, are for the candidates: each learns for the same number of episodes, in
    order. The one with the best mean return over them (the first of equals) keeps its weights and learns for the
    remaining ones. All episodes count: the cost of tuning is part of the score.

    Parameters
    ----------
    candidates
        At least one; a single one learns without tuning.
    """

    candidates: tuple[Agent, ...]

    def __post_init__(self) -> None:
        if not self.candidates:
            raise InvalidInput("candidates is empty: give at least one agent to choose from")

    def start(self, world: World) -> "SelfTuning":
        """Return a new learner; raises InvalidInput if there is not an episode for each candidate."""
        number = len(self.candidates)
        if world.episodes < 2 * number:
            raise InvalidInput(
                f"{world.episodes} episodes are too few to tune within: half of them are for trying, so {number} "
                f"candidates need {2 * number} at least; give more episodes, or fewer candidates"
            )
        return SelfTuning(self.candidates, world)


class SelfTuning:
    """A `TunedWithin` that is learning.

    Parameters
    ----------
    candidates
        The candidates, in order.
    world
        The trial's environment.
    """

    def __init__(self, candidates: tuple[Agent, ...], world: World) -> None:
        tries = world.episodes // (2 * len(candidates))
        # Each candidate is told the number of episodes that it would learn for if chosen.
        self._world = dataclasses.replace(world, episodes=world.episodes - (len(candidates) - 1) * tries)
        self._candidates = candidates
        self._tries = np.zeros((len(candidates), tries))
        self._tried = 0
        self._learners: list[Learner] = []
        self._chosen: int | None = None
        self._any_diverged = False

    @property
    def chosen(self) -> int | None:
        """The index of the candidate that continues; None while they are tried."""
        return self._chosen

    def learn(self, returns: Floats) -> int:
        """Learn for as many episodes as ``returns`` has entries, fill it, and return the number of steps."""
        steps = done = 0
        number, tries = self._tries.shape
        while self._chosen is None and done < len(returns):
            turn, before = divmod(self._tried, tries)
            part = returns[done : done + tries - before]
            steps += self._learner(turn).learn(part)
            self._tries[turn, before : before + len(part)] = part
            self._tried += len(part)
            done += len(part)
            if self._tried == number * tries:
                self._choose()
        if done < len(returns):
            steps += self._current.learn(returns[done:])
        return steps

    def play(self, returns: Floats) -> int:
        """Play that many episodes with learning off, fill ``returns``, and return the number of steps.

        Plays the chosen candidate; before the choice, the one that is being tried.
        """
        return self._current.play(returns)

    @property
    def diverged(self) -> bool:
        """Whether any candidate diverged; the returns of candidates that were not chosen are part of the score, too."""
        return self._any_diverged or any(learner.diverged for learner in self._learners)

    @property
    def adapted(self) -> dict[str, float]:
        """Which candidate was chosen, counted from 1 as its draws are, and the values that it adapted."""
        return {} if self._chosen is None else {"chosen": self._chosen + 1, **self._current.adapted}

    @property
    def _current(self) -> Learner:
        if self._chosen is not None:
            return self._learners[0]
        return self._learner(self._tried // self._tries.shape[1])

    def _learner(self, turn: int) -> Learner:
        # Each starts at its turn, whatever the sizes of the pieces, so that the order of random numbers is fixed.
        while len(self._learners) <= turn:
            self._learners.append(self._candidates[len(self._learners)].start(self._world))
        return self._learners[turn]

    def _choose(self) -> None:
        means = self._tries.mean(axis=1)
        # A mean that is NaN ranks with the worst.
        self._chosen = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
        self._any_diverged = self.diverged
        # The others' weights are no longer needed, and may be large.
        self._learners = [self._learners[self._chosen]]
