"""The page: content and charts rendered into one self-contained file."""

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from untuned.reports.page.charts import chart_data
from untuned.reports.page.content import content
from untuned.reports.tables.digits import MISSING

if TYPE_CHECKING:
    from untuned.reports.report import Report


def page(report: "Report") -> str:
    """Return a self-contained HTML document; the same report gives the same text."""
    charts = chart_data(report.evaluation, report.compare_with, report.histories, report.race)
    written = content(
        report.evaluation,
        report.compare_with,
        report.histories,
        charts,
        report.plans,
        report.race,
        title=report.title,
        command=report.command,
        version=report.version,
    )
    # Everything that is not marked as safe is escaped.
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template.filters |= {"percent": _percent, "share": _share, "whole": _whole}
    return template.from_string(_file("page.html.jinja")).render(
        **written,
        css=Markup(_file("page.css")),
        script=Markup(_file("page.js")),
        evaluation_json=_embedded(report.evaluation.to_dict()),
    )


def _file(name: str) -> str:
    return resources.files("untuned.reports.page").joinpath(name).read_text(encoding="utf-8")


def _embedded(value: Any) -> Markup:
    """Return JSON that is safe in a script element, which ends at the first ``</script>`` whatever is around it."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _whole(sentence: str) -> Markup:
    """Return a sentence in which no line ends at a hyphen: names and options are not to be parted there."""
    return Markup(" ").join(
        Markup('<{0} class="whole">{1}</{0}>').format("code" if word.startswith("--") else "span", word)
        if "-" in word
        else escape(word)
        for word in sentence.split(" ")
    )


def _percent(share: float) -> str:
    """Return a weight in percent, a dash for none at all."""
    return f"{100 * share:.1f}" if share >= 0.0005 else MISSING if share == 0 else "<0.1"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"
