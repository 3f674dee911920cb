"""`Judging`: the options of judging. Each is declared here and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from untuned import families
from untuned.errors import InvalidInput
from untuned.judge.intervals.method import Conventions, Method, payoff_of
from untuned.options import declared, option
from untuned.processors import processors
from untuned.version import __version__

# Numba and NumPy take half a second to load, and `untuned --help` does not need them.
if TYPE_CHECKING:
    from untuned.evaluation import Evaluation, Weighting
    from untuned.families import Families
    from untuned.judge.percentiles import Payoff
    from untuned.judge.threads import Progress
    from untuned.judge.weights import Weights
    from untuned.scores import ScoreTable

#: Weights of the game's equilibrium, equal weights, and both.
GAME: Literal["game"] = "game"
UNIFORM: Literal["uniform"] = "uniform"
BOTH = "both"
#: The part of delta for the game's weights where each ranking has its own method.
SHARE_OF_GAME = 0.5

DELTA = 0.05
CONVENTIONS: tuple[Conventions, ...] = ("valid", "paper")
#: As many as in the paper.
RESAMPLES = 10_000
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How scores are judged: checked when it is made, and kept in every `Evaluation`.

    ``dataclasses.replace(judging, intervals="betting")`` changes one option.

    Attributes
    ----------
    intervals
        The interval method, one of ``untuned list intervals`` or your own `Method`. By default ``"pairing"`` for the
        game's weights and ``"pooled"`` for all others, the most powerful guaranteed methods for numbers of trials
        chosen beforehand; ``"anytime"`` for the methods that hold however often you look, ``"betting"`` and
        ``"pooled-rounds"``, the default for raced studies; with the paper's conventions ``"pbp"``.
    delta
        The allowed probability that any of the intervals misses, in (0, 0.5].
    weights
        ``"game"`` for the equilibrium of the game, ``"uniform"`` for equal weights, ``"both"``, the default, for a
        ranking under each; or weights chosen before seeing the scores: by environment, by (environment, reference), or
        an array of either. With the paper's conventions ``"game"`` is the default.
    conventions
        ``"valid"``, or ``"paper"`` for ties, supports and levels exactly as published.
    resamples
        Number of bootstrap resamples; 10,000 by default.
    seed
        Seed of the bootstrap.
    refine
        Branching budget: how many cases to bound for every pair that bounds alone do not decide (see "branching" in the
        docs); by default as many as take seconds, none on large boards; 0 for none.
    families
        Environments that are variants of one, ``{"maze": ["maze-1", "maze-2"]}``: together they count as much as one
        environment, under the game's weights and under equal ones. By default those that the study declares, else none;
        ``{}`` for none.
    max_algorithms
        For anytime-valid methods: the largest number of algorithms, chosen before the first look at the scores.
        Intervals are then as wide as for that many, and adding algorithms because of earlier results is covered. By
        default the number of algorithms in the table.

    Examples
    --------
    >>> import untuned
    >>> judging = untuned.Judging(intervals="betting", delta=0.1)
    >>> scores = untuned.read_scores({"a": {"x": [3, 4], "y": [2, 3]}, "b": {"x": [0, 1], "y": [1, 0]}})
    >>> judging.judge(scores).judging.delta
    0.1
    """

    intervals: "str | Method | None" = field(
        default=None,
        metadata=option(
            "The interval method; untuned list intervals shows all. By default pairing, and pooled for equal or given "
            "weights; anytime: methods that hold at any number of looks.",
            str | None,
            metavar="METHOD",
        ),
    )
    delta: float = field(
        default=DELTA, metadata=option("The probability that any interval may miss, in (0, 0.5].", float)
    )
    weights: "Weights | None" = field(
        default=None,
        metadata=option(
            "Weights of environments: the game's, equal ones, both (the default), given ones, or a JSON file "
            "{environment: weight}.",
            str | None,
            metavar="game|uniform|both|NAME=W,...|FILE",
        ),
    )
    conventions: Conventions = field(
        default="valid",
        metadata=option("Ties, supports and levels as published: paper.", str, choices=CONVENTIONS),
    )
    resamples: int = field(
        default=RESAMPLES, metadata=option("For the bootstrap and summaries: how many resamples.", int)
    )
    seed: int = field(
        default=SEED, metadata=option("For the bootstrap and summaries: the seed of random numbers.", int)
    )
    refine: int | None = field(
        default=None,
        metadata=option(
            "Branching budget: cases to check for an undecided pair, 0 for none; by default by size.", int | None
        ),
    )
    families: "Families | None" = field(
        default=None,
        metadata=option(
            "Variants that count as one environment; a JSON file {family: [environment, ...]}; none.",
            str | None,
            metavar="NAME=A+B,...|FILE",
        ),
    )
    max_algorithms: int | None = field(
        default=None,
        metadata=option("The largest number of algorithms, if you may add some after a look.", int | None),
    )

    def __post_init__(self) -> None:
        from untuned.judge.methods import check_conventions
        from untuned.judge.weights import checked

        if self.conventions not in CONVENTIONS:
            raise InvalidInput(f"conventions={self.conventions!r}: pass 'valid' or 'paper'")
        self._set("delta", level(self.delta))
        if self.weights is not None:
            self._set("weights", checked(self.weights))
        if self.families is not None:
            self._set("families", families.checked(self.families))
        check_conventions(self.method, self.conventions)
        if self.conventions == "paper" and self.families:
            raise InvalidInput(
                "conventions='paper' has no families: in the published game every environment counts by itself. Leave "
                "families out, or use conventions='valid'"
            )
        if self.conventions == "paper" and self.weights == BOTH:
            raise InvalidInput("conventions='paper' is for one weighting: pass weights='game', as published")
        if self.method.fixed and self.weights in (GAME, BOTH):
            raise InvalidInput(
                f"intervals={self.method.name!r} is for weights chosen beforehand: pass weights='uniform', or leave "
                "intervals out, which uses it for equal weights and another method for the game's"
            )
        if self.max_algorithms is not None and (
            not self.anytime or any(self.method_under(each).fixed for each in self.weightings)
        ):
            raise InvalidInput(
                "max_algorithms is for intervals on percentiles that hold at all times: pass intervals='betting', or "
                "leave it out and choose the algorithms before you look at scores"
            )
        self._set("resamples", whole("resamples", self.resamples, 1, f"{RESAMPLES} as in the paper"))
        self._set("seed", whole("seed", self.seed, 0, f"{SEED} by default"))
        if self.refine is not None:
            advice = "0 for no branching, None for what suits the size"
            self._set("refine", whole("refine", self.refine, 0, advice))
        if self.max_algorithms is not None:
            advice = "or None if no algorithm will be added"
            self._set("max_algorithms", whole("max_algorithms", self.max_algorithms, 2, advice))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def method(self) -> Method:
        """The interval method of the first ranking."""
        return self.method_under(self.weightings[0])

    def method_under(self, weights: "Weighting") -> Method:
        """Return the interval method for a weighting.

        Parameters
        ----------
        weights
            ``"game"``, ``"uniform"`` or ``"given"``.
        """
        from untuned.judge.methods import ANYTIME, ANYTIME_FIXED_DEFAULT, FIXED_DEFAULT, method

        if self.intervals == ANYTIME and weights != GAME:
            return method(ANYTIME_FIXED_DEFAULT)
        if self.intervals is None and self.conventions == "valid" and weights != GAME:
            return method(FIXED_DEFAULT)
        return method(self.intervals, self.conventions)

    @property
    def weightings(self) -> "tuple[Weighting, ...]":
        """The requested rankings; with one environment there is none under the game's weights."""
        if self.weights is None:
            if self.conventions == "paper":
                return (GAME,)
            fixed = self.intervals is not None and _is_fixed(self.intervals)
            return (UNIFORM,) if fixed else (GAME, UNIFORM)
        if self.weights == BOTH:
            return (GAME, UNIFORM)
        return (GAME,) if self.weights == GAME else (UNIFORM,) if self.weights == UNIFORM else ("given",)

    def shares(self, weightings: "Sequence[Weighting]") -> "dict[Weighting, float]":
        """Return the part of delta that each ranking gets, all of it where rankings hold on the same event.

        Intervals on percentiles hold for every weighting at once. Where each ranking has its own method, delta is
        split beforehand.

        Parameters
        ----------
        weightings
            The rankings.
        """
        methods = {self.method_under(each) for each in weightings}
        if len(weightings) == 1 or (len(methods) == 1 and self.method.intervals is not None):
            return dict.fromkeys(weightings, 1.0)
        return {each: SHARE_OF_GAME if each == GAME else 1.0 - SHARE_OF_GAME for each in weightings}

    @property
    def valid(self) -> bool:
        """Whether the methods guarantee their level under these conventions."""
        return self.conventions == "valid" and all(self.method_under(each).guaranteed for each in self.weightings)

    @property
    def anytime(self) -> bool:
        """Whether the level also holds when intermediate results decide how many trials are run."""
        return all(self.method_under(each).anytime for each in self.weightings)

    @property
    def payoff(self) -> "Payoff":
        """The payoff of a tie: ``"mid-rank"`` for half a win, ``"at-most"`` for a whole one."""
        return payoff_of(self.conventions)

    @property
    def weighting(self) -> str:
        """Where the weights come from: ``"game"``, ``"uniform"``, ``"both"`` or ``"given"``."""
        return BOTH if len(self.weightings) > 1 else self.weightings[0]

    def facts(self) -> dict[str, object]:
        """Return the options in use as plain JSON types; for ``refine`` see `Evaluation.derived`."""
        found: dict[str, object] = {name: getattr(self, name) for name in declared(Judging) if name != "refine"}
        for name in ("max_algorithms", "families"):
            if not found[name]:
                del found[name]
        if self.families:
            found["families"] = {name: list(each) for name, each in self.families.items()}
        methods = dict.fromkeys(self.method_under(each).name for each in self.weightings)
        found |= {"intervals": " and ".join(methods), "weights": self.weighting}
        resampling = {name: found.pop(name) for name in ("resamples", "seed")}
        return (
            found
            | {"payoff": self.payoff}
            | (resampling if self.method.intervals is None and not self.method.fixed else {})
        )

    def check(self, algorithms: Sequence[str], environments: Sequence[str]) -> None:
        """Raise early the errors that `judge` would raise for scores with these names, before hours of collecting.

        Parameters
        ----------
        algorithms, environments
            Their names.

        Raises
        ------
        InvalidInput
            For weights or families of other environments, more algorithms than the maximum, or nothing to compare.
        """
        from untuned.judge.multiplicity import check_maximum
        from untuned.judge.weights import weights_of

        weights_of(self, algorithms, environments)
        check_maximum(self.max_algorithms, algorithms)

    def judge(
        self, scores: "ScoreTable", *, workers: int | None = None, progress: "Progress | None" = None
    ) -> "Evaluation":
        """Return which algorithms perform well across all environments, with confidence intervals.

        Parameters
        ----------
        scores
            What `untuned.read_scores` returns.
        workers
            How many threads, by default one per processor; no number depends on it.
        progress
            Called with the name of the step, how much of it is done, and the total.
        """
        import numpy

        from untuned.judge.evaluate import judge
        from untuned.scores import ScoreTable

        if not isinstance(scores, ScoreTable):
            raise InvalidInput(
                f"judge takes a ScoreTable, not {type(scores).__name__}: pass untuned.read_scores(...), or call "
                "untuned.evaluate, which reads scores first"
            )
        found = judge(scores, self, workers=processors() if workers is None else workers, progress=progress)
        versions = {"untuned": __version__, "numpy": numpy.__version__}
        return replace(found, provenance=MappingProxyType({**found.provenance, **versions}))


