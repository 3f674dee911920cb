"""``untuned coverage``: how often interval methods fail on data with a known truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.cli.collecting import stoppable
from untuned.cli.collecting_options import Quiet, Workers
from untuned.cli.judging_options import AsJson, one_of, parsed_weights, typer_option
from untuned.errors import InvalidInput
from untuned.judge.judging import DELTA, SEED, Judging

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from untuned.lab.coverage_records import Coverage, Row
    from untuned.lab.rates import Rate
    from untuned.lab.table_two import Replication
    from untuned.scores import ScoreTable


def coverage(
    source: Annotated[
        str | None,
        typer.Argument(
            help="Scores to use as a population: a study's folder, or a file with scores.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="truth|paper",
            help="Compare with the truth, or repeat the paper's test, which compares samples with each other.",
        ),
    ] = "truth",
    populations: Annotated[
        str | None,
        typer.Option("--populations", metavar="NAME,...", help="Only these: untuned list populations."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="NAME,...",
            help="Only these; pbp-t@paper: as published; pairing*0.7: shrunk to 70 %, as a test of the test; "
            "default: what untuned evaluate does.",
        ),
    ] = None,
    trials: Annotated[
        str | None, typer.Option("--trials", metavar="N,...", help="Trials per cell; by default 10,30,100,1000.")
    ] = None,
    data_sets: Annotated[
        str | None,
        typer.Option(
            "--data-sets",
            metavar="N,...",
            help="Data sets per population and number of trials, or one number for each of --trials; 200 by default.",
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option("--every", help="Evaluate after every N trials, and stop at the first verdict."),
    ] = None,
    delta: Annotated[float, typer_option(Judging, "delta")] = DELTA,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="game|uniform|both|NAME=W,...|FILE",
            help="Weights of environments, as for untuned evaluate: the game's by default, equal ones for methods that "
            "need weights chosen beforehand.",
        ),
    ] = None,
    refine: Annotated[
        str | None,
        typer.Option(
            "--refine",
            metavar="N|full",
            help="Branching budget for an undecided pair: 20 by default; full is what untuned evaluate uses.",
        ),
    ] = None,
    resamples: Annotated[int | None, typer_option(Judging, "resamples")] = None,
    collected: Annotated[
        int | None,
        typer.Option("--collect", metavar="N", help="For --protocol paper: trials per cell to collect; 10000."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", help="Confidence level of the limits of rates; 0.95 by default.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random numbers.")] = SEED,
    workers: Workers = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where finished work and pictures are kept.")
        # Not "coverage": a folder of that name on the module path would shadow the package that numba imports.
    ] = Path("coverage-results"),
    rows: Annotated[bool, typer.Option("--rows", help="Also print a line for every experiment.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Test interval methods on data with a known truth: how often they fail, how many pairs they decide."""
    from untuned.processors import processors

    one_of("--protocol", protocol, ("truth", "paper"))
    options: dict[str, Any] = {
        "delta": delta,
        "seed": seed,
        "workers": processors() if workers is None else workers,
        "record": out / "record.jsonl",
    }
    if methods is not None:
        options["methods"] = _names("--methods", methods)
    if trials is not None:
        options["trials"] = _numbers("--trials", trials)
    if resamples is not None:
        options["resamples"] = resamples
    if refine is not None:
        options["refine"] = None if refine == "full" else _number("--refine", refine)
    counts = None if data_sets is None else _numbers("--data-sets", data_sets)
    how_many: Any = None if counts is None else counts[0] if len(counts) == 1 else counts
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"--out {out} is a file: name a folder")
    if not as_json:
        # Without matplotlib this fails now, not after hours of work.
        import untuned.lab.figures  # noqa: F401
    if protocol == "paper":
        if populations is not None or every is not None:
            raise InvalidInput("--protocol paper has one population and one look: leave --populations and --every out")
        if weights is not None:
            raise InvalidInput("--weights goes with --protocol truth: the paper's table is under the game's weights")
        if confidence is not None:
            raise InvalidInput("--confidence goes with --protocol truth: the paper's table has limits of 95 %")
        if source is not None and collected is not None:
            raise InvalidInput(f"--collect {collected} and the scores in {source}: give one of the two")
        if how_many is not None:
            options["samples"] = how_many
        _paper(source, collected, out, rows, quiet, as_json, options)
        return
    if collected is not None:
        raise InvalidInput("--collect goes with --protocol paper: otherwise scores are drawn, not collected")
    if how_many is not None:
        options["data_sets"] = how_many
    if confidence is not None:
        options["confidence"] = confidence
    if weights is not None:
        options["weights"] = parsed_weights(weights)
    _truth(source, populations, every, out, rows, quiet, as_json, options)


