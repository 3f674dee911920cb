"""``untuned report``: an evaluation as a page to read, or as a folder with all tables and figures."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from untuned.cli.judging_options import (
    Columns,
    Conventions,
    Delta,
    Identical,
    Method,
    Nonfinite,
    Ranges,
    Refine,
    Resamples,
    Seed,
    Source,
    WeightsText,
    Workers,
    judged,
    planning,
)
from untuned.errors import InvalidInput

if TYPE_CHECKING:
    from untuned.reports.report import Report


def report(
    context: typer.Context,
    source: Source,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html|FOLDER",
            help="Where it goes: one page, or a folder with the page, tables, figures and numbers.",
        ),
    ] = "report.html",
    title: Annotated[str | None, typer.Option("--title", help="Of the page.", show_default=False)] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            "--beside",
            metavar="METHOD,...",
            help="Also the intervals of these methods, for a comparison: pbp,bootstrap.",
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--study",
            metavar="FOLDER",
            help="The study that a file of scores comes from, for learning curves and hyperparameters.",
        ),
    ] = None,
    planned: Annotated[
        bool, typer.Option("--plan", help="Also how many trials would settle what is open; takes as long again.")
    ] = False,
    formats: Annotated[
        str, typer.Option("--figures", metavar="pdf,svg,png", help="What the figures of a folder are written as.")
    ] = "pdf",
    intervals: Method = None,
    delta: Delta = 0.05,
    weights: WeightsText = "game",
    conventions: Conventions = "valid",
    ranges: Ranges = None,
    identical: Identical = None,
    nonfinite: Nonfinite = None,
    columns: Columns = None,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    refine: Refine = None,
    workers: Workers = None,
) -> None:
    """Write what was found as one page that needs no network, or with all tables and figures as a folder."""
    from untuned import api
    from untuned.collect.engines.processors import processors

    others = names("--beside", beside)
    kinds = names("--figures", formats)
    # Before anything takes long.
    api.check_report(out, beside=others, study=study, formats=kinds, conventions=conventions)
    judge = partial(
        judged,
        source,
        delta=delta,
        weights=weights,
        conventions=conventions,
        ranges=ranges,
        identical=identical,
        nonfinite=nonfinite,
        columns=columns,
        resamples=resamples,
        seed=seed,
        refine=refine,
        workers=workers,
    )
    found = judge(intervals=intervals, planned=planned)
    plan = planning(found, workers) if planned else None
    made = api.report(
        found,
        planned=plan or False,
        title=title,
        # By the same options: the bootstrap's resamples, for one, are no part of what another method found.
        beside=[judge(intervals=name) for name in others],
        study=study if study is not None else api.study_folder(source),
        command=shlex.join(["untuned", *context.obj]),
    )
    written = made.save(out, formats=kinds, workers=processors() if workers is None else workers)
    _tell(made, written)


def names(option: str, given: str | None) -> tuple[str, ...]:
    """Return names that were written with commas between them."""
    names = tuple(name.strip() for name in given.split(",")) if given else ()
    if not all(names):
        raise InvalidInput(f"{option} {given}: write names with commas between them and nothing else")
    return tuple(dict.fromkeys(names))


def _tell(made: "Report", written: list[Path]) -> None:
    """Print the answer, and where the rest of it is."""
    from untuned.cli.terminal import console, text
    from untuned.reports.sentences import answer

    screen = console(100)
    screen.print(text(screen, answer(made.evaluation)))
    size = sum(path.stat().st_size for path in written) / 1e6
    what = f"{len(written)} files" if len(written) > 1 else "one page"
    # Unbroken, so that it can be clicked or copied.
    typer.echo(f"{written[0]} ({what}, {size:.1f} MB)")
