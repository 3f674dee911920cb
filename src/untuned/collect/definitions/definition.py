"""Complete definitions: algorithms without hyperparameters for the user to set.

A definition may use facts of the environment (`Environment`), never its data, and draws every hyperparameter for every
trial. Two definitions may be identical on some environments, under two names; this is declared, because neither names
nor scores can show it.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from untuned.collect.agents.agent import Agent
from untuned.collect.definitions.draw import Draw, Drawn
from untuned.collect.environments.environment import Environment
from untuned.collect.fingerprints import COMPILED_RUNNER, source_digest
from untuned.errors import InvalidInput
from untuned.source_trees import own_code

#: The number of draws that a description examines.
DRAWS_DESCRIBED = 256


@dataclass(frozen=True)
class Hyperparameter:
    """One row of a definition's description.

    Parameters
    ----------
    name
        Its name.
    distributions
        Its distributions, or the note instead; several if they depend on earlier draws.
    sometimes
        Whether some draws lack it.
    """

    name: str
    distributions: tuple[str, ...]
    sometimes: bool

    def facts(self) -> dict[str, Any]:
        """Return the row as plain JSON types."""
        return {"name": self.name, "distributions": list(self.distributions), "sometimes": self.sometimes}

    def __str__(self) -> str:
        return " or ".join(self.distributions) + (" (sometimes)" if self.sometimes else "")


def nowhere(environment: Environment) -> str | None:
    """Return None: a definition that is not identical to another anywhere."""
    return None


@dataclass(frozen=True)
class Definition:
    """A complete definition of an algorithm.

    Parameters
    ----------
    name
        Its identifier, under which scores are stored.
    title
        A display name.
    version
        Must change whenever results would change: scores of different versions are never mixed.
    summary
        One line.
    build
        ``build(environment, draw)`` draws the hyperparameters for a trial in that environment and returns the agent.
        Everything random comes from ``draw``. To run in several processes it must be a function of a module, or a
        `functools.partial` of one.
    same_as
        The name of another definition that this one is completely identical to on that environment; None if there is
        none.
    differs
        How the published numbers deviate from the text of their publication.

    Examples
    --------
    >>> import untuned
    >>> untuned.algorithm("sarsa-s").same_as(untuned.environment("chain-10-stochastic"))
    'sarsa'
    """

    name: str
    title: str
    version: str | int
    summary: str
    build: Callable[[Environment, Draw], Agent]
    same_as: Callable[[Environment], str | None] = nowhere
    differs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_description("definition", vars(self), functions=("build", "same_as"))

    def agent(self, environment: Environment, draw: Draw) -> Agent:
        """Return the agent for one trial, its hyperparameters drawn; raises InvalidInput when ``build`` returned none.

        Parameters
        ----------
        environment
            The environment in which it will learn.
        draw
            The source of its hyperparameters.
        """
        built = self.build(environment, draw)
        if not callable(getattr(built, "start", None)):
            raise InvalidInput(
                f"build of {self.name} returned {built!r}, which has no start: return an agent, such as "
                "untuned.collect.agents.sarsa.Sarsa"
            )
        return built

    def __fingerprint__(self) -> object:
        # The strict mode would require a version even where one is declared.
        return str(self.version), source_digest(self.build, lenient=True), own_code(*COMPILED_RUNNER)

    def describe(self, environment: Environment) -> tuple[Hyperparameter, ...]:
        """Return the hyperparameters on that environment, and their distributions.

        Found by building 256 agents, always from the same random numbers: a hyperparameter that is drawn in fewer than
        about one in fifty trials may be missing. In order of first appearance.
        """
        return describe_draws(lambda draw: self.agent(environment, draw))


def check_description(kind: str, facts: Mapping[str, object], functions: Iterable[str], instead: str = "") -> None:
    """Raise InvalidInput for a name, title, version or function of the wrong type; users may ignore annotations.

    Parameters
    ----------
    kind
        The kind of object.
    facts
        Its fields.
    functions
        Which of them are functions.
    instead
        The meaning of None in place of a version; empty if a version is required.
    """
    for field in ("name", "title"):
        text = facts[field]
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(f"{field}={text!r} is not allowed for a {kind}: give a text that is not empty")
    version = facts["version"]
    is_version = isinstance(version, str | int) and not isinstance(version, bool) and version != ""
    if not is_version and not (instead and version is None):
        advice = f"give a text or a whole number{f', or None for {instead}' if instead else ''}"
        raise InvalidInput(f"version={version!r} of {facts['name']} is not allowed: {advice}")
    for field in functions:
        if not callable(facts[field]):
            raise InvalidInput(f"{field}={facts[field]!r} of {facts['name']} is not allowed: give a function")


def describe_draws(ask: Callable[[Draw], object]) -> tuple[Hyperparameter, ...]:
    """Return the names that ``ask`` draws, and their distributions, found by calling it 256 times.

    Always with the same random numbers; in order of first appearance.
    """
    uniform = random.Random(0).random
    texts: dict[str, dict[str, None]] = {}
    times: dict[str, int] = {}
    for number in range(DRAWS_DESCRIBED):
        draw = Draw(uniform, number=number)
        ask(draw)
        for each in draw.everything:
            text = each.distribution_text if isinstance(each, Drawn) else each.text
            texts.setdefault(each.name, {})[text] = None
            times[each.name] = times.get(each.name, 0) + 1
    return tuple(Hyperparameter(name, tuple(texts[name]), times[name] < DRAWS_DESCRIBED) for name in texts)


def same_definitions(definitions: Iterable[Definition], environment: Environment) -> tuple[tuple[str, ...], ...]:
    """Return the groups of names of identical definitions on that environment.

    Found only from the declarations of the definitions (`Definition.same_as`), which are transitive. Two that both
    point to a third are a group, even if the third is not among them.

    Returns
    -------
    groups
        Of two names or more, of ``definitions`` alone and in their order.
    """
    given: dict[str, Definition] = {}
    for each in definitions:
        if given.setdefault(each.name, each) != each:
            raise InvalidInput(f"two definitions are called {each.name!r}: give each a name of its own")
    # Every name points towards the representative of its group.
    leads: dict[str, str] = {}

    def standing(name: str) -> str:
        while (onwards := leads.setdefault(name, name)) != name:
            name = onwards
        return name

    for each in given.values():
        other: object = each.same_as(environment)
        if other is None:
            continue
        if not isinstance(other, str):
            raise InvalidInput(f"same_as of {each.name} returned {other!r}: return a definition's name, or None")
        leads[standing(each.name)] = standing(other)
    groups: dict[str, list[str]] = {}
    for name in given:
        groups.setdefault(standing(name), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
