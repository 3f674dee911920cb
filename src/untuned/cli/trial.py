"""``untuned trial``: one trial of one algorithm in one environment, its hyperparameters and its results."""

import json
import shutil
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from untuned.collect.trial import Trial


def trial(
    algorithm: Annotated[str, typer.Argument(help="An algorithm: untuned list algorithms.", show_default=False)],
    environment: Annotated[
        str,
        typer.Argument(
            help="An environment: untuned list environments, or gymnasium:ID for one of Gymnasium's.",
            show_default=False,
        ),
    ],
    seed: Annotated[int, typer.Option("--seed", help="The study's seed.")] = 0,
    number: Annotated[int, typer.Option("--trial", help="The trial's number, from 0.")] = 0,
    precision: Annotated[
        str, typer.Option("--precision", help="The type of the agent's weights: float64, or float32 for speed.")
    ] = "float64",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON, every episode's return included.")
    ] = False,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the learning curve.")] = False,
) -> None:
    """Run one trial: the same seed, number and names give the same trial, to the bit."""
    from untuned.collect.runner.trial import ForAgents, run_trial

    place: str | ForAgents = environment
    if environment.startswith("gymnasium:"):
        from untuned.adapters.gymnasium.from_gymnasium import from_gymnasium

        place = from_gymnasium(environment.removeprefix("gymnasium:"))
    result = run_trial(algorithm, place, seed=seed, trial=number, precision=precision)
    if as_json:
        typer.echo(json.dumps(result.facts(), indent=2))
    else:
        _print(result)
    if plot:
        _plot(result, aside=as_json)


def _print(result: "Trial") -> None:
    other = "" if result.precision == "float64" else f", {result.precision}"
    typer.echo(f"{result.algorithm} in {result.environment}, seed {result.seed}, trial {result.trial}{other}\n")
    draws = {each.name: _number(each.value) for each in result.draws}
    parameters = {name: _number(value) for name, value in result.dynamics.items()}
    outcome = {
        "score": f"{_number(result.score)}  (mean return of {result.returns.size} episodes of learning)",
        "final return": f"{_number(result.final_return)}  (mean of {result.final_returns.size} more, learning off)",
        "steps": f"{result.steps:,}",
    }
    outcome |= {f"{name} at the end": _number(value) for name, value in result.adapted.items()}
    if result.diverged:
        outcome["diverged"] = "yes: it produced numbers that are not finite; the score still counts"
    if result.failure is not None:
        outcome["failed"] = result.failure
    margin = max(map(len, [*draws, *parameters, *outcome]))
    for heading, lines in (("Hyperparameters drawn", draws), ("Environment drawn", parameters), ("Outcome", outcome)):
        typer.echo(heading)
        for name, value in lines.items() or [("nothing", "")]:
            typer.echo(f"  {name:<{margin}}  {value}".rstrip())


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plot(result: "Trial", aside: bool) -> None:
    """Draw the returns of the learning episodes; with JSON on stderr, so that stdout can be piped."""
    import sys

    from untuned.cli.curve import curve

    stream = sys.stderr if aside else sys.stdout
    try:
        "\u28ff".encode(stream.encoding or "ascii")
        braille = True
    except UnicodeEncodeError:
        braille = False
    width = max(10, min(60, shutil.get_terminal_size((80, 24)).columns - 14))
    columns = 2 * width if braille else width
    what = "Return of each episode" if result.returns.size <= columns else "Returns, neighbouring episodes averaged,"
    typer.echo(f"\n{what} while learning, 1 to {result.returns.size}", err=aside)
    for line in curve(result.returns.tolist(), width, 8, braille):
        typer.echo(line, err=aside)
