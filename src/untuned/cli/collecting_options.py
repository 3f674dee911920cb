"""The options of commands that run trials."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from untuned.cli.judging_options import typer_option
from untuned.options import option

StudyFile = Annotated[Path, typer.Argument(help="The study's TOML file; untuned new writes one.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Where results go; by default next to the file.")
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", help="Trials per cell, instead of the file's; an environment's own number stays."),
]
ShardText = Annotated[
    str | None,
    typer.Option("--shard", metavar="PART/PARTS", help="Only this part of the trials; untuned merge joins parts."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors and the result.")]


@dataclass(frozen=True, kw_only=True)
class Collecting:
    """Options of commands that run trials: arguments of `Session.open` and `Session.collect`."""

    workers: int | None = field(
        default=None, metadata=option("Trials at the same time; by default one per processor.", int | None)
    )
    engine: str = field(
        default="local",
        metadata=option(
            "This machine, a Ray cluster, or this process for a debugger.", str, metavar="local|ray|in-process"
        ),
    )
    ray_address: str | None = field(
        default=None,
        metadata=option("A running cluster; without it Ray starts one on this machine.", str | None),
    )
    replace: bool = field(
        default=False,
        metadata=option("Set aside the trials of what has changed; they stay in the store, out of comparisons.", bool),
    )
    keep_going: bool = field(
        default=False,
        metadata=option(
            "Run all trials of an algorithm whose first five all failed; by default that is an error.", bool
        ),
    )


Workers = Annotated[int | None, typer_option(Collecting, "workers")]
