"""``untuned list``: everything by name, one line each or all facts as JSON; and one algorithm in full."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.cli.terminal import console as make_console
from untuned.cli.terminal import text as _text
from untuned.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from untuned.collect.definitions.definition import Definition
    from untuned.collect.environments.environment import CompiledEnvironment


class What(StrEnum):
    """Kinds of things to list."""

    ALGORITHMS = "algorithms"
    ENVIRONMENTS = "environments"
    INTERVALS = "intervals"
    POPULATIONS = "populations"
    READERS = "readers"
    RULES = "rules"


#: Algorithms are described on one environment of each kind of states: what they draw depends on nothing else, but
#: for the number of features and actions, which their distributions name, and more than four dimensions.
PROBES = {"discrete": "gridworld-5-deterministic", "continuous": "cart-pole"}


def list_(
    what: Annotated[
        str | None,
        typer.Argument(help="algorithms, environments, intervals, populations, readers or rules; all if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every fact as JSON.")] = False,
    describe: Annotated[
        str | None,
        typer.Option("--describe", metavar="NAME", help="Show where an algorithm's hyperparameters come from."),
    ] = None,
) -> None:
    """List algorithms, environments, interval methods, test populations, file readers, and race rules."""
    if what is not None and what not in list(What):
        raise UnknownName("list", what, What)
    if describe is not None:
        _describe(what, describe, as_json)
        return
    wanted = [each for each in What if what in (None, each)]
    facts = {each.value: _facts(each, complete=as_json) for each in wanted}
    if as_json:
        typer.echo(json.dumps(facts if what is None else facts[what], indent=2))
        return
    for each in wanted:
        _print_section(each, facts[each.value])


def _describe(what: str | None, name: str, as_json: bool) -> None:
    from untuned.collect.definitions.registry import algorithm

    if what not in (None, What.ALGORITHMS):
        raise InvalidInput(
            f"--describe {name} is for algorithms (untuned list algorithms --describe sarsa-s), not for {what}: "
            f"every fact about those is in untuned list {what} --json"
        )
    facts = _algorithm_facts(algorithm(name), complete=True)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        _print_description(facts)


def _facts(what: What, complete: bool) -> list[dict[str, Any]]:
    if what is What.ALGORITHMS:
        from untuned.collect.definitions.registry import algorithms

        return [_algorithm_facts(each, complete) for each in algorithms()]
    if what is What.ENVIRONMENTS:
        from untuned.collect.environments.registry import environments

        return [_environment_facts(each) for each in environments()]
    if what is What.POPULATIONS:
        from untuned.lab import few_runs, populations

        return [
            {
                "name": each.name,
                "algorithms": each.shape[0],
                "environments": each.shape[1],
                "summary": each.summary,
                **({"truth": each.truth("mid-rank").facts()} if complete else {}),
            }
            for each in (*populations(), *few_runs())
        ]
    if what is What.READERS:
        from untuned.adapters.score_files.registry import readers

        return [{"name": each.name, "summary": each.title} for each in readers() if each.name != "refused"]
    if what is What.RULES:
        from untuned.races.rules import DEFAULT as FIRST
        from untuned.races.rules import SUMMARIES

        return [{"name": name, "default": name == FIRST, "summary": text} for name, text in SUMMARIES.items()]
    from untuned.judge.methods import DEFAULT, METHODS

    return [
        {
            "name": each.name,
            "title": each.title,
            "guaranteed": each.guaranteed,
            "anytime": each.anytime,
            "default": each.name == DEFAULT,
            "summary": each.summary,
        }
        for each in METHODS.values()
    ]


def _algorithm_facts(definition: "Definition", complete: bool) -> dict[str, Any]:
    """Return what is known of an algorithm; what takes hundreds of draws to know, only for the ``complete`` facts."""
    from untuned.collect.definitions.paper import ELEVEN

    facts: dict[str, Any] = {
        "name": definition.name,
        "paper_name": definition.title if definition in ELEVEN else None,
        "version": definition.version,
        "summary": definition.summary,
    }
    if complete:
        from untuned.collect.environments.registry import environment

        probes = {kind: environment(name) for kind, name in PROBES.items()}
        facts["same_as"] = {kind: definition.same_as(probe) for kind, probe in probes.items()}
        facts["differs"] = list(definition.differs)
        facts["hyperparameters"] = {
            kind: [row.facts() for row in definition.describe(probe)] for kind, probe in probes.items()
        }
    return facts


def _environment_facts(environment: "CompiledEnvironment") -> dict[str, Any]:
    from untuned.adapters.registration import gymnasium_id

    # All that are listed are the paper's, and their titles are its names for them.
    renamed = {"paper_name" if key == "title" else key: value for key, value in environment.facts().items()}
    return {**renamed, "gymnasium_id": gymnasium_id(environment.name)}


def _print_section(what: What, facts: list[dict[str, Any]]) -> None:
    from rich.padding import Padding
    from rich.table import Table

    titles = {
        What.ALGORITHMS: "Algorithms",
        What.ENVIRONMENTS: "Environments",
        What.INTERVALS: "Interval methods",
        What.POPULATIONS: "Populations that interval methods are tested on",
        What.READERS: "Files of other programs that are read",
        What.RULES: "Rules of races",
    }
    console = make_console(max(_WIDE.values()))
    if console.width < _NARROW:
        # Names stay whole, to be copied.
        console.print(f"[bold]{titles[what]}[/bold]")
        for each in facts:
            console.print(_text(console, each["name"]), soft_wrap=True)
            console.print(Padding(_text(console, each["summary"]), (0, 0, 0, 2)))
        return
    table = Table(title=titles[what], title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    headings = _HEADINGS[what] if console.width >= _WIDE[what] else ()
    for heading in headings:
        table.add_column(heading, justify=_JUSTIFIED[what], no_wrap=True)
    table.add_column("what it is", ratio=1)
    for each in facts:
        details = _details(what, each) if headings else ()
        table.add_row(*(_text(console, cell) for cell in (each["name"], *details, each["summary"])))
    console.print(table)
    console.print()


def _print_description(facts: dict[str, Any]) -> None:
    from rich.padding import Padding
    from rich.table import Table

    from untuned.collect.definitions.definition import Hyperparameter

    console = make_console(max(_WIDE.values()))
    paper_name = facts["paper_name"]
    title = facts["name"] if paper_name is None else f"{facts['name']} ({paper_name} in the paper)"
    console.print(_text(console, title, style="bold"), soft_wrap=True)
    console.print(_text(console, facts["summary"]))
    for kind, other in facts["same_as"].items():
        if other is not None:
            console.print(_text(console, f"the same as {other} on {kind} states"))
    console.print()
    rows = {
        kind: {row["name"]: str(Hyperparameter(**row)) for row in described}
        for kind, described in facts["hyperparameters"].items()
    }
    # What only some kinds have comes first in all of the paper's; otherwise the order of the kinds is kept.
    names = dict.fromkeys(name for kind in reversed(rows) for name in rows[kind])
    if console.width < _NARROW:
        for name in names:
            console.print(_text(console, name), soft_wrap=True)
            for kind, texts in rows.items():
                if name in texts:
                    console.print(Padding(_text(console, f"{kind}: {texts[name]}"), (0, 0, 0, 2)))
    else:
        table = Table(box=None, pad_edge=False)
        table.add_column("hyperparameter", no_wrap=True)
        for kind in rows:
            table.add_column(f"{kind} states")
        for name in names:
            table.add_row(*(_text(console, cell) for cell in (name, *(rows[kind].get(name, "-") for kind in rows))))
        console.print(table)
    console.print()
    for note in facts["differs"]:
        console.print(_text(console, f"Differs: {note}"))


#: Columns that names and a line need; and that the whole table of each kind needs.
_NARROW = 60
_WIDE = dict.fromkeys(What, 80) | {What.ENVIRONMENTS: 150, What.READERS: 60, What.RULES: 60}

_HEADINGS = {
    What.ALGORITHMS: ("in the paper",),
    What.ENVIRONMENTS: ("states", "actions", "episodes", "steps at most", "return within"),
    What.INTERVALS: ("keeps its level",),
    What.POPULATIONS: ("board",),
    What.READERS: (),
    What.RULES: (),
}
_JUSTIFIED: dict[What, Any] = dict.fromkeys(What, "left") | {What.ENVIRONMENTS: "right"}


def _details(what: What, facts: dict[str, Any]) -> tuple[str, ...]:
    if what is What.ALGORITHMS:
        return (facts["paper_name"] or "",)
    if what is What.INTERVALS:
        level = "always" if facts["guaranteed"] else "about"
        return (f"{level}, at any time" if facts["anytime"] else f"{level} (default)" if facts["default"] else level,)
    if what is What.POPULATIONS:
        return (f"{facts['algorithms']} x {facts['environments']}",)
    low, high = facts["score_range"]
    states = facts["states"]
    return (
        f"{states['number']}" if states["kind"] == "discrete" else f"{states['dimensions']}-d",
        str(facts["actions"]["number"]),
        str(facts["episodes"]),
        f"{facts['step_limit']:,}",
        f"{low:,.0f} to {high:,.0f}",
    )
