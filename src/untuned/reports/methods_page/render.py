"""A comparison of ways of evaluating, rendered into one self-contained file."""

from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any

from untuned.errors import InvalidInput, needs
from untuned.evaluation import percent
from untuned.judge.comparing.records import MethodComparison
from untuned.reports.report import check_place, written
from untuned.reports.tables.digits import MISSING
from untuned.scores import spread
from untuned.version import __version__


def page(found: MethodComparison, *, title: str = "Ways of evaluating, compared", command: str = "") -> str:
    """Return a self-contained HTML document; the same comparison gives the same text.

    Parameters
    ----------
    found
        The comparison.
    title
        Title of the page.
    command
        How to repeat it.
    """
    with needs("report", "the page"):
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    # Everything that is not marked as safe is escaped.
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template.filters |= {"shown": shown}
    styles = _file("untuned.reports.page", "page.css") + _file(__package__, "methods.css")
    return template.from_string(_file(__package__, "page.html.jinja")).render(
        **_content(found), title=title, command=command, version=__version__, css=Markup(styles)
    )


def save(found: MethodComparison, path: str | Path, **options: Any) -> Path:
    """Write the page, whole or not at all, and return its path.

    Parameters
    ----------
    found
        The comparison.
    path
        Path of the file.
    **options
        For `page`.
    """
    check_page(path)
    return written(Path(path).expanduser(), page(found, **options))


def check_page(path: str | Path) -> None:
    """Refuse a path that no page can be written to.

    Parameters
    ----------
    path
        Path of the file.
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"{str(path)!r} is not the name of a page: let it end in .html")
    check_place(path)


def shown(value: object) -> str:
    """Return a cell of a table as text.

    Parameters
    ----------
    value
        A text or a number.
    """
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return MISSING
    return f"{value:,.0f}" if value == round(value) else f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def _content(found: MethodComparison) -> dict[str, Any]:
    n = len(found.algorithms)
    ways = [
        {
            "name": each.name,
            "about": each.about,
            "promise": each.promise,
            "reading": each.reading,
            "best": found.names(each.best),
            "decided": each.decided,
            "contradicted": found.contradictions(each),
            "ranks": [
                {"rank": rank, "heat": 0.0 if rank is None else 1.0 - (rank - 1) / max(1, n - 1)}
                for rank in each.rank_a
            ],
            "rows": [
                {
                    "algorithm": found.algorithms[a],
                    "rank": each.rank_a[a],
                    "value": float(each.value_a[a]),
                    "low": float(each.low_a[a]),
                    "high": float(each.high_a[a]),
                    "better": ", ".join(found.algorithms[b] for b in each.better_ab[a].nonzero()[0]),
                }
                for a in each.order
            ],
        }
        for each in found.ways
    ]
    return {
        "summary": found.sentences(),
        "facts": f"{n} algorithms on {len(found.environments)} environments, "
        f"{spread(found.scores.trials)} runs per cell",
        "algorithms": found.algorithms,
        "total": n * (n - 1) // 2,
        "ways": ways,
        "skipped": found.skipped,
        "notes": found.notes,
        "disagreements": found.disagreements,
        "demonstrations": found.demonstrations,
        "level": percent(found.delta),
        "settings": (
            ("delta", f"{found.delta:g}"),
            ("resamples of bootstraps", f"{found.resamples:,}"),
            ("their seed", str(found.seed)),
            ("scores' fingerprint", found.scores.fingerprint),
            *((name, text) for name, text in found.scores.provenance.items()),
        ),
    }


def _file(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
