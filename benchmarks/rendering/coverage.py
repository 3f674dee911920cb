"""The parts of the page on coverage."""

from collections.abc import Callable, Mapping
from typing import Any

from rendering.files import Part, Results
from rendering.markdown import named, percent, table
from untuned import lab
from untuned.lab.coverage_experiment import EVENTS


def experiments(results: Results, *names: str) -> lab.Coverage:
    """Return one or several experiments as if they had been one."""
    found = [lab.Coverage.from_dict(results.content(name)) for name in names]
    rows = tuple(row for each in found for row in each.rows)
    return lab.Coverage(rows, found[0].delta, found[0].populations, found[0].settings)


def of(render: Callable[[lab.Coverage], str], *names: str) -> Part:
    """Return what renders these experiments."""
    return lambda results: render(experiments(results, *names))


def populations(results: Results) -> str:
    rows = [[each.name, f"{each.shape[0]} x {each.shape[1]}", each.summary] for each in lab.populations()]
    return table(["population", "board", "what it is"], rows, left=3)


def in_short(results: Results) -> str:
    """Return which methods kept their level and which broke it, and where."""
    guaranteed, approximate = experiments(results, "guaranteed"), experiments(results, "approximate")
    sentences = [_guaranteed(guaranteed)]
    total = len(approximate.of("bootstrap"))
    broken = {}
    for method in ("pbp-t", "bootstrap", "wilson"):
        rows = approximate.broken(method)
        broken[method] = f"`{method}` in {'all ' if len(rows) == total else ''}{len(rows)}"
        if method == "bootstrap":
            few = sum(row.trials == 10 for row in rows)
            broken[method] += f", with 10 trials on {named(few)} of {named(len(approximate.populations))} populations"
    listed = ", ".join(broken.values())
    sentences.append(f"Of {total} experiments, approximate methods broke it somewhere: {listed}.")
    if approximate.broken("pbp@paper"):
        sentences.append("The paper's conventions break even `pbp`.")
    looked = experiments(results, "adaptive")
    if not looked.broken():
        sentences.append(f"`betting` withstood looking after every {looked.rows[0].every} trials.")
    return " ".join(sentences)


def _guaranteed(found: lab.Coverage) -> str:
    kept = [method for method in found.methods if found.finding(method) == "kept"]
    most = max(rate.rate for row in found.rows for rate in row.events().values())
    every = len(kept) == len(found.methods)
    whose = f"all {named(len(kept))}" if every else f"{named(len(kept))} of {named(len(found.methods))}"
    return (
        f"Of the guaranteed methods {whose} kept their level of {percent(found.delta)} in every experiment; the "
        f"highest rate of failures was {percent(most, 1)}."
    )


def data_sets(name: str) -> Part:
    """Return what says how many data sets an experiment had, at least."""
    return lambda results: f"{min(row.data_sets for row in experiments(results, name).rows):,}"


def missed(results: Results) -> str:
    """Return how often the bootstrap with the fewest trials missed the truth, and other estimates."""
    rows = [row for row in results.content("paper")["rows"] if row["method"] == "bootstrap@paper"]
    row = min(rows, key=lambda each: each["trials"])
    return (
        f"With {row['trials']} trials the bootstrap misses the true scores in {percent(row['truth']['rate'])} of all "
        f"samples, and other estimates in {percent(row['failures'])}"
    )


def worst(found: lab.Coverage) -> str:
    """Return, for each method, the highest rate of each failure, with its limits."""
    lines = [["method", *(f"{EVENTS[event]} wrong" for event in found.events), "highest where"]]
    for method in found.methods:
        cases = [found.worst(method, event) for event in found.events]
        most = found.worst(method)
        where = "" if most is None or most.rate.count == 0 else f"{most.row.population}, {most.row.trials:,} trials"
        lines.append(
            [
                f"`{method}`",
                *("" if case is None else _with_limits(case.rate, found) for case in cases),
                where,
            ]
        )
    return table(lines[0], lines[1:], left=len(lines[0]))


def by_population(found: lab.Coverage, event: str) -> str:
    """Return the rates of one failure, with each number of trials, by population and method."""
    methods = [method for method in found.methods if found.worst(method, event) is not None]
    lines = [["population", *(f"`{method}`" for method in methods)]]
    for population in found.populations:
        line = [population]
        for method in methods:
            rates = [row.events()[event] for row in found.of(method) if row.population == population]
            line.append(" / ".join(short(rate.rate) + _mark(rate, found) for rate in rates))
        lines.append(line)
    return table(lines[0], lines[1:], left=len(lines[0]))


def found_out(found: lab.Coverage) -> str:
    """Return, for each method and number of trials, decided pairs and mean widths."""
    lines = [["method", *(f"{trials:,} trials" for trials, _ in found.sizes)]]
    for method in found.methods:
        cells = [(found.decided(method, *size), found.width(method, *size)) for size in found.sizes]
        lines.append([f"`{method}`", *(f"{short(share or 0.0)} %, {width:.3f}" for share, width in cells)])
    return table(lines[0], lines[1:], left=len(lines[0]))


