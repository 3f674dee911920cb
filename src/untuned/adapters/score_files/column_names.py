"""Which columns of a table in long form are read: those that the user names, else those with usual names."""

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput, nearest

#: The columns of every table, with their default names.
ROLES = ("algorithm", "environment", "score")
#: Usual names of columns, without case, spaces and punctuation; the first of several step columns is used.
USUAL = {
    "algorithm": ("algorithm", "algo", "alg", "algorithmname", "agent", "agentname", "method", "expname"),
    "environment": (
        *("environment", "environmentname", "environmentid", "env", "envid", "envname"),
        *("task", "taskname", "game", "gamename"),
    ),
    "score": (
        *("score", "return", "reward", "performance", "result", "value", "meanreturn", "meanreward", "meanscore"),
        *("episodicreturn", "episodereturn", "episodereward", "finalreturn", "finalscore", "finalperformance"),
        *("evalreturn", "evalscore", "evaluationreturn"),
    ),
    "run": (
        *("run", "runid", "runname", "runnumber", "trial", "trialid", "trialnumber", "seed", "seedid"),
        *("replicate", "replication", "repetition"),
    ),
    "step": (
        *("step", "steps", "globalstep", "timestep", "timesteps", "totaltimesteps", "totalsteps", "stepcount"),
        *("envstep", "envsteps", "environmentstep", "environmentsteps", "frame", "frames", "iteration", "iterations"),
        *("iter", "epoch", "episode", "episodes", "update", "updates"),
    ),
}
#: The heading for combinations of hyperparameters among the columns that identify runs.
CONFIGURATION = "configuration"
#: Columns that say whether a trial failed: by any word but no, and by words for failure.
FAILURES = ("failure", "failed", "crashed")
STATUSES = ("status", "state", "runstatus", "runstate")
#: More columns than this are not listed individually.
_MANY = 20
#: More columns than this are not compared with a missing name for similarity.
_COMPARED = 2000
#: Characters of a value shown in messages.
_LONG = 120


def plain(name: object) -> str:
    """Return a column's name without case, spaces and punctuation, for looking it up among the usual ones."""
    return re.sub(r"[\s_./-]+", "", str(name)).casefold()


