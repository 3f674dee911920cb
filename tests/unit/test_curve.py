"""The curve for the terminal: every value in one column, the scale true, nothing wider than asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untuned.cli.curve import curve

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300)
BLANK = 0x2800
# Dots of a braille character from the ground up, left column and right one (Unicode, Braille Patterns).
LEFT, RIGHT = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)


def drawn(lines: list[str]) -> list[str]:
    """Return the drawing without its scale."""
    margin = max(len(line.split()[0]) for line in (lines[0], lines[-1])) + 1
    return [line[margin:] for line in lines]


def heights(rows: list[str], braille: bool) -> list[int]:
    """Return how many dots stand above each other in every column; all must stand on the ground."""
    width = max(map(len, rows))
    rows = [row.ljust(width, chr(BLANK) if braille else " ") for row in rows]
    columns: list[list[bool]] = []
    for place in range(width):
        for bits in (LEFT, RIGHT) if braille else ((1,),):
            column = []
            for row in reversed(rows):
                code = ord(row[place]) - BLANK if braille else int(row[place] == "*")
                column += [bool(code & bit) for bit in bits]
            columns.append(column)
    result = [sum(column) for column in columns]
    for column, height in zip(columns, result, strict=True):
        assert column == [True] * height + [False] * (len(column) - height)
    return result


def test_a_curve_written_out() -> None:
    assert curve([0, 1, 2, 3], 4, 4, braille=False) == ["3    *", "    **", "   ***", "0 ****"]
    assert curve([0, 1, 2, 3], 2, 1) == ["3 \u28e0\u28fe"]


@given(VALUES, st.integers(1, 70), st.integers(2, 12), st.booleans())
def test_columns_are_as_high_as_their_means(values: list[float], width: int, height: int, braille: bool) -> None:
    lines = curve(values, width, height, braille)
    assert len(lines) == height
    rows = drawn(lines)
    assert max(map(len, rows)) <= width
    across, up = (2, 4) if braille else (1, 1)
    columns = min(len(values), width * across)
    found = heights(rows, braille)
    # The last character may be half empty; the lowest column is one dot high.
    assert found[columns:] == [0] * (len(found) - columns)
    found = found[:columns]
    assert min(found) >= 1
    if columns == len(values):
        low, high = min(values), max(values)
        for value, dots in zip(values, found, strict=True):
            if high > low:
                exact = 1 + (value - low) / (high - low) * (height * up - 1)
                assert abs(dots - exact) <= 0.5 + 1e-9
    assert (max(found) == height * up) == (max(found) != min(found))


@given(VALUES, st.integers(1, 70), st.booleans())
def test_the_scale_names_the_highest_and_the_lowest(values: list[float], width: int, braille: bool) -> None:
    lines = curve(values, width, 3, braille)
    high, low = float(lines[0].split()[0]), float(lines[-1].split()[0])
    assert min(values) - 1e-5 * abs(min(values)) <= low <= high <= max(values) + 1e-5 * abs(max(values))
    if len(values) <= width:
        assert (f"{high:.6g}", f"{low:.6g}") == (f"{max(values):.6g}", f"{min(values):.6g}")


def test_values_that_share_a_column_are_shown_by_their_mean() -> None:
    lines = curve([0, 10, 0, 20, 0, 30], 3, 2, braille=False)
    assert lines[0].split()[0] == "15"
    assert lines[-1].split()[0] == "5"


@given(st.integers(1, 400), st.integers(1, 60), st.booleans())
def test_every_value_is_in_one_column(number: int, width: int, braille: bool) -> None:
    # A single peak anywhere shows in exactly one column, and it is the highest.
    for place in {0, number // 3, number // 2, number - 1}:
        values = [0.0] * number
        values[place] = 1.0
        found = heights(drawn(curve(values, width, 4, braille)), braille)
        if number > 1 and min(number, width * (2 if braille else 1)) > 1:
            assert found.count(16 if braille else 4) == 1


def test_a_flat_curve_and_a_single_value_are_in_the_middle() -> None:
    for values in ([5.0], [5.0] * 50):
        lines = curve(values, 10, 4)
        assert [line.split()[0] for line in (lines[0], lines[-1])] == ["5", "5"]
        assert set(heights(drawn(lines), True)[: len(values)]) == {8}


def test_no_line_ends_in_blanks() -> None:
    for braille in (True, False):
        for line in curve([3, 1, 1, 1, 1], 5, 4, braille):
            assert line == line.rstrip("\u2800 ")


@pytest.mark.parametrize("braille", [True, False])
def test_one_line_is_enough(braille: bool) -> None:
    assert len(curve([1.0, 2.0], 5, 1, braille)) == 1