def looked_at(found: lab.Coverage) -> str:
    """Return what stopping at the first verdict does, by population and method."""
    lines = [["method", "population", "any z", "any y", "any verdict", "stopped after", "decided"]]
    lines += [
        [
            f"`{row.method}`",
            row.population,
            *(
                "" if rate is None else _with_limits(rate, found)
                for rate in (row.percentiles, row.aggregates, row.verdicts)
            ),
            f"{row.stopped_at:.0f} trials",
            f"{short(row.decided)} %",
        ]
        for row in found.rows
    ]
    return table(lines[0], lines[1:], left=len(lines[0]))


def published(found: Mapping[str, Any]) -> str:
    """Return the paper's Table 2, ours next to the published figures."""
    lines = [["trials", "method", "samples", "failures", "in the paper", "separated", "in the paper", "truth missed"]]
    for row in found["rows"]:
        truth = row["truth"]
        lines.append(
            [
                f"{row['trials']:,}",
                f"`{row['method']}`",
                f"{row['samples']:,}",
                _figure(row["failures"], 3),
                _figure(row["published_failures"], 3),
                _figure(row["significant"], 2),
                _figure(row["published_significant"], 2),
                f"{truth['rate']:.3f} ({truth['low']:.3f} to {truth['high']:.3f})",
            ]
        )
    return table(lines[0], lines[1:], left=len(lines[0]))


def few_runs(results: Results) -> str:
    rows = [[each.name, f"{each.shape[0]} x {each.shape[1]}", each.summary] for each in lab.few_runs()]
    return table(["population", "board", "what it is"], rows, left=3)


#: The file of experiments under weights chosen beforehand, at several levels.
_POOLED = "pooled-coverage"
_STATEMENTS = ("anything", "aggregates", "differences", "verdicts", "wins", "caps")


def _at_levels(results: Results) -> list[tuple[float, lab.Row]]:
    rows = results.content(_POOLED)["rows"]
    found = lab.Coverage.from_dict({"rows": rows, "delta": 0.0, "populations": {}, "settings": {}}).rows
    return [(each["delta"], row) for each, row in zip(rows, found, strict=True)]


def pooled_kept(results: Results) -> str:
    """Return how often anything was wrong by `pooled`, by population and level."""
    rows = [(delta, row) for delta, row in _at_levels(results) if (row.method, row.weights) == ("pooled", "uniform")]
    levels = sorted({delta for delta, _ in rows})
    lines = []
    for name, trials in dict.fromkeys((row.population, row.trials) for _, row in rows):
        cells = []
        for level in levels:
            here = [row.anything for delta, row in rows if (row.population, delta) == (name, level)]
            cells.append(_at_level(here[0], level) if here and here[0] is not None else "")
        decided = [row.decided for delta, row in rows if (row.population, delta) == (name, levels[0])]
        lines.append([name, f"{trials}", *cells, f"{short(decided[0])} %" if decided else ""])
    heading = ["population", "trials", *(f"anything wrong, delta = {level:g}" for level in levels)]
    return table([*heading, f"decided, delta = {levels[0]:g}"], lines)


def pooled_statements(results: Results) -> str:
    """Return how often each kind of statement was wrong, for every method and weights, where it was most often."""
    groups: dict[tuple[str, str, float], list[lab.Row]] = {}
    for delta, row in _at_levels(results):
        groups.setdefault((row.method, row.weights, delta), []).append(row)
    names = {"game": "the game's", "uniform": "equal", "both": "both", "given": "given"}
    lines = []
    for (method, weights, delta), rows in sorted(groups.items(), key=lambda each: (each[0][:2], each[0][2])):
        cells = []
        for event in _STATEMENTS:
            rates = [rate for row in rows if (rate := row.events().get(event)) is not None]
            most = max(rates, key=lambda rate: (rate.low, rate.high), default=None)
            cells.append("" if most is None else _at_level(most, delta))
        lines.append([f"`{method}`", names[weights], f"{delta:g}", f"{len(rows)}", *cells])
    heading = ["method", "weights", "delta", "populations", "anything", *(EVENTS[event] for event in _STATEMENTS[1:])]
    return table(heading, lines, left=2)


def pooled_data_sets(results: Results) -> str:
    return f"{min(row.data_sets for _, row in _at_levels(results)):,}"


def pooled_in_short(results: Results) -> str:
    """Return whether guaranteed methods kept every level."""
    honest = [(delta, row) for delta, row in _at_levels(results) if "*" not in row.method]
    broken = [row for delta, row in honest if row.finding(delta) == "broken"]
    most = max(honest, key=lambda each: max(rate.rate for rate in each[1].events().values()) / each[0])
    rate = max(most[1].events().values(), key=lambda each: each.rate)
    kept = "kept their level in all" if not broken else f"broke their level in {len(broken)} of"
    return (
        f"Guaranteed methods {kept} {len(honest)} experiments; the highest rate compared with its level was "
        f"{_plain(rate)} where {percent(most[0])} are allowed (`{most[1].method}`, *{most[1].population}*)."
    )


