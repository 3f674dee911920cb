"""The parts of the page on coverage."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from rendering.files import Part, Results, source_files
from rendering.markdown import counts, named, percent, table
from untuned import lab
from untuned.lab.coverage_records import EVENTS


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
    broken = []
    for method in ("pbp-t", "bootstrap", "wilson"):
        rows = approximate.broken(method)
        words = f"`{method}` in {'all ' if len(rows) == total else ''}{len(rows)}"
        if method == "bootstrap":
            fewest = min(row.trials for row in approximate.rows)
            few = sum(row.trials == fewest for row in rows)
            words += f" (with {fewest} trials on {few} of {len(approximate.populations)} populations)"
        broken.append(words)
    sentences.append(f"In {total} experiments of {_sets(approximate)} each, approximate methods broke it: ")
    sentences[-1] += f"{', '.join(broken)}."
    paper = approximate.broken("pbp@paper")
    if paper:
        sentences.append(f"With the paper's conventions `pbp` also broke it in {len(paper)}.")
    sentences.append(approximate_verdicts(results))
    looked = experiments(results, "adaptive")
    looks = f"with a look after every {looked.rows[0].every} trials ({len(looked.rows)} experiments of {_sets(looked)})"
    sentences.append(f"`betting` {'broke its level' if looked.broken() else 'kept its level'} {looks}.")
    return " ".join(sentences)


def _guaranteed(found: lab.Coverage) -> str:
    kept = [method for method in found.methods if found.finding(method) == "kept"]
    every = len(kept) == len(found.methods)
    which = f"All {named(len(kept))}" if every else f"{len(kept)} of {len(found.methods)}"
    return (
        f"{which} guaranteed methods kept their level of {percent(found.delta)} in every experiment "
        f"({len(found.rows)} experiments); the highest rate of failures was {_highest(found)}."
    )


def approximate_verdicts(results: Results) -> str:
    """Return how often approximate methods give wrong verdicts where they do so most often."""
    found = experiments(results, "approximate")
    rows = tuple(row for row in found.rows if "*" not in row.method)
    rest = lab.Coverage(rows, found.delta, found.populations, found.settings)
    return (
        "The highest rate of wrong verdicts by an approximate method was "
        f"{_highest(rest, 'verdicts')}, in {len(rest.rows)} experiments."
    )


def guaranteed_highest(results: Results) -> str:
    """Return the highest rate of failures of a guaranteed method."""
    found = experiments(results, "guaranteed")
    return f"the highest rate of failures in {len(found.rows)} experiments was {_highest(found)}"


def _highest(found: lab.Coverage, event: str | None = None) -> str:
    cases = [case for method in found.methods if (case := found.worst(method, event)) is not None]
    most = max(cases, key=lambda case: (case.rate.rate, case.rate.high))
    where = f" (`{most.row.method}`, *{most.row.population}*, {most.row.trials:,} trials)"
    return f"{_plain(most.rate)} of {most.rate.total:,} data sets" + (where if most.rate.count else "")


def _sets(found: lab.Coverage) -> str:
    return f"{counts([row.data_sets for row in found.rows])} data sets"


def missed(results: Results) -> str:
    """Return how often the bootstrap with the fewest trials missed the truth, and other estimates."""
    rows = [row for row in results.content("paper")["rows"] if row["method"] == "bootstrap@paper"]
    row = min(rows, key=lambda each: each["trials"])
    return (
        f"With {row['trials']} trials the bootstrap missed the true scores in {percent(row['truth']['rate'])} of "
        f"{row['samples']} samples, and the estimates of other samples in {percent(row['failures'])} of all pairs"
    )


def worst(found: lab.Coverage) -> str:
    """Return, for each method, the highest rate of each failure, with its limits."""
    lines = [["method", "experiments x data sets", *(f"{EVENTS[event]} wrong" for event in found.events)]]
    lines[0].append("highest where")
    for method in found.methods:
        cases = [found.worst(method, event) for event in found.events]
        most = found.worst(method)
        where = "" if most is None or most.rate.count == 0 else f"{most.row.population}, {most.row.trials:,} trials"
        lines.append(
            [
                _method(method),
                _sizes(found, method),
                *("" if case is None else _with_limits(case.rate, found) for case in cases),
                where,
            ]
        )
    return table(lines[0], lines[1:], left=len(lines[0]))


def _method(name: str) -> str:
    return f"`{name}`, broken on purpose" if "*" in name else f"`{name}`"


def _sizes(found: lab.Coverage, method: str) -> str:
    rows = found.of(method)
    return f"{len(rows)} x {counts([row.data_sets for row in rows])}"


#: What the table by population shows: one failure of a method each.
_BY_POPULATION = (
    ("wilson", "percentiles"),
    ("pbp-t", "percentiles"),
    ("pbp-t", "aggregates"),
    ("bootstrap", "aggregates"),
)


def by_population(found: lab.Coverage) -> str:
    """Return the highest rates over the numbers of trials; in brackets how many of them are too high."""
    lines = []
    for population in found.populations:
        line = [population]
        for method, event in _BY_POPULATION:
            rates = [row.events()[event] for row in found.of(method) if row.population == population]
            broken = sum(rate.finding(found.delta) == "broken" for rate in rates)
            most = short(max(rate.rate for rate in rates))
            line.append(f"{most} ({broken})" if broken else most)
        lines.append(line)
    return table(["population", *(f"`{method}`, {EVENTS[event]}" for method, event in _BY_POPULATION)], lines)


def found_out(found: lab.Coverage) -> str:
    """Return, for each method and number of trials, decided pairs and mean widths."""
    lines = [["method", "populations x data sets", *(f"{trials:,} trials" for trials, _ in found.sizes)]]
    for method in found.methods:
        if method.endswith("@paper"):
            continue
        rows = found.of(method)
        places = len({row.population for row in rows})
        sizes = f"{places} x {counts([row.data_sets for row in rows])}"
        lines.append([_method(method), sizes, *(_found_out(found, method, size) for size in found.sizes)])
    return table(lines[0], lines[1:], left=2)


def _found_out(found: lab.Coverage, method: str, size: tuple[int, int | None]) -> str:
    return f"{short(found.decided(method, *size) or 0.0)} %, {found.width(method, *size):.2f}"


def found_out_range(results: Results) -> str:
    """Return how much populations differ in the share of pairs that the default method decides."""
    rows = [row for row in experiments(results, "guaranteed").of("pairing") if row.trials == 100]
    low, high = min(row.decided for row in rows), max(row.decided for row in rows)
    ends = [sum(row.decided == end for row in rows) for end in (low, high)]
    return (
        f"with 100 trials `pairing` decides {short(low)} % of the pairs on {named(ends[0])} of {len(rows)} populations "
        f"and {short(high)} % on {named(ends[1])}"
    )


def collected(results: Results) -> str:
    """Return, for each method, how often anything was wrong, decided pairs and mean widths."""
    found = experiments(results, "collected")
    lines = []
    for method in found.methods:
        most = found.worst(method)
        assert most is not None
        sizes = [_found_out(found, method, size) for size in found.sizes]
        lines.append([_method(method), _sizes(found, method), _with_limits(most.rate, found), *sizes])
    heading = ["method", "experiments x data sets", "highest rate of failures"]
    return table([*heading, *(f"{trials:,} trials" for trials, _ in found.sizes)], lines, left=2)


def cases(name: str) -> Part:
    """Return what says how many cases branching looked at for a pair."""
    return lambda results: f"{results.settings(name)['refine']} cases"


def published(found: Mapping[str, Any]) -> str:
    """Return the paper's Table 2, ours with the published figures in brackets."""
    heading = ["trials", "method", "samples", "failures (paper)", "separated (paper)", "truth missed"]
    lines = [
        [
            f"{row['trials']:,}",
            f"`{row['method']}`",
            f"{row['samples']:,}",
            _beside(row["failures"], row["published_failures"], 3),
            _beside(row["significant"], row["published_significant"], 2),
            f"{row['truth']['rate']:.3f}",
        ]
        for row in found["rows"]
    ]
    return table(heading, lines, left=2)


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
            shown = "" if most is None else _at_level(most, delta) if event == "anything" else f"{short(most.rate)} %"
            cells.append(shown)
        lines.append([_method(method), names[weights], f"{delta:g}", f"{len(rows)}", *cells])
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


