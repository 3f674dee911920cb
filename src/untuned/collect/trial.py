"""`Trial`: one trial, from the runner to the store, the exports and the histories.

Each field declares where it is stored, exported and printed; the store, the exports and the command line read these
declarations. To add a column, add a field here and a step to `untuned.collect.store.schema.STEPS`.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from untuned.collect.definitions.draw import Drawn
from untuned.collect.kernels.jit import Floats

#: None in a trial of a study that did not keep returns. Any, as in typeshed: a new trial has them, and code that reads
#: it should not need an assertion.
MaybeNone: TypeAlias = Any

#: The largest seed and the largest number of a trial: SQLite's largest integer.
LARGEST = 2**63 - 1

#: The largest number of characters of a failure's description.
LONGEST_FAILURE = 2000


@dataclass(frozen=True, kw_only=True)
class Column:
    """Where a field of a trial is stored, exported and printed.

    Parameters
    ----------
    stored
        "score" and "record" are the tables with a column of this name; "origin" is the text that the trials of one
        build share; "draws", "mapping" and "returns" are encoded together with others. "study" is a fact of the study.
    exported
        Position among the columns of an export; None for a field that is not exported. Equal positions are in the
        order of the fields.
    option
        The export option that adds the column; None for a column of every export.
    printed
        Position in the JSON of `untuned trial`; None for a field that is not there.
    title
        Name in exports and in that JSON, if different from the field's.
    compared
        When two records of one trial are different results: if the values differ, if only one has a value ("presence"),
        if both have a value and these differ ("if both"), or "never".
    since
        The format of stores that has the column first; in older stores a reader finds the field's default.
    """

    stored: Literal["study", "score", "record", "origin", "draws", "mapping", "returns"]
    exported: int | None = None
    option: Literal["seconds", "returns"] | None = None
    printed: int | None = None
    title: str | None = None
    compared: Literal["values", "presence", "if both", "never"] = "values"
    since: int = 1
    # Set from the field.
    name: str = ""
    kind: type = str
    default: Any = None

    @property
    def heading(self) -> str:
        """The name in exports."""
        return self.title or self.name


def column(stored: Any, **declared: Any) -> Mapping[str, Column]:
    """Return the metadata of a field; the parameters are those of `Column`."""
    return {"column": Column(stored=stored, **declared)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """One trial: its key, its draws, and its result or why it has none.

    Parameters
    ----------
    seed
        The study's seed.
    algorithm, environment
        Their names, options included.
    trial
        Its number, from 0.
    score
        The mean return over all learning episodes, the paper's average return; in a study, the score of the study's
        metric. NaN for a trial that failed.
    final_return
        The mean return of the episodes after learning, with learning off. NaN for a trial that failed or has no
        such episodes.
    precision
        The type of the agent's weights.
    steps
        Steps taken while learning.
    seconds
        Its duration; the only value here that is not reproducible.
    diverged
        Whether the agent's weights, or the errors it learns from, became infinite or NaN. The score still counts.
    draws
        Every hyperparameter drawn, in order.
    dynamics
        The environment's parameters drawn for this trial, by name.
    adapted
        Values that the agent adapted, by name: an adaptive step size, the chosen candidate.
    failure
        Why the trial has no score: an algorithm written in Python raised an error or returned early. The other values
        are those up to the failure. None for a trial that did not fail.
    definition_version
        The version of the algorithm's definition.
    fingerprint
        Fingerprint of the code that computed these numbers.
    definition_fingerprint, environment_fingerprint
        Fingerprints of the algorithm's definition and of the environment's facts; empty outside a study.
    returns, final_returns
        The returns of the learning episodes and of those after learning; None where a study did not keep them.
    """

    # In the order of `untuned show`.
    seed: int = field(metadata=column("study", exported=11, printed=0))
    algorithm: str = field(metadata=column("score", exported=0, printed=1))
    environment: str = field(metadata=column("score", exported=1, printed=2))
    trial: int = field(metadata=column("score", exported=2, printed=3))
    score: float = field(metadata=column("score", exported=3, printed=5))
    final_return: float = field(metadata=column("record", exported=4, printed=6))
    precision: str = field(default="float64", metadata=column("origin", exported=12, printed=4))
    steps: int = field(default=0, metadata=column("record", exported=5, printed=8))
    seconds: float = field(default=0.0, metadata=column("record", exported=15, option="seconds", compared="never"))
    diverged: bool = field(default=False, metadata=column("record", exported=6, printed=7))
    draws: tuple[Drawn, ...] = field(default=(), metadata=column("draws", exported=8, printed=9))
    dynamics: dict[str, float] = field(
        default_factory=dict, metadata=column("mapping", exported=9, printed=10, title="parameters")
    )
    adapted: dict[str, float] = field(default_factory=dict, metadata=column("mapping", exported=10, printed=13))
    # The wording of a failure may differ between machines.
    failure: str | None = field(default=None, metadata=column("record", exported=7, printed=16, compared="presence"))
    definition_version: str = field(default="", metadata=column("origin", exported=13, printed=14))
    # Builds may differ as long as the numbers do not.
    fingerprint: str = field(default="", metadata=column("origin", exported=14, printed=15, compared="never"))
    definition_fingerprint: str = field(default="", metadata=column("origin", compared="never"))
    environment_fingerprint: str = field(default="", metadata=column("origin", compared="never"))
    returns: Floats | MaybeNone = field(
        default=None, metadata=column("returns", exported=16, option="returns", printed=11, compared="if both")
    )
    final_returns: Floats | MaybeNone = field(
        default=None, metadata=column("returns", exported=17, option="returns", printed=12, compared="if both")
    )

    @property
    def label(self) -> str:
        """The trial's name in messages."""
        return label(self.algorithm, self.environment, self.trial)

    @property
    def log_density(self) -> float:
        """The natural logarithm of the density of all hyperparameters drawn."""
        return math.fsum(each.log_density for each in self.draws)

    def facts(self) -> dict[str, Any]:
        """Return the reproducible values as plain JSON types, without ``seconds``: the same trial gives the same text.

        A number that is not finite is None: JSON has no NaN.
        """
        facts: dict[str, Any] = {}
        for each in PRINTED:
            facts[each.heading] = plain(getattr(self, each.name))
            if each.name == "draws":
                facts["log_densities"] = {drawn.name: plain(drawn.log_density) for drawn in self.draws}
        return facts

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name as plain types, numbers unchanged."""
        return {
            name: [dataclasses.asdict(each) for each in value]
            if isinstance(value, tuple)
            else value.tolist()
            if isinstance(value, np.ndarray)
            else value
            for name, value in vars(self).items()
        }

    def differences(self, other: "Trial") -> list[str]:
        """Return the names of the fields in which ``other``, the same trial run again, has a different result."""
        return [
            each.name for each in COLUMNS if _differ(getattr(self, each.name), getattr(other, each.name), each.compared)
        ]


def label(algorithm: str, environment: str, trial: int) -> str:
    """Return the name of a trial for messages."""
    return f"trial {trial} of {algorithm!r} on {environment!r}"


def plain(value: Any) -> Any:
    """Return a value as a JSON type: a number that is not finite becomes None, draws become values by name."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple) and all(isinstance(each, Drawn) for each in value):
        return {drawn.name: plain(drawn.value) for drawn in value}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def _differ(one: object, other: object, compared: str) -> bool:
    if compared == "presence":
        return (one is None) != (other is None)
    if compared == "never" or (compared == "if both" and (one is None or other is None)):
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.tobytes() != other.tobytes()
    # NaN is not equal to itself; its text is.
    return repr(one) != repr(other)


def _columns() -> tuple[Column, ...]:
    found = []
    for each in dataclasses.fields(Trial):
        types = get_args(each.type) if isinstance(each.type, UnionType) else (each.type,)
        # Nested values are JSON text in a table.
        kind = next((known for known in (bool, int, float) if known in types), str)
        found.append(dataclasses.replace(each.metadata["column"], name=each.name, kind=kind, default=each.default))
    return tuple(found)


#: The columns in the order of the fields.
COLUMNS = _columns()

#: The columns of an export, in its order.
EXPORTED = tuple(sorted((each for each in COLUMNS if each.exported is not None), key=lambda each: each.exported or 0))

#: What `Trial.facts` has, in its order.
PRINTED = tuple(sorted((each for each in COLUMNS if each.printed is not None), key=lambda each: each.printed or 0))
