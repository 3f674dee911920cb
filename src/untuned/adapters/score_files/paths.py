"""Names in folders and file names: by the user's pattern, otherwise if there is exactly one interpretation."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

ROLES = ("algorithm", "environment", "run")

#: CleanRL's folders, and RL Zoo's.
_CLEANRL = re.compile(r"(?P<environment>.+?)__(?P<algorithm>.+?)__(?P<run>\d+)__\d+")
_ZOO = re.compile(r"(?P<environment>.+-v\d+)_(?P<run>\d+)")
#: ``seed=1``, as Hydra names its folders.
_ASSIGNED = re.compile(r"(?P<key>[A-Za-z_]+)=(?P<value>.+)")
_KEYS = {
    **dict.fromkeys(("algorithm", "algo", "alg", "agent", "method"), "algorithm"),
    **dict.fromkeys(("environment", "env", "env_id", "task", "game"), "environment"),
    **dict.fromkeys(("run", "seed", "trial"), "run"),
}
_IS_RUN = re.compile(r"(?:seed|run|trial|rep|s|r)?[-_ ]?\d+", re.IGNORECASE)
_IS_ENVIRONMENT = re.compile(r".+-v\d+")


def with_names(parts: Iterable[Rows], paths: Sequence[str], pattern: str | None) -> Iterable[Rows]:
    """Yield the rows, with names that their files lack taken from their paths.

    Parameters
    ----------
    parts
        The rows of files.
    paths
        The paths of all files to read: folders that differ are names.
    pattern
        The user's, ``{algorithm}/{environment}/{seed}``; None to guess.
    """
    found: Callable[[Rows, Sequence[str]], Mapping[str, str]] | None = None
    folders: dict[tuple[object, ...], str] = {}
    ahead = list(islice(parts := iter(parts), 1))
    if ahead and pattern is None and (ahead[0].algorithm is None or ahead[0].environment is None):
        # A run may have several files; its rows have one path.
        ahead += parts
        paths = [part.path for part in ahead]
    for part in chain(ahead, parts):
        missing = [role for role in ROLES if getattr(part, role) is None]
        # A table in long form may lack names of runs; it has several runs unless it shows that it is one.
        is_run = part.algorithm is None or isinstance(part.algorithm, str) or (len(paths) > 1 and _is_curve(part))
        if not missing or (missing == ["run"] and pattern is None and not is_run):
            yield part
            continue
        if found is None:
            found = _by_pattern(pattern) if pattern is not None else _guessed(paths, missing)
        names = dict(found(part, missing))
        if names.get("run") is None and "run" in missing and is_run:
            names["run"] = part.path if part.alone else part.path.rpartition("/")[0] or part.path
        known: dict[str, Any] = {role: names[role] for role in missing if names.get(role) is not None}
        named = replace(part, **known)
        if pattern is None and "run" in missing:
            _refuse_same(named, folders)
        yield named


def _is_curve(part: Rows) -> bool:
    """Return whether rows can be the points of one run on each environment: no step occurs twice."""
    if part.step is None:
        return False
    columns: list[NDArray[Any]] = [part.step]
    columns += [each[1] for each in (part.algorithm, part.environment) if isinstance(each, tuple)]
    return bool(np.unique(np.stack(columns), axis=1).shape[1] == part.step.size)


def _refuse_same(part: Rows, folders: dict[tuple[object, ...], str]) -> None:
    """Refuse a run that occurs in two folders: its points would be mixed with those of another run."""
    key = (part.algorithm, part.environment, part.run)
    folder = part.path if part.alone else part.path.rpartition("/")[0]
    if all(isinstance(each, str) for each in key) and folders.setdefault(key, folder) != folder:
        raise InvalidInput(
            f"{folders[key]} and {folder} are both run {part.run!r} of {part.algorithm!r} on {part.environment!r}: "
            "name one of them, or say what distinguishes their runs with --pattern, for example "
            "--pattern '{environment}__{algorithm}__{seed}'"
        )


def stem(path: str) -> str:
    """Return the last part of a path without suffixes such as ``.json.gz``."""
    name = path.rpartition("/")[2]
    return re.sub(r"(\.(json|jsonl|csv|tsv|npy|npz|gz|parquet|txt))+$", "", name, flags=re.IGNORECASE) or name


def _by_pattern(pattern: str) -> Callable[[Rows, Sequence[str]], Mapping[str, str]]:
    """Return a function that takes names from the end of a path by a pattern."""
    wanted = pattern.strip("/")
    names = re.findall(r"\{(\w*)\}", wanted)
    roles = {"seed": "run", "trial": "run", "algo": "algorithm", "env": "environment"}
    unknown = [name for name in names if roles.get(name, name) not in ROLES]
    if unknown or not names:
        raise InvalidInput(
            f"--pattern {pattern}: {'{' + unknown[0] + '}' if unknown else 'it names nothing'}; write "
            "{algorithm}, {environment} and {seed} where they stand in the path, and * for what differs otherwise"
        )
    parts = [
        f"(?P<{roles.get(each[1:-1], each[1:-1])}>[^/]+?)"
        if each.startswith("{")
        else "[^/]*?"
        if each == "*"
        else re.escape(each)
        for each in re.findall(r"\{\w*\}|\*|[^{}*]+", wanted)
    ]
    try:
        expression = re.compile("".join(parts))
    except re.error:
        raise InvalidInput(f"--pattern {pattern}: each name may stand in it once") from None
    depth = wanted.count("/") + 1

    def names_of(part: Rows, missing: Sequence[str]) -> Mapping[str, str]:
        folders = part.path.split("/")
        # With the file's name, first without its suffix, which is not part of a name.
        for tail in (folders[:-1][-depth:], [*folders[-depth:][:-1], stem(part.path)], folders[-depth:]):
            match = expression.fullmatch("/".join(tail))
            if match is not None:
                absent = [role for role in missing if role not in match.groupdict() and role != "run"]
                if absent:
                    raise InvalidInput(
                        f"--pattern {pattern} has no {' and no '.join(f'{{{role}}}' for role in absent)}, and "
                        f"{part.path} does not say which it belongs to: write where in the path it stands"
                    )
                return match.groupdict()
        raise InvalidInput(
            f"--pattern {pattern} does not fit {part.path}: write one that fits the end of the path, with or without "
            "the file's name"
        )

    return names_of


def _guessed(paths: Sequence[str], missing: Sequence[str]) -> Callable[[Rows, Sequence[str]], Mapping[str, str]]:
    """Return a function that takes names from paths, if there is exactly one interpretation."""
    levels = [_parts(path) for path in paths]
    depth = len(levels[0])
    role_of: dict[int, str] = {}
    if all(len(each) == depth for each in levels):
        role_of = _roles([{each[number] for each in levels} for number in range(depth)], list(missing))

    def names_of(part: Rows, missing: Sequence[str]) -> Mapping[str, str]:
        names = dict(_conventional(part.path))
        own = _parts(part.path)
        if len(own) == depth:
            names = {role: own[number] for number, role in role_of.items()} | names
        absent = [role for role in missing if role not in names and role != "run"]
        if absent:
            raise InvalidInput(_about_paths(part.path, absent))
        return names

    return names_of


def _parts(path: str) -> list[str]:
    return [*path.split("/")[:-1], stem(path)]


def _conventional(path: str) -> dict[str, str]:
    """Return the names in a path that follows a convention: CleanRL's, RL Zoo's, Hydra's."""
    folders = path.split("/")
    for number, folder in reversed(list(enumerate(folders))):
        found = _CLEANRL.fullmatch(folder)
        if found is not None:
            return found.groupdict()
        found = _ZOO.fullmatch(folder)
        if found is not None and number:
            return {**found.groupdict(), "algorithm": folders[number - 1]}
    assigned = [_ASSIGNED.fullmatch(part) for folder in folders for part in folder.split(",")]
    return {_KEYS[each["key"].lower()]: each["value"] for each in assigned if each and each["key"].lower() in _KEYS}


