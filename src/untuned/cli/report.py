"""``untuned report``: an evaluation as a page to read, or as a folder with all tables and figures."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.costs import announce
from untuned.cli.judging_options import Approximate, Sources, Workers, names, read, takes_records
from untuned.cli.terminal import showing_progress
from untuned.judge.judging import Judging

if TYPE_CHECKING:
    from untuned.reports.report import Report


@takes_records
def report(
    context: typer.Context,
    sources: Sources,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html|FOLDER",
            help="Where it goes: one page, or a folder with the page, tables, figures and numbers.",
        ),
    ] = "report.html",
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.", show_default=False)] = None,
    compare_with: Annotated[
        str | None,
        typer.Option(
            "--compare-with",
            metavar="METHOD,...",
            help="Also show the intervals of these methods: pbp,bootstrap.",
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
        bool, typer.Option("--plan", help="Also show how many trials would decide the open pairs; takes as long again.")
    ] = False,
    approximate: Approximate = False,
    formats: Annotated[
        str, typer.Option("--figures", metavar="pdf,svg,png", help="File formats of the figures in a folder.")
    ] = "pdf",
    *,
    judging: Judging,
    reading: Reading,
    workers: Workers = None,
) -> None:
    """Write an evaluation as one page that needs no network, or as a folder with all tables and figures."""
    from untuned import api
    from untuned.processors import processors

    others = names(compare_with) if compare_with else ()
    kinds = names(formats) if formats else ()
    # Before the judging, which may take minutes.
    api.check_report(out, judging, compare_with=others, study=study, planned=planned, formats=kinds)
    found = read(sources, reading)
    announce(judging, found.table, workers)
    with showing_progress() as progress:
        made = api.report(
            found,
            judging=judging,
            planned=planned,
            approximate=approximate,
            title=title,
            compare_with=others,
            study=study,
            command=shlex.join(["untuned", *context.obj]),
            workers=workers,
            progress=progress,
            accept=reading.accept,
        )
    written = made.save(out, formats=kinds, workers=processors() if workers is None else workers)
    _tell(made, written)


def _tell(made: "Report", written: list[Path]) -> None:
    """Print the answer, and where the report is."""
    from untuned.cli.terminal import console, text
    from untuned.reports.sentences import answer
    from untuned.statements import failed

    screen = console(100)
    for line in failed(made.evaluation):
        screen.print(text(screen, line, style="bold yellow"))
    screen.print(text(screen, answer(made.evaluation)))
    size = sum(path.stat().st_size for path in written) / 1e6
    what = f"{len(written)} files" if len(written) > 1 else "one page"
    # On one line, so that it can be clicked or copied.
    typer.echo(f"{written[0]} ({what}, {size:.1f} MB)")
