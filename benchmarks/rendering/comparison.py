"""The parts of the page on other tools: bootstrap intervals and ours on the same data."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from rendering.files import Part, Results, Row, source_files
from rendering.markdown import counts, named, percent, table
from untuned import lab

_FILE = "comparison"
_IMPROVEMENT, _MEAN, _MIDDLE = "probability of improvement", "mean", "interquartile mean"
_SMALL = "small boards"
_GUARANTEED = ("pooled", "pairing")
_NAMES = {
    (_IMPROVEMENT, "rliable"): "stratified bootstrap",
    (_IMPROVEMENT, "pooled"): "`pooled`, the default",
    (_IMPROVEMENT, "pairing"): "`pairing`",
    (_IMPROVEMENT, "wilson"): "`wilson`, approximate",
    (_MEAN, "rliable"): "mean: stratified bootstrap",
    (_MEAN, "student"): "mean: Student",
    (_MEAN, "anderson"): "mean: Anderson (ours)",
    (_MIDDLE, "rliable"): "IQM: stratified bootstrap",
}


def _rows(results: Results, **wanted: object) -> list[Row]:
    return results.rows(_FILE, "missed", **wanted)


def _shown(results: Results, *quantities: str) -> list[tuple[str, str, str]]:
    """Return quantity, method and the method's name in the tables: those that the file has."""
    known = {(row["quantity"], row["method"]) for row in _rows(results)}
    return [(*key, name) for key, name in _NAMES.items() if key[0] in quantities and key in known]


def _kinds(results: Results) -> list[str]:
    """Return what the tables tell apart: small boards together, and every suite of many environments."""
    names = dict.fromkeys(row["population"] for row in _rows(results))
    return [_SMALL, *(name for name in names if name.startswith("suite"))]


def _kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["population"] == kind or (kind == _SMALL and "suite" not in row["population"])]


def _trials(results: Results) -> list[int]:
    return list(dict.fromkeys(row["trials"] for row in _rows(results)))


def misses(quantities: Sequence[str]) -> Part:
    """Return what shows how often intervals of these quantities miss: the median population, and the worst."""

    def rendered(results: Results) -> str:
        sizes = _trials(results)
        lines = []
        for kind in (_SMALL, "suites"):
            for quantity, method, name in _shown(results, *quantities):
                rows = _rows(results, quantity=quantity, method=method)
                here = [row for row in rows if row["population"].startswith("suite") == (kind == "suites")]
                cells = [_missed([row for row in here if row["trials"] == size]) for size in sizes]
                lines.append([kind, name, *cells])
        return table(["populations", "interval", *(f"{size} trials" for size in sizes)], lines, left=2)

    return rendered


def _missed(rows: Sequence[Row]) -> str:
    most = max(rows, key=lambda row: row["missed"] / row["data_sets"])
    rate = lab.Rate.of(most["missed"], most["data_sets"])
    if rate.count == 0:
        return "0"
    middle = _short(median(row["missed"] / row["data_sets"] for row in rows))
    return f"{middle}; {_short(rate.rate)}{' **!**' if rate.finding(0.05) == 'broken' else ''} ({most['population']})"


def _short(number: float) -> str:
    return "0" if number == 0.0 else f"{100 * number:.1f}" if number < 0.0995 else f"{100 * number:.0f}"


def decided(results: Results) -> str:
    """Return mean widths, and how many intervals exclude 1/2, for small boards and for each suite."""
    sizes = _trials(results)[1:]
    lines = []
    for kind in _kinds(results):
        for quantity, method, name in _shown(results, _IMPROVEMENT):
            rows = _kind(_rows(results, quantity=quantity, method=method), kind)
            cells = [_decided([row for row in rows if row["trials"] == size]) for size in sizes]
            lines.append([kind, name, *cells])
    return table(["populations", "interval", *(f"{size} trials" for size in sizes)], lines, left=2)


def _decided(rows: Sequence[Row]) -> str:
    wrong = sum(row["wrong"] for row in rows)
    return f"{fmean(row['width'] for row in rows):.3f}; {_share(rows)}" + (f", {wrong} wrong" if wrong else "")


def _share(rows: Sequence[Row]) -> str:
    return f"{sum(row['decided'] for row in rows):,} of {sum(row['data_sets'] for row in rows):,}"


