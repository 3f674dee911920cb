"""The ``untuned`` program: its commands, and what happens when something goes wrong."""

import os
import sys
from typing import Annotated

import typer

import untuned
from untuned.cli.list import list_
from untuned.errors import UntunedError

app = typer.Typer(
    name="untuned",
    help="Which reinforcement-learning algorithms perform well across many environments with little or no tuning?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"untuned {untuned.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error too.")] = False,
) -> None:
    pass


app.command(name="list")(list_)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0 when all went well, 2 for a user's mistake, 1 for a defect of ours."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Wherever it stands: whoever adds it after a failure adds it at the end.
    debug = "--debug" in arguments
    try:
        app([argument for argument in arguments if argument != "--debug"])
    except UntunedError as error:
        if debug:
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader, `head` for one, has seen enough. Python would complain once more while flushing at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a defect of untuned, not a mistake of yours. Run the command again with --debug and report what "
            "it prints.",
            err=True,
        )
        sys.exit(1)
