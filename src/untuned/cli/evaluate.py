"""``untuned evaluate``: from scores to a ranked table with intervals."""

from math import isfinite, isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.flags import in_flags
from untuned.cli.judging_options import (
    Approximate,
    Sources,
    Workers,
    judged,
    one_of,
    planning,
    summarized,
    takes_records,
)
from untuned.cli.terminal import print_bytes, telling
from untuned.errors import InvalidInput
from untuned.judge.judging import Judging
from untuned.judge.summaries.options import Summarizing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from untuned.evaluation import Evaluation
    from untuned.judge.summaries.records import Summaries
    from untuned.plans import Plan
    from untuned.tables import Digits

_FORMATS = ("text", "json", "markdown", "csv", "latex", "html")
#: What --table shows.
STATISTICS = ("mean", "median")
_WRITTEN = {"markdown": "md", "csv": "csv", "latex": "tex", "html": "html"}


@takes_records
def evaluate(
    sources: Sources,
    judging: Judging,
    reading: Reading,
    summarizing: Summarizing,
    workers: Workers = None,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs", help="Also print the differences of all pairs, with intervals and verdicts; in CSV only these."
        ),
    ] = False,
    by_environment: Annotated[
        bool,
        typer.Option(
            "--by-environment",
            help="Also print the means on each environment, with intervals and ranks; in CSV only these.",
        ),
    ] = False,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="mean|median",
            help="Print only the table for a paper: environments x algorithms, with intervals and the best in bold; "
            "as Markdown, or in the given --format.",
            show_default=False,
        ),
    ] = None,
    planned: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Also print how many trials would decide the open pairs, in text and JSON; takes as long again.",
        ),
    ] = False,
    approximate: Approximate = False,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(_FORMATS),
            help="Output format: text (the default), tables for a paper, or everything as JSON. CSV is one table with "
            "all digits: scores, or the table of --pairs or --by-environment; with several rankings, the first "
            "column names the weights.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    percentiles: Annotated[
        bool, typer.Option("--percentiles", help="With --json: also print every percentile and its interval.")
    ] = False,
) -> None:
    """Rank algorithms across all environments from existing scores, with confidence intervals."""
    if table is not None:
        one_of("--table", table, STATISTICS)
    wanted = _format(format_ or (None if table is None or as_json else "markdown"), as_json)
    # Before the judging, which may take minutes.
    if percentiles and wanted != "json":
        raise InvalidInput("--percentiles is for JSON alone: add --json, or leave it out")
    if planned and wanted not in ("text", "json"):
        raise InvalidInput(f"--plan is for text and JSON: leave it out with --format {wanted}")
    if wanted == "csv" and pairs and by_environment:
        raise InvalidInput(
            "--format csv prints one table, so that programs can read it: ask for --pairs or for --by-environment, and "
            "run the command again for the other"
        )
    if not summarizing.summary and (summarizing.normalise is not None or summarizing.summary_interval != "percentile"):
        raise InvalidInput("--normalise and --summary-interval are for summaries: add --summary iqm")
    if wanted == "csv" and summarizing.summary and (pairs or by_environment):
        raise InvalidInput("--format csv prints one table: leave --summary out, or --pairs and --by-environment")
    if table is not None and (wanted not in _WRITTEN or pairs or by_environment or summarizing.summary):
        raise InvalidInput(
            f"--table is one table, as {', '.join(_WRITTEN)}: leave out --pairs, --by-environment, --summary and other "
            "formats"
        )
    found = judged(sources, judging, reading, workers, planned=planned, approximate=approximate)
    plans = planning(found, workers) if planned else ()
    summaries = summarized(found, summarizing, workers) if summarizing.summary else None
    if table is not None:
        from untuned.reports.tables.printed import printed

        print_bytes(printed(found, "median" if table == "median" else "mean").written(_WRITTEN[wanted]))
    elif wanted == "text":
        print_evaluation(found, by_environment, pairs, plans)
        if summaries is not None:
            print_summaries(summaries)
    elif wanted == "json":
        with telling("writing"):
            written = _json(found, percentiles, plans, summaries)
        print_bytes(written)
    else:
        print_bytes(_tables(found, wanted, by_environment, pairs, summaries))


