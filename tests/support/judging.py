"""Judging with options as keywords, in one thread and without versions in the provenance."""

from typing import Any

from untuned.evaluation import Evaluation
from untuned.judge.evaluate import Progress, judge
from untuned.judge.judging import Judging
from untuned.scores import ScoreTable


def evaluate(table: ScoreTable, *, workers: int = 1, progress: Progress | None = None, **options: Any) -> Evaluation:
    return judge(table, Judging(**options), workers=workers, progress=progress)
