"""Any Gymnasium environment, whatever its spaces, for algorithms written in Python."""

from dataclasses import dataclass
from typing import Any

from untuned.adapters.gymnasium.probe import Make, Range, probed, what_is_made
from untuned.collect.environments.environment import Budget
from untuned.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class OpenEnvironment:
    """The facts about a Gymnasium environment of any kind, and how to make one.

    Parameters
    ----------
    name, title, summary
        Its id, a name for readers, one line.
    observations, actions
        Its spaces, as Gymnasium writes them.
    budget
        How long a trial learns.
    step_limit
        Steps after which an episode ends whatever happened; None if there is no limit.
    score_range
        (worst, best) return of an episode that is possible at all; None if undeclared.
    make
        Returns a new instance.
    """

    name: str
    title: str
    summary: str
    observations: str
    actions: str
    budget: Budget
    step_limit: int | None
    score_range: Range | None
    make: Make

    def facts(self) -> dict[str, Any]:
        """Return all of the above as plain JSON types, under the names that `Environment.facts` has."""
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "states": {"kind": "open", "space": self.observations},
            "actions": {"space": self.actions},
            "episodes": self.budget.episodes,
            "steps": self.budget.steps,
            "step_limit": self.step_limit,
            "score_range": None if self.score_range is None else list(self.score_range),
        }

    def __fingerprint__(self) -> object:
        # What readers are told, and which scores are possible at all, changes no trial.
        decisive = {**self.facts(), "title": None, "summary": None, "score_range": None}
        return decisive, what_is_made(self.make)


def open_gymnasium(
    environment: str | Make,
    /,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    score_range: Range | None = None,
    step_limit: int | None = None,
    name: str | None = None,
    **options: Any,
) -> OpenEnvironment:
    """Return a Gymnasium environment of any kind, for algorithms written in Python.

    Compiled agents need to know more about observations and actions: `from_gymnasium` describes it to them.

    Parameters
    ----------
    environment
        An id for `gymnasium.make`, or a function that returns a new instance.
    episodes, steps
        How long one trial learns; give exactly one. Steps run out within an episode, which is played to its end.
    score_range
        (worst, best) return of an episode that is possible at all. Without it, intervals on means cannot be given.
    step_limit
        Steps after which an episode ends; by default what the id was registered with.
    name
        What to call it; by default the id.
    **options
        Passed to `gymnasium.make`.

    Raises
    ------
    InvalidInput
        For an environment that cannot be made, and for episodes that might never end.

    Examples
    --------
    >>> open_gymnasium("Pendulum-v1", steps=10_000).actions
    'Box(-2.0, 2.0, (1,), float32)'
    """
    budget = Budget(episodes=episodes, steps=steps)
    with probed(environment, step_limit=step_limit, name=name, options=options) as probe:
        spaces = [
            " ".join(str(space).split()) for space in (probe.instance.observation_space, probe.instance.action_space)
        ]
    check_that_it_ends(probe.name, budget, probe.step_limit)
    return OpenEnvironment(
        name=probe.name,
        title=probe.name,
        summary=probe.summary,
        observations=spaces[0],
        actions=spaces[1],
        budget=budget,
        step_limit=probe.step_limit,
        score_range=probe.score_range(score_range),
        make=probe.make,
    )


def check_that_it_ends(name: str, budget: Budget, step_limit: int | None) -> None:
    """Refuse a trial where nothing says that an episode ever ends.

    Python has no way to end the episode of a policy that goes in circles; a trial would never come back. To cut off
    the last one with a budget of steps would reward whoever never ends a bad one.
    """
    if step_limit is None:
        raise InvalidInput(
            f"{name} has no limit on an episode's steps, so {budget} may never end: give step_limit=... (one that no "
            "episode reaches, if they all end by themselves)"
        )
