"""``untuned collect`` and ``untuned run``: from a study's file to scores that nobody can lose, and to a ranking."""

import json
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.cli.evaluate import print_evaluation
from untuned.cli.judging_options import takes_records
from untuned.cli.terminal import showing_progress
from untuned.errors import InvalidInput
from untuned.judge.judging import Judging

if TYPE_CHECKING:
    from untuned.api import Collected
    from untuned.collect.study import Study

StudyFile = Annotated[Path, typer.Argument(help="The study's TOML file; untuned new writes one.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Where results go; by default beside the file.")
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", help="Trials per cell, instead of the file's; an environment's own number stays."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Trials at the same time; by default one per processor.")
]
Engine = Annotated[str, typer.Option("--engine", metavar="local|ray", help="This machine, or a Ray cluster.")]
RayAddress = Annotated[
    str | None, typer.Option("--ray-address", help="Of a running cluster; without it Ray starts one on this machine.")
]
ShardText = Annotated[
    str | None,
    typer.Option("--shard", metavar="PART/PARTS", help="Only this part of the trials; untuned merge joins parts."),
]
KeepBoth = Annotated[
    bool, typer.Option("--keep-both", help="Keep what was changed beside what it was, under a name of its own.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors and the result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what came out as JSON.")]


def collect(
    study: StudyFile,
    out: Out = None,
    trials: Trials = None,
    workers: Workers = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    shard: ShardText = None,
    keep_both: KeepBoth = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run the trials of a study; what is finished stays, and the same command goes on."""
    wanted = _study(study, trials)
    collected = _collected(study, wanted, out, workers, engine, ray_address, shard, keep_both, quiet or as_json)
    if as_json:
        typer.echo(json.dumps(collected.facts(), indent=2))
    elif not quiet and collected.complete:
        folder = collected.folder
        typer.echo(f"{collected.stored:,} trials are in {folder}. Next: untuned evaluate {shlex.quote(str(folder))}")
    end_unless_complete(collected)


@takes_records
def run(
    study: StudyFile,
    out: Out = None,
    trials: Trials = None,
    workers: Workers = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    keep_both: KeepBoth = False,
    *,
    judging: Judging,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run the trials of a study, then rank its algorithms with intervals."""
    from untuned.api import check_evaluation, evaluate

    wanted = _study(study, trials)
    # Before hours of trials, not after them.
    check_evaluation(wanted, judging)
    collected = _collected(study, wanted, out, workers, engine, ray_address, None, keep_both, quiet or as_json)
    end_unless_complete(collected)
    with showing_progress() as progress:
        found = evaluate(collected.folder, judging=judging, workers=workers, progress=progress)
    if as_json:
        typer.echo(found.to_json())
    else:
        print_evaluation(found, by_environment=False)
        if not quiet:
            folder = collected.folder
            typer.echo(
                f"\nThe trials are in {folder}. Next: untuned report {shlex.quote(str(folder))} --out report.html"
            )


def _study(path: Path, trials: int | None) -> "Study":
    import dataclasses

    from untuned.collect.study import Study

    study = Study.read(path)
    return study if trials is None else dataclasses.replace(study, trials=trials)


def _collected(
    path: Path,
    study: "Study",
    out: Path | None,
    workers: int | None,
    engine: str,
    ray_address: str | None,
    shard: str | None,
    keep_both: bool,
    quiet: bool,
) -> "Collected":
    from untuned.api import collect_scores, default_folder
    from untuned.cli.progress import display
    from untuned.collect.engines.schedule import Shard

    part = None if shard is None else Shard.parse(shard)
    with interruptible() as stop, display(quiet) as watch:
        return collect_scores(
            study,
            out or default_folder(path, part),
            workers=workers,
            engine=engine,
            ray_address=ray_address,
            shard=part,
            keep_both=keep_both,
            stop=stop,
            watch=watch,
        )


def end_unless_complete(collected: "Collected") -> None:
    """Say how to go on, if there is something left to do."""
    if not collected.complete:
        typer.echo(
            f"stopped: {collected.stored:,} of {collected.wanted:,} trials are kept in {collected.folder}. The same "
            "command goes on from there.",
            err=True,
        )
        raise typer.Exit(130)


@contextmanager
def interruptible() -> "Iterator[Any]":
    """Yield a function that says whether Ctrl-C was pressed; pressed twice, it ends everything at once."""
    asked = threading.Event()
    former = {}

    def hear(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        with suppress(OSError, ValueError, AttributeError):
            print("\nstopping; what is finished is kept ...", file=sys.stderr, flush=True)

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
# Stop it with Ctrl-C whenever you like: finished trials stay, and the same command goes on.

name = {name}
seed = 1                       # decides, with names and numbers, all that is random
trials = 100                   # per algorithm and environment; raise it later to go on

# `untuned list algorithms`; one of your own is "module:function", looked for beside this file.
algorithms = [
  "sarsa-parl2",
  "sarsa-s",
  "q-s",
  # {{ use = "my_agents:train", name = "mine" }},
  # "sb3-ppo",                 # needs: pip install 'untuned[sb3]'
]

# `untuned list environments`; options and numbers of trials go into a table.
environments = [
  "chain-10-stochastic",
  "gridworld-5-stochastic",
  # {{ name = "cart-pole", trials = 20 }},
  # Any Gymnasium environment, for algorithms written in Python:
  # {{ gymnasium = "CartPole-v1", episodes = 100, score_range = [0, 500] }},
]

metric = "average-return"      # or "final-return", "last-10", "module:function" of the episodes' returns
keep = "scores"                # "returns" keeps the return of every episode, for learning curves
failures = "worst"             # a trial that fails counts the environment's worst score; "error": judge nothing yet
# time_limit = 600             # seconds after which a trial in Python has failed
"""


def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("study.toml"),
) -> None:
    """Write an example of a study, with comments."""
    if path.suffix != ".toml":
        better = path.with_name("study.toml" if path.name == ".toml" else f"{path.name}.toml")
        raise InvalidInput(f"{path} is no name of a TOML file, which a study is: write untuned new {better}")
    try:
        with path.open("x", encoding="utf-8") as file:
            # A text of JSON is one of TOML, whatever characters the file's name has.
            file.write(_EXAMPLE.format(file=path, name=json.dumps(path.stem, ensure_ascii=False)))
    except FileExistsError:
        raise InvalidInput(f"{path} is there already: choose another name, or remove it first") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    typer.echo(f"wrote {path}. Next: untuned run {path}")
