"""What ``untuned coverage`` prints: tables of rates, of what is decided, and the paper's Table 2."""

from typing import Any

from rich.console import Console
from rich.table import Table

from untuned.cli.terminal import console, text
from untuned.lab.coverage_records import EVENTS, Coverage, Row
from untuned.lab.rates import Rate
from untuned.lab.table_two import Replication

_WIDTH = 110
#: What only some methods say has a table of its own.
_MORE = ("wins", "caps", "anything")
_PLAIN: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "box": None, "pad_edge": False}


def print_coverage(found: Coverage, *, rows: bool) -> None:
    """Print how often methods fail and how much they decide; with ``rows`` also a line for every experiment."""
    screen = console(_WIDTH)
    sizes = found.sizes
    every = sizes[0][1]
    looks = "" if every is None else f", looking every {every}, until the first verdict"
    count = {row.data_sets for row in found.rows}
    each = f"{min(count):,}" if len(count) == 1 else f"{min(count):,} to {max(count):,}"
    screen.print(
        text(
            screen,
            f"{len(found.populations)} {'population' if len(found.populations) == 1 else 'populations'}, "
            f"{', '.join(f'{size:,}' for size, _ in sizes)} trials per cell{looks}; "
            f"{each} data sets each; delta = {found.delta:g}",
        )
    )
    screen.print()
    table = Table(title="How often anything is wrong, in the worst case", **_PLAIN)
    table.add_column("method", overflow="fold")
    shown = [event for event in found.events if event not in _MORE]
    for event in shown:
        table.add_column(EVENTS[event], justify="right")
    table.add_column("")
    for method in found.methods:
        worst = [found.worst(method, event) for event in shown]
        table.add_row(
            text(screen, method),
            *("-" if case is None else _rate(case.rate) for case in worst),
            _words(found.finding(method), any(row.guaranteed for row in found.of(method))),
        )
    screen.print(table)
    screen.print()
    if any(event in found.events for event in _MORE):
        _print_more(screen, found)
        screen.print()
    table = Table(title="How much is decided: pairs decided, mean width of intervals on scores", **_PLAIN)
    table.add_column("method", overflow="fold")
    for size, _ in sizes:
        table.add_column(f"{size:,} trials", justify="right")
    table.add_column("a data set", justify="right")
    for method in found.methods:
        cells = [(found.decided(method, *size), found.width(method, *size)) for size in sizes]
        seconds = sum(found.seconds(method, *size) or 0.0 for size in sizes) / len(sizes)
        table.add_row(
            text(screen, method),
            *("-" if share is None else f"{100 * share:.0f} %  {width:.3f}" for share, width in cells),
            _time(seconds),
        )
    screen.print(table)
    if rows:
        screen.print()
        _print_rows(screen, found)
    screen.print()
    for sentence in found.verdicts:
        screen.print(text(screen, sentence))


def _print_more(screen: Console, found: Coverage) -> None:
    """Print the rates of what goes beyond one ranking, and of everything together, for methods that have them."""
    table = Table(title="Beyond a ranking, and everything together", **_PLAIN)
    table.add_column("method", overflow="fold")
    for event in _MORE:
        table.add_column(EVENTS[event], justify="right")
    for method in found.methods:
        worst = [found.worst(method, event) for event in _MORE]
        if any(worst):
            table.add_row(text(screen, method), *("-" if case is None else _rate(case.rate) for case in worst))
    screen.print(table)


def _words(finding: str, guaranteed: bool) -> str:
    kind = "guaranteed" if guaranteed else "approximate"
    return {"kept": f"{kind}: kept", "broken": f"{kind}: BROKEN"}.get(finding, f"{kind}: too few data sets")


def _rate(rate: Rate) -> str:
    return f"{_percent(rate.rate)} ({_percent(rate.low)}-{_percent(rate.high)}) %"


def _percent(number: float) -> str:
    return f"{100 * number:.1f}" if number < 0.0995 else f"{100 * number:.0f}"


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1.0 else f"{seconds:.1f} s"


def _print_rows(screen: Console, found: Coverage) -> None:
    table = Table(title="Every experiment", **_PLAIN)
    table.add_column("population", overflow="fold")
    table.add_column("trials", justify="right", no_wrap=True)
    table.add_column("method", overflow="fold")
    shown_events = [event for event in found.events if event not in _MORE[:2]]
    for event in shown_events:
        table.add_column(EVENTS[event].removeprefix("any "), justify="right", no_wrap=True)
    for words in ("decided", "width", "time"):
        table.add_column(words, justify="right", no_wrap=True)

    def line(row: Row) -> list[str]:
        rates = [row.events().get(event) for event in shown_events]
        broken = [rate is not None and rate.finding(found.delta) == "broken" for rate in rates]
        shown = ["-" if rate is None else f"{_percent(rate.rate)} %" for rate in rates]
        trials = f"{row.trials:,}" if row.every is None else f"{row.stopped_at:,.0f}"
        return [
            trials,
            row.method,
            *(f"{words} !" if wrong else words for words, wrong in zip(shown, broken, strict=True)),
            f"{100 * row.decided:.0f} %",
            f"{row.width:.3f}",
            _time(row.seconds),
        ]

    for row in found.rows:
        table.add_row(text(screen, row.population), *line(row))
    screen.print(table)
    screen.print(text(screen, f"! = the lower limit is above delta = {found.delta:g}"))


def print_replication(found: Replication) -> None:
    """Print the paper's Table 2 next to ours."""
    screen = console(_WIDTH)
    screen.print(text(screen, f"The paper's test of its intervals (Table 2), {found.population}"))
    screen.print()
    table = Table(**_PLAIN)
    for heading, justify in (
        ("trials", "right"),
        ("method", "left"),
        ("samples", "right"),
        ("failures", "right"),
        ("paper", "right"),
        ("separated", "right"),
        ("paper", "right"),
        ("truth missed", "right"),
        ("a sample", "right"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for row in found.rows:
        table.add_row(
            f"{row.trials:,}",
            text(screen, row.method),
            f"{row.samples:,}",
            _share(row.failures, 3),
            _share(row.published_failures, 3),
            _share(row.significant, 2),
            _share(row.published_significant, 2),
            f"{row.truth.rate:.3f} ({row.truth.low:.3f}-{row.truth.high:.3f})",
            _time(row.seconds),
        )
    screen.print(table)
    screen.print()
    screen.print(
        text(
            screen,
            "failures: of all pairs of samples, those in which an estimate of one is outside the intervals of the "
            "other; an estimate is not the truth. Truth missed: samples whose intervals miss the score of the "
            "population they were drawn from, with limits. The paper's figures are next to ours.",
        )
    )


def _share(number: float | None, digits: int) -> str:
    return "-" if number is None else f"{number:.{digits}f}"
