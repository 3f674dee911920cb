"""What a planned experiment would detect, from simulated boards of normal scores.

The score of algorithm a on environment e is normal with variance 1 and mean s f_a + h g_ae, f_a and g_ae being standard
normal. h is the heterogeneity, how much the environments disagree, and s how much the algorithms differ, both in
standard deviations of a single trial. s is 1/2, or adjusted so that barely detectable differences occur. The
differences of the aggregate scores are known for every board. The decided pairs then give a curve: the probability of
a verdict at every difference. It is made increasing (isotonic regression), and read at the requested power.

The result is an average over the other algorithms' scores. Between the same two scores a verdict is more probable
where all other pairs are far apart, because of closed testing and because rows then vary less;
`benchmarks/pooled_plan.py` measures how much more.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtr

from untuned.errors import InvalidInput
from untuned.judge.judging import BOTH, DELTA, GAME, UNIFORM, Judging, whole
from untuned.judge.pool import pools
from untuned.judge.pooled.evidence import differences, weighed
from untuned.judge.pooled.forecast import DEALT, nats_of, verdicts
from untuned.judge.threads import mapped
from untuned.plans import Design, Detectable, hours_of, in_words
from untuned.scores import Floats, ScoreTable

#: How much environments disagree, in standard deviations of a single trial.
HETEROGENEITY = 0.5
POWER = 0.8
#: Numbers of trials that are simulated by default.
TRIALS = (5, 10, 30, 100)
#: The usual number in papers, which is always simulated.
FIVE = 5
# The largest value of trials, parallel, seconds and hours.
_MOST = 10**9
# The largest number of trials that is simulated. Beyond it differences shrink like a square root.
_SIMULATED = 128
# Pairs on all boards of a number of trials, and boards: at least and at most.
_PAIRS, _BOARDS = 720, (8, 160)
# How much algorithms differ, in standard deviations of a trial.
_SPREAD = 0.5
# Arrangements of a board, and bets on rows that may be computed for one number of trials: a few seconds.
_ARRANGEMENTS = 4
_WORK = 2.5e7
# The approximate variance of a row, and the ratio of score differences to mean differences: for a first guess.
_VARIANCE, _SLOPE = 0.12, 0.25
# The smallest number of verdicts that a probability is read from.
_FEWEST = 10
# The smallest difference that is searched for.
_SMALLEST = 1e-3


def design(
    algorithms: int,
    environments: int,
    trials: int | Sequence[int] | None = None,
    *,
    difference: float | None = None,
    power: float = POWER,
    heterogeneity: float = HETEROGENEITY,
    delta: float = DELTA,
    weights: str = BOTH,
    seed: int = 0,
    workers: int = 1,
    seconds: float | None = None,
    parallel: int = 1,
    hours: float | None = None,
) -> Design:
    """Return which differences would be found: see `untuned.design`."""
    n = whole("algorithms", algorithms, 2, "6 for a comparison of six")
    m = whole("environments", environments, 1, "18 for a comparison on eighteen")
    given = {"trials": trials, "difference": difference, "hours": hours}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} were given: pass one of trials, difference and hours")
    seconds, parallel, hours = _times(seconds, parallel, hours)
    if hours is None or seconds is None:
        sizes = _sizes(trials, difference)
    else:
        sizes = (_fitting(hours, n * m, seconds, parallel),)
    asked = None if difference is None else _asked(difference, n)
    power = _within("power", power, 0.0, 1.0, f"{POWER} for four times out of five")
    spread = _within("heterogeneity", heterogeneity, -1e-300, 10.0, f"{HETEROGENEITY} by default")
    if weights not in (BOTH, UNIFORM):
        raise InvalidInput(
            f"weights={weights!r}: pass 'uniform', or 'both', the default, where the game's ranking shares the delta"
        )
    judging = Judging(delta=delta, weights=weights)
    seed = whole("seed", seed, 0, "0 by default")
    workers = whole("workers", workers, 1, "one per processor is a good number")
    # With one environment there is no game.
    shares = judging.shares(judging.weightings if m > 1 else (UNIFORM,))
    assumed = _Assumed(n, m, shares[UNIFORM] * judging.delta, spread, power, seed)
    return Design(
        algorithms=n,
        environments=m,
        delta=judging.delta,
        power=power,
        heterogeneity=spread,
        detectable=tuple(Detectable(each, _detectable(assumed, each, workers)) for each in sizes),
        five=Detectable(FIVE, _detectable(assumed, FIVE, workers)),
        difference=asked,
        trials=None if asked is None else _trials(assumed, asked, workers),
        game=_fewest_for_the_game(n, m, shares[GAME] * judging.delta) if GAME in shares else None,
        seconds=seconds,
        parallel=parallel,
        hours=hours,
    )


def _times(seconds: object, parallel: object, hours: object) -> tuple[float | None, int, float | None]:
    """Return how long a trial takes, how many run at the same time, and how many hours there are, checked."""
    at_once = _count("parallel", parallel, "how many trials run at the same time")
    if hours is not None:
        hours = _within("hours", hours, 0.0, _MOST, "24 for a day")
    if seconds is not None:
        return _within("seconds", seconds, 1e-6, _MOST, "how long one trial takes, 600 for ten minutes"), at_once, hours
    if hours is not None or at_once > 1:
        name = "parallel" if hours is None else "hours"
        raise InvalidInput(
            f"{name} without seconds: pass also how long one trial takes on average, seconds=600 for ten minutes"
        )
    return None, at_once, None


def _fitting(hours: float, cells: int, seconds: float, parallel: int) -> int:
    """Return how many trials per cell fit into some hours."""
    takes = hours_of(cells, seconds, parallel)
    # Rounding must not cost a trial.
    enough = hours * (1.0 + 1e-9)
    if enough < takes:
        least = math.ceil(100.0 * takes * (1.0 - 1e-9)) / 100.0
        raise InvalidInput(
            f"hours={hours!r} are too few: 1 trial in each of {cells:,} cells takes {in_words(takes)}. Pass "
            f"hours={least:.12g} or more, or a larger parallel where more trials can run at the same time"
        )
    return min(math.floor(enough * 3600.0 * parallel / (seconds * cells)), _MOST)


def _sizes(trials: int | Sequence[int] | None, difference: float | None) -> tuple[int, ...]:
    """Return the numbers of trials, in ascending order; none where only a difference was given."""
    if trials is None:
        return TRIALS if difference is None else ()
    given = [trials] if isinstance(trials, Integral) or not isinstance(trials, Iterable) else list(trials)
    if not given:
        raise InvalidInput("trials are empty: pass numbers of trials per cell, 5 or (5, 10, 30)")
    return tuple(sorted({_count("trials", each, "the number in every cell") for each in given}))


def _count(name: str, value: object, advice: str) -> int:
    number = whole(name, value, 1, advice)
    if number > _MOST:
        raise InvalidInput(f"{name} is too large: pass at most {_MOST:,}")
    return number


def _asked(difference: object, n: int) -> float:
    number = _within("difference", difference, 0.0, 1.0, "0.1 for a tenth of the scale of scores")
    most = 1.0 - 1.0 / n
    if not _SMALLEST <= number < most:
        raise InvalidInput(
            f"difference={difference!r}: the scores of {n} algorithms differ by less than {most:.3g}, and less than "
            f"{_SMALLEST} is not looked for. Pass a number in between, for example 0.1"
        )
    return number


def _within(name: str, value: object, low: float, high: float, advice: str) -> float:
    """Return a number between two others as a Python number."""
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, Real) or not low < number < high:
        raise InvalidInput(f"{name}={value!r} is not between {max(low, 0.0):g} and {high:g}: pass {advice}")
    return float(value)


@dataclass(frozen=True)
class _Assumed:
    """The size of a board, and the assumptions about it."""

    n: int
    m: int
    delta: float
    heterogeneity: float
    power: float
    seed: int

    @property
    def boards(self) -> int:
        """The number of boards that are simulated."""
        return min(max(_BOARDS[0], _PAIRS // (self.n * (self.n - 1) // 2)), _BOARDS[1])

    @property
    def simulated(self) -> int:
        """The largest number of trials that is simulated."""
        work = self.boards * self.m * self.n * (self.n - 1) * _ARRANGEMENTS
        return min(max(int(_WORK / work), 4), _SIMULATED)


def _detectable(assumed: _Assumed, trials: int, workers: int) -> float | None:
    """Return the smallest difference that is detected with the requested power; None if none is."""
    most = assumed.simulated
    found = _simulated(assumed, min(trials, most), workers)
    return None if found is None else found * math.sqrt(min(most / trials, 1.0))


def _trials(assumed: _Assumed, difference: float, workers: int) -> int:
    """Return the number of trials at which a difference is detected with the requested power."""
    ladder: list[int] = sorted({*(1 << k for k in range(8) if 1 << k < assumed.simulated), assumed.simulated})
    few, enough = -1, len(ladder)
    while enough - few > 1:
        middle = (few + enough) // 2
        found = _detectable(assumed, ladder[middle], workers)
        if found is not None and found <= difference:
            enough = middle
        else:
            few = middle
    if few < 0:
        return ladder[0]
    below = _detectable(assumed, ladder[few], workers)
    if enough == len(ladder):
        # Not even the largest board detects any: use the rule of thumb of the first guess.
        below = below or _guess(assumed, ladder[few])
        return math.ceil(ladder[few] * math.pow(max(below / difference, 1.0), 2))
    above = _detectable(assumed, ladder[enough], workers)
    assert above is not None
    if below is None or below <= above:
        return ladder[enough]
    # Linear in logarithms.
    part = math.log(below / difference) / math.log(below / above)
    return math.ceil(ladder[few] * math.pow(ladder[enough] / ladder[few], part))


def _guess(assumed: _Assumed, trials: int) -> float:
    nats = nats_of(assumed.n, assumed.delta)
    return math.sqrt(2.0 * nats * _VARIANCE / (assumed.m * trials))


@lru_cache(maxsize=1024)
def _simulated(assumed: _Assumed, trials: int, workers: int) -> float | None:
    """Return the smallest difference that is found, by simulation."""
    typical = _guess(assumed, trials) / _SLOPE
    spread = min(max(_SPREAD, typical), 10.0 * typical)
    for _ in range(3):
        difference, decided = _boards(assumed, trials, spread, workers)
        order = np.argsort(difference, kind="stable")
        probability = isotonic_regression(decided[order]).x
        enough = np.flatnonzero(probability >= assumed.power)
        if enough.size >= _FEWEST:
            return float(difference[order][enough[0]])
        spread *= 2.0
    return None


def _boards(assumed: _Assumed, trials: int, spread: float, workers: int) -> tuple[Floats, Floats]:
    """Return the differences of the scores of all pairs on some boards, and whether each was decided."""
    n, m = assumed.n, assumed.m
    nats = nats_of(n, assumed.delta)
    better, worse = np.triu_indices(n, 1)

    def board(number: int) -> tuple[Floats, Floats]:
        rng = np.random.default_rng([assumed.seed, n, m, trials, number])
        mean_ae = spread * rng.normal(size=(n, 1)) + assumed.heterogeneity * rng.normal(size=(n, m))
        z_aer = ndtr((mean_ae[:, :, None] - mean_ae.T[None, :, :]) / math.sqrt(2.0))
        score = z_aer.mean(axis=(1, 2))
        table = ScoreTable.from_array(mean_ae[:, :, None] + rng.normal(size=(n, m, trials)))
        given = weighed(table, pools(table), np.full((m, n), 1.0 / (m * n)))
        given = replace(given, most=_ARRANGEMENTS, dealt=DEALT)
        better_ab = verdicts(differences(given, nats), assumed.delta)
        difference = score[better] - score[worse]
        found = np.where(difference > 0.0, better_ab[better, worse], better_ab[worse, better])
        return np.abs(difference), found.astype(np.float64)

    found = list(mapped(board, range(assumed.boards), workers))
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])


def _fewest_for_the_game(n: int, m: int, delta: float) -> int:
    """Return the number of trials below which no percentile can be separated from 1/2, and so nothing is decided.

    Where every trial of one beats every trial of the other, the lower end of the interval is (d/2)^(1/T), and of n
    algorithms on m environments d is delta/(m n (n - 1)/2).
    """
    return math.floor(math.log2(m * n * (n - 1) / delta)) + 1