#: The file of bootstrap intervals of summaries, and what they are called.
_SUMMARIES = "summary-coverage"
_INTERVALS = {"percentile": "percentile", "basic": "basic", "bca": "BCa", "pooled": "`pooled`, guaranteed"}


def summaries_missed(statistic: str) -> Part:
    """Return what shows how often intervals of a summary miss, by population, as runs become more."""

    def rendered(results: Results) -> str:
        rows = results.rows(_SUMMARIES, "missed", statistic=statistic)
        kinds = [kind for kind in _INTERVALS if any(row["interval"] == kind for row in rows)]
        lines = []
        for population in dict.fromkeys(row["population"] for row in rows):
            line = [population]
            for kind in kinds:
                here = [row for row in rows if (row["population"], row["interval"]) == (population, kind)]
                line.append(" / ".join(_missed(row) for row in here))
            lines.append(line)
        return table(["population", *(_INTERVALS[kind] for kind in kinds)], lines, left=1)

    return rendered


def _missed(row: Any) -> str:
    rate = lab.Rate.of(row["missed"], row["data_sets"])
    return short(rate.rate) + (" **!**" if rate.finding(_DELTA_OF_SUMMARIES) == "broken" else "")


_DELTA_OF_SUMMARIES = 0.05


def summaries_width(results: Results) -> str:
    """Return how much wider the guaranteed interval of the probability of improvement is than the bootstrap's."""
    found = []
    for trials in dict.fromkeys(row["trials"] for row in results.rows(_SUMMARIES, "width")):
        widths = {
            kind: sum(
                row["width"] for row in results.rows(_SUMMARIES, "width", trials=trials, statistic="poi", interval=kind)
            )
            for kind in ("percentile", "pooled")
        }
        found.append(f"{widths['pooled'] / widths['percentile']:.1f}")
    return f"{', '.join(found[:-1])} and {found[-1]} times as wide as the percentile bootstrap's"


def summaries_data_sets(results: Results) -> str:
    return f"{results.settings(_SUMMARIES)['data_sets']:,}"


def _plain(rate: lab.Rate) -> str:
    return f"{short(rate.rate)} % ({short(rate.low)} to {short(rate.high)})"


def _at_level(rate: lab.Rate, delta: float) -> str:
    return _plain(rate) + (" **!**" if rate.finding(delta) == "broken" else "")


def short(number: float) -> str:
    """Return a rate in percent, with a decimal where it is small."""
    return "0" if number == 0.0 else f"{100 * number:.1f}" if number < 0.0995 else f"{100 * number:.0f}"


def _with_limits(rate: lab.Rate, found: lab.Coverage) -> str:
    return f"{short(rate.rate)} % ({short(rate.low)} to {short(rate.high)}){_mark(rate, found)}"


def _mark(rate: lab.Rate, found: lab.Coverage) -> str:
    return " **!**" if rate.finding(found.delta) == "broken" else ""


def _figure(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}f}"


PARTS: Mapping[str, Part] = {
    "coverage-populations": populations,
    "coverage-in-short": in_short,
    "coverage-guaranteed-data-sets": data_sets("guaranteed"),
    "coverage-guaranteed": of(worst, "guaranteed"),
    "coverage-guaranteed-percentiles": of(lambda found: by_population(found, "percentiles"), "guaranteed"),
    "coverage-approximate-data-sets": data_sets("approximate"),
    "coverage-approximate": of(worst, "approximate"),
    "coverage-approximate-percentiles": of(lambda found: by_population(found, "percentiles"), "approximate"),
    "coverage-approximate-aggregates": of(lambda found: by_population(found, "aggregates"), "approximate"),
    "coverage-found-out": of(found_out, "guaranteed", "approximate"),
    "coverage-looked-at": of(looked_at, "adaptive", "adaptive-fixed"),
    "coverage-collected": of(worst, "collected"),
    "coverage-collected-found-out": of(found_out, "collected"),
    "coverage-few-runs": few_runs,
    "coverage-pooled-data-sets": pooled_data_sets,
    "coverage-pooled-in-short": pooled_in_short,
    "coverage-pooled": pooled_kept,
    "coverage-pooled-statements": pooled_statements,
    "coverage-summaries-data-sets": summaries_data_sets,
    "coverage-summaries-poi": summaries_missed("poi"),
    "coverage-summaries-iqm": summaries_missed("iqm"),
    "coverage-summaries-mean": summaries_missed("mean"),
    "coverage-summaries-width": summaries_width,
    "coverage-paper": lambda results: published(results.content("paper")),
    "coverage-paper-missed": missed,
}
