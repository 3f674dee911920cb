"""Environments on which all algorithms do nearly the same: variants of one environment."""

from itertools import permutations
from math import comb, factorial

import numpy as np
from scipy.stats import rankdata, t

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Sample
from untuned.scores import Floats

# Of all pairs of a table together, if residuals were normal; up to ten times as many where they are not.
_FALSE_ALARMS = 0.001
# Too few algorithms have the same order by chance, too few environments say little about what is usual.
_ALGORITHMS = 5
_ENVIRONMENTS = 4
# Cells with fewer scores that differ from the most frequent one say little, and not what normal numbers say.
_DIFFERENT = 3
# The part of all orders of the algorithms that may agree as well, where scores have few levels; and how many to try.
_AGREEING = 0.01
_ORDERS = 2000


def alike_environments(sample: Sample) -> Finding | None:
    """Find pairs of environments that rank the algorithms alike, and unlike all other environments.

    An environment's residuals are the mean rank of each algorithm's scores among all scores there, less the mean of
    these over the environments other than the two. A pair is reported if its correlation over the algorithms is larger
    than chance makes it in 1 of 1,000 tables, all pairs together, if residuals are independent and normal; measured on
    other scores, it is up to 1 of 100. No pair is reported if 1 of 100 orders of the algorithms would agree as well, or
    if it is in a declared family.
    """
    table = sample.table
    kept = [e for e in range(len(table.environments)) if _says_something(sample, e)]
    n, m = len(table.algorithms), len(kept)
    if n < _ALGORITHMS or m < _ENVIRONMENTS:
        return None
    ranks_ea = np.array([_mean_ranks(sample, e) for e in kept])
    correlations = _residual_correlations(ranks_ea)
    # Two residuals share the mean of the others: this much correlation is chance.
    usual = np.arctanh(1.0 / (m - 1))
    beyond = np.tanh(np.arctanh(np.clip(correlations, 1e-12 - 1.0, 1.0 - 1e-12)) - usual)
    statistic = beyond * np.sqrt((n - 2) / (1.0 - beyond**2))
    limit = t.isf(_FALSE_ALARMS / comb(m, 2), n - 2)
    families = [set(each) for each in (table.families or {}).values()]
    found = []
    for e, f in np.argwhere(np.triu(statistic > limit, 1)).tolist():
        names = table.environments[kept[e]], table.environments[kept[f]]
        if any({*names} <= family for family in families) or _agreeing(ranks_ea, e, f) > _AGREEING:
            continue
        found.append((*names, float(correlations[e, f])))
    if not found:
        return None
    first, second, correlation = max(found, key=lambda each: each[2])
    return Finding(
        "alike-environments",
        "note",
        f"{counted(len(found), 'pair')} of environments {'looks' if len(found) == 1 else 'look'} like variants of one: "
        f"on {first} and {second} the algorithms differ from what is usual for them in the same way (a correlation of "
        f"{correlation:.3f} over {n} algorithms).",
        "Several variants of one environment count as several environments, under equal weights and in the game.",
        f"If they are variants, declare them: --families NAME={first}+{second}. If not, there is nothing to do.",
        tuple(f"{e} and {f}" for e, f, _ in found),
    )


def _says_something(sample: Sample, e: int) -> bool:
    """Return whether all algorithms have scores on an environment, most of them several different ones."""
    cells = sample.of_environment(e)
    different = sum(cell.size - int(cell.counts.max()) >= _DIFFERENT for cell in cells)
    return len(cells) == len(sample.table.algorithms) and different >= max(_ALGORITHMS, len(cells) / 2)


def _mean_ranks(sample: Sample, e: int) -> Floats:
    """Return every algorithm's mean rank among all scores of an environment, from 0 to 1."""
    cells = sample.of_environment(e)
    ranks = rankdata(np.concatenate([cell.scores for cell in cells]))
    parts = np.split(ranks, np.cumsum([cell.size for cell in cells])[:-1])
    means: Floats = np.array([part.mean() for part in parts]) / ranks.size
    return means


def _residual_correlations(ranks_ea: Floats) -> Floats:
    """Return the correlations [e, f] of two environments' residuals; -1 where one is flat.

    With p for the centred ranks, S for their sum and k = 1/(m - 2) a residual is (1 + k) p_e + k p_f - k S.
    """
    m = len(ranks_ea)
    k = 1.0 / (m - 2)
    p = ranks_ea - ranks_ea.mean(axis=1, keepdims=True)
    total = p.sum(axis=0)
    gram, with_all, all_ = p @ p.T, p @ total, float(total @ total)
    own, sums = np.diag(gram), with_all[:, None] + with_all[None, :]
    both = k * (1.0 + k) * (own[:, None] + own[None, :]) + ((1.0 + k) ** 2 + k**2) * gram
    both += -k * (1.0 + 2.0 * k) * sums + k**2 * all_
    one = (1.0 + k) ** 2 * own[:, None] + k**2 * own[None, :] + 2.0 * k * (1.0 + k) * gram
    one += -2.0 * k * (1.0 + k) * with_all[:, None] - 2.0 * k**2 * with_all[None, :] + k**2 * all_
    size = np.sqrt(np.maximum(one, 0.0) * np.maximum(one.T, 0.0))
    found: Floats = np.divide(both, size, out=np.full((m, m), -1.0), where=size > 1e-12)
    return found


def _agreeing(ranks_ea: Floats, e: int, f: int) -> float:
    """Return the part of all orders of the algorithms in which the residuals of two environments agree as well."""
    m, n = ranks_ea.shape
    others = (ranks_ea.sum(axis=0) - ranks_ea[e] - ranks_ea[f]) / (m - 2)
    first, second = (each - each.mean() for each in (ranks_ea[e] - others, ranks_ea[f] - others))
    if factorial(n) <= _ORDERS:
        orders = np.array(list(permutations(range(n))))
    else:
        rng = np.random.default_rng(0)
        orders = np.array([np.arange(n), *(rng.permutation(n) for _ in range(_ORDERS))])
    return float(np.mean(second[orders] @ first >= second @ first - 1e-12))