def shown(value: object) -> str:
    """Return a value of a file for a message: without control characters, and truncated if long."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} of many levels"
    return text if len(text) <= _LONG else f"{text[: _LONG - 20]}... ({len(text):,} characters)"


@dataclass(frozen=True)
class Chosen:
    """The positions of the columns to read.

    Attributes
    ----------
    roles
        By role: score; algorithm and environment unless they are in the path; step, failure and status if present.
    runs
        The columns that may identify a run, by heading; several positions if only their combination does.
    """

    roles: Mapping[str, int]
    runs: Mapping[str, tuple[int, ...]]

    @property
    def anonymous(self) -> bool:
        """Whether no column identifies the run of a row."""
        return not self.runs and "step" not in self.roles

    @property
    def positions(self) -> list[int]:
        """All positions, ascending."""
        return sorted({*self.roles.values(), *(each for group in self.runs.values() for each in group)})


def chosen_columns(
    found: Iterable[str],
    asked: Reading,
    where: str,
    example: Callable[[], Sequence[object]],
    *,
    named_by_path: bool = False,
) -> Chosen:
    """Return which columns of a table to read: those that the user names, else those with usual names.

    Parameters
    ----------
    found
        The names of all columns.
    asked
        The user's names.
    where
        The name of the table in messages.
    example
        Returns the values of the first row, for messages.
    named_by_path
        Whether algorithm and environment may be in the file's path instead.
    """
    found = list(found)
    given = wanted_columns(asked)
    roles = {role: _position(found, role, given.get(role), where) for role in (*ROLES, "step")}
    missing = [role for role in ROLES if roles[role] is None]
    if missing and not (named_by_path and "score" not in missing and not {*missing} & {*given}):
        wanted = [given.get(role, role) if (at := roles[role]) is None else found[at] for role in ROLES]
        raise InvalidInput(_about_missing(missing, found, wanted, where, example))
    by_position: dict[int, str] = {}
    for role, position in roles.items():
        if position is not None and by_position.setdefault(position, role) != role:
            raise InvalidInput(
                f"column {shown(found[position])} is named for both {by_position[position]} and {role}: give "
                "each its own column"
            )
    for role, usual in (("failure", FAILURES), ("status", STATUSES)):
        roles[role] = next(
            (at for at, name in enumerate(found) if plain(name) in usual and at not in by_position), None
        )
    return Chosen(
        {role: position for role, position in roles.items() if position is not None},
        {
            **_configuration(found, asked.configuration, where),
            **_run_columns(found, asked.run, set(by_position), where),
        },
    )


def wanted_columns(asked: Reading) -> dict[str, str]:
    """Return the columns that the user named, by role."""
    given: dict[str, str] = {}
    if asked.columns is not None:
        names = asked.columns.split(",")
        if len(names) != 3 or not all(names):
            raise InvalidInput(f"columns {asked.columns}: write three names, --columns algo,env,return")
        given = dict(zip(ROLES, names, strict=True))
    named = {role: getattr(asked, role) for role in (*ROLES, "step")}
    return given | {role: name for role, name in named.items() if name is not None}


def _position(found: Sequence[str], role: str, given: str | None, where: str) -> int | None:
    """Return the position of a column by the given name, its default name, or the only usual one."""
    name = given if given is not None else role
    if found.count(name) > 1:
        raise InvalidInput(
            f"{where} has {found.count(name)} columns called {name!r}: rename all but the one that is meant"
        )
    if name in found:
        return found.index(name)
    if given is not None:
        if role == "step":
            raise InvalidInput(f"{where} has no column {given!r}. It has {_listed(list(map(shown, found)))}")
        return None
    usual = [position for position, name in enumerate(found) if plain(name) in USUAL[role]]
    if role == "step":
        return min(usual, key=lambda each: USUAL[role].index(plain(found[each])), default=None)
    if len(usual) > 1:
        raise InvalidInput(
            f"{where} has no column {role!r}, and {_listed([shown(found[each]) for each in usual])} may be it: say "
            f"which with {role}='...' (--columns A,E,S)"
        )
    return usual[0] if usual else None


def _configuration(found: Sequence[str], given: str | None, where: str) -> dict[str, tuple[int, ...]]:
    """Return the columns of hyperparameters under the heading of configurations."""
    if given is None:
        return {}
    positions = []
    for pattern in given.split(","):
        matching = [each for each, name in enumerate(found) if fnmatch.fnmatchcase(name, pattern)]
        if not matching:
            raise InvalidInput(
                f"{where} has no column {pattern!r}, which --configuration names. It has "
                f"{_listed(list(map(repr, found)))}"
            )
        positions += matching
    return {CONFIGURATION: tuple(dict.fromkeys(positions))}


def _run_columns(found: Sequence[str], given: str | None, taken: set[int], where: str) -> dict[str, tuple[int, ...]]:
    """Return the columns that may identify a run: those that the user names together, else each with a usual name."""
    if given is not None:
        names = given.split(",") if given not in found else [given]
        for name in names:
            if found.count(name) != 1:
                raise InvalidInput(
                    f"{where} has {found.count(name) or 'no'} columns called {name!r}, which --run names. It has "
                    f"{_listed(list(map(shown, found)))}"
                )
        return {given: tuple(found.index(name) for name in names)}
    usual = [each for each, name in enumerate(found) if plain(name) in USUAL["run"] and each not in taken]
    # The most specific first: a seed may serve several runs.
    usual.sort(key=lambda each: USUAL["run"].index(plain(found[each])))
    counts = Counter(found)
    return {found[each]: (each,) for each in usual if counts[found[each]] == 1}


def _about_missing(
    missing: Sequence[str],
    found: Sequence[str],
    wanted: Sequence[str],
    where: str,
    example: Callable[[], Sequence[object]],
) -> str:
    named = dict(zip(ROLES, wanted, strict=True))
    free = [name for name in found if name not in wanted]
    absent = _listed([repr(named[role]) for role in missing])
    message = f"{where} has no column {absent}. It has {_listed(list(map(shown, found))) or 'no columns'}"
    advice = []
    for role in missing:
        near = _nearest_column(named[role], free)
        if near is not None:
            advice.append(f"{role}={near!r}")
    message += f"; did you mean {', '.join(advice)}?" if advice else "."
    options = ", ".join(f"{role}='...'" for role in missing)
    message += f" Rename the columns, or pass the names they have as {options} (--columns A,E,S)"
    numeric = [name for name, value in zip(found, example(), strict=False) if name in free and _is_number(value)]
    others = [name for name in numeric if plain(name) and plain(name) not in (*USUAL["run"], *USUAL["step"])]
    if missing == ["score"] and others and not advice:
        names = [f"--columns {','.join([*wanted[:2], name])}" for name in others[:3]]
        message += f", for example {' or '.join(names)}"
    wide = _as_long_form(free, found, example) if {"environment", "score"} <= set(missing) else None
    if wide is not None:
        message += (
            ".\nIf every column is an environment, the table is in wide form. Long form is needed, one row per trial:"
            f"\n\n{wide}\n\nunpivot of polars and melt of pandas turn one into the other"
        )
    return message


def _nearest_column(name: str, free: Sequence[object]) -> str | None:
    """Return the most likely intended column: similar spelling, or an abbreviation."""
    others = (*USUAL["run"], *USUAL["step"])
    texts = [column for column in free if isinstance(column, str) and plain(column) not in others]
    near = nearest(str(name), texts) if len(texts) <= _COMPARED else None
    if near is not None:
        return near
    return next(
        (text for text in texts if len(text) > 2 and str(name).casefold().startswith(text.casefold())),
        None,
    )


def _as_long_form(free: Sequence[str], found: Sequence[str], example: Callable[[], Sequence[object]]) -> str | None:
    """Return three lines in long form, made from the table, if its columns look like environments."""
    first = dict(zip(found, example(), strict=False))
    numeric = [name for name in free if _is_number(first.get(name))]
    numbers = set(numeric)
    texts = [name for name in found if name in first and name not in numbers]
    # Long form with other headings has names of algorithms and of environments, so more than one column of text.
    if len(numeric) < 2 or len(texts) > 1:
        return None
    algorithm = str(first[texts[0]]) if texts else "my-algorithm"
    if any(len(each) > _LONG for each in (algorithm, *numeric[:2], *(str(first[name]) for name in numeric[:2]))):
        return None
    rows = [",".join(ROLES), *(f"{algorithm},{name},{first[name]}" for name in numeric[:2])]
    return "\n".join(f"    {row}" for row in rows)


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MANY:
        return f"{', '.join(names[:_MANY])} and {len(names) - _MANY} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
