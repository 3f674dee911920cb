"""``untuned status``, ``show``, ``export`` and ``merge``: what a study has collected."""

import contextlib
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from untuned.errors import InvalidInput

if TYPE_CHECKING:
    from untuned.collect.store.store import Store

Folder = Annotated[Path, typer.Argument(help="A study's folder, or its TOML file.", show_default=False)]


def status(folder: Folder, as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Say how far a study is; also while it runs."""
    from untuned.cli.terminal import console, text

    with _store(folder) as store:
        facts, counts, failures = store.facts, store.counts(), store.failures()
        algorithms, environments = store.compared
    wanted = {each["name"]: each.get("trials", 0) for each in facts["environments"]}
    rows = [
        {
            "environment": environment,
            "algorithm": algorithm,
            "trials": counts[algorithm, environment],
            "wanted": wanted[environment],
            "failed": failures.get((algorithm, environment), 0),
        }
        for environment in environments
        for algorithm in algorithms
    ]
    stored = sum(row["trials"] for row in rows)
    others = sum(counts.values()) - stored
    if as_json:
        typer.echo(json.dumps({"name": facts.get("name"), "cells": rows, "taken_out": others}, indent=2))
        return
    from rich.table import Table

    screen = console(100)
    total = sum(max(row["wanted"], row["trials"]) for row in rows)
    screen.print(text(screen, f"{facts.get('name')}: {stored:,} of {total:,} trials, {_percent(stored, total)}"))
    table = Table(box=None, pad_edge=False)
    for heading in ("environment", "algorithm"):
        table.add_column(heading, overflow="fold")
    for heading in ("trials", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        done = f"{row['trials']:,} of {row['wanted']:,}"
        table.add_row(text(screen, row["environment"]), text(screen, row["algorithm"]), done, f"{row['failed'] or ''}")
    screen.print(table)
    if others:
        screen.print(text(screen, f"{others:,} more trials are of what was taken out of the study; they are kept."))


def show(
    folder: Folder,
    algorithm: Annotated[str, typer.Argument(help="The algorithm's name.", show_default=False)],
    environment: Annotated[str, typer.Argument(help="The environment's name.", show_default=False)],
    trial: Annotated[int, typer.Argument(help="The trial's number, from 0.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show one trial: what was drawn and what came out."""
    with _store(folder) as store:
        facts = store.trial(algorithm, environment, trial).as_dict()
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
        typer.echo(f"{name:<{margin}}  {value}")


def export(
    folder: Folder,
    form: Annotated[str, typer.Option("--format", metavar="csv|parquet|json", help="Of what kind.")] = "csv",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to; by default printed.")] = None,
    returns: Annotated[bool, typer.Option("--returns", help="Also the return of every episode, where kept.")] = False,
    seconds: Annotated[
        bool, typer.Option("--seconds", help="Also how long each took: the one thing that differs.")
    ] = False,
) -> None:
    """Write all trials as one table: the same study gives the same bytes, however it was collected."""
    from untuned.adapters.exports import FORMS, write

    if form not in FORMS:
        raise InvalidInput(f"--format {form}: choose {', '.join(FORMS)}")
    if form == "parquet" and out is None:
        raise InvalidInput("--format parquet is nothing to print: say where to, --out trials.parquet")
    with _store(folder) as store:
        if out is None:
            write(store, form, sys.stdout.buffer, returns=returns, seconds=seconds)
            sys.stdout.flush()
            return
        # Whole or not at all.
        new = out.parent / f"{out.name}.new"
        try:
            with new.open("wb") as file:
                write(store, form, file, returns=returns, seconds=seconds)
            new.replace(out)
        except OSError as error:
            raise InvalidInput(f"{out} cannot be written: {error.strerror or error}") from None
        finally:
            with contextlib.suppress(OSError):
                new.unlink()
    typer.echo(f"wrote {out}", err=True)


def merge(
    into: Annotated[Path, typer.Argument(help="The folder to put everything into.", show_default=False)],
    shards: Annotated[list[Path], typer.Argument(help="Folders of the parts.", show_default=False)],
) -> None:
    """Put the parts of a study together: what comes out is what one run would have given."""
    from untuned.collect.store.store import RESULTS_NAME, Store

    for shard in shards:
        if shard.resolve() == into.resolve():
            raise InvalidInput(f"{shard} is among the parts and is what they go into: choose another folder")
    there = (into / RESULTS_NAME).is_file()
    with Store.open(into if there else shards[0]) as first:
        facts = first.facts
        # All of them before anything is written.
        for shard in shards:
            with Store.open(shard) as other:
                first.check_same_study(other)
    with Store.open(into, write=True) if there else Store.create(into, facts) as store:
        for shard in shards:
            new = store.merge_from(shard)
            typer.echo(f"{shard}: {new:,} trials added")
        stored = sum(store.counts().values())
        trials = {each["name"]: each.get("trials", 0) for each in store.facts["environments"]}
        missing = sum(max(trials[environment] - count, 0) for (_, environment), count in store.counts().items())
    if missing:
        typer.echo(f"{stored:,} trials are in {into}, {missing:,} are missing: merge the other parts, too.")
    else:
        typer.echo(f"{stored:,} trials are in {into}. Next: untuned evaluate {shlex.quote(str(into))}")


def _store(folder: Path) -> "Store":
    from untuned.collect.store.store import Store

    return Store.open(folder.with_suffix("") if folder.suffix == ".toml" else folder)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)} %"
