"""``untuned import``: what other programs wrote, as one table in the long format."""

from pathlib import Path
from typing import Annotated

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.judging_options import Sources, takes_records


@takes_records
def import_(
    sources: Sources,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The table: .csv, .tsv, .jsonl or .parquet.", show_default=False
        ),
    ],
    reading: Reading,
) -> None:
    """Write scores and logs of other programs as one table: a row per run, or per point of curves without --reduce."""
    from untuned.adapters.score_files.writing import write_scores

    summary = write_scores(sources, out, **reading.options())
    typer.echo(f"wrote {out}: {summary}", err=True)
