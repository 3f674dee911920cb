"""A study: which algorithms, on which environments, how many trials; from a TOML file or from Python.

The form of the entries is checked here. `untuned.collect.resolve` looks the names up.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from untuned import families
from untuned.collect.environments.checks import checked_range, checked_size, whole_number
from untuned.collect.metrics import AVERAGE
from untuned.collect.runner.memory_limit import parsed
from untuned.collect.runner.trial import PRECISIONS
from untuned.collect.trial import LARGEST
from untuned.errors import InvalidInput, nearest
from untuned.families import Families

if TYPE_CHECKING:
    from untuned.collect.session import Session
    from untuned.collect.shard import Shard

#: How a failed trial is scored: the environment's worst score, or an error until the user decides.
FailurePolicy = Literal["worst", "error"]
#: What is stored of a trial in addition to its score and its draws: nothing, or the returns of all episodes.
Keep = Literal["scores", "returns"]

MOST_TRIALS = 10**7

#: The longest file of a study, in characters: a thousand tables take a hundredth of it.
_LONGEST = 16 << 20


@dataclass(frozen=True)
class AlgorithmChoice:
    """One algorithm of a study.

    Parameters
    ----------
    use
        A built-in name, your own ``module:function``, or the object itself.
    name
        Its name in the study; by default its own name.
    """

    use: Any
    name: str | None = None


@dataclass(frozen=True)
class EnvironmentChoice:
    """One environment of a study.

    Parameters
    ----------
    use
        A built-in name, a Gymnasium id, your own ``module:function``, or the object itself.
    gymnasium
        Whether ``use`` is a Gymnasium id.
    options
        Its other options.
    trials
        How many trials each algorithm gets there; None for the study's number.
    """

    use: Any
    gymnasium: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    trials: int | None = None


@dataclass(frozen=True)
class Study:
    """A study to collect.

    Parameters
    ----------
    name
        The name of the study.
    algorithms
        Names (`untuned list algorithms`), your own ``"module:function"``, definitions, trainers or functions; or
        tables ``{"use": ..., "name": ...}``.
    environments
        Names (`untuned list environments`), environments, or tables: ``{"name": "cart-pole", ...options}``,
        ``{"gymnasium": "CartPole-v1", "episodes": 100, ...}``, each optionally with its own ``"trials"``.
    trials
        Trials per algorithm and environment; in Python also ``{(algorithm, environment): number}``, none where no
        number is given.
    seed
        Determines, with names and numbers, everything random.
    metric
        ``"average-return"``, ``"final-return"``, ``"last-10"``, ``"module:function"`` or a function of the returns.
    score_range
        (worst, best) possible score, for your own metric.
    families
        Environments that are variants of one, and count as one when the study is judged: ``{"maze": ["maze-1",
        "maze-2"]}``, by the environments' names in results.
    keep
        ``"scores"``, or ``"returns"`` to keep the return of every episode.
    failures
        ``"worst"`` counts a failed trial as the environment's worst score; ``"error"`` refuses to judge until the user
        decides. Neither drops it.
    time_limit
        Seconds after which a trial in Python fails; None for no limit.
    memory
        Memory limit of a trial in Python, ``"2 GiB"`` or a number of bytes; None for no limit. Enforced on Linux.
    isolate
        Whether every trial in Python gets a new process, for algorithms whose modules keep state between trials;
        otherwise a process runs many.
    precision
        The type of compiled agents' weights.
    folder
        The folder to search for your own modules: that of the study's file.
    file
        The name and text of the file that it was read from, for error messages that name the line.
    protocol
        The protocol, set by `untuned.protocols`; None for complete trials.

    Examples
    --------
    >>> study = Study("first", algorithms=["sarsa", "q"], environments=["chain-10-stochastic"], trials=20)
    >>> study.trials, study.metric
    (20, 'average-return')
    """

    name: str
    algorithms: Sequence[Any]
    environments: Sequence[Any]
    trials: int | Mapping[tuple[str, str], int]
    seed: int = 0
    metric: str | Callable[..., float] = AVERAGE
    score_range: tuple[float, float] | None = None
    families: Families = field(default_factory=dict)
    keep: Keep = "scores"
    failures: FailurePolicy = "worst"
    time_limit: float | None = None
    memory: str | int | None = None
    isolate: bool = False
    precision: str = "float64"
    folder: Path | None = None
    file: tuple[str, str] | None = field(default=None, repr=False, compare=False)
    protocol: Mapping[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"name: {name!r} is not allowed, give the study a name")
        for kind, chosen in (("algorithms", self.algorithms), ("environments", self.environments)):
            if isinstance(chosen, (str, Mapping)) or not isinstance(chosen, Iterable):
                raise InvalidInput(f"{kind}: {chosen!r} is not a list, write one, {kind} = [...]")
            if not list(chosen):
                raise InvalidInput(f"{kind}: the list is empty, name at least one (untuned list {kind})")
        settle = object.__setattr__
        settle(self, "algorithms", tuple(_algorithm(each, n) for n, each in enumerate(self.algorithms)))
        settle(self, "environments", tuple(_environment(each, n) for n, each in enumerate(self.environments)))
        settle(self, "trials", _trials(self.trials))
        settle(self, "seed", checked_size("seed", self.seed, 0, LARGEST))
        for key, value, allowed in (
            ("precision", self.precision, tuple(PRECISIONS)),
            ("keep", self.keep, ("scores", "returns")),
            ("failures", self.failures, ("worst", "error")),
        ):
            if value not in allowed:
                raise InvalidInput(f"{key}: {value!r} is not allowed, write {' or '.join(map(repr, allowed))}")
        if not isinstance(self.metric, str) and not callable(self.metric):
            raise InvalidInput(f"metric: {self.metric!r} is not a metric, write average-return, or module:function")
        settle(self, "time_limit", _time_limit(self.time_limit))
        settle(self, "memory", parsed(self.memory))
        settle(
            self,
            "score_range",
            None if self.score_range is None else checked_range("score_range", self.score_range),
        )
        settle(self, "families", families.checked(self.families))
        isolate: object = self.isolate
        if not isinstance(isolate, bool):
            raise InvalidInput(f"isolate: {isolate!r} is not allowed, write true or false")

    @classmethod
    def read(cls, path: str | Path) -> "Study":
        """Return the study of a TOML file.

        Parameters
        ----------
        path
            The path of the file; modules that the study names are searched for next to it.

        Raises
        ------
        InvalidInput
            For a file that is missing or not TOML, and for invalid entries; the message says where.
        """
        path = Path(path)
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(_LONGEST + 1)
        except FileNotFoundError:
            siblings = [each.name for each in path.parent.glob("*.toml")] if path.parent.is_dir() else []
            near = nearest(path.name, siblings)
            advice = f"did you mean {near!r}?" if near else "`untuned new` writes an example"
            raise InvalidInput(f"there is no file {str(path)!r}: {advice}") from None
        except (OSError, UnicodeDecodeError) as error:
            if path.is_dir():
                raise InvalidInput(f"{str(path)!r} is a folder: name the study's TOML file") from None
            raise InvalidInput(f"{str(path)!r} cannot be read as text: {error}") from None
        if len(text) > _LONGEST:
            raise InvalidInput(f"{str(path)!r} has more than {_LONGEST >> 20} million characters: it is not a study")
        return cls.parse(text, path.name, path.resolve().parent)

    @classmethod
    def parse(cls, text: str, name: str = "study.toml", folder: Path | None = None) -> "Study":
        """Return the study of a TOML text; ``name`` is its name in error messages.

        Parameters
        ----------
        text
            The TOML text.
        name
            Its name in error messages.
        folder
            The folder to search for modules that the study names; None for none.
        """
        try:
            content = tomllib.loads(text)
            repr(content)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"{name} is not TOML: {error}") from None
        except RecursionError:
            raise InvalidInput(f"{name} is nested too deeply: a study is a table of lists of tables") from None
        except ValueError:
            # Python does not convert texts of more than a few thousand digits.
            raise InvalidInput(f"{name} has a number of thousands of digits: write one that a study can have") from None
        for key in content:
            if key not in _KEYS:
                raise InvalidInput(_at(name, text, key) + _unknown(key, _KEYS, "a study"))
        for key in ("name", "algorithms", "environments", "trials"):
            if key not in content:
                raise InvalidInput(f"{name} has no {key!r}: every study needs one (`untuned new` writes an example)")
        try:
            return cls(**content, folder=folder, file=(name, text))
        except InvalidInput as error:
            raise InvalidInput(_at(name, text, _key_of(str(error))) + str(error)) from None

    def open(
        self, folder: str | Path | None = None, *, shard: "Shard | str | None" = None, replace: bool = False
    ) -> "Session":
        """Return the session of this study: names looked up, the store open, checked against the trials it has.

        Parameters
        ----------
        folder
            Where results go; by default a folder with the study's name.
        shard
            ``"3/16"``: only this part of the trials; `untuned.merge` puts parts together.
        replace
            When an algorithm or an environment has changed since its trials were run: set the old trials aside. They
            stay in the store, out of every comparison.
        """
        from untuned.collect.session import Session

        return Session.open(self, folder, shard=shard, replace=replace)

    def located(self, complaint: str) -> str:
        """Return a ``complaint`` that begins with a key, ``algorithms[2]: ...``, with the key's line in the file."""
        key = _key_of(complaint)
        if self.file is None or key.partition("[")[0] not in _KEYS:
            return complaint
        return _at(*self.file, key) + complaint


