"""``untuned list``: what there is, a line each, or every fact as JSON."""

import json
import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from untuned.collect.environments.environment import CompiledEnvironment


class What(StrEnum):
    """What can be listed."""

    ALGORITHMS = "algorithms"
    ENVIRONMENTS = "environments"
    INTERVALS = "intervals"


def list_(
    what: Annotated[
        What | None, typer.Argument(help="What to list; everything if left out.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every fact as JSON.")] = False,
) -> None:
    """List algorithms, environments and interval methods."""
    wanted = list(What) if what is None else [what]
    facts = {each.value: _facts(each) for each in wanted}
    if as_json:
        typer.echo(json.dumps(facts if what is None else facts[what.value], indent=2))
        return
    for each in wanted:
        _print_section(each, facts[each.value])


def _facts(what: What) -> list[dict[str, Any]]:
    if what is not What.ENVIRONMENTS:
        return []
    from untuned.collect.environments.registry import environments

    return [_environment_facts(each) for each in environments()]


def _environment_facts(environment: "CompiledEnvironment") -> dict[str, Any]:
    from untuned.adapters.gymnasium.registration import gymnasium_id

    return {**environment.facts(), "gymnasium_id": gymnasium_id(environment.name)}


def _print_section(what: What, facts: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    titles = {
        What.ALGORITHMS: "Algorithms",
        What.ENVIRONMENTS: "Environments",
        What.INTERVALS: "Interval methods",
    }
    # In a pipe nobody sees the width, and a line each is what the next program wants.
    console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDE)
    if not facts:
        console.print(f"[bold]{titles[what]}[/bold]: none in this version\n", highlight=False)
        return
    table = Table(title=titles[what], title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("name", overflow="fold")
    if console.width >= _WIDE:
        for heading in ("states", "actions", "episodes", "steps at most", "return within"):
            table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what it is", ratio=1)
    for each in facts:
        details = _details(each) if console.width >= _WIDE else ()
        table.add_row(each["name"], *details, each["summary"])
    console.print(table)
    console.print()


#: Columns that the whole table needs.
_WIDE = 150


def _details(facts: dict[str, Any]) -> tuple[str, ...]:
    low, high = facts["score_range"]
    states = facts["states"]
    return (
        f"{states['number']}" if states["kind"] == "discrete" else f"{states['dimensions']}-d",
        str(facts["actions"]["number"]),
        str(facts["episodes"]),
        f"{facts['step_limit']:,}",
        f"{low:,.0f} to {high:,.0f}",
    )
