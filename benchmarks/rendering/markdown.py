"""Numbers and tables as the pages have them."""

from collections.abc import Iterable, Sequence


def table(heading: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a table whose first columns, so many, are words, and whose others are numbers."""
    rule = ["---"] * left + ["---:"] * (len(heading) - left)
    return "\n".join(f"| {' | '.join(line)} |" for line in (heading, rule, *lines))


def digits(number: float, significant: int = 2) -> str:
    """Return a number rounded to so many significant digits, without an exponent."""
    if number == 0.0:
        return "0"
    rounded = float(f"{number:.{significant - 1}e}")
    exponent = int(f"{rounded:e}".partition("e")[2])
    return f"{rounded:,.{max(0, significant - 1 - exponent)}f}"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share of one in percent."""
    return f"{100 * share:.{decimals}f} %"


def span(numbers: Sequence[float], significant: int = 2) -> str:
    """Return from the smallest to the largest of some numbers, or the number if they read the same."""
    low, high = digits(min(numbers), significant), digits(max(numbers), significant)
    return low if low == high else f"{low} to {high}"


def counts(numbers: Sequence[int]) -> str:
    """Return from the smallest to the largest of some counts, or the count if all are the same."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 1e-3:
        return f"{digits(1e6 * seconds)} µs"
    if seconds < 0.1:
        return f"{digits(1e3 * seconds)} ms"
    if seconds < 120:
        return f"{digits(seconds)} s"
    if seconds < 7200:
        return f"{digits(seconds / 60)} min"
    return f"{digits(seconds / 3600)} hours"


def named(numbers: int) -> str:
    """Return a small number in words."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[numbers] if 0 <= numbers < len(words) else f"{numbers:,}"
