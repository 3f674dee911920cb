"""Choosing the files to read, and their readers."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from untuned.adapters.score_files.opening import File, files_below, named_file, standard_input
from untuned.adapters.score_files.reader import Reader
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.registry import RESULTS, TABLES, readers
from untuned.errors import InvalidInput, UnknownName

Chosen = list[tuple[Reader, list[File]]]


def recognised_files(paths: Sequence[str | Path], asked: Reading, ending: ExitStack) -> tuple[Chosen, str]:
    """Return the files to read, by reader, and a text about the skipped files.

    A folder may contain logs and tables made from them: the logs are read, the tables are skipped. Several kinds of
    logs are refused, because they may be records of the same runs.

    Parameters
    ----------
    paths
        Files and folders; ``-`` is standard input.
    asked
        The user's options.
    ending
        Closes the temporary copy of standard input.
    """
    if asked.reader is not None and asked.reader not in [each.name for each in readers()]:
        raise UnknownName("reader", asked.reader, [each.name for each in readers() if each.name != "refused"])
    named: list[File] = []
    below: list[File] = []
    for given in paths:
        path = Path(given).expanduser()
        if str(given) == "-":
            named.append(ending.enter_context(standard_input()))
        elif path.is_dir():
            below += files_below(path)
        else:
            named.append(named_file(path))
    _refuse_twice([*named, *below])
    by_reader: dict[str, list[File]] = {}
    for file in named:
        by_reader.setdefault(_reader(file, asked.reader).name, []).append(file)
    inside: dict[str, list[File]] = {}
    for file in below:
        reader = _claiming(file, asked.reader)
        if reader is not None:
            inside.setdefault(reader.name, []).append(file)
    logs = [name for name in inside if name not in (*TABLES, *RESULTS, "refused")]
    tables = [name for name in inside if name in TABLES]
    results = [name for name in inside if name in RESULTS]
    if len(logs) > 1 or (not logs and len(results) + bool(tables) > 1):
        kinds = logs or [*results, *tables]
        counts = ", ".join(f"{counted(len(inside[name]), _by_name(name))} ({name})" for name in kinds)
        raise InvalidInput(
            f"there are {counts}: they may be several records of the same runs. Say which to read with --reader NAME"
        )
    read = logs or results or tables or list(inside)
    for name in read:
        by_reader[name] = by_reader.get(name, []) + inside[name]
    if not by_reader:
        raise InvalidInput(_about_nothing(paths, len(below)))
    order = [each.name for each in readers()]
    chosen = [(_by_name(name), by_reader[name]) for name in sorted(by_reader, key=order.index)]
    # Logs are always accompanied by settings and models.
    silent = (*read, "refused") if logs else read
    left_out = [counted(len(files), _by_name(name)) for name, files in inside.items() if name not in silent]
    return chosen, " and ".join(left_out)


def _by_name(name: str) -> Reader:
    return next(each for each in readers() if each.name == name)


def _claiming(file: File, chosen: str | None) -> Reader | None:
    """Return the reader of a file; None if there is none."""
    return next((each for each in readers() if (chosen is None or each.name == chosen) and each.claims(file)), None)


def _reader(file: File, chosen: str | None) -> Reader:
    """Return the reader of a file that the user named."""
    found = _claiming(file, chosen)
    if found is not None:
        return found
    if chosen is not None:
        return _by_name(chosen)
    if file.suffix == ".json":
        raise InvalidInput(
            f"{file.name} has a structure that is not known: write "
            "{algorithm: {environment: [one score per run]}} or {algorithm: {environment: {run: score or [curve]}}}, "
            "or a CSV file with the columns algorithm, environment, seed, score"
        )
    name = file.path.name.lower()
    ending = "".join(Path(name).suffixes[-2:] if name.endswith(".gz") else Path(name).suffixes[-1:])
    raise InvalidInput(
        f"{file.name} {f'ends in {ending}' if ending else 'has no suffix'}, which does not say what it is: files of "
        "scores end in .csv, .tsv, .jsonl and .ndjson (each also with .gz), .parquet, .json, .npy and .npz; logs of "
        "other programs are recognised by their names. Say what it is with --reader KIND, or save it as one of these"
    )


def _refuse_twice(files: Sequence[File]) -> None:
    seen: dict[Path, str] = {}
    for file in files:
        path = file.path.resolve()
        if path in seen:
            raise InvalidInput(f"{file.name} was given twice: name every file once")
        seen[path] = file.name


def _about_nothing(paths: Sequence[str | Path], files: int) -> str:
    where = ", ".join(repr(str(each)) for each in paths)
    if not files:
        return f"there are no files in {where}: give a study's folder, or a folder with logs or tables of scores"
    return (
        f"none of the {files:,} files in {where} is a log or a table of scores that is known: untuned reads CSV, "
        "Parquet, JSON, NumPy arrays, and logs of TensorBoard, Stable-Baselines3, W&B, MLflow and others; and "
        "studies, which are folders with results.sqlite in them"
    )


def counted(number: int, reader: Reader | None) -> str:
    """Return how many files of a kind there are, as text: ``"60 TensorBoard files"``."""
    title = "file" if reader is None else reader.title
    return f"{number:,} {title}{'' if number == 1 else 's'}"
