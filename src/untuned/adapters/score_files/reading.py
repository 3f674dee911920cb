"""`Reading`: everything that a user can say about how scores are read, one record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from untuned.options import option

if TYPE_CHECKING:
    from untuned.scores import Identical, Nonfinite, Range


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How scores are read. What is None is left to the source.

    Attributes
    ----------
    algorithm, environment, score
        The columns of a table, where they do not have usual names.
    columns
        The same three in one, ``"algo,env,return"``.
    run
        The column that identifies a run; several, with commas between, where only their combination does.
    configuration
        Columns of hyperparameters, with commas between, ``*`` for any end of a name: several runs with one
        configuration are one draw, so that the one with the lowest seed counts and the others do not.
    step
        The column that says how far training was, where rows are points of learning curves.
    reduce
        How a learning curve becomes a score: ``"mean"`` over training (the paper's), ``"final"``, ``"last:10"`` points,
        ``"last:10%"`` of training, ``"at:1e6"`` steps; ``"best"`` is biased.
    metric
        Which series of a log is the score: a tag, a column, a key.
    reader
        What files are, where that cannot be told from them: ``"tensorboard"``, ``"monitor"``.
    pattern
        Which folders and parts of file names are names: ``"{algorithm}/{environment}/{seed}"``.
    axes
        The order of an array's axes: ``"algorithm,run,environment"``.
    algorithms, environments
        Those to keep, in this order. Of an array, whose axes have no names, these are the names.
    without
        Algorithms and environments to leave out.
    rename
        New names of algorithms and environments, by the names they have in the source.
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
        Codes of serious findings of `untuned.check` that the user has looked into, so that scores are judged all the
        same.
    provenance
        Where the scores come from.
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
            "How a learning curve becomes one score: mean, final, last:10, last:10%, at:1e6, best (biased).",
            str | None,
            metavar="HOW",
        ),
    )
    metric: str | None = field(
        default=None, metadata=option("Which tag, column or key of a log is the score.", str | None, metavar="NAME")
    )
    reader: str | None = field(
        default=None, metadata=option("What the files are, where they could be several.", str | None, metavar="KIND")
    )
    pattern: str | None = field(
        default=None,
        metadata=option(
            "Which folders are names, {algorithm}/{environment}/{seed}, where that is not obvious.",
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
        metadata=option("Only these algorithms; the names of an array's.", str | None, metavar="NAME,..."),
    )
    environments: Sequence[str] | None = field(
        default=None,
        metadata=option("Only these environments; the names of an array's.", str | None, metavar="NAME,..."),
    )
    without: Sequence[str] | None = field(
        default=None,
        metadata=option("Leave out these algorithms or environments.", str | None, metavar="NAME,..."),
    )
    rename: Mapping[str, str] | None = field(
        default=None,
        metadata=option(
            "Another name for an algorithm or environment. Repeatable.", list[str] | None, metavar="OLD=NEW"
        ),
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
            "The lowest and highest score an environment can give; LOW:HIGH for all. Repeatable.",
            list[str] | None,
            flag="--range",
            metavar="NAME=LOW:HIGH",
        ),
    )
    identical: "Identical | None" = field(
        default=None,
        metadata=option(
            "Algorithms with the same definition, everywhere or on an environment. Repeatable.",
            list[str] | None,
            metavar="A,B[@ENVIRONMENT]",
        ),
    )
    nonfinite: "Nonfinite | None" = field(
        default=None,
        metadata=option(
            "A score that is NaN or infinite: refuse it (the default), or count the worst.",
            str | None,
            choices=("error", "worst"),
        ),
    )
    accept: Sequence[str] | None = field(
        default=None,
        metadata=option(
            "Judge in spite of a serious finding of `untuned check`, by its code.", str | None, metavar="CODE,..."
        ),
    )
    provenance: Mapping[str, str] | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the options that are not at their default."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != each.default)

    def options(self) -> dict[str, Any]:
        """Return the options that are not at their default, by name."""
        return {name: getattr(self, name) for name in self.given}

    def known(self) -> dict[str, Any]:
        """Return what is declared about the scores, as `ScoreTable.from_dict` takes it."""
        return {
            "ranges": self.ranges,
            "identical": self.identical or (),
            "nonfinite": self.nonfinite or "error",
            "provenance": self.provenance,
        }
