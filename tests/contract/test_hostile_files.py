"""Any file is read or refused: one message, no traceback, no hang, in bounded memory."""

import gzip
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars
import pytest

import untuned
from support.calling import Call, caller
from support.programs import environment
from untuned.errors import InvalidInput

HEADER = "algorithm,environment,score\n"
ROWS = [(a, e, f"{number}.5") for a in "ab" for e in "xy" for number in range(3)]
TABLE = HEADER + "".join(f"{a},{e},{score}\n" for a, e, score in ROWS)
OBJECTS = "".join(f'{{"algorithm":"{a}","environment":"{e}","score":{score}}}\n' for a, e, score in ROWS)
MEGABYTE = 1 << 20
#: Megabytes that a process may use at its peak, and how long it may take before it counts as hanging.
MOST_MEMORY = 600
PATIENCE = 300

#: Runs the program and tells its peak of memory last, on the error stream.
METERED = (
    "import sys; sys.argv[0] = 'untuned'\n"
    "from recording import peak\n"
    "from untuned.cli.main import main\n"
    "try: main()\n"
    "finally: print('peak', peak(), file=sys.stderr)\n"
)


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "evaluate")


def refused(call: Call, *arguments: str | Path, most: int = 3000) -> str:
    """Return the one message with which the program refused."""
    said = call(*arguments)
    assert said.code == 2, said.err
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert len(said.err) < most
    assert not any(ord(sign) < 32 and sign != "\n" for sign in said.err)
    return said.err


@dataclass(frozen=True)
class Ended:
    code: int
    err: str
    megabytes: float


def in_a_process(*arguments: str | Path, stdin: int | None = None) -> Ended:
    """Run ``untuned evaluate`` in a separate process, and measure its memory."""
    finished = subprocess.run(
        [sys.executable, "-c", METERED, "evaluate", *map(str, arguments)],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        capture_output=True,
        env=environment(PYTHONPATH=os.pathsep.join(sys.path)),
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    message, _, peak = finished.stderr.strip().rpartition("peak ")
    assert "Traceback" not in message
    assert "internal error" not in message
    return Ended(finished.returncode, message, int(peak) / MEGABYTE)


def refused_in_bounds(*arguments: str | Path, stdin: int | None = None, most: float = MOST_MEMORY) -> str:
    ended = in_a_process(*arguments, stdin=stdin)
    assert ended.code == 2, ended.err
    assert ended.megabytes < most
    assert len(ended.err) < 3000
    return ended.err


# Not regular files


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    # The name of a socket may have about a hundred characters: bound from its folder.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _itself(path: Path) -> None:
    path.symlink_to(path.name)


def _circle(path: Path) -> None:
    other = path.with_name("other.csv")
    path.symlink_to(other)
    other.symlink_to(path)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere.csv")


def _to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


SPECIAL: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe without a writer": (_fifo, "is a pipe"),
    "a socket": (_socket, "not a regular file"),
    "a link to itself": (_itself, "symbolic links"),
    "a circle of links": (_circle, "symbolic links"),
    "a link to nothing": (_dangling, "is a link to 'nowhere.csv', which is not there"),
    "a link to a device": (_to_a_device, "not a regular file"),
    "a folder with the name of a table": (Path.mkdir, "there are no files in"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_regular_file(kind: str, evaluate: Call, tmp_path: Path) -> None:
    make, message = SPECIAL[kind]
    make(tmp_path / "x.csv")
    said = refused(evaluate, tmp_path / "x.csv")
    assert "x.csv" in said
    assert message in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "/proc/self/pagemap"])
def test_devices(path: str, evaluate: Call) -> None:
    assert Path(path).name in refused(evaluate, path)


@pytest.mark.parametrize("path", ["a\0b.csv", "~no-such-user/x.csv", "x" * 5000 + ".csv", "../" * 2000 + "no-such.csv"])
def test_paths_that_cannot_be(path: str, evaluate: Call) -> None:
    refused(evaluate, path, most=20_000)
    with pytest.raises(InvalidInput):
        untuned.read_scores(path)


