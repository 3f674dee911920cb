"""Files of scores, stores and studies with mistakes in them, and what a strict reading makes of them.

    python tests/support/fuzzing.py [--minutes M] [--seed N] [--keep FOLDER] [--only KIND ...]

changes files at random until the time is over and stops at the first that is read differently from the slow, obvious
programs in `oracle.reference`, or that makes the reader fail in another way than by saying what is wrong. A store
must give the scores that it had before the change, or be refused; a study must be what Python's own reader makes of it.
"""

import argparse
import contextlib
import gzip
import json
import math
import random
import re
import sys
import tempfile
import time
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from oracle.reference import separated
from support import stores
from untuned.adapters.score_files import delimited, json_lines, parquet
from untuned.adapters.score_files.column_names import Chosen, chosen_columns
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.collect.resolve import resolve
from untuned.collect.store.store import RESULTS_NAME
from untuned.collect.study import Study
from untuned.errors import InvalidInput, UntunedError

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
UNENDING = ("csv", "tsv", "jsonl", "gz", "store", "study")


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
        Whether the reader must read everything that the oracle reads.
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


class Stores:
    """Stores with changed bytes.

    Parameters
    ----------
    folder
        Where to make one.
    """

    suffix = ".sqlite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "store"
        stores.made(self._folder, trials=25)
        self.base = (self._folder / RESULTS_NAME).read_bytes()
        self._right = stores.outcome(self._folder)
        self._trials = stores.labelled(self._folder)

    def mutated(self, stream: random.Random) -> bytes:
        """Return the store with one to four changes of bits, bytes, blocks or its length."""
        data = bytearray(self.base)
        for _ in range(stream.choice((1, 1, 2, 4))):
            at, size = stream.randrange(len(data)), stream.choice((1, 2, 8, 100, 4096))
            what = stream.randrange(8)
            if what < 4:
                data[at] ^= 1 << stream.randrange(8)
            elif what == 4:
                data[at : at + size] = stream.randbytes(len(data[at : at + size]))
            elif what == 5:
                data[at : at + size] = bytes(len(data[at : at + size]))
            elif what == 6:
                other = stream.randrange(len(data))
                size = min(size, len(data) - max(at, other))
                data[at : at + size] = data[other : other + size]
            elif stream.randrange(10) == 0:
                del data[max(at, 200) :]
        return bytes(data)

    def check(self, data: bytes) -> bool:
        """Return whether a store was read; raises `Wrong` for other scores, another trial or another error."""
        for each in self._folder.iterdir():
            each.unlink()
        (self._folder / RESULTS_NAME).write_bytes(data)
        scores = _tried(lambda: stores.outcome(self._folder))
        trials = _tried(lambda: stores.labelled(self._folder))
        if scores not in (None, self._right) or trials not in (None, self._trials):
            raise Wrong("other scores or trials than were stored")
        return scores is not None


def _tried(read: Callable[[], Any]) -> Any:
    """Return what a reader returns; None where it refuses."""
    try:
        return read()
    except UntunedError:
        return None
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}") from error


_STUDIES: tuple[bytes, ...] = (
    b'name = "x"\ntrials = 10\nalgorithms = ["sarsa", "q"]\nenvironments = ["cart-pole"]\n',
    b"name = 'a \xc3\xa4'\nseed = 1_000\ntrials = 0x10\nkeep = \"returns\"\nfailures = 'error'\ntime_limit = 2.5e0\n"
    b'isolate = true\nprecision = "float32"\nmetric = "last-10"\nscore_range = [0, 1]\n[[algorithms]]\nuse = "ppo"\n'
    b'name = "mine"\n[[environments]]\nname = "chain-10-stochastic"\ntrials = 5\n[[environments]]\nname = "cart-pole"\n'
    b"randomize = false\n",
    b'trials=3\nname="""x\ny"""\nalgorithms=[\n"sarsa", # one\n{use="q",name="r"},\n]\n'
    b'environments=[{name="acrobot"}]\n',
)
_TOML: tuple[bytes, ...] = (
    *(b'"""', b"'''", b"[[", b"]]", b"{ ", b" }", b" = ", b".", b"#", b"\\u0000", b"\\ud800", b"\\x", b"2020-01-01"),
    *(b"true", b"inf", b"-nan", b"0b1", b"9" * 5000, b"[" * 3000, b"a." * 3000, b"{a=" * 3000, b"1e999", b"[[[]]]"),
    *(
        b"algorithms",
        b"environments",
        b"trials",
        b"use",
        b"name",
        b"gymnasium",
        b'"sarsa"',
        b"= []",
        b"= {}",
        b'= [""]',
    ),
)
#: Settings of a study that are kept as they are written.
_SETTINGS = ("name", "seed", "trials", "keep", "failures", "isolate", "precision", "metric", "time_limit")


