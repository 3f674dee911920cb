"""`Evaluation`: the result of judging, and the input of reports."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from untuned.diagnostics.finding import Finding
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation_printed import as_html, as_text
from untuned.evaluation_records import Derived as Derived
from untuned.evaluation_records import HeadToHead as HeadToHead
from untuned.evaluation_records import Means as Means
from untuned.evaluation_records import PercentileTable as PercentileTable
from untuned.evaluation_records import Ranking as Ranking
from untuned.evaluation_records import Ranks as Ranks
from untuned.indented import indented
from untuned.scores import Floats, Ints, Range, ScoreTable
from untuned.statements import (
    approximation,
    comparison,
    condition,
    direct,
    failed_throughout,
    next_steps,
    statement,
)
from untuned.verdicts import Pairs, Verdict, sentences
from untuned.verdicts import Weighting as Weighting

if TYPE_CHECKING:
    import polars

    from untuned.judge.judging import Judging


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Scores of algorithms with intervals, verdicts and ranks, and everything they come from.

    There is one `Ranking` for every requested weighting. `score_a`, `pairs` and the other attributes of a ranking
    are those of the first; ``evaluation.under("uniform")`` puts another first. Arrays are in the order of `algorithms`
    and `environments`; tables, frames and JSON list the best algorithm first.

    Attributes
    ----------
    judging
        The options, as they were given.
    algorithms, environments
        Names.
    rankings
        One for every weighting: under the game's weights and under equal ones unless asked otherwise. All of them hold
        together.
    percentiles, means
        What the scores are computed from, and what is reported in addition.
    trials_ae
        The number of trials, [algorithm, environment].
    ranges
        The declared lowest and highest score of every environment.
    scores
        The scores that were judged, for figures of the distributions; not part of the JSON.
    head_to_head
        Head-to-head comparisons; None without weights that were fixed beforehand.
    derived
        What judging derived from the options.
    provenance
        Where the scores come from, and by which versions they were judged.
    warnings
        What a reader must know before quoting a number.
    approximate
        The same scores judged by the bootstrap, which guarantees nothing; None unless requested.
    findings
        What `untuned.check` found in the scores that a reader must know.
    """

    judging: "Judging"
    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    percentiles: PercentileTable
    means: Means
    trials_ae: Ints
    ranges: tuple[Range, ...]
    scores: ScoreTable
    head_to_head: HeadToHead | None = None
    derived: Derived = field(default_factory=Derived)
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()
    approximate: "Evaluation | None" = None
    findings: tuple[Finding, ...] = ()

    def __reduce__(self) -> "tuple[Callable[..., Evaluation], tuple[dict[str, Any]]]":
        # Views of mappings cannot be pickled.
        fields = {each.name: getattr(self, each.name) for each in dataclass_fields(self)}
        return _restored, (fields | {"provenance": dict(self.provenance)},)

    def under(self, weights: str) -> "Evaluation":
        """Return the evaluation with another of its rankings first, for tables, figures and everything named below.

        Parameters
        ----------
        weights
            ``"game"``, ``"uniform"`` or ``"given"``, one of those in `rankings`.
        """
        known = [each.weights for each in self.rankings]
        if weights not in known:
            raise UnknownName("ranking", weights, known, "Pass weights='both' to judge under both")
        first = sorted(self.rankings, key=lambda each: each.weights != weights)
        return replace(self, rankings=tuple(first))

    @property
    def each_ranking(self) -> "tuple[Evaluation, ...]":
        """The evaluation once for every ranking, with that one first: weights fixed beforehand, then the game's."""
        found = sorted((each.weights for each in self.rankings), key=lambda weights: weights == "game")
        return tuple(self.under(weights) for weights in found)

    def alike(self, others: "Sequence[Evaluation]") -> "tuple[Evaluation, ...]":
        """Return other evaluations with the ranking under the same weights first; those without one are left out.

        Parameters
        ----------
        others
            Evaluations of the same scores by other methods.
        """
        weights = self.weights
        return tuple(each.under(weights) for each in others if weights in [found.weights for found in each.rankings])

    @property
    def under_weights(self) -> str:
        """How a sentence about the first ranking begins."""
        return f"{'under' if self.weights == 'game' else 'with'} {self.rankings[0].title}"

    @property
    def weights(self) -> Weighting:
        """Where the weights of the first ranking come from."""
        return self.rankings[0].weights

    @property
    def method(self) -> str:
        """The name of the interval method of the first ranking."""
        return self.rankings[0].method

    @property
    def score_a(self) -> Floats:
        """The scores of the first ranking."""
        return self.rankings[0].score_a

    @property
    def low_a(self) -> Floats:
        """The lower ends of their intervals."""
        return self.rankings[0].low_a

    @property
    def high_a(self) -> Floats:
        """The upper ends of their intervals."""
        return self.rankings[0].high_a

    @property
    def ranks(self) -> Ranks:
        """The places of the first ranking."""
        return self.rankings[0].ranks

    @property
    def pairs(self) -> Pairs:
        """Bounds and verdicts on all differences of the first ranking."""
        return self.rankings[0].pairs

    @property
    def q_er(self) -> Floats:
        """The weights of the first ranking, [environment, reference]."""
        return self.rankings[0].q_er

    @property
    def valid(self) -> bool:
        """Whether the level is guaranteed, whatever the distributions and the number of trials."""
        return self.judging.valid

    @property
    def anytime(self) -> bool:
        """Whether the level also holds when intermediate results decide how many trials are run."""
        return self.judging.anytime

    @property
    def delta(self) -> float:
        """The probability that any interval is allowed to miss."""
        return self.judging.delta

    @property
    def settings(self) -> Mapping[str, object]:
        """The options in use and what was derived from them, as in the JSON."""
        derived = {name: value for name, value in asdict(self.derived).items() if value is not None}
        # With one environment there is one ranking, whatever was requested.
        found = {
            "intervals": " and ".join(dict.fromkeys(each.method for each in self.rankings)),
            "weights": self.weights if len(self.rankings) == 1 else "both",
        }
        return MappingProxyType(self.judging.facts() | found | derived)

    @property
    def order(self) -> tuple[int, ...]:
        """The algorithms' numbers from the best score to the worst; equal ones keep their order."""
        return self.rankings[0].order

    @property
    def environment_weights(self) -> Floats:
        """The weight of every environment, over all references."""
        weights: Floats = self.q_er.sum(axis=1)
        return weights

    @property
    def reference_weights(self) -> Floats:
        """The weight of every reference, over all environments."""
        weights: Floats = self.q_er.sum(axis=0)
        return weights

    def score(self, algorithm: str) -> float:
        """Return an algorithm's aggregate score."""
        return float(self.score_a[self._number(algorithm)])

    def interval(self, algorithm: str) -> tuple[float, float]:
        """Return the interval on an algorithm's aggregate score."""
        a = self._number(algorithm)
        return float(self.low_a[a]), float(self.high_a[a])

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Return the interval on the aggregate score of ``a`` less that of ``b``."""
        i, j = self._number(a), self._number(b)
        return float(self.pairs.low_ab[i, j]), float(self.pairs.high_ab[i, j])

    def verdict(self, a: str, b: str) -> Verdict:
        """Return the verdict on ``a`` compared with ``b``: better, worse, or not separable yet."""
        return self.pairs.verdict(self._number(a), self._number(b))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest sets in which no two are separable yet, the best scores first; at most a thousand."""
        order = self.order
        place = {a: number for number, a in enumerate(order)}
        groups = sorted(sorted(place[a] for a in group) for group in self.pairs.groups())
        return tuple(tuple(self.algorithms[order[number]] for number in group) for group in groups)

    @property
    def partial_order(self) -> tuple[tuple[str, str], ...]:
        """The pairs (better, worse) with nothing between them; all other verdicts follow from these."""
        return tuple((self.algorithms[a], self.algorithms[b]) for a, b in self.pairs.covers())

    @property
    def rank_sets(self) -> dict[str, range]:
        """The places that the verdicts allow every algorithm, 1 is the best; the best algorithms first.

        They are the places that it has in all rankings which contradict no verdict. All sets hold together, with the
        verdicts.
        """
        found = self.ranks
        return {self.algorithms[a]: range(int(found.best[a]), int(found.worst[a]) + 1) for a in self.order}

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdicts as sentences, and which algorithms they rank by failed trials alone."""
        return (*sentences(self.pairs, self.algorithms, self.order), *failed_throughout(self))

    @property
    def failures(self) -> list[dict[str, Any]]:
        """One record per algorithm with trials that failed or have no finite score, the worst share first.

        Its fields are algorithm, failed, trials, and the names of the environments where it happened. Such trials
        count as the worst score of their environment.
        """
        failed_ae = self.scores.failed_ae
        if failed_ae is None:
            return []
        found = [
            {
                "algorithm": self.algorithms[a],
                "failed": int(failed_ae[a].sum()),
                "trials": int(self.trials_ae[a].sum()),
                "environments": [self.environments[e] for e in np.flatnonzero(failed_ae[a])],
            }
            for a in np.flatnonzero(failed_ae.sum(axis=1))
        ]
        return sorted(found, key=lambda row: -row["failed"] / row["trials"])

    @property
    def all_failed(self) -> bool:
        """Whether every trial of every algorithm failed, so that there is nothing to compare."""
        failed_ae = self.scores.failed_ae
        return failed_ae is not None and bool((failed_ae == self.trials_ae).all())

    @property
    def comparison(self) -> tuple[str, ...]:
        """Where the rankings agree, which pairs only one of them decides, and where they contradict."""
        return comparison(self)

    @property
    def next_steps(self) -> tuple[str, ...]:
        """What to do next where a ranking decides nothing."""
        return next_steps(self)

    @property
    def statement(self) -> str:
        """What you may write: a paragraph on what was compared and found, ready to paste in a paper."""
        return statement(self)

    def _number(self, algorithm: str) -> int:
        if algorithm not in self.algorithms:
            raise UnknownName("algorithm", algorithm, self.algorithms)
        return self.algorithms.index(algorithm)

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per algorithm, the best first: name, score, low, high, rank, rank_worst, rank_best.

        ``rank_low`` and ``rank_high`` are the same as ``rank_worst`` and ``rank_best``: as in the paper, the low rank
        belongs to the low end of the score.
        """
        return [
            {
                "name": self.algorithms[a],
                "score": float(self.score_a[a]),
                "low": float(self.low_a[a]),
                "high": float(self.high_a[a]),
                "rank": int(self.ranks.rank[a]),
                "rank_low": int(self.ranks.worst[a]),
                "rank_high": int(self.ranks.best[a]),
                "rank_worst": int(self.ranks.worst[a]),
                "rank_best": int(self.ranks.best[a]),
            }
            for a in self.order
        ]

    def environment_rows(self) -> list[dict[str, Any]]:
        """Return one record per algorithm and environment, environments in order, the best mean first."""
        return [
            {
                "environment": self.environments[e],
                "algorithm": self.algorithms[a],
                "trials": int(self.trials_ae[a, e]),
                "mean": _number(self.means.mean_ae[a, e]),
                "mean_low": _number(self.means.low_ae[a, e]),
                "mean_high": _number(self.means.high_ae[a, e]),
                "rank": int(ranks.rank[a]) if self.trials_ae[a, e] else None,
                "rank_low": int(ranks.worst[a]),
                "rank_high": int(ranks.best[a]),
                "rank_worst": int(ranks.worst[a]),
                "rank_best": int(ranks.best[a]),
            }
            for e, ranks in enumerate(self.means.ranks)
            # NaN, where nothing was measured, sorts last.
            for a in np.argsort(-self.means.mean_ae[:, e], kind="stable")
        ]

    def pair_rows(self) -> list[dict[str, Any]]:
        """Return one record per pair, a the one with the better score: a, b, difference, low, high, verdict, cap.

        ``cap`` is how many times its weight an environment may count before the verdict may fail: see `Ranking.cap_ab`.
        """
        order, cap_ab, pairs = self.order, self.rankings[0].cap_ab, self.pairs
        found = []
        # Row by row: on 500 algorithms arrays are read in a fifth of the time that single numbers take.
        for place, a in enumerate(order):
            rest = np.array(order[place + 1 :], dtype=np.int64)
            caps = [None] * rest.size if cap_ab is None else map(_number, np.fmax(cap_ab[a, rest], cap_ab[rest, a]))
            columns = (
                rest.tolist(),
                (self.score_a[a] - self.score_a[rest]).tolist(),
                pairs.low_ab[a, rest].tolist(),
                pairs.high_ab[a, rest].tolist(),
                caps,
            )
            found += [
                {
                    "a": self.algorithms[a],
                    "b": self.algorithms[b],
                    "difference": difference,
                    "low": low,
                    "high": high,
                    "verdict": pairs.verdict(a, b),
                    "cap": cap,
                }
                for b, difference, low, high, cap in zip(*columns, strict=True)
            ]
        return found

    def head_to_head_rows(self) -> list[dict[str, Any]]:
        """Return one record per pair, a the one that wins more often: a, b, win, low, high, verdict."""
        found = self.head_to_head
        if found is None:
            return []
        order = self.order
        pairs = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :]]
        return [
            {
                "a": self.algorithms[a],
                "b": self.algorithms[b],
                "win": float(found.win_ab[a, b]),
                "low": float(found.low_ab[a, b]),
                "high": float(found.high_ab[a, b]),
                "verdict": found.verdict(a, b),
            }
            for a, b in ((a, b) if found.win_ab[a, b] >= 0.5 else (b, a) for a, b in pairs)
        ]

    def to_frame(self) -> "polars.DataFrame":
        """Return `rows` as a polars DataFrame."""
        import polars

        return polars.DataFrame(self.rows())

    def to_pandas(self) -> Any:
        """Return `rows` as a pandas DataFrame."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise InvalidInput("a pandas DataFrame needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.rows())

    def to_latex(self, label: str | None = None) -> str:
        r"""Return the aggregate scores as a table of LaTeX: `untuned.tables` has more tables and formats.

        Of two rankings it is that under the game's weights; ``evaluation.under("uniform")`` has the other one.

        Parameters
        ----------
        label
            What ``\ref`` calls it.
        """
        return str(import_module("untuned.tables").aggregate(self).to_latex(label))

    def plot(self, *, ax: Any = None) -> Any:
        """Return matplotlib Axes with the aggregate scores and their intervals: `untuned.figures` has more figures.

        Of two rankings it is that under the game's weights; ``evaluation.under("uniform")`` has the other one.

        Parameters
        ----------
        ax
            Where to draw; a new Figure unless given.
        """
        return import_module("untuned.figures").aggregate(self, ax=ax)

    def to_dict(self, *, percentiles: bool = False) -> dict[str, Any]:
        """Return everything as plain JSON types; infinite and missing numbers are None.

        Parameters
        ----------
        percentiles
            Whether to include the percentiles with their intervals, n m n numbers each.
        """
        by_environment: dict[str, list[dict[str, Any]]] = {name: [] for name in self.environments}
        for row in self.environment_rows():
            by_environment[row["environment"]].append(
                {"name": row["algorithm"], **{key: row[key] for key in list(row)[2:]}}
            )
        weights, facts = self.environment_weights, self._ranking_facts()
        others = [self.under(each.weights)._ranking_facts() for each in self.rankings[1:]]
        content: dict[str, Any] = {
            # First: readers of a ranking must know which scores are failures.
            "failures": self.failures,
            **facts,
            "valid": self.valid,
            "anytime": self.anytime,
            "delta": self.delta,
            "rankings": [facts, *others],
            "head_to_head": {
                "pairs": self.each_ranking[0].head_to_head_rows(),
                "cycles": [[self.algorithms[a] for a in cycle] for cycle in self.head_to_head.cycles()],
                "sentences": list(direct(self)),
            }
            if self.head_to_head is not None
            else None,
            "comparison": list(self.comparison),
            "claim": self.claim,
            "next_steps": list(self.next_steps),
            "statement": self.statement,
            "approximate": {
                "claim": self.approximate.claim,
                "rankings": [each._ranking_facts() for each in self.approximate.each_ranking],
                "sentences": list(approximation(self)),
            }
            if self.approximate is not None
            else None,
            "environments": [
                {
                    "name": name,
                    "weight": float(weights[e]),
                    "range": [_number(end) for end in self.ranges[e]],
                    "references": {reference: float(self.q_er[e, r]) for r, reference in enumerate(self.algorithms)},
                    "algorithms": by_environment[name],
                }
                for e, name in enumerate(self.environments)
            ],
            "references": [
                {"name": name, "weight": float(weight)}
                for name, weight in zip(self.algorithms, self.reference_weights, strict=True)
            ],
            "settings": dict(self.settings),
            "provenance": dict(self.provenance),
            "warnings": list(self.warnings),
            "findings": [each.to_dict() for each in self.findings],
        }
        if percentiles:
            table = self.percentiles
            content["percentiles"] = {
                "order": ["algorithm", "environment", "reference"],
                "z": table.z_aer.tolist(),
                "low": None if table.low_aer is None else table.low_aer.tolist(),
                "high": None if table.high_aer is None else table.high_aer.tolist(),
            }
        return content

    def _ranking_facts(self) -> dict[str, Any]:
        """Return what the JSON has about the first ranking."""
        return {
            "weights": self.weights,
            "method": self.method,
            "algorithms": self.rows(),
            "pairs": self.pair_rows(),
            "groups": [list(group) for group in self.groups],
            "partial_order": [list(pair) for pair in self.partial_order],
            "verdicts": list(self.verdicts),
        }

    def to_json(self, *, percentiles: bool = False, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON.

        Parameters
        ----------
        percentiles
            Whether to include every percentile and its interval.
        indent
            How far each level is indented; None for one line.
        """
        content = self.to_dict(percentiles=percentiles)
        if indent == 2:
            return indented(content)
        return json.dumps(content, indent=indent, allow_nan=False, ensure_ascii=False)

    @property
    def level(self) -> str:
        """The probability that everything holds together, 1 - delta, as text: ``"95 %"``."""
        return percent(self.delta)

    @property
    def claim(self) -> str:
        """One sentence on what is guaranteed."""
        if self.valid:
            return f"With probability at least {self.level}, all intervals and verdicts hold, {self.condition}."
        return f"Intervals and verdicts are approximate: they aim at {self.level} together and do not guarantee it."

    @property
    def condition(self) -> str:
        """What the guarantee depends on, the end of a sentence."""
        return condition(self)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Whether each environment counts: those of weight 0 do not; under the game's weights all do."""
        found: NDArray[np.bool_] = np.any(
            [(each.q_er.sum(axis=1) > 0.0) | (each.weights == "game") for each in self.rankings], axis=0
        )
        return found

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        """Return the tables, with the intervals drawn, and the verdicts, as a notebook shows them."""
        return as_html(self)


def percent(delta: float) -> str:
    """Return 1 - delta in percent, with as many digits as it has."""
    # In decimals: 1 - 1e-12 is not 100 %, and 100 * (1 - 0.07) is not 92.99999999999999 %.
    return f"{100 - 100 * Decimal(repr(float(delta))):f}".rstrip("0").rstrip(".") + " %"


def _restored(fields: dict[str, Any]) -> Evaluation:
    """Return the evaluation again after it was pickled or copied."""
    return Evaluation(**(fields | {"provenance": MappingProxyType(fields["provenance"])}))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
