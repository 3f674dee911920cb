"""Sentences about an evaluation: failures, rankings compared, head to head, next steps, a paragraph for a paper."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from untuned import families
from untuned.scores import Ints, spread
from untuned.verdicts import NOT_SEPARABLE, better_clauses, listed, part

if TYPE_CHECKING:
    from untuned.evaluation import Evaluation
    from untuned.plans import Plan

#: The beginning of the sentence that a reader must not miss.
OPPOSITE = "Opposite verdicts"
#: Longer lists of pairs and of verdicts are truncated, with a count of the rest.
_PAIRS = 4
_CLAUSES = 6
_FAILURES = 5
#: An interval on a score, which is between 0 and 1, says nothing from this length on; one on a difference, from twice.
VACUOUS = 0.9
#: Of a table without them.
LEFT_OUT = "Intervals say nothing with so few trials, and are left out."
#: A cell with fewer trials than the largest by this factor holds the others back.
_UNEVEN = 4
#: Methods that tell a percentile from 1/2 by T trials with a probability of 2**-T at best, split over all comparisons.
_SPLIT = frozenset(("pairing", "betting", "bentkus", "kl"))


def says_nothing(evaluation: "Evaluation") -> bool:
    """Return whether every score of the first ranking may be nearly anything."""
    return bool((evaluation.high_a - evaluation.low_a >= VACUOUS).all())


def decimals(intervals: Iterable[tuple[float, float]], neutral: float | None = None) -> int:
    """Return how many decimals scores between 0 and 1 and their differences have, two to four.

    Half the length of the usual interval has two digits. No end of an interval that excludes ``neutral`` is rounded to
    it.

    Parameters
    ----------
    intervals
        Low and high ends.
    neutral
        What says that two algorithms are alike.
    """
    ends = list(intervals)
    halves = sorted((high - low) / 2.0 for low, high in ends if 0.0 < high - low < math.inf)
    found = min(max(1 - math.floor(math.log10(halves[len(halves) // 2])), 2), 4) if halves else 3
    if neutral is not None:
        deciding = [low if low > neutral else high for low, high in ends if low > neutral or high < neutral]
        while found < 4 and any(round(end, found) == neutral for end in deciding):
            found += 1
    return found


def failed(evaluation: "Evaluation") -> tuple[str, ...]:
    """Return which algorithms failed in how many of their trials, the worst share first; nothing where none did."""
    rows = evaluation.failures
    if not rows:
        return ()
    if evaluation.all_failed:
        return ("Every trial of every algorithm failed: there is nothing to compare.",)
    shown = rows if len(rows) <= _FAILURES + 1 else rows[:_FAILURES]
    rest = rows[len(shown) :]
    sentences = [_failed(row) for row in shown]
    if rest:
        counts = f"{sum(row['failed'] for row in rest):,} of {sum(row['trials'] for row in rest):,} trials"
        names = listed([row["algorithm"] for row in rest])
        sentences.append(f"{len(rest)} more algorithms failed in {counts}: {names}.")
    return tuple(sentences)


def _failed(row: Mapping[str, Any]) -> str:
    """Return a sentence on one algorithm that failed."""
    name, count, trials = row["algorithm"], row["failed"], row["trials"]
    if count == trials == 1:
        return f"{name} failed in its only trial, which counts as the worst score of its environment."
    if count == trials:
        return f"{name} failed in all of its {trials:,} trials: each counts as the worst score of its environment."
    where = listed(row["environments"])
    counts = "it counts" if count == 1 else "they count"
    return f"{name} failed in {count:,} of {trials:,} trials ({where}); {counts} as the worst score."


def variants(evaluation: "Evaluation") -> tuple[str, ...]:
    """Return a sentence on the environments that count as one; nothing where there are none."""
    named = families.listed(evaluation.judging.families or {})
    return (f"Variants count together as much as one environment: {named}.",) if named else ()


def failed_throughout(evaluation: "Evaluation") -> tuple[str, ...]:
    """Return a sentence on the algorithms all of whose trials failed; nothing where there is none."""
    names = [row["algorithm"] for row in evaluation.failures if row["failed"] == row["trials"]]
    return (f"Every trial of {listed(names)} failed.",) if names else ()


def comparison(evaluation: "Evaluation") -> tuple[str, ...]:
    """Return where two rankings agree, which pairs only one of them decides, and where they contradict."""
    shown = evaluation.each_ranking
    if len(shown) < 2:
        return ()
    first, second = shown
    one, other = first.pairs.better_ab, second.pairs.better_ab
    opposite, agreed = one & other.T, int(np.count_nonzero(one & other))
    found = []
    if opposite.any():
        found.append(
            f"{OPPOSITE} on {_count(int(opposite.sum()))}: {first.under_weights}, {_named(first, opposite)}; "
            f"{second.under_weights}, the other way round. They answer different questions, and both may hold."
        )
    if not one.any() and not other.any():
        return ("Neither weighting decides a pair.",)
    total = _total(evaluation)
    if agreed and not (one ^ other).any():
        return (
            "Both weightings give the same verdict."
            if total == 1
            else f"Both weightings decide the same {agreed:,} of {total:,} pairs, in the same way.",
        )
    if agreed:
        found.append(f"Both weightings decide {_count(agreed)} in the same way.")
    for each, by, than in ((first, one, second), (second, other, first)):
        decided_there = than.pairs.better_ab | than.pairs.better_ab.T
        alone = by & ~decided_there
        if alone.any():
            found.append(_alone(each, than, alone, total))
    return tuple(found)


def _alone(each: "Evaluation", than: "Evaluation", alone: NDArray[np.bool_], total: int) -> str:
    """Return a sentence on the pairs that one ranking decides and the other does not."""
    count = int(alone.sum())
    who, others = _capital(each.rankings[0].title), than.rankings[0].title
    if total == 1:
        return f"{who} decide the pair; {others} do not."
    if not than.pairs.better_ab.any():
        return f"{who} decide {count:,} of {total:,} pairs; {others} decide none."
    return f"{who} decide {_count(count)} that {others} do not: {_named(each, alone)}."


def direct(evaluation: "Evaluation") -> tuple[str, ...]:
    """Return the head-to-head verdicts: how many pairs, cycles, and pairs that no ranking decides."""
    found = evaluation.head_to_head
    if found is None:
        return ()
    better, names = found.better_ab, evaluation.algorithms
    ranked = np.any([each.pairs.better_ab for each in evaluation.rankings], axis=0)
    total, count = _total(evaluation), int(np.count_nonzero(better))
    decided = ("decided" if count else NOT_SEPARABLE) if total == 1 else f"{part(count, total)} decided"
    sentences = [f"Head to head (two algorithms' runs alone): {decided}."]
    cycles = [_cycle([names[a] for a in cycle]) for cycle in found.cycles()]
    if cycles:
        more = f"; and {len(cycles) - _PAIRS} more" if len(cycles) > _PAIRS else ""
        sentences.append(f"There is no order: {'; '.join(cycles[:_PAIRS])}{more}.")
    shown = evaluation.each_ranking[0]
    for title, which in (
        ("Decided head to head alone", better & ~ranked & ~ranked.T),
        ("Head to head the other way round than in a ranking", better & ranked.T),
    ):
        if which.any():
            sentences.append(f"{title}: {_named(shown, which)}.")
    return tuple(sentences)


def _cycle(names: Sequence[str]) -> str:
    return ", ".join(f"{a} beats {b}" for a, b in zip(names, [*names[1:], names[0]], strict=True))


def approximation(evaluation: "Evaluation") -> tuple[str, ...]:
    """Return what the approximate method decides under every weighting, and what it decides in addition."""
    found = evaluation.approximate
    if found is None:
        return ()
    sentences = []
    known = {each.weights: each.pairs.better_ab for each in evaluation.rankings}
    for each in found.each_ranking:
        better = each.pairs.better_ab
        more = better & ~known[each.weights]
        count, total = int(better.sum()), _total(evaluation)
        decided = ("decided" if count else NOT_SEPARABLE) if total == 1 else f"{part(count, total)} decided"
        addition = f", in addition {_named(each, more)}" if more.any() else ", nothing in addition" if count else ""
        sentences.append(f"{_capital(each.under_weights)}: {decided}{addition}.")
    return (*sentences, *(warning for warning in found.warnings if warning not in evaluation.warnings))


def next_steps(evaluation: "Evaluation", plans: Sequence["Plan"] = ()) -> tuple[str, ...]:
    """Return next steps where a ranking decides nothing; none where every ranking decides some pair.

    Parameters
    ----------
    evaluation
        The evaluation.
    plans
        How many trials would settle what is open, where that was asked for.
    """
    if evaluation.all_failed:
        return ("More trials that fail decide nothing: find out why they failed, and fix that first.",)
    silent = [each for each in evaluation.each_ranking if not each.pairs.better_ab.any()]
    if not silent:
        return ()
    if evaluation.scores.declared is not None:
        return ("Continue the race: rerun it with more --hours or --max-trials (untuned.race).",)
    found = []
    for each in silent:
        if each.weights == "game":
            found += _least_trials(each)
            if len(evaluation.rankings) == 1 and len(evaluation.environments) > 1 and each.valid:
                found.append("Equal weights need fewer trials: judge under both, --weights both (weights='both').")
    found += _uneven(evaluation)
    if evaluation.valid and evaluation.approximate is None and evaluation.trials_ae[:, evaluation.counted].all():
        found.append(
            "For an approximate answer from these trials add --approximate (approximate=True), a bootstrap without "
            "guarantee: it errs more often than its level says, most of all with few trials."
        )
    if plans:
        found += dict.fromkeys(plan.sentences()[0] for plan in plans)
    elif evaluation.valid:
        found.append("--plan (untuned.plan) predicts how many more trials it takes.")
    return tuple(found)


def _uneven(evaluation: "Evaluation") -> list[str]:
    """Return a sentence on the smallest cell, where it is much smaller than others."""
    counted = np.flatnonzero(evaluation.counted)
    trials = _shared_trials(evaluation)[:, counted]
    least, most = int(trials.min()), int(trials.max())
    if _UNEVEN * least > most:
        return []
    a, e = np.argwhere(trials == least)[0]
    return [
        f"{evaluation.algorithms[a]} has {least or 'no'} {'trial' if least == 1 else 'trials'} on "
        f"{evaluation.environments[counted[e]]}, other cells up to {most:,}. Scores depend on all algorithms that are "
        f"references: run more trials there first, or leave {evaluation.algorithms[a]} out."
    ]


def _shared_trials(evaluation: "Evaluation") -> Ints:
    """Return the number of trials [a, e], where algorithms that were declared identical share theirs."""
    shared = [
        np.bincount(kinds, weights=trials)[kinds]
        for kinds, trials in zip(evaluation.scores.kinds, evaluation.trials_ae.T, strict=True)
    ]
    return np.array(shared, dtype=np.int64).T


def _least_trials(each: "Evaluation") -> list[str]:
    """Return a sentence on the number of trials below which nothing can be decided, if there are fewer."""
    if not each.valid or each.method not in _SPLIT:
        return []
    count, most = 0, 0
    for kinds, trials in zip(each.scores.kinds, _shared_trials(each).T, strict=True):
        sizes = trials[np.unique(kinds, return_index=True)[1]]
        sizes = np.sort(sizes[sizes > 0])
        count += sizes.size * (sizes.size - 1) // 2
        most = max(most, int(sizes[-2]) if sizes.size > 1 else 0)
    if not count:
        return []
    share = (each.derived.shares or {}).get("game", 1.0) * (1.0 - (each.derived.functional or 0.0))
    # The smallest T with (level/2)**(1/T) > 1/2: with fewer, even T wins out of T leave 1/2 in the interval.
    least = math.floor(math.log2(2.0 * count / (share * each.delta))) + 1
    if most >= least:
        return []
    trials = f"{most} {'trial' if most == 1 else 'trials'}"
    even = each.trials_ae.min() == each.trials_ae.max() == most
    few = f"With {trials} per cell" if even else f"Where no two algorithms have more than {trials} on an environment,"
    return [f"{few} no verdict is possible under the game's weights, whatever the scores: it takes at least {least}."]


def statement(evaluation: "Evaluation") -> str:
    """Return a paragraph for a paper: what was compared and how, what is decided, what is not, and what it assumes."""
    n, m = len(evaluation.algorithms), int(np.count_nonzero(evaluation.counted))
    trials = spread(evaluation.trials_ae[:, evaluation.counted])
    version = evaluation.provenance.get("untuned")
    looks = _looks(evaluation)
    level = f"{evaluation.level} (delta = {evaluation.delta:g})"
    promise = (
        f"With probability at least {level}, all of the following verdicts hold together"
        if evaluation.valid
        else f"The following verdicts are approximate, without guarantee: they aim at {level} together"
    )
    found = [
        f"We compared {n} algorithms on {m} {'environment' if m == 1 else 'environments'}, with {trials} "
        f"{'trial' if trials == '1' else 'trials'} of each algorithm on each environment.",
        "Scores are mean performance percentiles (Jordan et al., 2020), computed with "
        f"untuned{f' {version}' if version else ''}.",
        f"{promise}, for independent trials, {looks}.",
        *(_found_by(each) for each in evaluation.each_ranking),
    ]
    found[1:1] = variants(evaluation)
    reduced = evaluation.provenance.get("score of a run")
    if reduced:
        found.insert(1, f"The score of a run is {reduced}.")
    if protocol := evaluation.provenance.get("protocol"):
        found.insert(1, f"One trial is a whole procedure, tuning included ({protocol}).")
    failures = [f"{row['failed']:,} of {row['trials']:,} of {row['algorithm']}" for row in evaluation.failures]
    if failures:
        found.insert(1, f"Trials that failed ({listed(failures)}) count as the worst score of their environment.")
    accepted = [each.code for each in evaluation.findings if each.severity == "serious"]
    if accepted:
        found.append(
            f"This holds only if the scores are independent runs; a check of the scores found otherwise "
            f"({listed(accepted)}), and that was accepted."
        )
    if any(np.count_nonzero(each.pairs.better_ab) < _total(evaluation) for each in evaluation.rankings):
        found.append(f"{_capital(NOT_SEPARABLE)} does not mean equal.")
    return " ".join(found)


def _looks(evaluation: "Evaluation") -> str:
    """Return the condition of the guarantee, in the past tense."""
    if not evaluation.anytime:
        return f"{_fixed(evaluation, 'their number')} chosen beforehand"
    if evaluation.derived.undeclared:
        changed = listed(evaluation.derived.undeclared)
        return (
            f"however often results were looked at, the choice of {changed} having been made before the race, which "
            "declared otherwise"
        )
    most = evaluation.judging.max_algorithms
    if most is None:
        chosen = f"algorithms, environments,{' families,' * bool(variants(evaluation))} weights and delta"
        return f"however often results were looked at; {chosen} were not chosen because of them"
    return f"however often results were looked at, for up to {most} algorithms, a number chosen beforehand"


def condition(evaluation: "Evaluation") -> str:
    """Return what the guarantee depends on, the end of a sentence."""
    accepted = [each.code for each in evaluation.findings if each.severity == "serious"]
    if not accepted:
        return _condition(evaluation)
    return (
        f"{_condition(evaluation)}, and only if the scores are independent runs, which they do not look like "
        f"({' and '.join(accepted)}: the finding was accepted)"
    )


def _condition(evaluation: "Evaluation") -> str:
    if not evaluation.anytime:
        return f"if {_fixed(evaluation, 'the numbers of trials')} were chosen beforehand"
    if evaluation.derived.undeclared:
        changed = listed(evaluation.derived.undeclared)
        return (
            f"however often you look, but only if the choice of {changed} was made before the race, which declared "
            "otherwise"
        )
    most = evaluation.judging.max_algorithms
    if most is None:
        chosen = f"algorithms, environments,{' families,' * bool(variants(evaluation))} weights or delta"
        return f"however often you look, unless {chosen} were chosen because of what was seen"
    return f"however often you look, also if algorithms are added, up to {most} in all, but no environments"


def _fixed(evaluation: "Evaluation", numbers: str) -> str:
    """Return what must be chosen before results are seen."""
    given = any(each.weights == "given" for each in evaluation.rankings)
    return listed([numbers, *["the weights"] * given, *["the families"] * bool(variants(evaluation))])


def _weights_named(each: "Evaluation") -> str:
    """Return given weights in percent, the heaviest first."""
    weights = each.environment_weights
    heaviest = [e for e in np.argsort(-weights, kind="stable") if weights[e] > 0.0]
    return listed([f"{each.environments[e]} {100.0 * weights[e]:.3g} %" for e in heaviest])


def _found_by(each: "Evaluation") -> str:
    """Return the verdicts of one ranking in one or two sentences."""
    better, names, order = each.pairs.better_ab, each.algorithms, each.order
    named = f"{_weights_named(each)}; " if each.weights == "given" else ""
    start = f"{_capital(each.under_weights)} ({named}method {each.method})"
    total, count = _total(each), int(np.count_nonzero(better))
    if not count:
        return f"{start}, {f'the pair is {NOT_SEPARABLE}' if total == 1 else f'{part(count, total)} is decided'}."
    if count == total > 1:
        return f"{start}, all {total:,} pairs are decided; from best to worst: {listed([names[a] for a in order])}."
    said = better_clauses(better, names, order)
    clauses = [clause for clause, _ in said]
    if len(clauses) > _CLAUSES:
        shown = sum(verdicts for _, verdicts in said[:_CLAUSES])
        clauses = [*clauses[:_CLAUSES], f"and there are {count - shown:,} more verdicts"]
    text = f"{start}, {'; '.join(clauses)}."
    if count == total:
        return text
    undecided = ~better & ~better.T & np.triu(np.ones_like(better), 1)
    verb = "is" if total - count == 1 else "are"
    return f"{text} {total - count:,} of {total:,} pairs {verb} {NOT_SEPARABLE}: {_named(each, undecided, ' and ')}."


def _named(each: "Evaluation", which_ab: NDArray[np.bool_], between: str = " over ") -> str:
    """Return pairs (a, b) in the order of a ranking, joined for a sentence."""
    place = {a: number for number, a in enumerate(each.order)}
    pairs: Iterable[list[int]] = np.argwhere(which_ab).tolist()
    if between != " over ":
        pairs = [sorted(pair, key=place.__getitem__) for pair in pairs]
    pairs = sorted(pairs, key=lambda pair: [place[a] for a in pair])
    said = [between.join(each.algorithms[a] for a in pair) for pair in pairs]
    if len(said) > _PAIRS + 1:
        said = [*said[:_PAIRS], f"and {len(said) - _PAIRS:,} more"]
    return ", ".join(said)


def _total(evaluation: "Evaluation") -> int:
    n = len(evaluation.algorithms)
    return n * (n - 1) // 2


def _count(pairs: int) -> str:
    return f"{pairs} {'pair' if pairs == 1 else 'pairs'}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
