"""Every way of evaluating on the same scores: what each concludes, where they disagree, and why."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from untuned.diagnostics.finding import Finding
from untuned.errors import InvalidInput
from untuned.judge.comparing.demonstrations import demonstrations
from untuned.judge.comparing.records import Disagreement, MethodComparison, Way
from untuned.judge.comparing.ways import NO_FAMILIES, Asked, ways
from untuned.judge.judging import Judging
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.summaries.normalisations import MinMax
from untuned.scores import Floats, ScoreTable

#: Called with the name of the step, how much of it is done, and the total.
Progress = Callable[[str, int, int], None]
_STEPS = 9


def compared(
    table: ScoreTable,
    judging: Judging,
    *,
    findings: Sequence[Finding] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> MethodComparison:
    """Return what each way of evaluating concludes from a table.

    Parameters
    ----------
    table
        The scores of two algorithms or more.
    judging
        Delta, resamples, the seed, and what untuned's own rankings take.
    findings
        What was found in the scores, and accepted.
    workers
        How many threads; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
    """
    if len(table.algorithms) < 2:
        raise InvalidInput("ways of evaluating compare algorithms: give scores of two or more")
    done = 0

    def step(name: str) -> None:
        nonlocal done
        if progress is not None:
            progress("ways of evaluating", done, _STEPS)
        done += 1

    asked = Asked(table, judging, workers, tuple(findings))
    found, skipped = ways(asked, step)
    step("demonstrations")
    shown = tuple(
        replace(each, sentences=(*each.sentences, NO_FAMILIES.strip()))
        # Ratios are those of the ways, which use families; that of copies says so itself.
        if asked.families is not None and each.rows and each.name == "terrible"
        else each
        for each in demonstrations(table, found)
    )
    if progress is not None:
        progress("ways of evaluating", _STEPS, _STEPS)
    return MethodComparison(
        table,
        judging.delta,
        judging.resamples,
        judging.seed,
        found,
        skipped,
        disagreements(asked, found),
        shown,
        tuple(dict.fromkeys(note for each in found for note in each.notes)),
    )


def disagreements(asked: Asked, found: tuple[Way, ...]) -> tuple[Disagreement, ...]:
    """Return the pairs about which ways contradict each other, with facts that explain it."""
    table, facts = asked.table, _Facts(asked, found)
    listed = []
    for a in range(len(table.algorithms)):
        for b in range(a + 1, len(table.algorithms)):
            for_a = [each.name for each in found if each.better_ab[a, b]]
            for_b = [each.name for each in found if each.better_ab[b, a]]
            if not for_a or not for_b:
                continue
            neither = [each.name for each in found if not each.better_ab[a, b] and not each.better_ab[b, a]]
            if len(for_b) > len(for_a):
                pair, sides = (b, a), (for_b, for_a)
            else:
                pair, sides = (a, b), (for_a, for_b)
            one, other = (table.algorithms[each] for each in pair)
            listed.append(
                Disagreement(one, other, tuple(sides[0]), tuple(sides[1]), tuple(neither), facts.about(*pair))
            )
    return tuple(sorted(listed, key=lambda each: -min(len(each.for_a), len(each.for_b))))


class _Facts:
    """What explains why ways disagree about a pair."""

    def __init__(self, asked: Asked, found: tuple[Way, ...]) -> None:
        table = asked.table
        self.table, self.found = table, found
        self.weight_e, self.what_counts = asked.weights(asked.table.environments), asked.what_counts
        self.z_aer = percentiles(pools(table)).z_aer
        self.normalised_ae: Floats | None = None
        if not table.missing:
            maps = MinMax("scores").on(table).fit(table.cells)
            self.normalised_ae = np.array(
                [[float(fit(np.sort(cell)).mean()) for fit, cell in zip(maps, row, strict=True)] for row in table.cells]
            )

    def about(self, a: int, b: int) -> tuple[str, ...]:
        """Return sentences on a pair."""
        one, other = self.table.algorithms[a], self.table.algorithms[b]
        win_e = self.z_aer[a, :, b]
        m = len(win_e)
        ahead, behind = int((win_e > 0.5).sum()), int((win_e < 0.5).sum())
        sentences = [
            f"Runs of {one} score more than runs of {other} more often than not on {ahead} of {m} environments, less "
            f"often on {behind}; the mean probability over {self.what_counts} is {win_e @ self.weight_e:.2f}. "
            "Percentiles, ranks, tests and the probability of improvement count this."
        ]
        if self.normalised_ae is not None:
            difference_e = self.normalised_ae[a] - self.normalised_ae[b]
            mean = float(difference_e @ self.weight_e)
            leader = one if mean > 0 else other
            towards_e = self.weight_e * (difference_e if mean > 0 else -difference_e)
            e = int(np.argmax(towards_e))
            sentences.append(
                f"By how much: min-max-normalised means differ by {abs(mean):.3f} on average for {leader}, by "
                f"{abs(difference_e[e]):.3f} on {self.table.environments[e]} alone. Means of normalised scores and "
                "ratios count this."
            )
        ratios = [each for each in self.found if each.name.startswith("ratios to ") and "arithmetic" in each.name]
        sides = [sum(bool(each.better_ab[pair]) for each in ratios) for pair in ((a, b), (b, a))]
        if min(sides) > 0:
            sentences.append(
                f"Of {len(ratios)} denominators, {sides[0]} put {one} ahead and {sides[1]} put {other} ahead: with the "
                "arithmetic mean, the denominator weighs the environments."
            )
        return (*sentences, *self._weights(a, b))

    def _weights(self, a: int, b: int) -> tuple[str, ...]:
        """Return how the game and equal weights differ, if they rank the pair differently."""
        by_name = {each.name: each for each in self.found}
        game, equal = by_name.get("the game's weights"), by_name.get("equal weights")
        if game is None or equal is None:
            return ()
        gaps = [each.value_a[a] - each.value_a[b] for each in (game, equal)]
        if gaps[0] * gaps[1] >= 0:
            return ()
        leader = self.table.algorithms[a if gaps[0] > 0 else b]
        return (
            f"The game puts {leader} ahead and equal weights do not: the game can give more weight to environments "
            "and references that are hard for algorithms that are strong otherwise.",
        )
