"""Predicting pooled evidence with more trials: boards resampled from a pilot.

A resampled board has T' trials in every cell, drawn with replacement from the existing ones. Its evidence is tested
as in an evaluation; a pair is predicted to be decided if at least half of the boards decide it. Shorter samples are
the first trials of longer ones, so more trials hardly ever decide less.

Two errors oppose each other. A sample of T trials varies less than its population, by the factor 1 - 1/T, so the
predicted number is too small; and open pairs are mostly those whose difference was underestimated, so it is too
large. `benchmarks/pooled_plan.py` measures the total: on 6 x 18 boards numbers are mostly too small for pilots of a
single trial, mostly too large for pilots of 20, and in between for 2 and 5.

Boards are resampled up to a size that takes a fraction of a second. Beyond it the evidence is scaled
(`untuned.judge.pooled.evidence.with_more_trials`).
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from untuned.judge.jit import kernel
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool, pools
from untuned.judge.pooled.bounds import VERDICTS
from untuned.judge.pooled.closure import decided
from untuned.judge.pooled.evidence import Bools, Evidence, Weighed, differences, growth, weighed, with_more_trials
from untuned.judge.streams import Words, next_word, skip_first, streams
from untuned.judge.threads import mapped
from untuned.scores import Floats, Ints, ScoreTable

#: Resampled boards, and arrangements of each; the second for large boards. An evaluation has more arrangements.
BOARDS = (9, 3)
ARRANGEMENTS = (8, 2)
DEALT = 2000
#: The largest and the smallest number of simulated trials per cell, whatever the size of the board.
MOST, LEAST = 100, 10
#: Bets on rows that may be computed for one number of trials: a fraction of a second.
WORK = 4e6


def verdicts(evidence: Evidence, delta: float) -> Bools:
    """Return which a are shown to be better than which b, [a, b], ``delta`` being that of the whole ranking.

    An evaluation also looks at the intervals on differences, which have a smaller part of delta and are left out here.
    """
    return decided(evidence.log_e(), VERDICTS * delta)


def nats_of(n: int, delta: float) -> float:
    """Return the logarithm of the evidence that verdicts on ``n`` algorithms need."""
    return math.log(n * (n - 1) / (VERDICTS * delta))


@dataclass(frozen=True, eq=False)
class Forecast:
    """A pilot, with the data to predict verdicts with more trials.

    Attributes
    ----------
    given
        Its scores and weights.
    kept
        The numbers of the environments that have weight.
    limit_ab
        The differences of the scores with infinitely many trials; the worst case where there are no trials.
    delta
        The allowed probability that any statement on the ranking is wrong.
    boards, simulated
        How many boards are resampled, and the largest number of trials per cell.
    workers
        Threads; no number depends on it.
    """

    given: Weighed
    kept: tuple[int, ...]
    limit_ab: Floats
    delta: float
    boards: int
    simulated: int
    workers: int
    _evidence: dict[bytes, list[Evidence]] = field(default_factory=dict)

    def decided(self, trials_ae: Ints) -> Bools:
        """Return which a are shown to be better than which b on at least half of the boards, [a, b].

        Parameters
        ----------
        trials_ae
            The numbers of trials, those of identical algorithms together; 0 where the pilot has none.
        """
        n = len(trials_ae)
        nats = nats_of(n, self.delta)
        wanted = []
        for e, pool in zip(self.kept, self.given.pools, strict=True):
            sizes = np.zeros_like(pool.sizes)
            sizes[pool.owner_of] = trials_ae[:, e]
            wanted.append(sizes)
        simulated = [np.minimum(sizes, self.simulated) for sizes in wanted]
        key = np.concatenate(simulated).tobytes()
        if key not in self._evidence:
            self._evidence[key] = list(
                mapped(lambda board: self._resampled(board, simulated, nats), range(self.boards), self.workers)
            )
        boards = self._evidence[key]
        if key != np.concatenate(wanted).tobytes():
            grown = growth(_with_sizes(self.given, simulated), _with_sizes(self.given, wanted), nats)
            boards = [with_more_trials(found, grown, self.limit_ab) for found in boards]
        votes = np.sum([verdicts(found, self.delta) for found in boards], axis=0)
        enough: Bools = 2 * votes >= self.boards
        return enough

    def _resampled(self, board: int, sizes: list[Ints], nats: float) -> Evidence:
        drawn = []
        for pool, seeds, wanted in zip(self.given.pools, self.given.seeds, sizes, strict=True):
            positions = [
                np.flatnonzero(pool.owners == o)[_choices(_stream(seed, board), had, size)]
                for o, (seed, had, size) in enumerate(zip(seeds, pool.sizes.tolist(), wanted.tolist(), strict=True))
                if size > 0
            ]
            order = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *positions]))
            drawn.append(Pool(pool.scores[order], pool.owners[order], wanted, pool.owner_of))
        return differences(replace(self.given, pools=tuple(drawn)), nats)


def forecast(table: ScoreTable, estimates: Percentiles, q_er: Floats, delta: float, workers: int) -> Forecast:
    """Return the data to predict verdicts for weights chosen beforehand.

    Parameters
    ----------
    table, estimates
        The scores, and their percentiles.
    q_er
        The weights, summing to 1.
    delta
        The probability that any statement on the ranking may be wrong.
    workers
        Threads.
    """
    kept = tuple(np.flatnonzero(q_er.sum(axis=1) > 0.0).tolist())
    given = weighed(table, pools(table), q_er)
    boards, arrangements, simulated = effort(len(table.algorithms), len(kept))
    given = replace(given, most=arrangements, dealt=DEALT)
    limit_ab = _limit(given, estimates.z_aer[:, kept, :])
    return Forecast(given, kept, limit_ab, delta, boards, simulated, workers)


def effort(n: int, m: int) -> tuple[int, int, int]:
    """Return numbers of boards, of arrangements, and of trials per cell that take a fraction of a second together."""
    for boards, arrangements in zip(BOARDS, ARRANGEMENTS, strict=True):
        trials = int(WORK / (m * n * (n - 1) * boards * arrangements))
        if trials >= 2 * LEAST:
            break
    return boards, arrangements, min(max(trials, LEAST), MOST)


def _with_sizes(given: Weighed, sizes: list[Ints]) -> Weighed:
    """Return the input of evidence with other numbers of trials."""
    return replace(given, pools=tuple(pool._replace(sizes=each) for pool, each in zip(given.pools, sizes, strict=True)))


def _limit(given: Weighed, z_aer: Floats) -> Floats:
    """Return the difference of scores that is tested against 0, if the estimates are right, [a, b]."""
    trials, shares = given.trials_ea, given.shares_ea
    n = trials.shape[1]
    found = np.zeros((n, n))
    for e, weight in enumerate(given.weights_e):
        present = trials[e] > 0
        rho = np.where(present, given.rho_er[e], 0.0)
        score = z_aer[:, e, :] @ rho
        part = score[:, None] - score[None, :] - (1.0 - rho.sum())
        worst = 0.5 * (shares[e][:, None] + shares[e][None, :]) - 1.0
        part = np.where(present[:, None] & present[None, :], part, worst)
        found += weight * np.where(given.same_eab[e], 0.0, part)
    return found


def _stream(seed: int, board: int) -> Words:
    """Return the random stream of a sample on a board; arrangements have those of ``seed`` itself."""
    found: Words = streams(seed + 1, board + 1)[board]
    return found


@kernel
def _choices(stream: Words, size: int, count: int) -> Ints:
    """Return ``count`` random whole numbers below ``size``; the first ones do not depend on how many there are."""
    skip_first(stream)
    found = np.empty(count, dtype=np.int64)
    for k in range(count):
        # Lemire's method without rejection: biased by less than size/2^32, which no prediction shows.
        found[k] = np.int64(((next_word(stream) >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))
    return found
