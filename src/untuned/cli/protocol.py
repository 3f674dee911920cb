"""``untuned protocol``: run and judge protocols that tune before they measure."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from untuned.cli.collecting import stoppable
from untuned.cli.collecting_options import Collecting, Out, Quiet
from untuned.cli.evaluate import print_evaluation
from untuned.cli.judging_options import AsJson, takes_records
from untuned.errors import InvalidInput
from untuned.judge.judging import Judging

if TYPE_CHECKING:
    from untuned.evaluation import Evaluation
    from untuned.protocols import Outcome


@takes_records
def protocol(
    name: Annotated[
        str,
        typer.Argument(metavar="tune-and-report|dabney|cross-environment", help="Which protocol.", show_default=False),
    ],
    study: Annotated[Path, typer.Argument(help="The study's TOML file.", show_default=False)],
    draws: Annotated[
        int | None, typer.Option("--draws", metavar="N", help="Settings that each tuning tries; 20 by default.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="T", help="Test runs of the chosen setting; 10 by default, none for dabney."),
    ] = None,
    tuning_seeds: Annotated[
        int | None,
        typer.Option("--tuning-seeds", metavar="K", help="Runs of every setting while tuning; 1 by default."),
    ] = None,
    reference: Annotated[
        int | None,
        typer.Option(
            "--reference",
            metavar="RUNS",
            help="For cross-environment: runs of every cell that scores are percentiles among; 100 by default.",
        ),
    ] = None,
    iteration_weights: Annotated[
        str | None,
        typer.Option(
            "--iteration-weights", metavar="W,W,...", help="For dabney: a weight per draw; equal ones by default."
        ),
    ] = None,
    out: Out = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", help="Whole procedures per cell, each with its tuning, instead of the file's number."),
    ] = None,
    *,
    collecting: Collecting,
    judging: Judging,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tune first: run tune-and-report, Dabney's procedure or the cross-environment setting, and judge the result."""
    from untuned import protocols
    from untuned.api import evaluate
    from untuned.collect.running_protocols import default_folder

    chosen = protocols.protocol(
        name,
        draws=draws,
        seeds=seeds,
        tuning_seeds=tuning_seeds,
        reference=reference,
        iteration_weights=None if iteration_weights is None else _numbers(iteration_weights),
    )
    folder = out or default_folder(study, chosen.name)
    if not quiet and not as_json:
        typer.echo(f"{protocols.cost(chosen, study, trials=trials)}.")
    with stoppable(quiet or as_json) as (stop, display):
        found = protocols.run(
            chosen,
            study,
            folder,
            trials=trials,
            stop=stop,
            watch=display.collecting,
            **vars(collecting),
        )
        judged = evaluate(found.scores, judging=judging, progress=display.judging)
        lost = None if found.lost is None else evaluate(found.lost, judging=judging, progress=display.judging)
    if as_json:
        parts = {"evaluation": judged.to_dict(), "lost": None if lost is None else lost.to_dict()}
        typer.echo(json.dumps({**found.facts(), **parts}, indent=2, allow_nan=False, ensure_ascii=False))
        return
    _print(found, judged, lost)
    if not quiet:
        typer.echo(f"\nThe runs are in {folder}. Next: untuned report {shlex.quote(str(folder))} --out report.html")


def _print(found: "Outcome", judged: "Evaluation", lost: "Evaluation | None") -> None:
    from untuned.cli.terminal import console, text

    screen = console(100)

    def say(*sentences: str, style: str = "") -> None:
        for sentence in sentences:
            screen.print(text(screen, sentence, style=style))
        screen.print()

    first, _, *rest = found.sentences()
    say(first, *rest)
    if lost is not None:
        say("Scores with one setting for all environments:", style="bold")
    print_evaluation(judged, by_environment=False)
    if lost is not None:
        screen.print()
        say("Least tuning per environment: who loses least by one setting for all?", style="bold")
        say(*found.losses())
        print_evaluation(lost, by_environment=False)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(f"--iteration-weights {text!r}: write numbers with commas between them, 3,2,1") from None
