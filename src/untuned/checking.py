"""Whether scores may be judged: the findings of the checks, and which of them stop an evaluation."""

import dataclasses
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from untuned.adapters.score_files.identity import NotTrials
from untuned.adapters.score_files.importing import CODES, Imported, size
from untuned.adapters.sources import as_paths, read
from untuned.diagnostics.diagnose import CHECKS, diagnose
from untuned.diagnostics.diagnosis import Diagnosis
from untuned.diagnostics.finding import SEVERITIES, Finding, counted
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.scores import NotFinite

#: Findings that an evaluation reports elsewhere.
_TOLD = ("failed-trials", "missing-cells", "few-runs")


def check(source: Any, *, tell: Callable[[int, int], None] | None = None, **options: Any) -> Diagnosis:
    """Check scores before they are judged, and return everything suspicious that they show.

    For a study, every stored trial is verified first.

    Parameters
    ----------
    source
        What `untuned.read_scores` takes: paths of files, folders or a study, a data frame, a dictionary, an array, a
        `ScoreTable`.
    tell
        Called repeatedly with the number of a study's trials verified so far, and the total.
    **options
        For `untuned.read_scores`.

    Returns
    -------
    Diagnosis
        Findings, most serious first; prints as text.

    Examples
    --------
    >>> import numpy as np, untuned
    >>> scores = np.random.default_rng(0).normal(size=(3, 4, 10))
    >>> untuned.check(scores, axes="algorithm,environment,run").serious
    ()
    >>> pasted = np.concatenate([scores, scores], axis=2)
    >>> untuned.check(pasted, axes="algorithm,environment,run").serious[0].code
    'repeated-runs'
    """
    for path in as_paths(source):
        if damage := _damage(path, tell):
            return Diagnosis((_damaged(path, damage),), "results that are damaged")
    try:
        found = source if isinstance(source, Imported) else read(source, **options)
    except NotTrials as error:
        return Diagnosis((error.finding,), error.where)
    except NotFinite as error:
        return Diagnosis((_not_finite(error),), "scores that are not all finite")
    return Diagnosis(_findings(found), found.summary or size(found.table))


def _damage(path: Path, tell: Callable[[int, int], None] | None) -> tuple[str, ...]:
    """Return what is damaged in the results of a study; empty for other files."""
    # Imported here: a table needs none of the code that runs trials.
    from untuned.collect.session import Session
    from untuned.collect.study_folders import is_study

    if not is_study(path):
        return ()
    with Session.at(path) as session:
        return session.store.damage(tell)


def _damaged(path: Path, damage: tuple[str, ...]) -> Finding:
    return Finding(
        "damaged-results",
        "serious",
        f"The results are damaged in {counted(len(damage), 'place')}.",
        "What is read there is not what was stored, so nothing is judged before it is repaired.",
        f"Bring back a copy; or `untuned repair {shlex.quote(str(path))}` sets the damaged trials "
        "aside, and running the study again collects them again. Nothing else was checked.",
        damage,
    )


def _findings(source: Imported) -> tuple[Finding, ...]:
    """Return what the reader noticed and what the checks find in the table, most serious first."""
    return tuple(sorted((*source.findings, *diagnose(source.table)), key=lambda each: SEVERITIES.index(each.severity)))


def sound(source: Imported, accepted: Sequence[str]) -> tuple[Finding, ...]:
    """Return the findings that a reader of the verdict must know; raise where no guarantee would hold.

    The trials of a study are independent by design, so nothing in their scores is a reason to refuse them.
    """
    found = _findings(source)
    known = {*CHECKS, *CODES, *(each.code for each in found)}
    for code in accepted:
        if code not in known:
            raise UnknownName("finding", code, known)
    for each in found:
        if each.severity == "serious" and each.code not in accepted and source.study is None:
            raise InvalidInput(
                f"{each.found} {each.why} {each.remedy} If you have checked that the scores are right, accept "
                f"the finding: accept=[{each.code!r}]"
            )
    return tuple(each for each in found if each.severity != "note")


def told(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return findings as sentences, without those that the results already state."""
    return tuple(f"{each.found} {each.why}" for each in findings if each.code not in _TOLD)


def with_findings(found: Evaluation, source: Imported, findings: Sequence[Finding]) -> Evaluation:
    """Return an evaluation that records what was recognised and found in its scores."""
    origin = {**found.provenance, **({"recognised as": source.summary} if source.summary else {})}
    return dataclasses.replace(
        found,
        findings=tuple(findings),
        warnings=(*found.warnings, *told(findings)),
        provenance=MappingProxyType(origin),
    )


def _not_finite(error: NotFinite) -> Finding:
    return Finding(
        "not-finite",
        "serious",
        f"{error.count:,} {'score is' if error.count == 1 else 'scores are'} NaN or infinite.",
        "A failed trial counts: dropping it makes its algorithm look better than it is.",
        "Give it the score it deserves, or declare the worst score: `--range NAME=LOW:HIGH --nonfinite worst`. "
        "Nothing else was checked.",
        error.cells,
    )
