"""The ``untuned`` program: its commands, and how errors are reported."""

import os
import sys
import traceback
from typing import Annotated, Any

import typer
from rich.markup import escape

import untuned
from untuned.cli.check import check
from untuned.cli.collecting import collect, new, run
from untuned.cli.compare_methods import compare_methods
from untuned.cli.coverage import coverage
from untuned.cli.evaluate import evaluate
from untuned.cli.flags import in_flags
from untuned.cli.import_ import import_
from untuned.cli.list import list_
from untuned.cli.plan import plan
from untuned.cli.protocol import protocol
from untuned.cli.race import race
from untuned.cli.report import report
from untuned.cli.reproduce import reproduce
from untuned.cli.results import drop, export, merge, repair, show, status
from untuned.cli.terminal import printable
from untuned.cli.trial import trial
from untuned.errors import UntunedError

_HELP = ["-h", "--help"]

app = typer.Typer(
    name="untuned",
    help="Which reinforcement-learning algorithms perform well across many environments with little or no tuning?",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": _HELP},
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
app.command(name="trial")(trial)
app.command(name="new")(new)
app.command(name="run")(run)
app.command(name="race")(race)
app.command(name="protocol")(protocol)
app.command(name="collect")(collect)
app.command(name="import")(import_)
app.command(name="check")(check)
app.command(name="evaluate")(evaluate)
app.command(name="compare-methods")(compare_methods)
app.command(name="plan")(plan)
app.command(name="report")(report)
app.command(name="status")(status)
app.command(name="show")(show)
app.command(name="export")(export)
app.command(name="merge")(merge)
app.command(name="drop")(drop)
app.command(name="repair")(repair)
app.command(name="coverage")(coverage)
app.command(name="reproduce")(reproduce)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0 on success, 2 for a user's mistake, 1 for a bug in untuned.

    ``untuned check`` exits with 3 where it found something serious.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    # In any position: users who add it after a failure add it at the end.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        # Not standalone: exit codes and error messages are decided here alone. The arguments are passed on for reports,
        # which show the command.
        program = typer.main.get_command(app)
        _readable_help(program)
        code = program(arguments or ["--help"], prog_name="untuned", standalone_mode=False, obj=tuple(arguments))
    except _MISTYPED as error:
        place = error.ctx.command_path if getattr(error, "ctx", None) else "untuned"
        _complain(f"error: {error.format_message()}\nTry '{place} --help'.", debug)
        sys.exit(2)
    except (UntunedError, OSError) as error:
        _complain(f"error: {in_flags(str(error))}", debug)
        sys.exit(2)
    except SystemExit as ending:
        # The reader, for example `head`, closed the pipe. That is not a failure, though the libraries report one.
        if isinstance(ending.__context__, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        raise
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        _complain(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a bug in untuned, not a mistake of yours.\n"
            "Run the command again with --debug and report what it prints.",
            debug,
        )
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _readable_help(program: Any) -> None:
    """Make ``--help`` show flags without the type of their value, which is never typed, and brackets as brackets."""
    for command in (program, *program.commands.values()):
        for each in command.get_params(typer.Context(command, help_option_names=_HELP)):
            if getattr(each, "is_flag", False):
                each.metavar = ""
            if getattr(each, "help", None):
                each.help = escape(each.help)


# What typer raises for a wrong command, option or argument: it exports the kinds, not their root.
_MISTYPED: Any = typer.BadParameter.__mro__[2]


def _complain(message: str, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    else:
        typer.echo(printable(message), err=True)
