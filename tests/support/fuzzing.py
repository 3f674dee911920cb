"""Files of scores with mistakes in them, and what a strict reading makes of them.

    python tests/support/fuzzing.py [--minutes M] [--seed N] [--keep FOLDER] [--only KIND ...]

changes files at random until the time is over and stops at the first that is read differently from the slow, obvious
programs in `oracle.reference`, or that makes the reader fail in another way than by saying what is wrong.
"""

import argparse
import gzip
import json
import math
import random
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from oracle.reference import separated
from untuned.adapters.score_files import delimited, json_lines, parquet
from untuned.adapters.score_files.column_names import Chosen, chosen_columns
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

#: What is put into files: what separates, quotes, ends and looks like a number and is none.
TOKENS = [
    *(b'"', b'""', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b" ", b"'", b"\\", b"\0", b"#"),
    *("\ufeff".encode(), "\u202e".encode(), "\u00a0".encode(), "\u2028".encode(), b"\xff", b"\xc3", b"\x1a", b"\x0b"),
    *(
        b"1_000",
        "\uff11\uff12".encode(),
        "\u0663".encode(),
        b"1,5",
        b"0x10",
        b"1e999",
        b"-0",
        b"+1",
        b".5",
        b"5.",
        b"1e",
        b"--1",
    ),
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"null", b"NA", b"None", b"true", b"1d5", b"1f", b"9" * 400, b"1e-400"),
    *(b"{", b"}", b"[", b":", b'\\"', b"\\ud800", b"\\u0041", b'"score":1,', b"score", b"algorithm", b"=1+1"),
]


#: What is changed without end. Of some ten thousand damaged Parquet files, polars asks for impossible amounts of
#: memory for one, which ends the process.
UNENDING = ("csv", "tsv", "jsonl", "gz")


@dataclass(frozen=True, eq=False)
class Point:
    """A row as a reader gave it, or as it should be."""

    number: int
    names: tuple[str, ...]
    numbers: tuple[float, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What is compared: all of it, with numbers by their digits."""
        return self.number, self.names, tuple(each.hex() for each in self.numbers)


Oracle = Callable[[bytes], list[Point]]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    suffix
        The ending of its name.
    bases
        Files without mistakes.
    read
        The reader.
    oracle
        The rows that a file has; raises `Malformed` where it is no table. None where only another reader can say.
    strict
        Whether the reader must read whatever the oracle does.
    """

    suffix: str
    bases: tuple[bytes, ...]
    read: Callable[[File, Reading], Iterator[Rows]]
    oracle: Oracle
    strict: bool = True


class Wrong(AssertionError):
    """A reader gave what is not in the file, or failed without saying why."""


def points(parts: Iterator[Rows]) -> list[Point]:
    """Return the rows that a reader yields, one by one."""
    found = []
    for part in parts:
        columns = [_texts(part.algorithm), _texts(part.environment)]
        if isinstance(part.run, Mapping):
            columns += [_texts(each) for each in part.run.values()]
        numbers = [part.score.tolist(), *([] if part.step is None else [part.step.tolist()])]
        size = part.score.size
        counted = range(part.first, part.first + size) if part.numbers is None else part.numbers.tolist()
        for row, number in zip(range(size), counted, strict=True):
            found.append(
                Point(number, tuple(each[row] for each in columns), tuple(float(each[row]) for each in numbers))
            )
    return found


def _texts(column: Any) -> list[str]:
    names, codes = column
    return [names[code] for code in codes.tolist()]


def _positions(header: Sequence[str]) -> tuple[list[int], list[int]] | None:
    """Return where names and numbers are; which columns are which is not what is looked into here."""
    try:
        chosen = chosen_columns(header, Reading(), "the table", lambda: [])
    except InvalidInput:
        return None
    return _roles(chosen)


def _roles(chosen: Chosen) -> tuple[list[int], list[int]]:
    named = [chosen.roles["algorithm"], chosen.roles["environment"]]
    named += [each for group in chosen.runs.values() for each in group]
    return named, [chosen.roles["score"], *([chosen.roles["step"]] if "step" in chosen.roles else [])]


def separated_points(separators: str) -> Oracle:
    """Return the oracle of CSV and TSV."""

    def found(data: bytes) -> list[Point]:
        rows = separated.rows(data, separators, _positions)
        for row in rows:
            if not all(map(math.isfinite, row.numbers[1:])):
                raise separated.Malformed("no step")
        return [Point(row.number, row.names, row.numbers) for row in rows]

    return found


def object_points(data: bytes) -> list[Point]:
    """Return the rows of JSON lines."""
    objects = []
    for count, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            objects.append((count, _object(line)))
    header = list(dict.fromkeys(key for _, each in objects for key in each))
    places = _positions(header)
    if places is None:
        raise separated.Malformed("no columns")
    found = []
    for count, each in objects:
        names = tuple(_name(each.get(header[place])) for place in places[0])
        numbers = tuple(_number(each.get(header[place])) for place in places[1])
        if not all(name.strip() for name in names) or not all(map(math.isfinite, numbers[1:])):
            raise separated.Malformed("no name, or no step")
        found.append(Point(count, names, numbers))
    if not found:
        raise separated.Malformed("no rows")
    return found


def _object(line: bytes) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise separated.Malformed("a key twice")
        return dict(pairs)

    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=once)
    except ValueError as error:
        raise separated.Malformed(str(error)) from None
    if not isinstance(found, dict):
        raise separated.Malformed("no object")
    for text in (*found, *found.values()):
        if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise separated.Malformed("half a character")
    return found


