"""What resuming a study allows: more trials, algorithms and environments; nothing that changes results."""

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untuned.collect.engines.cells import TOOK_MORE
from untuned.collect.engines.worker_process import DIED, TOOK_LONGER
from untuned.collect.old_fingerprints import with_fingerprints_of_now
from untuned.collect.resolve import Resolved
from untuned.collect.rounds import declaration
from untuned.collect.runner.memory_limit import written
from untuned.collect.store.connection import explained
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.collect.store.study_facts import entry_of
from untuned.errors import InvalidInput
from untuned.verdicts import listed

_NEW_FOLDER = "Start a new study in another folder (--out)"

#: The remedy where trials that were seen must not count: the same seed would run the same ones again.
NEW_STUDY = "start a new study with another seed in another folder (--out)"

#: Settings that all trials of a study share.
_COMMON = {
    "seed": "the seed",
    "metric": "the metric",
    "metric_fingerprint": "the source of the metric",
    "isolate": "whether trials are isolated",
    "precision": "the precision",
    "protocol": "the protocol",
}

#: What has changed if no other difference shows.
_HIDDEN_DIFFERENCE = {
    "algorithms": "its code or untuned's, or what it draws",
    "environments": "its code, or how it is made: options, the function that makes it, or Gymnasium's version",
}


def resume(store: Store, folder: Path, resolved: Resolved, replace: bool) -> None:
    """Update a store's facts; refuse changes that affect results."""
    before, now = store.facts, resolved.facts
    if log := store.race_log():
        if replace:
            raise InvalidInput(
                f"{folder} was raced, and what a race began with cannot be replaced: leave --replace (replace=True) "
                f"out, or {NEW_STUDY}"
            )
        with explained(folder / RESULTS_NAME):
            declared = declaration(log)
        _check_declared(declared, now, folder)
    if any(store.counts().values()):
        before = with_fingerprints_of_now(
            before, now, resolved.algorithms, resolved.environments, resolved.metric.function
        )
        for key, what in _COMMON.items():
            if before.get(key) != now.get(key):
                raise InvalidInput(
                    f"{what} of the study in {folder} was {before.get(key)!r} and is now {now.get(key)!r}: its trials "
                    f"would not be comparable. {_NEW_FOLDER}"
                )
        _check_limits(store, before, now, folder)
        for kind in ("algorithms", "environments"):
            _set_changed_aside(store, kind, before, now, folder, replace)
    merged = _merged(store, before, now)
    if merged != store.facts:
        store.set_facts(merged)


def _check_declared(declared: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Refuse algorithms or environments other than those that a race declared."""
    for kind in ("algorithms", "environments"):
        names = [entry["name"] for entry in now[kind]]
        added = [name for name in names if name not in declared[kind]]
        removed = [name for name in declared[kind] if name not in names]
        changes = [f"{listed(each)} {verb}" for each, verb in ((added, "added"), (removed, "removed")) if each]
        if changes:
            raise InvalidInput(
                f"the race in {folder} was declared with other {kind}: {listed(changes)}. Every score is relative to "
                f"all of them, so earlier verdicts would not hold. Restore them, or {NEW_STUDY}"
            )


def _set_changed_aside(
    store: Store, kind: str, before: Mapping[str, Any], now: Mapping[str, Any], folder: Path, replace: bool
) -> None:
    """Rename the trials of changed algorithms and environments to ``mine~1``, or refuse the change."""
    known = {entry["name"]: entry for entry in before[kind]}
    for entry in now[kind]:
        name = entry["name"]
        old = known.get(name)
        if old is None or old.get("fingerprint") == entry["fingerprint"] or name not in _used(store, kind):
            continue
        if not replace:
            difference = _difference(old, entry) or _HIDDEN_DIFFERENCE[kind]
            remedy = (
                f"Restore it, or {NEW_STUDY}"
                if store.race_log()
                else f"{_NEW_FOLDER}, or pass --replace (replace=True) to set the old trials aside"
            )
            raise InvalidInput(
                f"{name!r} has changed since its trials in {folder} were run ({difference}): old and new trials are "
                f"not comparable. {remedy}"
            )
        number = next(n for n in itertools.count(1) if f"{name}~{n}" not in known)
        store.rename(kind, name, f"{name}~{number}")


def _used(store: Store, kind: str) -> set[str]:
    """Return the names that have trials."""
    return {cell[kind == "environments"] for cell, count in store.counts().items() if count}


def _check_limits(store: Store, before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Refuse changed limits of time or memory if stored trials would, or might, have had another result."""
    seconds, memory = now.get("time_limit"), now.get("memory")
    if (before.get("time_limit"), before.get("memory")) == (seconds, memory):
        return
    # Limits apply to trials in worker processes: of algorithms in Python, and all trials on Gymnasium environments.
    compiled = {entry["name"] for entry in before["algorithms"] if entry.get("compiled")}
    ours = {entry["name"] for entry in before["environments"] if entry.get("states", {}).get("kind") != "open"}
    less = memory is not None and memory < before.get("memory", math.inf)
    for trial in store.trials(returns=False):
        limited = trial.algorithm not in compiled or trial.environment not in ours
        failure = trial.failure or ""
        for what, key, ended, would_end in (
            ("time", "time_limit", TOOK_LONGER, seconds is not None and trial.seconds > seconds and "took longer than"),
            ("memory", "memory", TOOK_MORE, less and "may have taken more than"),
        ):
            if before.get(key) == now.get(key):
                continue
            if failure.startswith(ended):
                how = "was ended by the old one"
            elif key == "memory" and before.get(key) is not None and failure.startswith(DIED):
                # A library in C that runs out of memory may abort.
                how = "may have been ended by the old one"
            elif limited and would_end:
                how = f"{would_end} the new one"
            else:
                continue
            raise InvalidInput(
                f"the {what} limit of the study in {folder} was {_limit(key, before)} and is now {_limit(key, now)}, "
                f"and {trial.label} {how}: its trials would not be comparable. {_NEW_FOLDER}"
            )


def _limit(key: str, facts: Mapping[str, Any]) -> str:
    limit = facts.get(key)
    return written(limit) if key == "memory" and limit is not None else str(limit)


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    keys = [key for key in new if key not in ("name", "fingerprint", "trials") and old.get(key) != new[key]]
    return "; ".join(f"{key} was {old.get(key)!r}, is {new[key]!r}"[:300] for key in keys)


def _merged(store: Store, before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the study's updated facts: everything with trials stays, retired or not."""
    merged = dict(now)
    for kind in ("algorithms", "environments"):
        present = {entry["name"] for entry in now[kind]}
        used = _used(store, kind)
        entries = {entry["name"]: entry for entry in map(entry_of, (*store.facts[kind], *before[kind]))}
        merged[kind] = [*now[kind]] + [
            {**entry, "retired": True} for name, entry in entries.items() if name not in present and name in used
        ]
    return merged
