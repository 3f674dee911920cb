"""Judging with options as keywords, in one thread and without versions in the provenance."""

from dataclasses import replace
from typing import Any

from untuned.evaluation import Evaluation
from untuned.judge.evaluate import judge
from untuned.judge.judging import Judging
from untuned.judge.threads import Progress
from untuned.scores import ScoreTable


def evaluate(table: ScoreTable, *, workers: int = 1, progress: Progress | None = None, **options: Any) -> Evaluation:
    return judge(table, Judging(**options), workers=workers, progress=progress)


def with_ranking(found: Evaluation, **changes: Any) -> Evaluation:
    """Return an evaluation whose first ranking is changed."""
    return replace(found, rankings=(replace(found.rankings[0], **changes), *found.rankings[1:]))
