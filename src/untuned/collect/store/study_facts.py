"""A study's facts: anything its author keeps there; the store itself needs a few of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from untuned.collect.environments.checks import checked_size
from untuned.collect.trial import LARGEST
from untuned.errors import InvalidInput
from untuned.scores import Range


@dataclass(frozen=True)
class StudyFacts:
    """What the store needs of a study's facts.

    Parameters
    ----------
    text
        All of the facts as JSON, in the order given.
    seed
        The study's.
    algorithms, environments
        Names in their declared order.
    ranges
        The lowest and highest score of those environments that declare them.
    """

    text: str
    seed: int
    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    ranges: Mapping[str, Range]

    @property
    def mapping(self) -> dict[str, Any]:
        """All of the facts, as plain JSON types."""
        facts: dict[str, Any] = json.loads(self.text)
        return facts

    def same_as(self, other: "StudyFacts") -> bool:
        """Return whether these are facts of the same study, in whatever order their fields were given.

        Numbers of trials may differ, since there can always be more; so may families, of which no trial knows, the
        version of untuned and texts for readers: where fingerprints agree, trials are of one kind.
        """
        return json.dumps(self._lasting, sort_keys=True) == json.dumps(other._lasting, sort_keys=True)

    @property
    def _lasting(self) -> dict[str, Any]:
        facts = {key: value for key, value in self.mapping.items() if key not in ("wanted", "families", "untuned")}
        return {**facts, **{kind: [_lasting(each) for each in facts[kind]] for kind in ("algorithms", "environments")}}

    def differences(self, other: "StudyFacts") -> list[str]:
        """Return the names of the fields in which the two are of different studies."""
        ours, theirs = self._lasting, other._lasting
        return [name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)]

    @property
    def wanted(self) -> dict[tuple[str, str], int]:
        """How many trials of every (algorithm, environment) there are to be; 0 where the facts do not say."""
        facts = self.mapping
        stated = facts.get("wanted")
        if stated is None:
            # Stores of format 1 have one number per environment.
            per_environment = {name: entry.get("trials", 0) for name, entry in self._environments.items()}
            stated = {name: dict.fromkeys(self.algorithms, count) for name, count in per_environment.items()}
        rows = {name: row for name, row in stated.items() if isinstance(row, dict)} if isinstance(stated, dict) else {}
        if rows != stated or not all(type(count) is int for row in rows.values() for count in row.values()):
            raise InvalidInput(
                "the facts have no whole numbers of wanted trials: pass {environment: {algorithm: number}}"
            )
        return {
            (algorithm, environment): rows.get(environment, {}).get(algorithm, 0)
            for algorithm in self.algorithms
            for environment in self.environments
        }

    def wanting(self, wanted: Mapping[tuple[str, str], int]) -> dict[str, Any]:
        """Return these facts with new numbers of trials, by (algorithm, environment)."""
        by_environment: dict[str, dict[str, int]] = {}
        for (algorithm, environment), count in wanted.items():
            by_environment.setdefault(environment, {})[algorithm] = count
        return {**self.mapping, "wanted": by_environment}

    def with_most_trials(self, other: "StudyFacts") -> dict[str, Any]:
        """Return these facts with the larger number of trials of each cell."""
        theirs = other.wanted
        return self.wanting({cell: max(count, theirs.get(cell, 0)) for cell, count in self.wanted.items()})

    @property
    def _environments(self) -> dict[str, dict[str, Any]]:
        return _entries("environments", self.mapping["environments"])

    @property
    def compared(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The algorithms and environments that belong to the study now, without what was taken out of it."""
        facts = self.mapping
        algorithms, environments = (
            tuple(name for name, entry in _entries(kind, facts[kind]).items() if not entry.get("retired"))
            for kind in ("algorithms", "environments")
        )
        return algorithms, environments

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> "StudyFacts":
        """Return the facts, after checking those that the store needs.

        Parameters
        ----------
        facts
            JSON types by name. ``seed``; ``algorithms`` and ``environments``, each a list of names or of mappings
            with a ``name``; those of environments may have a ``score_range``, as `Environment.facts` has. The rest
            is the caller's.
        """
        if not isinstance(facts, Mapping):
            raise InvalidInput(f"facts are {type(facts).__name__}: pass a mapping with seed, algorithms, environments")
        try:
            text = json.dumps(dict(facts))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"the facts cannot be kept as JSON ({error}): pass texts, numbers, lists, dicts"
            ) from None
        plain = json.loads(text)
        for needed in ("seed", "algorithms", "environments"):
            if needed not in plain:
                raise InvalidInput(f"the facts have no {needed!r}: a study needs seed, algorithms and environments")
        algorithms = _entries("algorithms", plain["algorithms"])
        environments = _entries("environments", plain["environments"])
        ranges = {
            name: _range(name, entry["score_range"]) for name, entry in environments.items() if entry.get("score_range")
        }
        return cls(
            text,
            checked_size("seed", plain["seed"], 0, LARGEST),
            tuple(algorithms),
            tuple(environments),
            ranges,
        )


#: What counts of an algorithm or environment with a fingerprint, which covers everything else.
_COUNTED = ("name", "version", "fingerprint", "score_range", "retired", "kernels")


def _lasting(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    if "fingerprint" in entry:
        return {key: entry[key] for key in _COUNTED if key in entry}
    return {key: value for key, value in entry.items() if key != "trials"}


def entry_of(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of an algorithm or environment, of which the name alone may be given."""
    return {"name": given} if isinstance(given, str) else dict(given)


def _entries(field: str, listed: object) -> dict[str, dict[str, Any]]:
    """Return the facts of each, by name."""
    entries: dict[str, dict[str, Any]] = {}
    if not isinstance(listed, list) or not listed:
        raise InvalidInput(f"{field} of the facts are {listed!r}: pass a list of names, or of mappings with a 'name'")
    for each in listed:
        entry = entry_of(each) if isinstance(each, str | dict) else {}
        name = entry.get("name")
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"{field} of the facts have {each!r} among them: pass names, or mappings with a 'name'")
        if name in entries:
            raise InvalidInput(f"{field} of the facts name {name!r} twice: name each once")
        entries[name] = entry
    return entries


def _range(environment: str, pair: object) -> Range:
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(end) in (int, float) for end in pair):
        raise InvalidInput(f"the score_range of {environment!r} is {pair!r}: pass [lowest, highest], or leave it out")
    return float(pair[0]), float(pair[1])
