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
    from untuned.cli.coverage_tables import print_coverage
    from untuned.lab.figures import coverage_figure

    print_coverage(found, rows=rows)
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
    from untuned.cli.coverage_tables import print_replication
    from untuned.lab.figures import replication_figure

    print_replication(found)
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