def _format(given: str | None, as_json: bool) -> str:
    if as_json and given not in (None, "json"):
        raise InvalidInput(f"--json and --format {given} ask for different things: leave one of them out")
    chosen: str = one_of("--format", "json" if as_json else given or "text", _FORMATS)
    return chosen


def _json(found: "Evaluation", percentiles: bool, plans: "tuple[Plan, ...]", summaries: "Summaries | None") -> str:
    from untuned.indented import indented

    content = found.to_dict(percentiles=percentiles)
    if plans:
        planned = [plan.to_dict() for plan in plans]
        content |= {"plan": planned[0], "plans": planned}
    if summaries is not None:
        content["summaries"] = summaries.to_dict()
    return indented(content)


def _tables(found: "Evaluation", wanted: str, by_environment: bool, pairs: bool, summaries: "Summaries | None") -> str:
    """Return the tables for pasting, one below the other; of CSV the requested one alone."""
    from untuned import tables
    from untuned.reports.tables.content import stacked
    from untuned.reports.tables.summaries import asked as tables_of

    shown = found.each_ranking
    familiar = [] if summaries is None else tables_of(summaries)
    if wanted == "csv" and familiar:
        if len(familiar) > 1:
            raise InvalidInput(
                "--format csv prints one table: ask for statistics, for poi or for profiles, and run the command again "
                "for the others"
            )
        return familiar[0].to_csv()
    if wanted == "csv":
        if by_environment:
            return tables.environments(found).to_csv()
        return stacked([(tables.pairs if pairs else tables.aggregate)(each) for each in shown], shown).to_csv()
    asked = [tables.aggregate(each) for each in shown]
    if pairs:
        asked += [tables.pairs(each) for each in shown]
        asked += [tables.head_to_head(found)] if found.head_to_head is not None else []
    asked += [tables.environments(found)] * by_environment
    asked += familiar
    return "\n".join(table.written(_WRITTEN[wanted]) for table in asked)


def print_evaluation(
    found: "Evaluation", by_environment: bool, pairs: bool = False, plans: "tuple[Plan, ...]" = ()
) -> None:
    """Print what failed, every ranking with verdicts, how they compare, notes and next steps, and what to write.

    If wanted, also a plan, all pairs and the means.
    """
    from untuned.cli.terminal import console, text
    from untuned.reports.tables.digits import digits_of_scores
    from untuned.scores import spread
    from untuned.statements import LEFT_OUT, OPPOSITE, approximation, direct, failed, next_steps, says_nothing, variants

    screen = console(_WIDTH)

    def say(sentences: "Iterable[str]", heading: str = "", style: str = "") -> None:
        lines = list(sentences)
        if lines:
            screen.print()
        if lines and heading:
            screen.print(text(screen, heading, style="bold"))
        for line in lines:
            screen.print(text(screen, line, style=style))

    n, m = len(found.algorithms), len(found.environments)
    size = f"{n} algorithms on {m} {'environment' if m == 1 else 'environments'}"
    screen.print(text(screen, f"{size}, {spread(found.trials_ae)} trials per cell; delta = {found.delta:g}"))
    for line in variants(found):
        screen.print(text(screen, line))
    for line in failed(found):
        screen.print(text(screen, line, style="bold yellow"))
    for each in found.each_ranking:
        screen.print()
        screen.print(text(screen, each.rankings[0].heading, style="bold"))
        vacuous = says_nothing(each)
        keys = ("name", "score") if vacuous else ("name", "score", "low", "high")
        _print_ranking(screen, each.rows(), keys, digits_of_scores(each.rows()), (0.0, 1.0))
        if vacuous:
            screen.print(text(screen, LEFT_OUT))
        say(each.verdicts)
        say(_weights(each))
    opposite = [line for line in found.comparison if line.startswith(OPPOSITE)]
    say(opposite, style="bold yellow")
    say(line for line in found.comparison if line not in opposite)
    say(direct(found))
    say((found.claim,))
    for warning in found.warnings:
        screen.print(text(screen, f"Note: {warning}", style="yellow"))
    if found.approximate is not None:
        say(approximation(found), f"Approximate ({found.approximate.method}), no guarantee:")
    steps = tuple(map(in_flags, next_steps(found, plans)))
    say(steps, "Next steps:")
    for plan in plans:
        say(line for line in plan.sentences() if line not in steps)
    say((found.statement,), "What you may write:")
    if pairs:
        for each in found.each_ranking:
            _print_pairs(screen, each)
        _print_head_to_head(screen, found)
    if by_environment:
        _print_environments(screen, found)