def test_dots_in_a_path_are_only_a_path(evaluate: Call, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "x.csv").write_text(TABLE)
    table = untuned.read_scores(tmp_path / "inner" / ".." / "x.csv")
    assert table.provenance["file"] == "x.csv"
    assert "no file" in refused(evaluate, tmp_path / "inner" / ".." / ".." / "no-such-file.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_and_folders_without_access(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(TABLE)
    path.chmod(0)
    assert "x.csv cannot be read: Permission denied" in refused(evaluate, path)
    path.chmod(0o600)
    (tmp_path / "closed").mkdir(mode=0)
    try:
        assert "closed' cannot be read: Permission denied" in refused(evaluate, tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_folder_that_cannot_be_listed_is_not_left_out(
    evaluate: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.csv").write_text(TABLE)
    (tmp_path / "closed").mkdir()
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert "closed' cannot be read: Permission denied" in refused(evaluate, tmp_path)


def test_folders(evaluate: Call, tmp_path: Path) -> None:
    empty, hidden, circle = (tmp_path / name for name in ("empty", "hidden", "circle"))
    for folder in (empty, hidden, circle):
        folder.mkdir()
    (hidden / ".x.csv").write_text(TABLE)
    (hidden / ".git").mkdir()
    (hidden / ".git" / "y.csv").write_text(TABLE)
    assert "there are no files" in refused(evaluate, empty)
    assert "there are no files" in refused(evaluate, hidden)
    (circle / "again").symlink_to("..", target_is_directory=True)
    (circle / "x.csv").write_text(TABLE)
    assert int(untuned.read_scores(circle).trials.sum()) == len(ROWS)


def test_standard_input_of_all_kinds(tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        assert "standard input is neither text nor parquet" in refused_in_bounds("-", stdin=zeros.fileno())
    assert "standard input is empty" in refused_in_bounds("-")
    twice = tmp_path / "twice"
    twice.write_bytes(gzip.compress(gzip.compress(TABLE.encode())))
    with twice.open("rb") as file:
        assert ".gz.gz" in refused_in_bounds("-", stdin=file.fileno())
    with (tmp_path / "x").open("wb+") as file:
        file.write(TABLE.encode())
        file.seek(0)
        assert in_a_process("-", stdin=file.fileno()).code == 0


def test_standard_input_that_is_closed(evaluate: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(evaluate, "-")


# Files that grow


def _bomb(path: Path, first: bytes, chunk: bytes, times: int) -> None:
    with gzip.open(path, "wb") as file:
        file.write(first)
        for _ in range(times):
            file.write(chunk)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zeros", "rows", "a line", "objects", "spaces"])
def test_a_small_file_does_not_grow_without_bounds(kind: str, tmp_path: Path) -> None:
    first, chunk, name = {
        "zeros": (b"", bytes(MEGABYTE), "x.csv.gz"),
        "rows": (HEADER.encode(), b"a,x,1.5\n" * (MEGABYTE // 8), "x.csv.gz"),
        "a line": (HEADER.encode(), b"a" * MEGABYTE, "x.csv.gz"),
        "objects": (b"", b'{"algorithm":"a","environment":"x","score":1}\n' * 20_000, "x.jsonl.gz"),
        "spaces": (b"", b" " * (MEGABYTE - 1) + b"\n", "x.csv.gz"),
    }[kind]
    path = tmp_path / name
    _bomb(path, first, chunk, 1100)
    assert path.stat().st_size < 12 * MEGABYTE
    # Up to the bound the rows are read and kept.
    assert name in refused_in_bounds(path, most=2 * MOST_MEMORY)


@pytest.mark.slow
def test_a_parquet_file_of_equal_rows_does_not_grow_without_bounds(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    rows = 60_000_000
    frame = polars.select(
        algorithm=polars.repeat("a", rows), environment=polars.repeat("x", rows), score=polars.repeat(1.0, rows)
    )
    frame.write_parquet(path)
    assert "rows in" in refused_in_bounds(path)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.tsv"])
@pytest.mark.parametrize("begins", [b"", HEADER.encode()])
def test_a_gigabyte_without_a_line_feed(name: str, begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(begins)
        for _ in range(40):
            file.write(b"y" * MEGABYTE)
        # The rest is a hole, which takes no space.
        file.truncate(1 << 30)
    assert name in refused_in_bounds(path)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.csv.gz"])
def test_a_gigabyte_of_nothing(name: str, tmp_path: Path) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 30)
    assert name in refused_in_bounds(tmp_path / name)


def test_packed_files_that_are_broken(evaluate: Call, tmp_path: Path) -> None:
    packed = gzip.compress(TABLE.encode())
    path = tmp_path / "x.csv.gz"
    cases = {
        b"": "is empty",
        packed[:-9]: "cannot be unpacked",
        packed[:5]: "cannot be unpacked",
        TABLE.encode(): "Not a gzipped file",
        packed[:-6] + b"\xff" * 6: "cannot be unpacked",
        packed + b"garbage": "cannot be unpacked",
        gzip.compress(packed): "packed with gzip twice",
        gzip.compress(b""): "is empty",
    }
    for data, message in cases.items():
        path.write_bytes(data)
        said = refused(evaluate, path)
        assert "x.csv.gz" in said
        assert message in said
    (tmp_path / "y.csv").write_bytes(packed)
    assert "y.csv is packed with gzip" in refused(evaluate, tmp_path / "y.csv")
    # Members one after another are one file, and zeros after them are filling.
    path.write_bytes(packed + gzip.compress(b"a,x,9\n") + bytes(100))
    assert int(untuned.read_scores(path).trials.sum()) == len(ROWS) + 1


# Tables of odd shapes


def test_very_many_columns(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    more = [f"column-{number:09}" for number in range(100_000)]
    for names in ([*more, "algorithm", "environment", "score"], ["algorithm", "environment", "score", *more]):
        place = names.index("algorithm")
        rest = "," * (len(names) - place - 3)
        path.write_text(
            ",".join(names) + "\n" + "".join("," * place + f"{a},{e},{score}{rest}\n" for a, e, score in ROWS)
        )
        assert int(untuned.read_scores(path).trials.sum()) == len(ROWS)
    path.write_text(",".join(more) + "\n" + ",".join(["1"] * len(more)) + "\n")
    assert "99980 more" in refused(evaluate, path)
    path.write_text(",".join(["algorithm", "environment", "score", *["seed"] * 100_000]) + "\na,x,1\n")
    assert int(untuned.read_scores(path).trials.sum()) == 1


def test_very_long_names_and_values(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    name = "n" * 300_000
    path.write_text(TABLE.replace("a,", f"{name},"))
    assert untuned.read_scores(path).algorithms == (name, "b")
    for text, message in (
        (TABLE.replace("1.5", "q" * 3_000_000), "3,000,002 characters"),
        (TABLE.replace("algorithm", "q" * 300_000), "has no column 'algorithm'"),
        (TABLE.replace("a,x", f"{'q' * 300_000},x,1,2"), "has 5 fields"),
        (TABLE.replace("1.5", f'"{"q" * 20_000_000}'), "x.csv"),
    ):
        path.write_text(text)
        assert message in refused(evaluate, path)


def test_long_names_of_runs_take_little_memory(tmp_path: Path) -> None:
    rows = 20_000
    names = [f"{number}{'r' * 50_000 * (number == 0)}" for number in range(rows)]
    frame = polars.DataFrame({"algorithm": "a", "environment": "x", "run": names, "score": 1.5})
    path = tmp_path / "x.csv"
    frame.write_csv(path)
    table = untuned.read_scores(path)
    assert table.runs is not None
    # As long as the longest, all would have 4 GB.
    assert table.runs[0][0].nbytes < 10 * MEGABYTE
    assert table.runs[0][0][1] == "1"


def test_combinations_of_names_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("algorithm,environment,p,q,score\na,x,1 2,3,1\na,x,1,2 3,5\n")
    assert untuned.read_scores(path, run="p,q", reduce="mean").cell("a", "x").tolist() in ([1.0, 5.0], [5.0, 1.0])


@pytest.mark.parametrize("depth", [500, *range(940, 1010, 5), 100_000])
def test_json_of_many_levels(depth: int, evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    nested = "[" * depth + "]" * depth
    path.write_text(OBJECTS + nested + "\n")
    refused(evaluate, path)
    path.write_text(f'{OBJECTS}{{"algorithm":"a","environment":"x","score":{nested}}}\n')
    assert "x.jsonl" in refused(evaluate, path)
    path.write_text(f'{OBJECTS}{{"algorithm":{nested},"environment":"x","score":1}}\n')
    try:
        untuned.read_scores(path)
    except InvalidInput as error:
        assert "x.jsonl" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f'{{"algorithm":"a","environment":"x","score":{"9" * 5000}}}', "thousands of digits"),
        (f'{{"algorithm":"a","environment":"x","score":{"9" * 4000}}}', "not a number"),
        ('{"algorithm":"\\ud800","environment":"x","score":1}', "half of a character"),
        ('{"algorithm":"a","environment":"x","score":1,"\\udfff":1}', "half of a character"),
        ("{" + ",".join(f'"k{k}":1' for k in range(200_000)) + ',"k199999":2}', "'k199999' twice"),
        (f'{{"algorithm":"a","environment":"x","score":"{"q" * 3_000_000}"}}', "not a number"),
        ("[1, 2]", "is list"),
        ("{", "is not JSON"),
    ],
    ids=range(8),
)
def test_json_that_is_odd(line: str, message: str, evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{OBJECTS}{line}\n")
    said = refused(evaluate, path)
    assert message in said
    assert f"{len(ROWS) + 1} of x.jsonl" in said


def test_keys_that_come_late_are_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untuned.adapters.score_files.json_lines._LINES", 4)
    path = tmp_path / "x.jsonl"
    path.write_text(OBJECTS + '{"algorithm":"a","environment":"x","score":1,"seed":7}\n')
    with pytest.raises(InvalidInput, match=r"line 13 of x\.jsonl has the key 'seed', which earlier lines lack"):
        untuned.read_scores(path)
    path.write_text(OBJECTS + '{"algorithm":"a","environment":"x","score":-99,"failure":"diverged","note":1}\n')
    table = untuned.read_scores(path)
    assert table.failed_ae is not None
    assert int(table.failed_ae.sum()) == 1


# Encodings and names


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TABLE.replace("b,y", "b\0,y").encode(), "is not text"),
        (TABLE.encode("utf-16"), "is UTF-16"),
        (TABLE.encode("utf-16-le"), "is not text"),
        (TABLE.encode("utf-32"), "is UTF-16"),
        (TABLE.replace("b,y", "\xe4,y").encode("latin-1"), "is not UTF-8: byte 0xe4 in line 11"),
        (TABLE.encode() + b"\xed\xa0\x80,x,1\n", "is not UTF-8: byte 0xed in line 14"),
        (TABLE.encode() + b"b,x,1\n" * 200_000 + b"b\0,y,1\n", "x.csv is not text: line 200014 has a zero byte"),
    ],
    ids=["null", "utf-16", "utf-16 without mark", "utf-32", "latin-1", "surrogate", "late null"],
)
def test_encodings(data: bytes, message: str, evaluate: Call, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    said = refused(evaluate, tmp_path / "x.csv")
    assert message in said
    assert "x.csv" in said


def test_text_behind_a_quoted_name_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f'{TABLE}a,"x" ,1\n')
    with pytest.raises(InvalidInput, match=r"line 14 of x\.csv cannot be read as CSV: a quotation mark"):
        untuned.read_scores(tmp_path / "x.csv")


ODD = {
    "a formula": "=cmd|' /C calc'!A0",
    "a script": "<script>alert(1)</script>",
    "colours": "\x1b[31mred\x1b[0m\x07",
    "right to left": "\u202eevil\u202c",
    "lines": "one\ntwo\r\nthree",
    "markup": "[bold]b[/bold] {0} %s \\textbf{x}",
    "a path": "../../etc/passwd",
    "many languages": "\u4e2d\u6587 \u0639\u0631\u0628\u064a \U0001f600",
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_names_pass_through_and_do_nothing(kind: str, suffix: str, evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    name = ODD[kind]
    frame = polars.DataFrame(
        {
            "algorithm": [name if a == "a" else a for a, _, _ in ROWS],
            "environment": [e for _, e, _ in ROWS],
            "score": [float(score) for *_, score in ROWS],
        }
    )
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": frame.write_csv,
        ".jsonl": frame.write_ndjson,
        ".parquet": frame.write_parquet,
    }
    writers[suffix](path)
    assert untuned.read_scores(path).algorithms == (name, "b")
    if suffix != ".csv":
        return
    said = evaluate(path, "--json")
    assert said.code == 0
    assert name in json.dumps(said.json, ensure_ascii=False) or name in [*_strings(said.json)]
    for options in ([], ["--pairs", "--by-environment"]):
        said = evaluate(path, *options)
        assert said.code == 0
        assert not any(sign in said.out + said.err for sign in "\x1b\x07\r")


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in (*value, *value.values()) for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return [value] if isinstance(value, str) else []


def test_names_of_files_do_nothing(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x\x1b[31m\x07.csv"
    path.write_text(TABLE)
    said = evaluate(path)
    assert said.code == 0
    assert not any(sign in said.out + said.err for sign in "\x1b\x07")
    path.write_text(TABLE.replace("score", "number"))
    refused(evaluate, path)


def test_a_name_is_not_a_pattern(tmp_path: Path) -> None:
    frame = polars.DataFrame(ROWS, schema=["algorithm", "environment", "score"], orient="row")
    for number, name in enumerate(("a1.parquet", "a[1].parquet", "a*.parquet", "a?.parquet")):
        frame.with_columns(score=polars.lit(float(number))).write_parquet(tmp_path / name)
        table = untuned.read_scores(tmp_path / name)
        assert np.unique(np.concatenate([cell for row in table.cells for cell in row])).tolist() == [number]


def test_a_parquet_file_that_contradicts_itself(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = polars.DataFrame(
        {"algorithm": ["a"] * 60, "environment": ["x"] * 60, "score": [float(number) for number in range(60)]}
    )
    frame.write_parquet(path)
    data = path.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    # The file, its group of rows and its three columns say 60, which Thrift writes as 120.
    places = [at for at in range(begin, len(data)) if data[at : at + 2] == b"\x16\x78"]
    assert len(places) == 5
    for at in places:
        path.write_bytes(data[: at + 1] + b"\x76" + data[at + 2 :])
        assert "x.parquet cannot be read as parquet" in refused(evaluate, path)
    for damaged in (data[:-1], data[:8], data[:-8] + b"\xff\xff\xff\x7fPAR1", data[:begin] + bytes(40) + data[-8:]):
        path.write_bytes(damaged)
        assert "x.parquet cannot be read as parquet" in refused(evaluate, path)
