"""Results of summaries: records only."""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from untuned.evaluation import Evaluation, percent
from untuned.judge.summaries.intervals import Interval
from untuned.judge.summaries.statistics import Statistic
from untuned.scores import Floats
from untuned.verdicts import TITLES, Weighting


@dataclass(frozen=True, eq=False)
class Summary:
    """A statistic of every algorithm with its interval; NaN where there is none.

    Attributes
    ----------
    statistic
        Which.
    value_a, low_a, high_a
        The numbers, in the order of the algorithms.
    """

    statistic: Statistic
    value_a: Floats
    low_a: Floats
    high_a: Floats

    @property
    def order(self) -> tuple[int, ...]:
        """The algorithms' numbers from the best to the worst; those without a value last."""
        sign = -1.0 if self.statistic.higher_is_better else 1.0
        return tuple(int(a) for a in np.argsort(sign * self.value_a, kind="stable"))


@dataclass(frozen=True, eq=False)
class Improvement:
    """The probability that a run of a scores more than one of b, averaged over environments, ``[a, b]``.

    Attributes
    ----------
    win_ab, low_ab, high_ab
        The estimates and their intervals; a tie counts half.
    """

    win_ab: Floats
    low_ab: Floats
    high_ab: Floats


@dataclass(frozen=True, eq=False)
class Profile:
    """A performance profile: which share of scores, or of environments by their mean, is above each threshold.

    Attributes
    ----------
    name
        ``"profile"`` for scores, ``"mean-profile"`` for the means of environments.
    thresholds
        Ascending normalised scores.
    share_at, low_at, high_at
        ``[algorithm, threshold]``; each interval is that of one threshold.
    """

    name: str
    thresholds: Floats
    share_at: Floats
    low_at: Floats
    high_at: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Summaries:
    """Summaries of normalised scores with bootstrap intervals, all approximate, and the guaranteed verdicts.

    Attributes
    ----------
    algorithms, environments
        Names.
    scale
        Description of the normalised scores: ``"as percentiles of all algorithms"``.
    weights
        Where the environments' weights come from.
    weight_e
        The weights.
    interval, delta, resamples, seed
        How intervals were computed; each has the nominal error probability delta.
    summaries
        One per statistic.
    improvement
        The probability of improvement; None unless requested.
    profiles
        Performance profiles.
    notes
        Notes for readers.
    evaluation
        The guaranteed evaluation of the same scores; None where there is none.
    """

    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    scale: str
    weights: Weighting
    weight_e: Floats
    interval: Interval
    delta: float
    resamples: int
    seed: int
    summaries: tuple[Summary, ...] = ()
    improvement: Improvement | None = None
    profiles: tuple[Profile, ...] = ()
    notes: tuple[str, ...] = ()
    evaluation: Evaluation | None = field(default=None, compare=False)

    @property
    def claim(self) -> str:
        """One sentence on what the intervals promise."""
        name = {"percentile": "percentile", "basic": "basic", "bca": "BCa"}[self.interval]
        return (
            f"Approximate: {name} bootstrap intervals with {self.resamples:,} resamples, each by itself aiming at "
            f"{percent(self.delta)}, none guaranteed."
        )

    @property
    def basis(self) -> str:
        """One sentence on the scores and their weights."""
        # Environments that differ under equal weights are variants: families have equal weights.
        differ = self.weights == "uniform" and not np.allclose(self.weight_e, self.weight_e[0])
        return f"Scores {self.scale}; {'families' if differ else 'environments'} have {TITLES[self.weights]}."

    @property
    def guaranteed(self) -> tuple[str, ...]:
        """The guaranteed verdicts of the same scores, as sentences."""
        if self.evaluation is None:
            return ()
        return (*self.evaluation.verdicts, self.evaluation.claim)

    def summary(self, name: str) -> Summary:
        """Return the summary of a statistic.

        Parameters
        ----------
        name
            ``"iqm"``.
        """
        from untuned.errors import UnknownName

        for each in self.summaries:
            if each.statistic.name == name:
                return each
        raise UnknownName("statistic", name, [each.statistic.name for each in self.summaries])

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per statistic and algorithm, the best first: statistic, algorithm, value, low, high."""
        return [
            {
                "statistic": each.statistic.name,
                "algorithm": self.algorithms[a],
                "value": _number(each.value_a[a]),
                "low": _number(each.low_a[a]),
                "high": _number(each.high_a[a]),
            }
            for each in self.summaries
            for a in each.order
        ]

    def improvement_rows(self) -> list[dict[str, Any]]:
        """Return one record per pair, a the one that scores more, most often first: a, b, win, low, high."""
        found = self.improvement
        if found is None:
            return []
        n = len(self.algorithms)
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        turned = [(b, a) if found.win_ab[a, b] < 0.5 else (a, b) for a, b in pairs]
        # NaN, where there are no scores, sorts last.
        turned.sort(key=lambda pair: (bool(np.isnan(found.win_ab[pair])), -found.win_ab[pair]))
        return [
            {
                "a": self.algorithms[a],
                "b": self.algorithms[b],
                "win": _number(found.win_ab[a, b]),
                "low": _number(found.low_ab[a, b]),
                "high": _number(found.high_ab[a, b]),
            }
            for a, b in turned
        ]

    def profile_rows(self) -> list[dict[str, Any]]:
        """Return one record per profile, algorithm and threshold: profile, algorithm, threshold, share, low, high."""
        return [
            {
                "profile": each.name,
                "algorithm": name,
                "threshold": float(threshold),
                "share": _number(each.share_at[a, k]),
                "low": _number(each.low_at[a, k]),
                "high": _number(each.high_at[a, k]),
            }
            for each in self.profiles
            for a, name in enumerate(self.algorithms)
            for k, threshold in enumerate(each.thresholds)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types, without the evaluation; missing numbers are None."""
        return {
            "approximate": True,
            "claim": self.claim,
            "scale": self.scale,
            "weights": self.weights,
            "environments": [
                {"name": name, "weight": float(weight)}
                for name, weight in zip(self.environments, self.weight_e, strict=True)
            ],
            "interval": self.interval,
            "delta": self.delta,
            "resamples": self.resamples,
            "seed": self.seed,
            "summaries": self.rows(),
            "improvement": self.improvement_rows(),
            "profiles": self.profile_rows(),
            "notes": list(self.notes),
            "guaranteed": list(self.guaranteed),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON.

        Parameters
        ----------
        indent
            How far each level is indented; None for one line.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __repr__(self) -> str:
        width = max(9, *(len(name) for name in self.algorithms))
        lines = [self.basis]
        for each in self.summaries:
            lines.append(f"{each.statistic.title[0].upper()}{each.statistic.title[1:]}")
            lines += [
                "  ".join((f"{self.algorithms[a]:<{width}}", *(shown(x[a]) for x in _numbers(each))))
                for a in each.order
            ]
        if self.improvement is not None:
            lines.append("Probability of improvement")
            lines += [
                "  ".join((f"{row['a']} over {row['b']}", *(shown(row[key]) for key in ("win", "low", "high"))))
                for row in self.improvement_rows()
            ]
        lines += [f"{each.name} at {each.thresholds.size} thresholds: profile_rows()" for each in self.profiles]
        lines += [self.claim, *(f"Note: {note}" for note in self.notes)]
        if self.guaranteed:
            lines += ["Guaranteed, of the same scores:", *self.guaranteed]
        return "\n".join(lines)


def shown(value: float | None) -> str:
    """Return a number as a table shows it, a dash where there is none.

    Parameters
    ----------
    value
        The number.
    """
    return "-" if value is None or not np.isfinite(value) else f"{value:.4f}"


def _numbers(summary: Summary) -> tuple[Floats, Floats, Floats]:
    return summary.value_a, summary.low_a, summary.high_a


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