def _name(value: object) -> str:
    if value is None:
        raise separated.Malformed("no name")
    return value if isinstance(value, str) else json.dumps(value)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str):
        return separated.number(value)
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            pass
    raise separated.Malformed("no number")


def arrow_points(data: bytes) -> list[Point]:
    """Return the rows of a Parquet file as another library reads it."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise separated.Malformed(str(error)) from None
    places = _positions(table.column_names)
    if places is None:
        raise separated.Malformed("no columns")
    names, numbers = ([table.column(each).to_pylist() for each in group] for group in places)
    return [
        Point(
            row + 1,
            tuple(_text(each[row]) for each in names),
            tuple(math.nan if each[row] is None else float(each[row]) for each in numbers),
        )
        for row in range(table.num_rows)
    ]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def unpacked(oracle: Oracle) -> Oracle:
    """Return the oracle of packed files."""

    def found(data: bytes) -> list[Point]:
        try:
            return oracle(gzip.decompress(data))
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise separated.Malformed(str(error)) from None

    return found


_PLAIN = b"algorithm,environment,score\nsarsa,cart-pole,1.5\nq,cart-pole,-2\nsarsa,acrobot,3e2\nq,acrobot,\n"
_QUOTED = (
    b'"algorithm","environment",run,"score",note\n"a ""b"" c",x,1,1.5,"one\ntwo"\n"d,e",x,2,2.5,\n'
    b'"f\nq,x,3,9\ng","y",3,3.5,"\n"\n"h\r\ni",y,4,"4.5",";"\n'
)
_CURVES = b"algo;env;seed;step;return\n" + b"".join(
    b"%s;%s;%d;%d;%d.25\n" % (a, e, s, t, t * s) for a in (b"a", b"b") for e in (b"x",) for s in (1, 2) for t in (0, 9)
)
_CSV = (
    _PLAIN,
    _PLAIN.replace(b"\n", b"\r\n"),
    _PLAIN.replace(b"\n", b"\r"),
    b"\xef\xbb\xbf\n \n" + _PLAIN.replace(b"\nq", b"\n\n\nq") + b"\n\n",
    _PLAIN.replace(b",", b", ").replace(b"\n", b" \n").replace(b" environment, score ", b"environment,score"),
    _QUOTED,
    _QUOTED * 1 + b'"k""","""z",5,"",""\n' * 9,
    _CURVES,
    _PLAIN.rstrip(b"\n"),
    "algorithm,environment,score\n\u00e4\u4e2d,\u202ex,1\n\U0001f600,y,2\n".encode(),
)
_JSON = (
    b'{"algorithm": "a", "environment": "x", "score": 1.5}\n{"algorithm": "b", "environment": "x", "score": -2}\n',
    b'{"algo":"a","env":"x","seed":1,"step":0,"return":1}\n\n{"algo":"a","env":"x","seed":1,"step":5,"return":"2.5"}\n',
    b'\xef\xbb\xbf{"score":null,"algorithm":"\\u00e4","environment":"y","z":{"a":[1,2]}}\r\n'
    b'{"score":1e3,"algorithm":2,"environment":"y","z":[]}',
)


def _parquets() -> tuple[bytes, ...]:
    import io

    import polars

    frame = polars.DataFrame(
        {"algorithm": ["a", "b"] * 20, "environment": ["x"] * 20 + ["y"] * 20, "score": [k / 8 for k in range(40)]}
    )
    found = []
    for options in ({"compression": "uncompressed"}, {"compression": "zstd", "row_group_size": 10}):
        file = io.BytesIO()
        frame.write_parquet(file, **options)
        found.append(file.getvalue())
    return tuple(found)


def kinds() -> dict[str, Kind]:
    """Return every kind of file, by name."""
    csv = separated_points(",;\t")
    return {
        "csv": Kind(".csv", _CSV, delimited.read_delimited, csv),
        "tsv": Kind(
            ".tsv",
            tuple(each.replace(b"\t", b" ").replace(b",", b"\t").replace(b";", b"\t") for each in _CSV),
            delimited.read_delimited,
            separated_points("\t"),
        ),
        "jsonl": Kind(".jsonl", _JSON, json_lines.read_json_lines, object_points),
        "gz": Kind(
            ".csv.gz",
            tuple(gzip.compress(each, mtime=0) for each in _CSV[:6]),
            delimited.read_delimited,
            unpacked(csv),
        ),
        "parquet": Kind(".parquet", _parquets(), parquet.read_parquet, arrow_points, strict=False),
    }


def mutated(stream: random.Random, data: bytes) -> bytes:
    """Return a file with one to four mistakes."""
    for _ in range(stream.choice((1, 1, 2, 3, 4))):
        at = stream.randrange(len(data) + 1)
        other = min(len(data), at + stream.choice((1, 1, 2, 5, 30)))
        changes: tuple[Callable[[bytes, int, int], bytes], ...] = (
            lambda d, a, b: d[:a] + stream.choice(TOKENS) + d[a:],
            lambda d, a, b: d[:a] + stream.choice(TOKENS) + d[b:],
            lambda d, a, b: d[:a] + stream.choice(TOKENS) + d[a:b] + stream.choice(TOKENS) + d[b:],
            lambda d, a, b: d[:a] + d[b:],
            lambda d, a, b: d[:a] + d[a:b] * 2 + d[b:],
            lambda d, a, b: d[:a] + bytes([stream.randrange(256)]) + d[a + 1 :],
            lambda d, a, b: (
                d[:a] + bytes([b"".join((d[a : a + 1], b"\0"))[0] ^ (1 << stream.randrange(8))]) + d[a + 1 :]
            ),
            lambda d, a, b: d[:a],
            lambda d, a, b: d + b"\n" + stream.choice(d.split(b"\n")),
            lambda d, a, b: b"\n".join(sorted(d.split(b"\n"), key=lambda line: stream.random())),
        )
        data = stream.choice(changes)(data, at, other)
    return data


def longest(data: bytes) -> int:
    """Return the length of the longest record of a table that is well formed, with the end of its line."""
    text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    masked = re.sub(rb'"[^"]*"', lambda found: b"-" * len(found[0]), text)
    return max(map(len, masked.replace(b"\r", b"\n").split(b"\n"))) + 2


def check(kind: Kind, data: bytes, folder: Path) -> bool:
    """Hold what a reader makes of a file against the oracle, and return whether it was read.

    Raises
    ------
    Wrong
        Where the reader read something else, refused what it has to read, or failed in another way.
    """
    path = folder / f"mutated{kind.suffix}"
    path.write_bytes(data)
    try:
        wanted: list[Point] | None = kind.oracle(data)
    except separated.Malformed:
        wanted = None
    try:
        found = points(kind.read(File(path, path.name), Reading()))
    except InvalidInput as error:
        if path.name not in str(error):
            raise Wrong(f"the message does not name the file: {error}\n{data!r}") from None
        # In pieces of some bytes, records are too long that are not.
        if wanted is not None and kind.strict and longest(data) <= delimited.PIECE:
            raise Wrong(f"refused: {error}\n{data!r}") from None
        return False
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Wrong(f"{type(error).__name__}: {error}\n{data!r}") from error
    if wanted is None and kind.strict:
        raise Wrong(f"read, though it is no table: {[each.key for each in found]}\n{data!r}")
    if wanted is not None and [each.key for each in found] != [each.key for each in wanted]:
        raise Wrong(f"read {[each.key for each in found]}\nnot {[each.key for each in wanted]}\n{data!r}")
    return True


def main() -> None:
    """Change files until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where to keep files that were read wrongly, and go on")
    parser.add_argument("--only", nargs="+", choices=list(kinds()), default=list(UNENDING), help="kinds of files")
    options = parser.parse_args()
    stream = random.Random(options.seed)
    found = {name: kind for name, kind in kinds().items() if name in options.only}
    end = time.monotonic() + 60 * options.minutes
    counts = {name: [0, 0, 0] for name in found}
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            name = stream.choice(list(found))
            kind = found[name]
            data = mutated(stream, stream.choice(kind.bases))
            delimited.PIECE = stream.choice((64, 64, 100, 1000, 16 << 20))
            try:
                counts[name][check(kind, data, Path(folder))] += 1
            except Wrong as error:
                counts[name][2] += 1
                print(f"{name} (pieces of {delimited.PIECE} bytes): {error}\n", flush=True)
                if options.keep is None:
                    sys.exit(1)
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{sum(counts[name])}{kind.suffix}").write_bytes(data)
    for name, (refused, read, wrong) in counts.items():
        print(f"{name:8} {refused + read + wrong:,} files: {read:,} read, {refused:,} refused, {wrong:,} wrongly")
    sys.exit(any(wrong for _, _, wrong in counts.values()))


if __name__ == "__main__":
    main()
