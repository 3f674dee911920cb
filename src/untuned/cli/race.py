"""``untuned race``: run trials where they help most, until a goal is reached."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from untuned.cli.collecting import stoppable
from untuned.cli.collecting_options import Collecting, Out, Quiet, StudyFile
from untuned.cli.evaluate import print_evaluation
from untuned.cli.judging_options import AsJson, takes_records
from untuned.cli.terminal import print_bytes
from untuned.errors import Stopped
from untuned.judge.judging import Judging

if TYPE_CHECKING:
    from untuned.cli.progress import Display
    from untuned.races.racing import Look
    from untuned.races.result import Race


@partial(
    takes_records,
    summaries={
        "weights": "Weights of environments, declared once: equal (the default), the game's, both, given ones, or a "
        "JSON file {environment: weight}."
    },
    # A race has its own methods.
    hidden=("intervals", "conventions", "resamples", "seed", "max_algorithms"),
)
def race(
    study: StudyFile,
    goal: Annotated[
        str,
        typer.Option(
            "--goal",
            metavar="GOAL",
            help="best, top:3, all, vs:NAME or pairs A>B,C>D; 'best within 0.02': smaller differences may stay open.",
        ),
    ] = "best",
    hours: Annotated[
        float | None,
        typer.Option(
            "--hours", metavar="H", help="How long to collect, earlier sessions included; no limit by default."
        ),
    ] = None,
    max_trials: Annotated[
        int | None,
        typer.Option("--max-trials", metavar="N", help="Largest number of trials in total; no limit by default."),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            "--rule", metavar="by-cost|eliminate|equal", help="Which cells get trials; see untuned list rules."
        ),
    ] = "by-cost",
    costs: Annotated[
        Path | None,
        typer.Option(
            "--costs", metavar="FOLDER", help="For a replay: a raced study whose seconds per trial plan the rounds."
        ),
    ] = None,
    out: Out = None,
    *,
    collecting: Collecting,
    judging: Judging,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run trials where they help most until a goal is reached; rerun the command to resume."""
    from untuned import api
    from untuned.collect.store.store import RESULTS_NAME
    from untuned.collect.study_folders import results_folder

    folder = out or results_folder(study)
    with stoppable(quiet or as_json) as (stop, display):
        display.race = "the next round: " if (folder / RESULTS_NAME).is_file() else "round 1: "
        found = api.race(
            study,
            goal,
            folder,
            hours=hours,
            max_trials=max_trials,
            rule=rule,
            costs=costs,
            judging=judging,
            stop=stop,
            watch=display.collecting,
            look=lambda look: _tell(look, display),
            progress=display.judging,
            **vars(collecting),
        )
    if as_json:
        print_bytes(found.to_json())
    else:
        _print(found, folder, quiet)
    if found.ending == "stopped":
        with stoppable(quiet):
            raise Stopped(f"{found.looks[-1].trials if found.looks else 0:,} trials of complete rounds are in {folder}")


def _tell(look: "Look", display: "Display") -> None:
    """Print a line about a round, and set the text that the next one's progress begins with."""
    from untuned.races.result import count, line

    if display.rounds is not None:
        display.rounds(line(look))
    display.race = f"round {look.number + 1}, {count(sum(map(len, look.open.values())))} open: "


def _print(found: "Race", folder: Path, quiet: bool) -> None:
    from untuned.cli.terminal import console, text

    screen = console(100)
    for sentence in found.sentences():
        screen.print(text(screen, sentence))
    if found.evaluation is None or found.ending == "stopped":
        return
    screen.print()
    print_evaluation(found.evaluation, by_environment=False)
    if not quiet:
        typer.echo(f"\nThe trials are in {folder}. Next: untuned report {shlex.quote(str(folder))} --out report.html")
