"""Opening the store of a study that may have begun before: what may change in between, and what may not."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from untuned.collect.engines.cells import TOOK_LONGER, Cell
from untuned.collect.old_fingerprints import with_fingerprints_of_now
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.errors import InvalidInput

_ADVICE = "Start a new study in another folder (--out), or pass --keep-both to keep the old trials under their name"


def opened(
    folder: Path,
    cells: Sequence[Cell],
    facts: Mapping[str, Any],
    *,
    metric: Callable[..., float] | None = None,
    keep_both: bool = False,
) -> tuple[Store, tuple[Cell, ...]]:
    """Return the study's store, open for writing, and its cells as they are called there.

    More trials, more algorithms and more environments go on with what there is; fewer leave what there is alone.

    Parameters
    ----------
    folder
        The study's.
    cells, facts
        Of the study as it is now.
    metric
        The study's, if it is a function of the user.
    keep_both
        Give what has changed another name, ``mine~2``, and keep the trials of both.

    Raises
    ------
    InvalidInput
        When something has changed that changes results: says what, and what to do.
    """
    if not (folder / RESULTS_NAME).is_file():
        return Store.create(folder, facts), tuple(cells)
    store = Store.open(folder, write=True)
    try:
        before = store.facts
        counted = store.counts()
        started = any(counted.values())
        if started:
            before = with_fingerprints_of_now(before, facts, *_subjects(cells), metric)
            for key, what in _DECISIVE.items():
                if before.get(key) != facts.get(key):
                    raise InvalidInput(
                        f"{what} of the study in {folder} was {before.get(key)!r} and is now {facts.get(key)!r}: its "
                        "trials would not be of one kind. Start a new study in another folder (--out)"
                    )
            _check_time_limit(store, before, facts.get("time_limit"), folder)
        renamed = {
            kind: _renamed(kind, before, facts, counted, folder, keep_both) for kind in ("algorithms", "environments")
        }
        merged = _merged(before, facts, renamed, counted)
        if merged != store.facts:
            store.set_facts(merged)
        return store, tuple(
            dataclasses.replace(
                cell,
                algorithm=renamed["algorithms"].get(cell.algorithm, cell.algorithm),
                environment=renamed["environments"].get(cell.environment, cell.environment),
            )
            for cell in cells
        )
    except BaseException:
        store.close()
        raise


def _subjects(cells: Sequence[Cell]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the algorithms' names stand for, and the environments'."""
    algorithms = {cell.algorithm: next(iter(vars(cell.run).values())) for cell in cells}
    return algorithms, {cell.environment: list(vars(cell.run).values())[1] for cell in cells}


#: What all trials of a study have in common.
_DECISIVE = {
    "seed": "the seed",
    "metric": "the metric",
    "metric_fingerprint": "the source of the metric",
    "isolate": "whether trials are isolated",
    "precision": "the precision",
}


def _renamed(
    kind: str,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    counted: Mapping[tuple[str, str], int],
    folder: Path,
    keep_both: bool,
) -> dict[str, str]:
    """Return other names for what has changed since it was last run."""
    known = {entry["name"]: entry for entry in before[kind]}
    place = 0 if kind == "algorithms" else 1
    used = {cell[place] for cell, count in counted.items() if count}
    names: dict[str, str] = {}
    for entry in now[kind]:
        name = entry["name"]
        old = known.get(name)
        if old is None or old.get("fingerprint") == entry["fingerprint"] or name not in used:
            continue
        other = _free_name(name, entry, known)
        if not keep_both and other not in known:
            difference = _difference(old, entry) or _HIDDEN_DIFFERENCE[kind]
            raise InvalidInput(
                f"{name!r} has changed since its trials in {folder} were run ({difference}): new trials would not be "
                f"of the same kind. {_ADVICE}"
            )
        names[name] = other
    return names


#: What has changed where nothing else shows.
_HIDDEN_DIFFERENCE = {
    "algorithms": "its code or untuned's, or what it draws",
    "environments": "its code, or how it is made: options, the function that makes it, or Gymnasium's version",
}


def _check_time_limit(store: Store, facts: Mapping[str, Any], now: float | None, folder: Path) -> None:
    """Refuse another limit where trials that are there would have come out differently."""
    before = facts.get("time_limit")
    if before == now:
        return
    # The limit is for trials in processes of their own.
    limited = {entry["name"] for entry in facts["algorithms"] if not entry.get("compiled")}
    for trial in store.trials(returns=False):
        timed_out = trial.failure is not None and trial.failure.startswith(TOOK_LONGER)
        if timed_out or (now is not None and trial.seconds > now and trial.algorithm in limited):
            raise InvalidInput(
                f"the time limit of the study in {folder} was {before} and is now {now}, and {trial.label} "
                f"{'was ended by the old one' if timed_out else 'took longer than the new one'}: trials would not be "
                "of one kind. Start a new study in another folder (--out)"
            )


def _free_name(name: str, entry: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Return the name under which this very version is kept already, or the next that is free."""
    number = 2
    while known.get(f"{name}~{number}", entry).get("fingerprint") != entry["fingerprint"]:
        number += 1
    return f"{name}~{number}"


def _plain_name(name: str) -> str:
    """Return the name without what `_free_name` added."""
    plain, _, number = name.rpartition("~")
    return plain if number.isdigit() else name


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    keys = [key for key in new if key not in ("name", "fingerprint", "trials") and old.get(key) != new[key]]
    return "; ".join(f"{key} was {old.get(key)!r}, is {new[key]!r}"[:300] for key in keys)


def _merged(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    renamed: Mapping[str, Mapping[str, str]],
    counted: Mapping[tuple[str, str], int],
) -> dict[str, Any]:
    """Return the study's facts as they are from now on: nothing is left out of which there are trials."""
    merged = dict(now)
    for place, kind in enumerate(("algorithms", "environments")):
        entries = [{**entry, "name": renamed[kind].get(entry["name"], entry["name"])} for entry in now[kind]]
        present = {entry["name"] for entry in entries}
        used = {cell[place] for cell, count in counted.items() if count}
        merged[kind] = entries + [
            # What was replaced stays in the comparison; what was taken out of the study does not.
            entry if _plain_name(entry["name"]) in renamed[kind] else {**entry, "retired": True}
            for entry in before[kind]
            if entry["name"] not in present and entry["name"] in used
        ]
    merged["identical"] = {
        renamed["environments"].get(environment, environment): [
            [renamed["algorithms"].get(name, name) for name in group] for group in groups
        ]
        for environment, groups in now.get("identical", {}).items()
    }
    return merged
