"""What ``untuned evaluate`` prints for people: on narrow and wide terminals, in pipes, in colour and without."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import untuned
from support.calling import Call, caller
from support.programs import ESCAPE, PROGRAM, environment
from support.reporting import rounded

LONG = "an-algorithm-whose-name-is-longer-than-a-line(λ)" * 2
SHIFTS = {"sarsa": 2.5, LONG: 1.0, "ppo <b>[red]": 0.0}
COLOURED = f"{ESCAPE}[33m"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [
        f"{algorithm},{place},{float(np.clip(rng.normal(shift, 1.0), -8.0, 8.0))!r}"
        for algorithm, shift in SHIFTS.items()
        for place in ("maze", "arm")
        for _ in range(150)
        if (algorithm, place) != ("sarsa", "arm")
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["algorithm,environment,score", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "evaluate")


def on_a_terminal(columns: int, *arguments: str, **variables: str) -> str:
    """Return the program's output on its own terminal, lines ending with a line feed alone."""
    pty = pytest.importorskip("pty", reason="this system has no terminals to make")
    import fcntl
    import struct
    import termios

    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=its,
        stderr=subprocess.PIPE,
        env=environment(TERM="xterm", **variables),
    ) as process:
        os.close(its)
        printed = b""
        while True:
            try:
                more = os.read(mine, 65536)
            except OSError:
                # On Linux this error means that the other end of the terminal is closed.
                break
            if not more:
                break
            printed += more
        os.close(mine)
        assert process.stderr is not None
        complaint = process.stderr.read()
    assert process.returncode == 0, complaint
    return printed.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    return re.sub(rf"{ESCAPE}\[[\d;]*m", "", text)


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_every_name_and_number_is_there_at_every_width(
    evaluate: Call, file: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = evaluate(file, "--pairs", "--by-environment", "--range", "maze=-8:8").out
    assert max(map(len, printed.splitlines())) <= columns
    assert ESCAPE not in printed
    assert "…" not in printed
    found = untuned.evaluate(file, ranges={"maze": (-8, 8)})
    numbers = re.findall(r"-?\d\.\d+", printed)
    # Names may be folded, so other things stand between their parts; numbers never are.
    for each in found.each_ranking:
        for row in (*each.rows(), *each.pair_rows(), *each.head_to_head_rows()):
            for key in ("low", "high"):
                assert any(rounded(number, row[key]) for number in numbers)
    for row in found.environment_rows():
        if row["mean"] is not None:
            assert f"{row['mean']:.2f}"[:-1] in printed
    together = "".join(printed.split())
    assert "ppo<b>[red]" in together
    if columns == 140:
        assert LONG in together
    for sentence in (found.claim, *found.warnings):
        assert "".join(sentence.split()) in together
    assert "Wherethereisnomean,therearenotrials." in together


def test_a_narrow_terminal_has_headings_next_to_the_numbers(
    evaluate: Call, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    lines = evaluate(file).out.splitlines()
    first = untuned.evaluate(file).under("uniform").rows()[0]
    at = lines.index(first["name"])
    printed = re.findall(r"(score|low|high) ([\d.]+)", " ".join(lines[at + 1 : at + 3]))
    assert [name for name, _ in printed] == ["score", "low", "high"]
    assert all(rounded(number, first[name]) for name, number in printed)


def test_colour_is_for_those_who_see_it(evaluate: Call, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ESCAPE not in evaluate(file).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = evaluate(file).out
    assert f"{COLOURED}Note: 1 of 6 cells have no trials" in forced
    # A pipe, coloured or not, gets no drawing.
    assert "●" not in forced
    monkeypatch.setenv("NO_COLOR", "1")
    assert COLOURED not in evaluate(file).out


@pytest.mark.parametrize("columns", [60, 140])
def test_a_wide_terminal_draws_the_intervals(file: Path, columns: int) -> None:
    printed = on_a_terminal(columns, "evaluate", str(file), "--by-environment", "--range=-8:8")
    assert f"{COLOURED}Note: 1 of 6 cells" in printed.replace("\n", " ")
    bars = re.findall(r"├─*●?─*┤|├─*●|●─*┤", plain(printed))
    # Three scores in either ranking, and five means: one cell is empty.
    assert len(bars) == (11 if columns == 140 else 0)
    if columns == 140:
        lines = plain(printed).splitlines()
        heading = next(line for line in lines if line.startswith("algorithm"))
        ends = heading.split()[-2:]
        assert [float(end) for end in ends] == [0.0, 1.0]
        left, width = heading.index(ends[0]), 30
        (line,) = [each for each in lines if each.startswith("ppo <b>[red] ")][:1]
        rows = untuned.evaluate(file, ranges=(-8, 8)).under("uniform").rows()
        row = next(row for row in rows if row["name"] == "ppo <b>[red]")
        for sign, key in zip("├●┤", ("low", "score", "high"), strict=True):
            assert line.index(sign) - left == round(row[key] * (width - 1))


def test_a_terminal_without_these_letters_gets_others(file: Path) -> None:
    printed = on_a_terminal(140, "evaluate", str(file), PYTHONIOENCODING="ascii", NO_COLOR="1")
    assert re.search(r"\|-*o-*\|", printed)
    assert printed.isascii()
    assert COLOURED not in printed


def test_few_trials_are_told_of(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("algorithm,environment,score\na,x,1\na,y,2\nb,x,2\nb,y,1\n")
    words = evaluate(path).words
    # Two comparisons share half of delta, 0.00625 for each side: 2**-8 is the first power below it.
    assert re.search(r"Next steps: With 1 trial per cell no verdict is possible .* it takes at least 8\.", words)
    assert "--approximate" in words
    assert "--plan" in words
    assert "too few for an approximate method" in evaluate(path, "--intervals", "pbp-t").words


def test_a_name_cannot_move_the_cursor(evaluate: Call, tmp_path: Path) -> None:
    path = tmp_path / "rude.csv"
    path.write_text(f"algorithm,environment,score\n{ESCAPE}[2Ja,x,1\na,y,2\nb,x,2\nb,y,1\n")
    said = evaluate(path)
    assert said.code == 0
    assert ESCAPE not in said.out
    assert "[2Ja" in said.out