_WIDTH = 100


def print_summaries(found: "Summaries") -> None:
    """Print statistics and pairs with intervals, what they promise, and the guaranteed verdicts once more."""
    from untuned.cli.terminal import Column, console, print_table, text
    from untuned.reports.tables.digits import digits_of_scores
    from untuned.reports.tables.summaries import summary_digits
    from untuned.tables import Digits

    screen = console(_WIDTH)

    def heading(words: str) -> None:
        screen.print()
        screen.print(text(screen, words, style="bold"))

    def numbers(rows: list[dict[str, Any]], digits: "Digits", *keys: str) -> list[Column]:
        shown = digits.shown
        return [Column(key, ["-" if row[key] is None else shown(row[key]) for row in rows], "number") for key in keys]

    heading("Other summaries, approximate")
    screen.print(text(screen, found.basis))
    for each in found.summaries:
        heading(f"{each.statistic.title[0].upper()}{each.statistic.title[1:]}")
        rows = [row for row in found.rows() if row["statistic"] == each.statistic.name]
        names = Column("algorithm", [row["algorithm"] for row in rows], "name")
        print_table(screen, [names, *numbers(rows, summary_digits(rows), "value", "low", "high")])
    if found.improvement is not None:
        heading("Probability of improvement: how often a run of a scores more than one of b")
        rows = found.improvement_rows()
        pair = [Column(key, [row[key] for row in rows], "name") for key in ("a", "b")]
        print_table(screen, [*pair, *numbers(rows, digits_of_scores(rows, 0.5), "win", "low", "high")])
    for profile in found.profiles:
        heading(f"Performance {profile.name.replace('-', ' ')}: the share above each normalised score")
        chosen = sorted({round(k * (profile.thresholds.size - 1) / (_SHOWN - 1)) for k in range(_SHOWN)})
        columns = [Column("algorithm", list(found.algorithms), "name")]
        for k in chosen:
            cells = ["-" if isnan(share) else Digits(3).shown(float(share)) for share in profile.share_at[:, k]]
            columns.append(Column(f"{profile.thresholds[k]:.3g}", cells, "number"))
        print_table(screen, columns)
    screen.print()
    screen.print(text(screen, found.claim))
    for note in found.notes:
        screen.print(text(screen, f"Note: {note}", style="yellow"))
    if found.guaranteed:
        heading("Guaranteed, of the same scores")
        for line in found.guaranteed:
            screen.print(text(screen, line))


def _print_ranking(
    screen: "Console", rows: list[dict[str, Any]], keys: tuple[str, ...], digits: "Digits", scale: tuple[float, float]
) -> None:
    """Print names, estimates with their ends, ranks; where there is room, the intervals drawn to a scale."""
    from untuned.cli.terminal import BAR, Column, drawn_interval, draws, print_table

    name, *numbers = keys
    columns = [Column("algorithm", [row[name] for row in rows], "name")]
    for key in numbers:
        if all(row[key] is None for row in rows):
            continue
        shown = ["-" if row[key] is None else digits.shown(row[key]) for row in rows]
        columns.append(Column(key.removeprefix("mean_"), shown, "number"))
    ranks = (("rank", "rank"), ("worst", "rank_low"), ("best", "rank_high"))
    # Where every rank is possible, the columns would say nothing.
    vacuous = all((row["rank_low"], row["rank_high"]) == (len(rows), 1) for row in rows)
    for heading, key in () if vacuous else ranks:
        columns.append(Column(heading, ["-" if row[key] is None else str(row[key]) for row in rows], "number"))
    if len(numbers) == 3 and draws(screen) and scale[0] < scale[1] and isfinite(scale[1] - scale[0]):
        left, right = map(digits.shown, scale)
        value, low, high = numbers
        bars = [drawn_interval(screen, row[value], row[low], row[high], scale) for row in rows]
        columns.append(Column(left + right.rjust(BAR - len(left)), bars, "drawing"))
    print_table(screen, columns)