class Studies:
    """Files of studies with mistakes in them.

    Parameters
    ----------
    folder
        Where to write them.
    """

    suffix = ".toml"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "mutated.toml"

    def mutated(self, stream: random.Random) -> bytes:
        """Return a study with mistakes."""
        data: bytes = stream.choice(_STUDIES)
        if stream.randrange(2):
            at = stream.randrange(len(data))
            data = data[:at] + stream.choice(_TOML) + data[at + stream.choice((0, 0, 1, 4)) :]
            if stream.randrange(3):
                return data
        return mutated(stream, data)

    def check(self, data: bytes) -> bool:
        """Return whether a file was read as a study; raises `Wrong` for another study than it has."""
        self._path.write_bytes(data)
        try:
            text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
            wanted = tomllib.loads(text)
        except (ValueError, RecursionError):
            text, wanted = "", {}
        try:
            study = Study.read(self._path)
            # Names alone: what has a colon is a module of the user, and would be imported.
            if not any(word in text for word in (":", "gymnasium", "sb3")):
                with contextlib.suppress(UntunedError):
                    resolve(study)
        except InvalidInput as error:
            if self._path.name not in str(error):
                raise Wrong(f"the message does not name the file: {error}") from None
            return False
        except Exception as error:
            raise Wrong(f"{type(error).__name__}: {error}\n{data!r}") from error
        if not wanted:
            raise Wrong(f"read, though it is not TOML: {study}")
        same = all(getattr(study, key) == value for key, value in wanted.items() if key in _SETTINGS)
        for key, chosen in (("algorithms", study.algorithms), ("environments", study.environments)):
            same = same and [each.use for each in chosen] == [_use(each) for each in wanted[key]]
        if not same:
            raise Wrong(f"read {study}, not {wanted}")
        return True


def _use(written: Any) -> Any:
    if not isinstance(written, dict):
        return written
    return next(written[way] for way in ("gymnasium", "use", "name") if way in written)


@dataclass(frozen=True, eq=False)
class Tables:
    """Files of scores of a kind, with mistakes in them."""

    kind: Kind
    folder: Path

    @property
    def suffix(self) -> str:
        """The ending of a file's name."""
        return self.kind.suffix

    def mutated(self, stream: random.Random) -> bytes:
        """Return a file with mistakes, to be read in pieces of some size."""
        delimited.PIECE = stream.choice((64, 64, 100, 1000, 16 << 20))
        return mutated(stream, stream.choice(self.kind.bases))

    def check(self, data: bytes) -> bool:
        """Return whether a file was read, as `check`."""
        return check(self.kind, data, self.folder)


def main() -> None:
    """Change files until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where to keep files that were read wrongly; continue then")
    parser.add_argument(
        "--only", nargs="+", choices=[*kinds(), "store", "study"], default=list(UNENDING), help="kinds of files"
    )
    options = parser.parse_args()
    stream = random.Random(options.seed)
    end = time.monotonic() + 60 * options.minutes
    counts = {name: [0, 0, 0] for name in options.only}
    with tempfile.TemporaryDirectory() as folder:
        targets: dict[str, Tables | Stores | Studies] = {
            name: Tables(kind, Path(folder)) for name, kind in kinds().items()
        }
        targets |= {"store": Stores(Path(folder)), "study": Studies(Path(folder))}
        while time.monotonic() < end:
            name = stream.choice(options.only)
            data = targets[name].mutated(stream)
            try:
                counts[name][targets[name].check(data)] += 1
            except Wrong as error:
                counts[name][2] += 1
                print(f"{name} (pieces of {delimited.PIECE} bytes): {error}\n", flush=True)
                if options.keep is None:
                    sys.exit(1)
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{sum(counts[name])}{targets[name].suffix}").write_bytes(data)
    for name, (refused, read, wrong) in counts.items():
        print(f"{name:8} {refused + read + wrong:,} files: {read:,} read, {refused:,} refused, {wrong:,} wrongly")
    sys.exit(any(wrong for _, _, wrong in counts.values()))


if __name__ == "__main__":
    main()