_STATISTICS = {"poi": "probability of improvement", "iqm": "interquartile mean", "mean": "mean"}


def summaries_missed(results: Results) -> str:
    """Return how often intervals of summaries miss: the median over populations, and the worst of them."""
    every = results.rows(_SUMMARIES, "missed")
    numbers = list(dict.fromkeys(row["trials"] for row in every))
    lines = []
    for statistic, words in _STATISTICS.items():
        for kind, name in _INTERVALS.items():
            rows = [row for row in every if (row["statistic"], row["interval"]) == (statistic, kind)]
            if rows:
                cells = [_median_and_worst([row for row in rows if row["trials"] == trials]) for trials in numbers]
                lines.append([words, name, *cells])
    return table(["summary", "interval", *(f"{trials} runs" for trials in numbers)], lines, left=2)


def _median_and_worst(rows: list[Any]) -> str:
    most = max(rows, key=lambda row: row["missed"] / row["data_sets"])
    rate = lab.Rate.of(most["missed"], most["data_sets"])
    middle = short(median(row["missed"] / row["data_sets"] for row in rows))
    if rate.count == 0:
        return middle
    mark = " **!**" if rate.finding(_DELTA_OF_SUMMARIES) == "broken" else ""
    return f"{middle}; {short(rate.rate)}{mark} ({most['population']})"


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


def _beside(ours: float | None, theirs: float | None, digits: int) -> str:
    shown = "" if ours is None else f"{ours:.{digits}f}"
    return shown + ("" if theirs is None else f" ({theirs:.{digits}f})")


PARTS: Mapping[str, Part] = {
    "coverage-files": source_files(
        "guaranteed", "approximate", "adaptive", "adaptive-fixed", _POOLED, _SUMMARIES, "collected", "paper"
    ),
    "coverage-populations": populations,
    "coverage-in-short": in_short,
    "coverage-approximate-verdicts": approximate_verdicts,
    "coverage-guaranteed-highest": guaranteed_highest,
    "coverage-cases": cases("guaranteed"),
    "coverage-collected-cases": cases("collected"),
    "coverage-paper-cases": cases("paper"),
    "coverage-guaranteed": of(worst, "guaranteed"),
    "coverage-approximate": of(worst, "approximate"),
    "coverage-approximate-populations": of(by_population, "approximate"),
    "coverage-found-out": of(found_out, "guaranteed", "approximate"),
    "coverage-found-out-range": found_out_range,
    "coverage-looked-at": of(worst, "adaptive", "adaptive-fixed"),
    "coverage-collected": collected,
    "coverage-few-runs": few_runs,
    "coverage-pooled-data-sets": pooled_data_sets,
    "coverage-pooled-in-short": pooled_in_short,
    "coverage-pooled-statements": pooled_statements,
    "coverage-summaries-data-sets": summaries_data_sets,
    "coverage-summaries": summaries_missed,
    "coverage-summaries-width": summaries_width,
    "coverage-paper": lambda results: published(results.content("paper")),
    "coverage-paper-missed": missed,
}