def _print_environments(screen: "Console", found: "Evaluation") -> None:
    from untuned.cli.terminal import text
    from untuned.reports.tables.content import mean_digits

    rows = found.environment_rows()
    means = found.means
    for e, name in enumerate(found.environments):
        screen.print()
        screen.print(text(screen, f"Mean scores on {name}", style="bold"))
        _print_ranking(
            screen,
            [row for row in rows if row["environment"] == name],
            ("algorithm", "mean", "mean_low", "mean_high"),
            mean_digits(found, e),
            (float(means.low_ae[:, e].min()), float(means.high_ae[:, e].max())),
        )
    notes = []
    if not all(isfinite(end) for ends in found.ranges for end in ends):
        notes.append("A mean has no interval where the environment's range is not declared: --range NAME=LOW:HIGH.")
    if not found.trials_ae.all():
        notes.append("Where there is no mean, there are no trials.")
    for number, note in enumerate(notes):
        if number == 0:
            screen.print()
        screen.print(text(screen, note))


def _print_pairs(screen: "Console", found: "Evaluation") -> None:
    from untuned.cli.terminal import Column, print_table, text
    from untuned.reports.tables.content import HOLDS_UP_TO, times
    from untuned.reports.tables.digits import digits_of_scores

    screen.print()
    screen.print(text(screen, f"Differences of scores, {found.rankings[0].title}", style="bold"))
    rows = found.pair_rows()
    shown = digits_of_scores(rows, 0.0).shown
    columns = [
        Column("a", [row["a"] for row in rows], "name"),
        Column("b", [row["b"] for row in rows], "name"),
        Column("a - b", [shown(row["difference"]) for row in rows], "number"),
        Column("low", [shown(row["low"]) for row in rows], "number"),
        Column("high", [shown(row["high"]) for row in rows], "number"),
        Column("a is", [row["verdict"] for row in rows], "words"),
    ]
    if found.rankings[0].cap_ab is not None:
        columns.append(Column("holds up to", [times(found, row).shown[0] for row in rows], "number"))
    print_table(screen, columns)
    if found.rankings[0].cap_ab is not None:
        screen.print(text(screen, HOLDS_UP_TO))


def _print_head_to_head(screen: "Console", found: "Evaluation") -> None:
    from untuned.cli.terminal import Column, print_table, text
    from untuned.reports.tables.digits import digits_of_scores

    rows = found.each_ranking[0].head_to_head_rows()
    if not rows:
        return
    shown = digits_of_scores(rows, 0.5).shown
    screen.print()
    screen.print(text(screen, "Head to head: how often a run of a is better than one of b", style="bold"))
    columns = [
        Column("a", [row["a"] for row in rows], "name"),
        Column("b", [row["b"] for row in rows], "name"),
        *(Column(key, [shown(row[key]) for row in rows], "number") for key in ("win", "low", "high")),
        Column("a is", [row["verdict"] for row in rows], "words"),
    ]
    print_table(screen, columns)


def _weights(found: "Evaluation") -> list[str]:
    """Return sentences on what weighs most, the rest together; equal weights are not listed."""
    from untuned.statements import variants

    if found.weights == "uniform" and variants(found):
        return ["All families and references weigh the same."]
    if found.q_er.max() - found.q_er.min() < 1e-12:
        return ["All environments and references weigh the same."]
    sentences = []
    for what, names, weights in (
        ("environments", found.environments, found.environment_weights),
        ("references", found.algorithms, found.reference_weights),
    ):
        if weights.max() - weights.min() < 1e-12:
            sentences.append(f"All {what} weigh the same.")
            continue
        heaviest = sorted(range(len(names)), key=lambda number: -weights[number])
        # One that is left over is named as well.
        shown = len(names) if len(names) == _SHOWN + 1 else _SHOWN
        parts = [f"{names[number]} {100 * weights[number]:.0f} %" for number in heaviest[:shown]]
        if len(names) > shown:
            rest = 100 * float(sum(weights[number] for number in heaviest[shown:]))
            parts.append(f"the other {len(names) - shown} together {rest:.0f} %")
        sentences.append(f"Weights of {what}: {', '.join(parts)}")
    return sentences


_SHOWN = 5
