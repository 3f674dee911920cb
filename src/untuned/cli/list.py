"""``untuned list``: what there is, a line each, or every fact as JSON."""

import json
import shutil
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.errors import UnknownName

if TYPE_CHECKING:
    from untuned.collect.environments.environment import CompiledEnvironment


class What(StrEnum):
    """What can be listed."""

    ALGORITHMS = "algorithms"
    ENVIRONMENTS = "environments"
    INTERVALS = "intervals"


def list_(
    what: Annotated[
        str | None, typer.Argument(help="algorithms, environments or intervals; everything if left out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every fact as JSON.")] = False,
) -> None:
    """List algorithms, environments and interval methods."""
    if what is not None and what not in list(What):
        raise UnknownName("list", what, What)
    wanted = [each for each in What if what in (None, each)]
    facts = {each.value: _facts(each) for each in wanted}
    if as_json:
        typer.echo(json.dumps(facts if what is None else facts[what], indent=2))
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

    # All that are listed are the paper's, and their titles are its names for them.
    renamed = {"paper_name" if key == "title" else key: value for key, value in environment.facts().items()}
    return {**renamed, "gymnasium_id": gymnasium_id(environment.name)}


def _print_section(what: What, facts: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table

    titles = {
        What.ALGORITHMS: "Algorithms",
        What.ENVIRONMENTS: "Environments",
        What.INTERVALS: "Interval methods",
    }
    # In a pipe nobody sees the width, and a line each is what the next program wants.
    width = shutil.get_terminal_size((_WIDE, 24)).columns
    console = Console(width=width)
    if not facts:
        console.print(f"[bold]{titles[what]}[/bold]: none in this version\n", highlight=False)
        return
    if width < _NARROW:
        # Names stay whole, to be copied.
        console.print(f"[bold]{titles[what]}[/bold]")
        for each in facts:
            console.print(each["name"], highlight=False, soft_wrap=True)
            console.print(Padding(each["summary"], (0, 0, 0, 2)), highlight=False)
        return
    table = Table(title=titles[what], title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    if width >= _WIDE:
        for heading in ("states", "actions", "episodes", "steps at most", "return within"):
            table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what it is", ratio=1)
    for each in facts:
        table.add_row(each["name"], *(_details(each) if width >= _WIDE else ()), each["summary"])
    console.print(table)
    console.print()


#: Columns that the whole table needs, and that names and a line need.
_WIDE = 150
_NARROW = 60


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
