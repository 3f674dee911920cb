"""An `Evaluation` as text, for a terminal, and as HTML, for a notebook."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from untuned.statements import LEFT_OUT, decimals, failed, says_nothing, variants

if TYPE_CHECKING:
    from untuned.evaluation import Evaluation


def as_text(evaluation: "Evaluation") -> str:
    """Return the tables and the verdicts as text."""
    width = max(9, *(len(name) for name in evaluation.algorithms))
    m = len(evaluation.environments)
    lines = [
        f"Evaluation of {len(evaluation.algorithms)} algorithms on {m} {'environment' if m == 1 else 'environments'}",
        *failed(evaluation),
        *variants(evaluation),
    ]
    for each in evaluation.each_ranking:
        shown = _shown(each)
        widths = [width, *(max(map(len, column)) for column in list(zip(*shown, strict=True))[1:])]
        lines.append(each.rankings[0].heading)
        lines += [
            "  ".join(f"{cell:<{wide}}" for cell, wide in zip(row, widths, strict=True)).rstrip() for row in shown
        ]
        lines += [*_left_out(each), *each.verdicts]
    return "\n".join(
        [*lines, *evaluation.comparison, evaluation.claim, *(f"Note: {warning}" for warning in evaluation.warnings)]
    )


def as_html(evaluation: "Evaluation") -> str:
    """Return the tables, with the intervals drawn, and the verdicts, as a notebook shows them."""
    shown = [_html_lines((*failed(evaluation), *variants(evaluation)))]
    for each in evaluation.each_ranking:
        heads, *rows = _shown(each)
        drawn = ["<th>0 to 1</th>", *(f"<td>{_interval_svg(row)}</td>" for row in each.rows())]
        if says_nothing(each):
            drawn = [""] * len(drawn)
        head = _html_row("th", heads).replace("</tr>", f"{drawn[0]}</tr>")
        body = "".join(
            _html_row("td", row).replace("</tr>", f"{cell}</tr>") for row, cell in zip(rows, drawn[1:], strict=True)
        )
        shown.append(
            f"<table><caption>{escape(each.rankings[0].heading)}</caption><thead>{head}</thead>"
            f"<tbody>{body}</tbody></table>{_html_lines((*_left_out(each), *each.verdicts))}"
        )
    return "".join(shown) + _html_lines((*evaluation.comparison, evaluation.claim, *evaluation.warnings))


def _left_out(evaluation: "Evaluation") -> list[str]:
    return [LEFT_OUT] if says_nothing(evaluation) else []


def _shown(evaluation: "Evaluation") -> list[tuple[str, ...]]:
    """Return headings and rows of the first ranking as text, without columns that say nothing."""
    rows = evaluation.rows()
    keys = ("score",) if says_nothing(evaluation) else ("score", "low", "high")
    ranked = any((row["rank_low"], row["rank_high"]) != (len(rows), 1) for row in rows)
    written = decimals((row["low"], row["high"]) for row in rows)
    return [
        ("algorithm", *keys, *(["rank (worst, best)"] if ranked else [])),
        *(
            (
                row["name"],
                *(f"{row[key]:.{written}f}" for key in keys),
                *([f"{row['rank']} ({row['rank_low']}, {row['rank_high']})"] if ranked else []),
            )
            for row in rows
        ),
    ]


#: Of the drawing of an interval, in pixels.
_SVG_WIDTH, _SVG_HEIGHT = 160, 14


def _interval_svg(row: Mapping[str, Any]) -> str:
    """Return an interval on the scale from 0 to 1 as a line with a dot, in the colour of the text around it."""
    score, low, high = (4.0 + min(max(row[key], 0.0), 1.0) * (_SVG_WIDTH - 8) for key in ("score", "low", "high"))
    middle = _SVG_HEIGHT / 2
    return (
        f'<svg width="{_SVG_WIDTH}" height="{_SVG_HEIGHT}" role="img" stroke="currentColor" fill="currentColor" '
        f'aria-label="{row["low"]:.2f} to {row["high"]:.2f}">'
        f'<line x1="4" x2="{_SVG_WIDTH - 4}" y1="{middle}" y2="{middle}" stroke-opacity="0.2"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke-width="2"/>'
        f'<circle cx="{score:.1f}" cy="{middle}" r="3"/></svg>'
    )


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _html_lines(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
