"""`Reading`: all options of reading scores, in one record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from untuned.options import option

if TYPE_CHECKING:
    from untuned.scores import Identical, Nonfinite, Range


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options of reading scores. None leaves a choice to the source.

    Attributes
    ----------
    algorithm, environment, score
        The columns of a table, if they do not have usual names.
    columns
        The same three in one, ``"algo,env,return"``.
    run
        The column that identifies a run; several, separated by commas, if only their combination does.
    configuration
        Columns of hyperparameters, separated by commas, ``*`` for any end of a name: several runs with one
        configuration are one draw, so only the one with the lowest seed counts.
    step
        The column of training steps, if rows are points of learning curves.
    reduce
        How a learning curve becomes a score: ``"mean"`` over training (the paper's), ``"final"``, ``"last:10"`` points,
        ``"last:10%"`` of training, ``"at:1e6"`` steps; ``"best"`` is biased.
    metric
        The series of a log that is the score: a tag, a column, a key.
    reader
        The kind of files, if it is ambiguous: ``"tensorboard"``, ``"monitor"``.
    pattern
        Which folders and parts of file names are names: ``"{algorithm}/{environment}/{seed}"``.
    axes
        The order of an array's axes: ``"algorithm,run,environment"``.
    algorithms, environments
        Those to keep, in this order. For an array, whose axes have no names, these are the names.
    without
        Algorithms and environments to leave out.
    rename
        New names of algorithms and environments, by their names in the source.
    minimize
        Environments whose scores are costs, lower is better: their signs are changed. True for all of them.
    ranges
        The lowest and highest score of environments, by name; or one pair for all of them.
    identical
        Groups of algorithms whose definitions are the same, as for `ScoreTable.from_dict`.
    nonfinite
        What to do with a score that is NaN or infinite: ``"error"`` refuses it, ``"worst"`` counts the lowest score of
        the environment's range.
    accept
        Codes of serious findings of `untuned.check` to accept, so that scores are judged nevertheless.
    provenance
        The origin of the scores.
    """

    algorithm: str | None = None
    environment: str | None = None
    score: str | None = None
    columns: str | None = field(
        default=None,
        metadata=option(
            "Columns of algorithm, environment and score, if they have unusual names.", str | None, metavar="A,E,S"
        ),
    )
    run: str | None = field(
        default=None,
        metadata=option("The column that identifies a run, such as its seed.", str | None, metavar="COLUMN"),
    )
    configuration: str | None = field(
        default=None,
        metadata=option(
            "Columns of hyperparameters: of several seeds of one configuration the lowest counts.",
            str | None,
            metavar="COLUMN,...",
        ),
    )
    step: str | None = field(
        default=None,
        metadata=option("The column of training steps, where rows are points of curves.", str | None, metavar="COLUMN"),
    )
    reduce: str | None = field(
        default=None,
        metadata=option(
            "How to reduce a learning curve to one score: mean, final, last:10, last:10%, at:1e6, best (biased).",
            str | None,
            metavar="HOW",
        ),
    )
    metric: str | None = field(
        default=None, metadata=option("The tag, column or key of a log that is the score.", str | None, metavar="NAME")
    )
    reader: str | None = field(
        default=None, metadata=option("The kind of files, if it is ambiguous.", str | None, metavar="KIND")
    )
    pattern: str | None = field(
        default=None,
        metadata=option(
            "Which folders are names, if it is not obvious: {algorithm}/{environment}/{seed}.",
            str | None,
            metavar="PATTERN",
        ),
    )
    axes: str | None = field(
        default=None,
        metadata=option(
            "The order of an array's axes: algorithm,environment,run or another.", str | None, metavar="NAMES"
        ),
    )
    algorithms: Sequence[str] | None = field(
        default=None,
        metadata=option("Only these algorithms; for an array, their names.", str | None, metavar="NAME,..."),
    )
    environments: Sequence[str] | None = field(
        default=None,
        metadata=option("Only these environments; for an array, their names.", str | None, metavar="NAME,..."),
    )
    without: Sequence[str] | None = field(
        default=None,
        metadata=option("Leave out these algorithms or environments.", str | None, metavar="NAME,..."),
    )
    rename: Mapping[str, str] | None = field(
        default=None,
        metadata=option("A new name for an algorithm or environment. Repeatable.", list[str] | None, metavar="OLD=NEW"),
    )
    minimize: Sequence[str] | bool | None = field(
        default=None,
        metadata=option(
            "Environments in which lower is better, or all. Their signs are changed.", str | None, metavar="NAME,..."
        ),
    )
    ranges: "Mapping[str, Range] | Range | None" = field(
        default=None,
        metadata=option(
            "The lowest and highest possible score of an environment; LOW:HIGH for all. Repeatable.",
            list[str] | None,
            flag="--range",
            metavar="NAME=LOW:HIGH",
        ),
    )
    identical: "Identical | None" = field(
        default=None,
        metadata=option(
            "Algorithms with identical definitions, everywhere or on an environment. Repeatable.",
            list[str] | None,
            metavar="A,B[@ENVIRONMENT]",
        ),
    )
    nonfinite: "Nonfinite | None" = field(
        default=None,
        metadata=option(
            "Scores that are NaN or infinite: refuse them (the default), or count them as the worst.",
            str | None,
            choices=("error", "worst"),
        ),
    )
    accept: Sequence[str] | None = field(
        default=None,
        metadata=option(
            "Judge despite a serious finding of `untuned check`, by its code.", str | None, metavar="CODE,..."
        ),
    )
    provenance: Mapping[str, str] | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the options that differ from their defaults."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != each.default)

    def options(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        return {name: getattr(self, name) for name in self.given}

    def known(self) -> dict[str, Any]:
        """Return the declarations about the scores, for `ScoreTable.from_dict`."""
        return {
            "ranges": self.ranges,
            "identical": self.identical or (),
            "nonfinite": self.nonfinite or "error",
            "provenance": self.provenance,
        }
