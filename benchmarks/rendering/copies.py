"""The parts of the page on families: how far copies of an environment move a ranking."""

from rendering.files import Part, Results, Row
from rendering.markdown import percent, table

_NAME = "exploitability"
_BOARDS = {
    "example": "the maze and the arm",
    "random": "{boards} random boards, {algorithms} x {environments}",
    "collected": "collected scores, {algorithms} x {environments}",
}
#: How many in the table; the picture has other numbers.
_COPIES = 10
_METHODS = {"game": "the game's weights", "equal": "equal weights", "min-max": "min-max-normalised means"}


def example(results: Results) -> str:
    """Return the verdicts on the example from trials."""
    one, ten, declared = (
        results.row(_NAME, "sampled", copies=copies, families=families)
        for copies, families in ((1, False), (10, False), (10, True))
    )
    return (
        f"With one maze, {_verdict(one)}; with ten copies of the maze, {_verdict(ten)}; with the ten declared as a "
        f"family, {_verdict(declared)}. All three verdicts are guaranteed, from {one['trials']:,} trials of each "
        "algorithm on each environment under the game's weights."
    )


def _verdict(row: Row) -> str:
    words = {"better": "A is better", "worse": "B is better"}.get(row["verdict"], "the pair is open")
    return f"{words} (A's score less B's is in [{row['low']:.3f}, {row['high']:.3f}])"


def moved(results: Results) -> str:
    lines = [
        [
            _BOARDS[row["board"]].format(**row),
            _METHODS[row["method"]],
            f"{row['mean_move']:.3f}",
            f"{percent(row['another_first'], 1)} of {_cases(row):,}",
            f"{percent(row['reversed'], 1)} of {_cases(row) * _pairs(row):,}",
        ]
        for row in results.rows(_NAME, "mean_move", families=False)
        if row["copies"] == _COPIES
    ]
    return table(["board", "method", "moved (mean)", "another first", "reversed"], lines, left=2)


def _cases(row: Row) -> int:
    """Return how often something was copied: every environment of every board, in turn."""
    return int(row["boards"]) * int(row["environments"])


def _pairs(row: Row) -> int:
    return int(row["algorithms"]) * (int(row["algorithms"]) - 1) // 2


def with_families(results: Results) -> str:
    rows = results.rows(_NAME, "mean_move", families=True)
    most = max(row["largest_move"] for row in rows)
    assert all(row["reversed"] == 0.0 for row in rows)
    return f"by no method on any of these boards does a score move by more than {max(most, 1e-9):.0e}"


def nash(results: Results) -> str:
    gaps = [f"{row['nash_gap']:.2f}" for row in results.rows(_NAME, "nash_gap")]
    first = ", ".join(gaps[:-1])
    return f"on these boards the two players together could gain {first} and {gaps[-1]} by other choices"


PARTS: dict[str, Part] = {
    "copies-example": example,
    "copies-moved": moved,
    "copies-families": with_families,
    "copies-nash": nash,
}
