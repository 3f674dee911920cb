"""An evaluation with what the bootstrap says of the same scores, for readers who cannot wait for a guarantee."""

from dataclasses import replace

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.judge.threads import Progress

_BOOTSTRAP = "bootstrap"


def approximated(found: Evaluation, *, workers: int | None = None, progress: Progress | None = None) -> Evaluation:
    """Return the evaluation with `Evaluation.approximate`: the same scores, weights and delta by the bootstrap.

    Where the bootstrap refuses the scores, a warning says so. What was judged by it already is returned as it is.
    """
    if found.judging.method.name == _BOOTSTRAP:
        return found
    given = found.judging.weights if found.judging.weighting == "given" else found.judging.weighting
    judging = replace(found.judging, intervals=_BOOTSTRAP, weights=given)
    try:
        other = judging.judge(found.scores, workers=workers, progress=progress)
    except InvalidInput:
        # The scores have been judged once: the one thing that the bootstrap refuses in them is an empty cell.
        reason = "There is no approximate answer: the bootstrap cannot draw from cells without trials."
        return replace(found, warnings=(*found.warnings, reason))
    return replace(found, approximate=other)