def wider(results: Results) -> str:
    """Return how many times as wide as the bootstrap's our guaranteed intervals are."""
    sizes = _trials(results)
    lines = []
    for quantity, method, name in _shown(results, _IMPROVEMENT, _MEAN):
        if method not in (*_GUARANTEED, "anderson"):
            continue
        line = [f"{quantity}, {name.rpartition(': ')[2]}"]
        for size in sizes:
            ratios = _ratios(results, quantity, size, method, "rliable")
            line.append(f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})")
        lines.append(line)
    return table(["ours, times as wide as the bootstrap's", *(f"{size} trials" for size in sizes)], lines)


def _ratios(results: Results, quantity: str, size: int, method: str, other: str, kind: str = "") -> list[float]:
    """Return ratios of widths by population; an infinite width has none."""
    ours, theirs = (_rows(results, quantity=quantity, trials=size, method=each) for each in (method, other))
    if kind:
        ours, theirs = _kind(ours, kind), _kind(theirs, kind)
    return [mine["width"] / row["width"] for mine, row in zip(ours, theirs, strict=True) if mine["width"]]


def wilson(results: Results) -> str:
    """Return how wide intervals by `wilson` are compared with those by `pairing`, on small boards and on suites."""
    sizes = _trials(results)
    told = []
    for kind in _kinds(results):
        ratios = [median(_ratios(results, _IMPROVEMENT, size, "wilson", "pairing", kind)) for size in sizes]
        told.append(f"{' / '.join(f'{each:.2f}' for each in ratios)} on {kind}")
    listed = " / ".join(map(str, sizes))
    return (
        f"with {listed} trials the intervals of `wilson` are {', '.join(told)} times as wide as those of `pairing` "
        "(medians)"
    )


def in_short(results: Results) -> str:
    """Return how often the bootstrap misses and what it decides, next to the guaranteed methods."""
    few, many = _trials(results)[0], _trials(results)[-1]
    theirs = _rows(results, quantity=_IMPROVEMENT, method="rliable")
    ours = {
        f"`{method}`": _rows(results, quantity=_IMPROVEMENT, method=method)
        for _, method, _ in _shown(results, _IMPROVEMENT)
        if method in _GUARANTEED
    }
    small = _kind([row for row in theirs if row["trials"] == few], _SMALL)
    rates = sorted(row["missed"] / row["data_sets"] for row in small)
    suites = [row["missed"] / row["data_sets"] for row in theirs if row["population"].startswith("suite")]
    missed = [
        f"{sum(row['missed'] for row in rows):,} of {sum(row['data_sets'] for row in rows):,} ({name})"
        for name, rows in ours.items()
    ]
    shares = []
    for name, rows in {"the bootstrap": theirs, **ours}.items():
        last = [row for row in rows if row["trials"] == many]
        shares.append(f"{name} {', '.join(f'{_share(_kind(last, kind))} on {kind}' for kind in _kinds(results))}")
    sizes = counts([row["data_sets"] for row in theirs])
    return (
        f"Of 95 % intervals of the probability of improvement, the bootstrap's miss on {named(len(small))} small "
        f"boards with {few} trials in {percent(rates[0])} to {percent(rates[-1])} of {sizes} data sets each (median "
        f"{percent(median(rates))}), and on suites of 26 environments, over all numbers of trials, in "
        f"{100 * min(suites):.0f} to {percent(max(suites))}. Guaranteed intervals miss in {', '.join(missed)}. "
        f"Pairs decided with {many} trials: {'; '.join(shares)}."
    )


def wrong(results: Results) -> str:
    """Return how many of the bootstrap's decisions with the fewest trials are wrong, on small boards."""
    few = _trials(results)[0]
    rows = _kind(_rows(results, quantity=_IMPROVEMENT, method="rliable", trials=few), _SMALL)
    count, total = (sum(row[key] for row in rows) for key in ("wrong", "decided"))
    return f"{count} of the bootstrap's {total:,} decisions with {few} trials on small boards were wrong"


def data_sets(results: Results) -> str:
    return counts([row["data_sets"] for row in _rows(results)])


PARTS: Mapping[str, Part] = {
    "comparison-in-short": in_short,
    "comparison-files": source_files(_FILE),
    "comparison-data-sets": data_sets,
    "comparison-improvement": misses((_IMPROVEMENT,)),
    "comparison-decided": decided,
    "comparison-means": misses((_MEAN, _MIDDLE)),
    "comparison-wider": wider,
    "comparison-wilson": wilson,
    "comparison-wrong": wrong,
}
