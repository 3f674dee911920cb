"""`Reproduction`: the results of the paper's experiment, to read, save and check."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from untuned.collect.environments.names import NAMES
from untuned.evaluation import Evaluation
from untuned.lab.table_two import Replication
from untuned.reports.bands import bands
from untuned.reports.tables.table import Table
from untuned.reproduction import tables
from untuned.reproduction.agreement import (
    Agreement,
    MeanComparison,
    RateComparison,
    ScoreComparison,
    mean_comparisons,
    rate_comparisons,
    score_comparisons,
    within_sentence,
)
from untuned.reproduction.conclusions import HOLDS, NOT, OPEN, Conclusion, Status
from untuned.reproduction.experiment import ALGORITHMS
from untuned.reproduction.published import NOTES, SOURCE
from untuned.scores import spread


def _counted(said: Sequence[Status]) -> str:
    held, not_held, undecided = map(said.count, (HOLDS, NOT, OPEN))
    return (
        f"{held} {'holds' if held == 1 else 'hold'}, {not_held} {'does' if not_held == 1 else 'do'} not, "
        f"{undecided} {'is' if undecided == 1 else 'are'} not decided yet"
    )


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The paper's experiment from these trials, compared with the published results.

    Attributes
    ----------
    evaluation
        The evaluation by our method, which guarantees its level.
    others
        The same scores by the paper's methods: PBP, PBP-t and the bootstrap.
    replication
        The paper's test of interval methods; None unless all its algorithms and environments are included.
    conclusions
        The paper's conclusions, and whether they hold here.
    command
        The command that reproduces it.
    version
        Version of this program.
    """

    evaluation: Evaluation
    others: tuple[Evaluation, ...]
    replication: Replication | None
    conclusions: tuple[Conclusion, ...]
    command: str
    version: str

    @property
    def comparable(self) -> bool:
        """Whether all algorithms and environments of the paper are included: scores depend on all of them."""
        return set(self.evaluation.environments) == set(NAMES) and set(self.evaluation.algorithms) == set(ALGORITHMS)

    @cached_property
    def means(self) -> tuple[MeanComparison, ...]:
        """Every cell's mean score compared with the published one."""
        return mean_comparisons(self.evaluation.scores, self.evaluation.delta)

    @cached_property
    def scores(self) -> tuple[ScoreComparison, ...]:
        """Every algorithm's aggregate score compared with the published one; none where they are not comparable."""
        return score_comparisons(self.others[-1]) if self.comparable else ()

    @cached_property
    def rates(self) -> tuple[RateComparison, ...]:
        """The figures of Table 2 compared with the published ones."""
        return () if self.replication is None else rate_comparisons(self.replication)

    @cached_property
    def agreement(self) -> Mapping[str, Agreement | None]:
        """How well the means, the scores and Table 2 agree with the published ones."""
        return {
            "mean scores": Agreement.of([each.z for each in self.means]),
            "aggregate scores": Agreement.of([each.z for each in self.scores]),
            "figures of Table 2": Agreement.of([each.z for each in self.rates]),
        }

    def sentences(self) -> list[str]:
        """Return the results as sentences."""
        said, best = [each.status for each in self.conclusions], [each.best for each in self.conclusions]
        found = [
            f"{len(said)} conclusions of the paper, {self.about}aggregate scores under the game's weights: "
            f"{_counted(said)}, with {spread(self.evaluation.trials_ae)} trials per cell.",
            f"With equal weights where the game's do not decide: {_counted(best)}.",
        ]
        found += within_sentence(self.means)
        # Not of means, whose long tails give large z-scores by chance; nor of Table 2, which is of other algorithms.
        if (scores := self.agreement["aggregate scores"]) is not None:
            found.append(scores.sentence("aggregate scores"))
        if self.rates:
            found.append(
                "Table 2 need not agree: the paper made it with a Parl2 that began with a smaller step size. It is "
                "compared figure by figure in the tables."
            )
        if not self.comparable:
            found.append(
                f"The paper's aggregate scores are on all {len(NAMES)} environments: with these "
                f"{len(self.evaluation.environments)} they cannot be compared."
            )
        return found

    @property
    def about(self) -> str:
        """The environments of the statements, where they are not all of the paper's."""
        m = len(self.evaluation.environments)
        return "" if m == len(NAMES) else f"on only {m} of its {len(NAMES)} environments, "

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield every table: the name of its file, and the table."""
        yield "conclusions", tables.conclusions_table(self.conclusions, len(self.evaluation.environments))
        everything = (*reversed(self.evaluation.each_ranking), *self.others)
        yield "table-1", tables.table_one(everything, self.scores, self.comparable)
        if self.replication is not None:
            yield "table-2", tables.table_two(self.replication, self.rates)
        yield "agreement", tables.z_table(self.means)
        for name in self.evaluation.environments:
            yield f"environment-{name}", tables.environment_table(self.evaluation, name, self.means)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the evaluations' details as plain JSON types."""
        return {
            "source": SOURCE,
            "notes": list(NOTES),
            "version": self.version,
            "command": self.command,
            "summary": self.sentences(),
            "agreement": {what: None if known is None else known.facts() for what, known in self.agreement.items()},
            "conclusions": [each.facts() for each in self.conclusions],
            "scores": [
                {
                    "algorithm": each.algorithm,
                    "score": each.score,
                    "published": None if each.published is None else each.published.value,
                    "z": each.z,
                }
                for each in self.scores
            ],
            "cells": [
                {
                    "environment": each.environment,
                    "algorithm": each.algorithm,
                    "trials": each.trials,
                    "mean": each.mean,
                    "spread": each.spread,
                    "published": None if each.published is None else each.published.value,
                    "z": each.z,
                    "within": each.within,
                }
                for each in self.means
            ],
            "rates": [dict(vars(each)) for each in self.rates],
            "methods": {
                each.method: {"algorithms": each.rows(), "pairs": each.pair_rows()}
                for each in (*self.others, *self.evaluation.each_ranking)
            },
            "table_2": None if self.replication is None else self.replication.to_dict(),
            "settings": dict(self.evaluation.settings),
            "provenance": dict(self.evaluation.provenance),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the page, the numbers, all tables and all figures into a folder; return what was written, page first.

        Parameters
        ----------
        folder
            Made if need be. Files of the same names are replaced.
        """
        from untuned.reports.figures.files import save as save_figure
        from untuned.reports.report import written
        from untuned.reproduction.figures import figures
        from untuned.reproduction.page import page

        place = Path(folder).expanduser()
        pictures: dict[str, tuple[str, bytes]] = {}
        files: list[Path] = []
        for name, title, draw in figures(
            self.evaluation, self.others, bands(self.evaluation), self.means, self.replication, self.comparable
        ):
            drawn = draw()
            files += [save_figure(drawn, place / "figures" / f"{name}.{form}") for form in ("pdf", "png")]
            pictures[name] = (title, files[-1].read_bytes())
        for name, table in self.tables():
            for form in ("md", "csv", "tex"):
                files.append(written(place / "tables" / f"{name}.{form}", table.written(form)))
        return [
            written(place / "reproduction.html", page(self, pictures)),
            written(place / "reproduction.json", self.to_json() + "\n"),
            *files,
        ]

    def __repr__(self) -> str:
        return "\n".join(self.sentences())
