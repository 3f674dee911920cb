"""``untuned collect``, ``untuned run`` and ``untuned new``: from a study's file to stored trials, and to a ranking."""

import json
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from untuned.cli.collecting_options import Collecting, Out, Quiet, ShardText, StudyFile, Trials
from untuned.cli.evaluate import print_evaluation
from untuned.cli.judging_options import AsJson, takes_records
from untuned.cli.progress import Display
from untuned.errors import InvalidInput, Stopped
from untuned.judge.judging import Judging


@takes_records
def collect(
    study: StudyFile,
    out: Out = None,
    trials: Trials = None,
    shard: ShardText = None,
    *,
    collecting: Collecting,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run the trials of a study; finished trials are kept, rerun the command to resume."""
    from untuned.api import collect_scores

    with stoppable(quiet or as_json) as (stop, display):
        collected = collect_scores(
            study,
            out,
            shard=shard,
            trials=trials,
            stop=stop,
            watch=display.collecting,
            **vars(collecting),
        )
        if as_json:
            typer.echo(json.dumps(collected.facts(), indent=2))
        collected.check_complete()
    if not quiet and not as_json:
        folder = collected.folder
        typer.echo(f"{collected.stored:,} trials are in {folder}. Next: untuned evaluate {shlex.quote(str(folder))}")


@takes_records
def run(
    study: StudyFile,
    out: Out = None,
    trials: Trials = None,
    *,
    collecting: Collecting,
    judging: Judging,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run the trials of a study, then rank its algorithms with confidence intervals."""
    from untuned import api
    from untuned.collect.study_folders import results_folder

    folder = out or results_folder(study)
    with stoppable(quiet or as_json) as (stop, display):
        found = api.run(
            study,
            folder,
            judging=judging,
            trials=trials,
            stop=stop,
            watch=display.collecting,
            progress=display.judging,
            **vars(collecting),
        )
    if as_json:
        typer.echo(found.to_json())
        return
    print_evaluation(found, by_environment=False)
    if not quiet:
        typer.echo(f"\nThe trials are in {folder}. Next: untuned report {shlex.quote(str(folder))} --out report.html")


@contextmanager
def stoppable(quiet: bool) -> "Iterator[tuple[Callable[[], bool], Display]]":
    """Yield a function that returns whether Ctrl-C was pressed, and a display; once stopped, say how to resume."""
    try:
        with interruptible() as stop, Display(quiet) as display:
            yield stop, display
    except Stopped as stopped:
        typer.echo(f"stopped: {stopped}. Rerun the command to resume.", err=True)
        raise typer.Exit(130) from None


@contextmanager
def interruptible() -> "Iterator[Any]":
    """Yield a function that returns whether Ctrl-C was pressed; pressed twice, it ends the program at once."""
    asked = threading.Event()
    former = {}

    def hear(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        with suppress(OSError, ValueError, AttributeError):
            print("\nstopping; finished trials are stored ...", file=sys.stderr, flush=True)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            former[number] = signal.signal(number, hear)
    try:
        yield asked.is_set
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


_EXAMPLE = """\
# A study: which algorithms, on which environments, how many trials.
#   untuned run {file}        collects, evaluates and prints the ranking
# Stop it with Ctrl-C at any time: finished trials are kept, rerun the command to resume.

name = {name}
seed = 1                       # determines, with names and trial numbers, everything random
trials = 100                   # per algorithm and environment; raise it later to add more

# `untuned list algorithms`; your own is "module:function", looked for next to this file.
algorithms = [
  "sarsa-parl2",
  "sarsa-s",
  "q-s",
  # {{ use = "my_agents:train", name = "mine" }},
  # "sb3-ppo",                 # needs: pip install 'untuned[sb3]'
]

# `untuned list environments`; options and numbers of trials need a table.
environments = [
  "chain-10-stochastic",
  "gridworld-5-stochastic",
  # {{ name = "cart-pole", trials = 20 }},
  # Any Gymnasium environment; compiled algorithms need discrete actions and simple observations:
  # {{ gymnasium = "CartPole-v1", episodes = 100, score_range = [0, 500] }},
]

metric = "average-return"      # or "final-return", "last-10", "module:function" of the episodes' returns
keep = "scores"                # "returns" keeps the return of every episode, for learning curves
failures = "worst"             # a failed trial counts as the environment's worst score; "error": refuse to judge
# time_limit = 600             # seconds after which a trial in Python fails
# memory = "2 GiB"             # a trial in Python that uses more fails
"""


def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("study.toml"),
) -> None:
    """Write an example of a study file, with comments."""
    if path.suffix != ".toml":
        better = path.with_name("study.toml" if path.name == ".toml" else f"{path.name}.toml")
        raise InvalidInput(f"{path} does not end in .toml, as the file of a study does: write untuned new {better}")
    try:
        with path.open("x", encoding="utf-8") as file:
            # A text of JSON is one of TOML, whatever characters the file's name has.
            file.write(_EXAMPLE.format(file=path, name=json.dumps(path.stem, ensure_ascii=False)))
    except FileExistsError:
        raise InvalidInput(f"{path} exists already: choose another name, or remove it first") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    typer.echo(f"wrote {path}. Next: untuned run {path}")
