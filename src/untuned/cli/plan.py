"""``untuned plan``: how many trials are needed, from existing scores or before collecting any."""

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.judging_options import SOURCES, AsJson, Workers, judged, planning, takes_records
from untuned.cli.terminal import print_bytes
from untuned.errors import InvalidInput
from untuned.judge.judging import Judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untuned.plans import Design


@takes_records
def plan(
    sources: Annotated[list[str] | None, typer.Argument(metavar="PATH", help=SOURCES, show_default=False)] = None,
    *,
    judging: Judging,
    reading: Reading,
    design: Annotated[
        str | None,
        typer.Option(
            "--design",
            metavar="ALGORITHMSxENVIRONMENTS",
            help="Instead of scores: the size of a planned experiment, ALGORITHMSxENVIRONMENTS: 6x18.",
        ),
    ] = None,
    trials: Annotated[
        str | None,
        typer.Option(
            "--trials",
            metavar="N,...",
            help="With --design: trials per cell; 5,10,30,100 by default.",
        ),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option("--difference", help="With --design: how many trials find this difference of scores."),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option("--power", help="With --design: the probability of finding it; 0.8 by default."),
    ] = None,
    heterogeneity: Annotated[
        float | None,
        typer.Option(
            "--heterogeneity",
            help="With --design: how much environments disagree, in standard deviations of a trial; 0.5 by default.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="With --design: how long one trial takes, on average over all cells."),
    ] = None,
    parallel: Annotated[
        int | None,
        typer.Option("--parallel", help="With --seconds: how many trials run at the same time; 1 by default."),
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option("--hours", help="With --seconds: how many trials fit into this many hours, and what they find."),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Print how many trials would decide the open pairs, or which differences an experiment would find."""
    given = {
        "trials": trials,
        "difference": difference,
        "power": power,
        "heterogeneity": heterogeneity,
        "seconds": seconds,
        "parallel": parallel,
        "hours": hours,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if (not sources) == (design is None):
        raise InvalidInput(
            "untuned plan takes scores or a design: untuned plan scores.csv, or, before there are any, "
            f"untuned plan --design 6x18. {'Both were given' if sources else 'Neither was given'}"
        )
    if design is not None:
        found = _designed(design, judging, reading, workers, options)
        _print([found.sentences()], found.to_dict(), as_json)
        return
    if options:
        raise InvalidInput(
            f"{', '.join(f'--{name}' for name in options)}: for --design alone, leave it out with scores"
        )
    assert sources
    plans = planning(judged(sources, judging, reading, workers, planned=True), workers)
    content = [each.to_dict() for each in plans]
    _print([each.sentences() for each in plans], {"plan": content[0], "plans": content}, as_json)


def _designed(size: str, judging: Judging, reading: Reading, workers: int | None, options: dict[str, Any]) -> "Design":
    """Return the design of an experiment of a size, ``6x18``."""
    from untuned.api import design

    parts = re.fullmatch(r"\s*(\d{1,6})\s*[xX]\s*(\d{1,6})\s*", size)
    if parts is None:
        raise InvalidInput(f"--design {size}: write ALGORITHMSxENVIRONMENTS, for example --design 6x18")
    if reading != Reading() or judging != Judging(delta=judging.delta, weights=judging.weights):
        raise InvalidInput("--design takes --delta and --weights uniform, and no other options of evaluate")
    if "trials" in options:
        options["trials"] = _numbers(options["trials"])
    options |= {"delta": judging.delta, "weights": judging.weighting, "workers": workers}
    return design(int(parts[1]), int(parts[2]), **options)


def _numbers(given: str) -> list[int]:
    try:
        return [int(each) for each in given.split(",")]
    except ValueError:
        raise InvalidInput(f"--trials {given}: write whole numbers with commas between them, 5,10,30") from None


def _print(paragraphs: "Sequence[Sequence[str]]", content: dict[str, Any], as_json: bool) -> None:
    from untuned.cli.terminal import console, text

    if as_json:
        print_bytes(json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False))
        return
    screen = console(100)
    for number, sentences in enumerate(paragraphs):
        if number:
            screen.print()
        for sentence in sentences:
            screen.print(text(screen, sentence))
