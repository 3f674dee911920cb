"""Resuming stores from before fingerprints were computed from syntax trees.

Those stores have a digest of the bytes of all of this package's sources (``facts["kernels"]``), the version of a
compiled algorithm, and a digest of the whole module of a user's function. Where all of these are unchanged, current
fingerprints replace them; the rest stays, and is refused like any other change.
"""

import dataclasses
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.registry import algorithms
from untuned.collect.environments.registry import environment, environments
from untuned.collect.fingerprints import PYTHON_RUNNER, Description, digest, hashed, source_digest
from untuned.errors import InvalidInput
from untuned.source_trees import own_code

#: The digest of the sources when fingerprints changed, and that of the same code now (`own_fingerprint`). Update the
#: second after every edit that changes no number; tests/contract/test_old_fingerprints.py says what to put here.
KERNELS_THEN = "676c8af787cad428"
SAME_CODE_NOW = "f7a4ef461d3223de"

#: One environment of each kind of states, on which users' definitions were described.
_DESCRIBED = ("chain-10-stochastic", "cart-pole")

#: Modules that have been renamed.
_CALLED_THEN = {"untuned.adapters.gymnasium.probe": "untuned.adapters.gymnasium.making"}


def own_fingerprint() -> str:
    """Return the fingerprint of everything in this package that determines the numbers of trials."""
    return digest(
        {
            **{f"algorithm {each.name}": source_digest(each) for each in algorithms()},
            **{f"environment {each.name}": source_digest(each) for each in environments()},
            "python": own_code(*PYTHON_RUNNER),
        }
    )


def with_fingerprints_of_now(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    algorithms: Mapping[str, Any],
    environments: Mapping[str, Any],
    metric: Callable[..., float] | None = None,
) -> dict[str, Any]:
    """Return the facts of a store with current fingerprints wherever nothing that determines numbers has changed.

    Facts that already have them are returned unchanged.

    Parameters
    ----------
    before, now
        The store's facts, and those of the study as it is now.
    algorithms, environments
        The definitions or trainers and the environments of the study's names.
    metric
        The study's metric, if it is a function.

    Raises
    ------
    InvalidInput
        When the code of this package has changed since the store was made.
    """
    facts = {**before}
    kernels = facts.pop("kernels", None)
    if metric is not None and kernels is not None and facts.get("metric_fingerprint") == _source_then(metric):
        facts["metric_fingerprint"] = now.get("metric_fingerprint")
    for kind, known, unchanged in (
        ("algorithms", algorithms, _same_algorithm),
        ("environments", environments, _same_environment),
    ):
        entries = {entry["name"]: entry for entry in now[kind]}
        facts[kind] = [
            _entry_of_now(entry, kernels, entries.get(entry["name"]), known.get(entry["name"]), unchanged)
            for entry in before[kind]
        ]
    return facts


def _entry_of_now(
    entry: Mapping[str, Any],
    kernels: str | None,
    now: Mapping[str, Any] | None,
    thing: Any,
    unchanged: Callable[[Mapping[str, Any], Mapping[str, Any], Any], bool],
) -> dict[str, Any]:
    made_with = entry.get("kernels", kernels)
    if made_with is None or now is None or thing is None:
        # What is not in the study now may come back to it later.
        return {**entry, **({"kernels": made_with} if made_with is not None else {})}
    if made_with != KERNELS_THEN or own_fingerprint() != SAME_CODE_NOW:
        raise InvalidInput(
            f"the trials of {entry['name']!r} were run by an older untuned, whose algorithms and environments were "
            "different: start a new study in another folder (--out), or continue with the version of untuned that "
            "started it"
        )
    kept = {key: value for key, value in entry.items() if key != "kernels"}
    if unchanged(kept, now, thing):
        kept |= {key: now[key] for key in ("fingerprint", "version") if key in now}
    return kept


def _same_algorithm(entry: Mapping[str, Any], now: Mapping[str, Any], algorithm: Any) -> bool:
    if isinstance(algorithm, Definition):
        version = str(algorithm.version)
        return entry["fingerprint"] in (digest({"version": version}), digest(_drawn_then(algorithm, version)))
    return entry["fingerprint"] in (str(algorithm.version), _source_then(algorithm.train))


def _drawn_then(algorithm: Definition, version: str) -> dict[str, Any]:
    drawn: dict[str, object] = {}
    for name in _DESCRIBED:
        try:
            drawn[name] = [dataclasses.asdict(each) for each in algorithm.describe(environment(name))]
        except Exception as error:
            drawn[name] = type(error).__name__
    return {"version": version, "drawn": drawn}


def _same_environment(entry: Mapping[str, Any], now: Mapping[str, Any], place: Any) -> bool:
    """Return whether an environment is unchanged: its facts, and for one of Gymnasium's how it is made."""
    shown = ("title", "summary", "differs", "score_range", "trials", "fingerprint", "retired")
    facts = {key: value for key, value in entry.items() if key not in shown}
    if any(_numbers(entry.get(key)) != _numbers(now.get(key)) for key in facts):
        return False
    if hasattr(place, "make"):
        facts |= {"made": _source_then(place.make), "gymnasium": sys.modules["gymnasium"].__version__}
    return bool(entry["fingerprint"] == digest(facts))


def _numbers(fact: Any) -> Any:
    """Return a fact without texts for readers."""
    if isinstance(fact, dict):
        return {key: _numbers(value) for key, value in fact.items() if key not in ("meaning", "names")}
    return [_numbers(each) for each in fact] if isinstance(fact, list) else fact


class _DescriptionThen(Description):
    """With the text of whole modules."""

    def source(self, thing: types.FunctionType | type) -> object:
        if thing.__module__.partition(".")[0] == __name__.partition(".")[0]:
            return _CALLED_THEN.get(thing.__module__, thing.__module__)
        try:
            return inspect.getsource(inspect.getmodule(thing) or thing)
        except (OSError, TypeError):
            return thing.__qualname__ if isinstance(thing, type) else self.code(thing.__code__)


def _source_then(thing: object) -> str | None:
    try:
        return hashed(repr(_DescriptionThen().of(thing)))
    except (InvalidInput, RecursionError):
        return None