def _truth(
    source: str | None,
    populations: str | None,
    every: int | None,
    out: Path,
    rows: bool,
    quiet: bool,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    from untuned import lab

    chosen: list[Any] | None = None
    if populations is not None:
        chosen = list(lab.populations(_names("--populations", populations)))
    if source is not None:
        chosen = [*(chosen or []), _scores(source)]
    with stoppable(quiet or as_json) as (stop, display):
        found = lab.coverage(chosen, every=every, progress=display.experiments, stop=stop, **options)
    if as_json:
        typer.echo(found.to_json())
        return
    _print_coverage(found, rows)
    from untuned.lab.figures import coverage_figure

    _keep(out, "coverage", found.to_json(), coverage_figure(found), quiet)


def _paper(
    source: str | None,
    collected: int | None,
    out: Path,
    rows: bool,
    quiet: bool,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    from untuned import lab
    from untuned.lab.table_two import STUDY, check_replication

    if rows:
        raise InvalidInput("--rows goes with --protocol truth: the paper's table has all its lines anyway")
    # Before hours of collecting, not after them.
    check_replication(**{key: value for key, value in options.items() if key != "record"})
    with stoppable(quiet or as_json) as (stop, display):
        if source is None:
            with STUDY.open(out / "scores") as session:
                session.collect(
                    collected, workers=options["workers"], stop=stop, watch=display.collecting
                ).check_complete()
                table = session.scores()
        else:
            table = _scores(source)
        found = lab.replication(table, progress=display.experiments, stop=stop, **options)
    if as_json:
        typer.echo(found.to_json())
        return
    _print_replication(found)
    from untuned.lab.figures import replication_figure

    _keep(out, "paper", found.to_json(), replication_figure(found), quiet)


def _scores(source: str | None) -> "ScoreTable":
    from untuned.adapters.sources import read_scores

    return read_scores(source)


def _names(option: str, given: str) -> list[str]:
    names = [name.strip() for name in given.split(",") if name.strip()]
    if not names:
        raise InvalidInput(f"{option} {given!r} names nothing: write NAME,NAME")
    return names


def _numbers(option: str, given: str) -> list[int]:
    return [_number(option, each) for each in _names(option, given)]


def _number(option: str, given: str) -> int:
    try:
        return int(given.replace("_", ""))
    except ValueError:
        raise InvalidInput(f"{option}: {given!r} is not a whole number") from None


def _keep(folder: Path, name: str, content: str, figure: "Figure", quiet: bool) -> None:
    """Write the numbers and the picture next to the finished work."""
    files = [folder / f"{name}.json", folder / f"{name}.png", folder / f"{name}.pdf"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files[0].write_text(content + "\n", encoding="utf-8")
        figure.savefig(files[1], dpi=150)
        # Without the date: the same numbers make the same file.
        figure.savefig(files[2], metadata={"CreationDate": None})
    except OSError as error:
        raise InvalidInput(f"--out {folder} cannot be written: {error.strerror}") from None
    if not quiet:
        typer.echo(f"\nThe numbers are in {files[0]}, the picture in {files[1]} and {files[2].name}.")


def _print_coverage(found: "Coverage", rows: bool) -> None:
    from rich.table import Table

    from untuned.cli.terminal import console, text
    from untuned.lab.coverage_records import EVENTS

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


_WIDTH = 110
#: What only some methods say has a table of its own.
_MORE = ("wins", "caps", "anything")
_PLAIN: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "box": None, "pad_edge": False}


def _print_more(screen: "Console", found: "Coverage") -> None:
    """Print the rates of what goes beyond one ranking, and of everything together, for methods that have them."""
    from rich.table import Table

    from untuned.cli.terminal import text
    from untuned.lab.coverage_records import EVENTS

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


def _rate(rate: "Rate") -> str:
    return f"{_percent(rate.rate)} ({_percent(rate.low)}-{_percent(rate.high)}) %"


def _percent(number: float) -> str:
    return f"{100 * number:.1f}" if number < 0.0995 else f"{100 * number:.0f}"


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1.0 else f"{seconds:.1f} s"


def _print_rows(screen: "Console", found: "Coverage") -> None:
    from rich.table import Table

    from untuned.cli.terminal import text
    from untuned.lab.coverage_records import EVENTS

    table = Table(title="Every experiment", **_PLAIN)
    table.add_column("population", overflow="fold")
    table.add_column("trials", justify="right", no_wrap=True)
    table.add_column("method", overflow="fold")
    shown_events = [event for event in found.events if event not in _MORE[:2]]
    for event in shown_events:
        table.add_column(EVENTS[event].removeprefix("any "), justify="right", no_wrap=True)
    for words in ("decided", "width", "time"):
        table.add_column(words, justify="right", no_wrap=True)

    def line(row: "Row") -> list[str]:
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


def _print_replication(found: "Replication") -> None:
    from rich.table import Table

    from untuned.cli.terminal import console, text

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