def _roles(values: Sequence[set[str]], missing: list[str]) -> dict[int, str]:
    """Return the role of every level of folders that has one; empty if that is ambiguous."""
    varying = [number for number, names in enumerate(values) if len(names) > 1]
    found: dict[int, str] = {}
    for role, looks in (("run", _IS_RUN), ("environment", _IS_ENVIRONMENT)):
        alike = [number for number in varying if all(looks.fullmatch(name) for name in values[number])]
        if role in missing and len(alike) == 1:
            found[alike[0]] = role
            varying.remove(alike[0])
    left = [role for role in missing if role not in found.values()]
    names = [role for role in left if role != "run"]
    if len(varying) == 1 and len(left) == 1:
        found[varying[0]] = left[0]
    elif len(varying) == len(names) == 1:
        found[varying[0]] = names[0]
    elif not varying and len(names) == 1 and values:
        # A single file or folder: only its name is available.
        free = [number for number in range(len(values)) if number not in found]
        if free:
            found[free[-1] if len(values) == 1 else free[0]] = names[0]
    return found


def _about_paths(path: str, absent: Sequence[str]) -> str:
    marks = [*(f"{{{role}}}" for role in absent), "{seed}"]
    # Folders if there are enough of them, else parts of one name.
    example = ("/" if path.count("/") >= len(marks) else "_").join(marks)
    return (
        f"{path} does not say which {' and '.join(absent)} it belongs to: say which folders are names, for example "
        f"--pattern '{example}', which is held against the end of the path"
    )