#: The keys of a study's file.
_KEYS = (
    "name",
    "seed",
    "trials",
    "algorithms",
    "environments",
    "metric",
    "score_range",
    "families",
    "keep",
    "failures",
    "time_limit",
    "memory",
    "isolate",
    "precision",
)


def _unknown(key: str, known: Iterable[str], what: str) -> str:
    near = nearest(key, known)
    advice = f"did you mean {near!r}? " if near is not None else ""
    return f"{key!r} is not a key of {what}: {advice}known: {', '.join(known)}"


def _key_of(message: str) -> str:
    """Return the key that an error message begins with, which may have an index: ``algorithms[2]``."""
    found = re.match(r"(\w+)(\[\d+\])?", message)
    return found.group(0) if found else ""


def _at(name: str, text: str, key: str) -> str:
    """Return a key's line in the file, as the beginning of an error message."""
    plain, _, index = key.rstrip("]").partition("[")
    lines = text.splitlines()
    opening = re.compile(rf"\s*(\[\[?\s*)?[\"']?{re.escape(plain)}[\"']?\s*(=|\]|$)")
    places = [number for number, line in enumerate(lines, start=1) if opening.match(line)]
    if not places:
        return f"{name}: "
    if index and lines[places[0] - 1].lstrip().startswith("[["):
        # An array of tables has a heading for each.
        # Fewer are found where a heading is written with escapes.
        return f"{name}, line {places[min(int(index), len(places) - 1)]}: "
    if index:
        return f"{name}, line {_entry_line(lines, places[0], int(index))}: "
    return f"{name}, line {places[0]}: "


