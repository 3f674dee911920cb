"""Adding the bootstrap's verdicts on the same scores to an evaluation, without guarantee."""

from dataclasses import replace

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.judge.threads import Progress

_BOOTSTRAP = "bootstrap"


def approximated(found: Evaluation, *, workers: int | None = None, progress: Progress | None = None) -> Evaluation:
    """Return the evaluation with `Evaluation.approximate`: the same scores, weights and delta by the bootstrap.

    Where the bootstrap refuses the scores, a warning says so. A bootstrap evaluation is returned unchanged.
    """
    if found.judging.method.name == _BOOTSTRAP:
        return found
    given = found.judging.weights if found.judging.weighting == "given" else found.judging.weighting
    judging = replace(found.judging, intervals=_BOOTSTRAP, weights=given)
    try:
        other = judging.judge(found.scores, workers=workers, progress=progress)
    except InvalidInput:
        # The scores have been judged once, so the bootstrap can only refuse them for an empty cell.
        reason = "There is no approximate answer: the bootstrap cannot draw from cells without trials."
        return replace(found, warnings=(*found.warnings, reason))
    return replace(found, approximate=other)
