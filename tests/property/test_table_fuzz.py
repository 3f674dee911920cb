"""A table with mistakes in it is refused, or read as a slow and strict reading has it: never another number."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.reference.separated import Malformed
from support import fuzzing
from untuned.adapters.score_files import delimited
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reading import Reading

KINDS = fuzzing.kinds()
#: Files of each kind and seed; a file takes some milliseconds.
FILES = 250
PIECES = (64, 100, 1000, 16 << 20)
HEADER = b"algorithm,environment,score\n"


@pytest.mark.parametrize("name", KINDS)
def test_files_without_mistakes_are_read(name: str, tmp_path: Path) -> None:
    for base in KINDS[name].bases:
        assert fuzzing.check(KINDS[name], base, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", KINDS)
def test_mistakes_change_no_number(name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = random.Random(f"{name} {seed}")
    for number in range(FILES):
        monkeypatch.setattr(delimited, "PIECE", PIECES[number % len(PIECES)])
        kind = KINDS[name]
        fuzzing.check(kind, fuzzing.mutated(stream, stream.choice(kind.bases)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_changed_stores_give_the_same_scores_or_none(seed: int, tmp_path: Path) -> None:
    stream = random.Random(f"store {seed}")
    stores = fuzzing.Stores(tmp_path)
    assert stores.check(stores.base)
    # Some are read despite the change: pages have unused bytes.
    assert {stores.check(stores.mutated(stream)) for _ in range(120)} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_changed_studies_are_what_they_say_or_refused(seed: int, tmp_path: Path) -> None:
    stream = random.Random(f"study {seed}")
    studies = fuzzing.Studies(tmp_path)
    assert {studies.check(studies.mutated(stream)) for _ in range(200)} == {True, False}


TRAPS = {
    "a quotation mark in the header, another later": b'algorithm,"environment,score\na,x,1\nb",x,2\n',
    "a quotation mark inside the header's name": b'algorithm,envi"ronment,score\na,x,1\n',
    "two stray quotation marks": HEADER + b'a "b,x,1\nc,x,2\nd" e,x,3\n',
    "two in one name": HEADER + b'5" disk",x,1\nb,x,2\n',
    "four in two lines": HEADER + b'a"",x,1\nb"",x,2\n',
    "text after a quoted field": HEADER + b'"a"b,x,1\n',
    "a space before a quoted field": HEADER + b'a, "x",1\n',
    "a separator of thousands": HEADER + b"a,x,1_000\n",
    "full-width digits": HEADER + "a,x,１２\n".encode(),  # noqa: RUF001
    "Arabic digits": HEADER + "a,x,٣\n".encode(),
    "hexadecimal": HEADER + b"a,x,0x10\n",
    "a decimal comma": HEADER + b"a,x,1,5\n",
    "a decimal comma in quotation marks": HEADER + b'a,x,"1,5"\n',
    "mixed separators": HEADER + b"a,x,1\nb;x;2\n",
    "a carriage return alone": HEADER + b"a,x,1\rb,x,2\n",
    "no end of a quoted name": HEADER + b'a,x,1\n"b,x,2\nc,x,3\n',
    "a date": HEADER + b"a,x,2020-01-01\n",
    "an expression": HEADER + b"a,x,=1+1\n",
    "a byte order mark in the middle": HEADER + b"a,x,\xef\xbb\xbf1\n",
}
READ = {
    "no line feed at the end": (HEADER + b"a,x,1\nb,x,2", [1.0, 2.0]),
    "carriage returns only": (HEADER.replace(b"\n", b"\r") + b"a,x,1\rb,x,2\r", [1.0, 2.0]),
    "both": (HEADER.replace(b"\n", b"\r\n") + b"a,x,1\r\nb,x,2\r\n", [1.0, 2.0]),
    "a byte order mark": (b"\xef\xbb\xbf" + HEADER + b"a,x,1\n", [1.0]),
    "empty lines": (b"\n\n" + HEADER + b"\n\na,x,1\n\n\nb,x,2\n\n", [1.0, 2.0]),
    "lines of separators": (b",,\n" + HEADER + b",,\na,x,1\n,,\n", [1.0]),
    "spaces around numbers": (HEADER + b"a,x, 1 \nb,x,2\t\n", [1.0, 2.0]),
    "a quoted number": (HEADER + b'a,x,"1"\n', [1.0]),
    "a name that looks like rows": (HEADER + b'"a\nb,x,9\n",x,1\nc,x,2\n', [1.0, 2.0]),
    "an apostrophe": (HEADER + b"a'b,x,1\nc,x',2\n", [1.0, 2.0]),
    "a short line": (b"algorithm,environment,score,note\na,x,1\nb,x,2,n\n", [1.0, 2.0]),
    "digits that a float cannot hold": (HEADER + b"a,x,0.1000000000000000055511151231257827\n", [0.1]),
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("trap", TRAPS)
def test_known_traps_are_refused(trap: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "PIECE", piece)
    with pytest.raises(Malformed):
        KINDS["csv"].oracle(TRAPS[trap])
    assert not fuzzing.check(KINDS["csv"], TRAPS[trap], tmp_path)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("case", READ)
def test_what_looks_odd_is_read(case: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "PIECE", piece)
    data, scores = READ[case]
    assert fuzzing.check(KINDS["csv"], data, tmp_path)
    assert [point.numbers[0] for point in KINDS["csv"].oracle(data)] == scores


@pytest.mark.parametrize(
    "line",
    [
        b'{"algorithm":"a","environment":"x","score":1,"score":2}',
        b'{"algorithm":"a","environment":"x","score":1,"\\u0073core":2}',
        b'{"algorithm":"a","environment":"x","score":"1_000"}',
        '{"algorithm":"a","environment":"x","score":"１２"}'.encode(),  # noqa: RUF001
        b'{"algorithm":"a","environment":"x","score":1}{"algorithm":"a","environment":"x","score":2}',
        b'{"algorithm":"a","environment":"x","score":[1]}',
        b'{"algorithm":"\\ud800","environment":"x","score":1}',
        b'{"algorithm":"a","environment":"x","score":01}',
    ],
)
def test_json_that_says_two_things_is_refused(line: bytes, tmp_path: Path) -> None:
    assert not fuzzing.check(KINDS["jsonl"], line + b"\n", tmp_path)


#: Names with everything that a border between pieces could tear apart.
NAMES = st.text(st.sampled_from('ab",;\t\n\r \u00e9\U0001f600'), min_size=1, max_size=8).filter(
    lambda name: bool(name.strip())
)
TABLES = st.lists(st.tuples(NAMES, NAMES, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=20)


def written(rows: list[tuple[str, str, float]], end: str, always: bool) -> bytes:
    """Return a CSV file as RFC 4180 has it."""

    def field(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if always or any(sign in text for sign in '",\r\n') else text

    lines = [",".join((field(a), field(e), repr(score))) for a, e, score in rows]
    return end.join(["algorithm,environment,score", *lines, ""]).encode()


@given(rows=TABLES, end=st.sampled_from(["\n", "\r\n"]), always=st.booleans(), piece=st.integers(128, 400))
@settings(max_examples=300)
def test_pieces_do_not_matter(
    rows: list[tuple[str, str, float]],
    end: str,
    always: bool,
    piece: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces.csv"
    path.write_bytes(written(rows, end, always))

    def read(size: int) -> list[tuple[object, ...]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(delimited, "PIECE", size)
            found = fuzzing.points(delimited.read_delimited(File(path, path.name), Reading()))
        return [(*each.names, *each.numbers) for each in found]

    assert read(16 << 20) == rows
    # No record is longer than 128 bytes.
    assert read(piece) == rows
