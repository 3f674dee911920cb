"""``untuned status``, ``show``, ``export``, ``merge``, ``drop`` and ``repair``: what a study has collected."""

import dataclasses
import json
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from untuned.cli.judging_options import AsJson
from untuned.diagnostics.finding import first_of
from untuned.errors import InvalidInput

StudyPath = Annotated[Path, typer.Argument(help="A study's folder, or its TOML file.", show_default=False)]


def status(study: StudyPath, as_json: AsJson = False) -> None:
    """Print the progress of a study; works while it runs."""
    from untuned.cli.terminal import console, text
    from untuned.collect.session import Session
    from untuned.collect.store.connection import explained
    from untuned.collect.store.database import RESULTS_NAME

    with Session.at(study) as session:
        name = session.store.facts.get("name")
        rows = [dataclasses.asdict(cell) for cell in session.status()]
        others = sum(session.store.counts().values()) - sum(row["trials"] for row in rows)
        with explained(session.folder / RESULTS_NAME):
            race = _race(session.race_log())
    stored = sum(row["trials"] for row in rows)
    if as_json:
        raced = {"race": race} if race else {}
        typer.echo(json.dumps({"name": name, "cells": rows, "taken_out": others, **raced}, indent=2))
        return
    from rich.table import Table

    screen = console(100)
    total = sum(max(row["wanted"], row["trials"]) for row in rows)
    # A race has its own numbers of trials.
    size = f"{stored:,} trials" if race else f"{stored:,} of {total:,} trials, {_percent(stored, total)}"
    screen.print(text(screen, f"{name}: {size}"))
    table = Table(box=None, pad_edge=False)
    for heading in ("environment", "algorithm"):
        table.add_column(heading, overflow="fold")
    for heading in ("trials", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        done = f"{row['trials']:,}" if race else f"{row['trials']:,} of {row['wanted']:,}"
        table.add_row(text(screen, row["environment"]), text(screen, row["algorithm"]), done, f"{row['failed'] or ''}")
    screen.print(table)
    if others:
        screen.print(text(screen, f"{others:,} more trials are kept, out of the comparison (dropped or replaced)."))
    for sentence in race:
        screen.print(text(screen, sentence))


def show(
    study: StudyPath,
    algorithm: Annotated[str, typer.Argument(help="The algorithm's name.", show_default=False)],
    environment: Annotated[str, typer.Argument(help="The environment's name.", show_default=False)],
    trial: Annotated[int, typer.Argument(help="The trial's number, from 0.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show one trial: its hyperparameters and its result."""
    from untuned.cli.terminal import printable
    from untuned.collect.session import Session

    with Session.at(study) as session:
        facts = session.store.trial(algorithm, environment, trial).as_dict()
    if as_json:
        from untuned.collect.trial import plain

        typer.echo(json.dumps(plain(facts), indent=2))
        return
    margin = max(map(len, facts))
    for name, value in facts.items():
        if name == "draws":
            value = ", ".join(f"{each['name']} = {each['value']}" for each in value) or "nothing"
        elif isinstance(value, dict):
            value = ", ".join(f"{key} = {inner}" for key, inner in value.items()) or "nothing"
        elif isinstance(value, list):
            value = f"{len(value)} kept, the last {value[-1]:g}" if value else "none"
        elif value is None:
            value = "none" if name == "failure" else "not kept"
        # A drawn category may be any text.
        typer.echo(printable(f"{name:<{margin}}  {value}"))


def export(
    study: StudyPath,
    form: Annotated[str, typer.Option("--format", metavar="csv|parquet|json", help="File format.")] = "csv",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The file; by default printed.")] = None,
    returns: Annotated[bool, typer.Option("--returns", help="Also the return of every episode, where kept.")] = False,
    seconds: Annotated[
        bool, typer.Option("--seconds", help="Also how long each took: the one column that differs from run to run.")
    ] = False,
) -> None:
    """Write all trials as one table: the same study gives the same bytes, however it was collected."""
    from untuned.adapters.exports import FORMS, export
    from untuned.cli.terminal import counting
    from untuned.collect.session import Session

    if form not in FORMS:
        raise InvalidInput(f"--format {form}: choose {', '.join(FORMS)}")
    if form == "parquet" and out is None:
        raise InvalidInput("--format parquet cannot be printed: say where to, --out trials.parquet")
    with Session.at(study) as session:
        file = sys.stdout.buffer if out is None else out
        # A bar would be among the rows on the screen.
        with counting("trials exported") if out is not None or not sys.stdout.isatty() else nullcontext() as tell:
            export(session, file, form=form, returns=returns, seconds=seconds, tell=tell)
        raced = bool(session.race_log())
    if out is None:
        sys.stdout.flush()
    else:
        typer.echo(f"wrote {out}", err=True)
    if raced:
        typer.echo(
            "The study was raced, so its scores decided the numbers of trials, and the file does not say so: evaluate "
            "the study itself, or pass --intervals anytime with the file.",
            err=True,
        )


def merge(
    into: Annotated[Path, typer.Argument(help="The folder to put everything into.", show_default=False)],
    shards: Annotated[list[Path], typer.Argument(help="Folders of the parts.", show_default=False)],
) -> None:
    """Merge the parts of a study: the result has the same trials as one run."""
    from untuned.cli.terminal import counting
    from untuned.collect.session import merge

    with counting("trials merged") as advance:
        found = merge(
            into, shards, tell=lambda shard, new: typer.echo(f"{shard}: {new:,} trials added"), advance=advance
        )
    with found as session:
        rows = session.status()
    stored = sum(row.trials for row in rows)
    missing = sum(max(row.wanted - row.trials, 0) for row in rows)
    if missing:
        typer.echo(f"{stored:,} trials are in {into}, {missing:,} are missing: merge the other parts, too.")
    else:
        typer.echo(f"{stored:,} trials are in {into}. Next: untuned evaluate {shlex.quote(str(into))}")


def drop(
    study: StudyPath,
    algorithm: Annotated[str, typer.Argument(help="The algorithm's name.", show_default=False)],
) -> None:
    """Exclude an algorithm from every comparison; its trials stay in the store."""
    from untuned.collect.session import Session

    with Session.at(study, write=True) as session:
        kept = session.drop(algorithm)
    typer.echo(
        f"{algorithm} is out of every comparison; its {kept:,} trials stay in the store. Remove it from the study's "
        "file, too: a run of a study that names it brings it back."
    )


def repair(study: StudyPath) -> None:
    """Set damaged trials aside; running the study again collects them again."""
    from untuned.cli.terminal import counting, printable
    from untuned.collect.session import repair

    with counting("trials verified") as tell:
        found = repair(study, tell=tell)
    if found.original is None:
        typer.echo(f"nothing is damaged: all {found.kept:,} trials are intact")
        return
    for place in first_of(found.damage, 20):
        typer.echo(printable(place))
    typer.echo(
        f"{found.kept:,} trials are intact and were kept, {found.lost:,} were not. The file as it was: "
        f"{found.original}. Next: run the command that collected the study again; it runs the missing trials."
    )


def _race(log: list[dict[str, Any]]) -> list[str]:
    """Return sentences about the race of a study; none for a study that was not raced."""
    if not log:
        return []
    from untuned.races.course import Course

    course = Course.of(log)
    return ["Raced: the first round is not complete."] if course is None else course.sentences()


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)} %"