def without_variants(judging: Judging, left_out: Sequence[str] | None) -> Judging:
    """Return the options without the family variants that are excluded from the comparison.

    Parameters
    ----------
    judging
        The options.
    left_out
        Names of environments, possibly of algorithms; None for none.
    """
    if not judging.families or not left_out:
        return judging
    kept = [each for variants in judging.families.values() for each in variants if each not in left_out]
    return replace(judging, families=families.among(judging.families, kept))


def _is_fixed(intervals: "str | Method") -> bool:
    """Return whether a method works only for weights chosen beforehand."""
    from untuned.judge.methods import method

    return method(intervals).fixed


def level(delta: object) -> float:
    """Return delta as a Python float, from any type of number."""
    if isinstance(delta, bool) or not isinstance(delta, Real):
        raise InvalidInput(f"delta={delta!r} is not a number: pass {DELTA} for 95 % intervals")
    number = float(delta)
    if not 0.0 < number <= 0.5:
        raise InvalidInput(f"delta={delta!r} is outside (0, 0.5]: pass {DELTA} for 95 % intervals")
    return number


def whole(name: str, value: object, least: int, advice: str) -> int:
    """Return a whole number as a Python int, from any type of number."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInput(f"{name}={value!r} is not allowed: pass a whole number of at least {least}, {advice}")
    return int(value)
