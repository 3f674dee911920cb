"""The parts of the page that lists all files of results."""

from collections.abc import Mapping

import fingerprints
from rendering.files import Part, Results, transcribed
from rendering.markdown import table

#: What a file holds, the benchmark that writes it, and the page that shows it.
FILES: Mapping[str, tuple[str, str, str]] = {
    "guaranteed": ("failures of guaranteed methods", "failures.py", "coverage.md#guaranteed-methods"),
    "approximate": (
        "failures of approximate methods",
        "failures.py",
        "coverage.md#approximate-methods-and-one-that-is-broken-on-purpose",
    ),
    "adaptive": ("failures with many looks, `betting`", "failures.py", "coverage.md#looking-before-the-end"),
    "adaptive-fixed": ("the same, other methods", "failures.py", "coverage.md#looking-before-the-end"),
    "pooled-coverage": ("failures with few runs", "failures.py", "coverage.md#few-runs-weights-chosen-beforehand"),
    "collected": ("failures on collected scores", "failures.py", "coverage.md#as-collected"),
    "paper": ("the paper's Table 2, repeated", "failures.py", "coverage.md#the-papers-own-test"),
    "summary-coverage": (
        "bootstrap intervals of summaries",
        "summary_coverage.py",
        "coverage.md#bootstrap-intervals-of-summaries",
    ),
    "power": ("pairs decided", "power.py", "power.md#pairs-separated"),
    "pooled-power": ("pairs decided with few runs", "pooled_power.py", "power.md#few-runs-under-equal-weights"),
    "widths": ("widths of intervals", "widths.py", "power.md#widths"),
    "race-savings": ("what races cost", "race_savings.py", "power.md#races"),
    "race-errors": ("errors of races", "race_errors.py", "power.md#errors-of-races"),
    "plan": ("predicted numbers of trials", "plan.py", "power.md#predicted-numbers-of-trials"),
    "plan-collected": ("the same, the paper's test", "plan.py", "power.md#predicted-numbers-of-trials"),
    "pooled-plan": ("the same, `pooled`", "pooled_plan.py", "power.md#predicted-numbers-of-trials"),
    "comparison": ("bootstrap intervals and ours", "comparison.py", "comparison.md#measured"),
    "reproduction": ("the paper's experiment", "untuned reproduce", "reproduction.md#results"),
    "fidelity": ("mean scores, published means", "fidelity.py", "reproduction.md#mean-scores"),
    "precision": ("single and double precision", "precision.py", "reproduction.md#single-precision"),
    "costs": ("time of a trial", "fidelity.py", "speed.md#what-a-trial-costs"),
    "engine": ("speed of trials", "engine.py", "speed.md#a-whole-trial"),
    "environments": ("speed of steps", "environments.py", "speed.md#stepping-environments"),
    "collect": ("speed of collecting", "collect.py", "speed.md#collecting"),
    "store": ("speed of the store", "store.py", "speed.md#collecting"),
    "reading": ("speed of reading tables", "reading.py", "speed.md#collecting"),
    "metered": ("cost of counting steps", "metered.py", "speed.md#collecting"),
    "judge": ("speed of judging", "judge.py", "speed.md#judging"),
    "judge-whole": ("whole evaluations", "judge.py", "speed.md#judging"),
    "growth": ("commands as studies grow", "growth.py", "speed.md#commands-as-studies-grow"),
    "peers": ("rliable, OpenSpiel", "peers.py", "speed.md#compared-with-rliable-and-openspiel"),
    "report": ("speed of reports", "report.py", "speed.md#reporting"),
    "exploitability": ("copies of environments", "exploitability.py", "how-to/families.md#how-much-copies-matter"),
    "protocols": ("tuning first", "protocols.py", "how-to/protocols.md"),
    "gallery": ("published runs, judged", "gallery.py", "gallery/index.md"),
}


def files(results: Results) -> str:
    """Return every file with what it holds, where it is shown, what wrote it and with which code."""
    lines = []
    outdated = fingerprints.outdated(results.folder)
    for name in [*FILES, *sorted({path.stem for path in results.folder.glob("*.json")} - set(FILES))]:
        what, benchmark, page = FILES.get(name, ("", "", ""))
        source = f"`{benchmark}`" + (", transcribed" if transcribed(results, name) else "")
        link = f"[`{name}.json`](results/{name}.json)"
        lines.append(
            [link, f"[{what}]({page})" if page else "", source, "earlier" if f"{name}.json" in outdated else "present"]
        )
    return table(["file", "what", "written by", "code"], lines, left=4)


def notes(results: Results) -> str:
    """Return what transcribed files say of their origin."""
    taken = transcribed(results, *FILES)
    if not taken:
        return "No file is transcribed."
    return "\n".join(f"- `{name}.json`: {results.settings(name)['transcribed']}." for name in taken)


PARTS: Mapping[str, Part] = {"overview-files": files, "overview-transcribed": notes}