def _entry_line(lines: Sequence[str], start: int, index: int) -> int:
    """Return the line of an entry of a list that begins on line ``start``."""
    depth = 0
    entries = 0
    quoted = ""
    fresh = True
    for number in range(start, len(lines) + 1):
        for place, letter in enumerate(lines[number - 1]):
            if quoted:
                quoted = "" if letter == quoted and lines[number - 1][place - 1] != "\\" else quoted
                continue
            if letter == "#":
                break
            if depth >= 1 and fresh and not letter.isspace() and letter not in ",]":
                if entries == index:
                    return number
                entries += 1
                fresh = False
            if letter in "\"'":
                quoted = letter
            elif letter in "[{":
                depth += 1
                fresh = fresh if depth > 1 else True
            elif letter in "]}":
                depth -= 1
                if depth == 0 and letter == "]":
                    return start
            elif letter == "," and depth == 1:
                fresh = True
    return start


def _trials(given: object) -> int | Mapping[tuple[str, str], int]:
    if not isinstance(given, Mapping):
        return checked_size("trials", given, 1, MOST_TRIALS)
    for cell in given:
        if not isinstance(cell, tuple) or [type(name) for name in cell] != [str, str]:
            raise InvalidInput(f"trials: {cell!r} is not a cell, write {{(algorithm, environment): number}}")
    return {cell: checked_size("trials", number, 0, MOST_TRIALS) for cell, number in given.items()}


def _algorithm(chosen: Any, number: int) -> AlgorithmChoice:
    if isinstance(chosen, AlgorithmChoice):
        return chosen
    if not isinstance(chosen, Mapping):
        return AlgorithmChoice(chosen)
    where = f"algorithms[{number}]: "
    for key in chosen:
        if key not in ("use", "name"):
            raise InvalidInput(where + _unknown(str(key), ("use", "name"), "an algorithm"))
    if "use" not in chosen:
        if "name" in chosen:
            return AlgorithmChoice(chosen["name"])
        raise InvalidInput(f'{where}there is no algorithm in it, write {{ use = "module:function", name = "mine" }}')
    name = chosen.get("name")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise InvalidInput(f"{where}name = {name!r} is not allowed, give a text that is not empty")
    return AlgorithmChoice(chosen["use"], name)


def _environment(chosen: Any, number: int) -> EnvironmentChoice:
    if isinstance(chosen, EnvironmentChoice):
        return chosen
    if not isinstance(chosen, Mapping):
        return EnvironmentChoice(chosen)
    where = f"environments[{number}]: "
    options = dict(chosen)
    trials = options.pop("trials", None)
    if trials is not None:
        count = whole_number(trials)
        if count is None or not 0 <= count <= MOST_TRIALS:
            raise InvalidInput(f"{where}trials = {trials!r} is not allowed, give a whole number")
        trials = count
    ways = [way for way in ("name", "gymnasium", "use") if way in options]
    if "gymnasium" in options:
        return EnvironmentChoice(options.pop("gymnasium"), gymnasium=True, options=options, trials=trials)
    if not ways:
        raise InvalidInput(
            f'{where}there is no environment in it, write {{ name = "cart-pole" }} or {{ gymnasium = "CartPole-v1", '
            "episodes = 100 }"
        )
    if "use" in options:
        return EnvironmentChoice(options.pop("use"), options=options, trials=trials)
    return EnvironmentChoice(options.pop("name"), options=options, trials=trials)


def _time_limit(seconds: object) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
        raise InvalidInput(f"time_limit: {seconds!r} is not allowed, give a positive number of seconds")
    return float(seconds)
