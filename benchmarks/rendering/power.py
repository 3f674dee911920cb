"""The parts of the page on how much it takes: widths, pairs separated, predicted numbers of trials."""

from collections.abc import Mapping
from math import comb
from statistics import median

from rendering.files import Part, Results, Row, source_files
from rendering.markdown import counts, digits, duration, named, percent, table
from untuned.judge.evaluate import default_cases
from untuned.lab.table_two import STUDY

GUARANTEED = ("pbp", "kl", "bentkus", "betting", "pairing")
WAYS = {"published": "as published", "apart": "intervals", "direct": "differences", "branching": "branching"}


# --- widths


def widths(results: Results) -> str:
    """Return, by number of trials, how wide intervals are compared with those of `pairing`, over all populations."""
    rows = results.rows("widths", "population")
    others = [name for name in (*GUARANTEED, "wilson") if name != "pairing"]
    lines = []
    for trials in dict.fromkeys(row["trials"] for row in rows):
        here = [row for row in rows if row["trials"] == trials]
        own = [row["pairing"] for row in here]
        ratios = [_extent([row[name] / row["pairing"] for row in here]) for name in others]
        saved = _extent([(row["pbp"] / row["pairing"]) ** 2 for row in here])
        lines.append([f"{trials:,}", f"{_width(min(own))} to {_width(max(own))}", *ratios, saved])
    compared = [f"`{name}`, times" for name in others]
    return table(["trials", "`pairing`, half width", *compared, "trials of `pbp`, times"], lines)


def _extent(ratios: list[float]) -> str:
    return f"{digits(median(ratios))} ({digits(min(ratios))} to {digits(max(ratios))})"


def _narrowest(row: Row) -> str:
    return min(GUARANTEED, key=lambda name: row[name])


def _width(width: float) -> str:
    return f"{width:.3f}" if width >= 0.00995 else f"{width:.4f}"


def widths_data_sets(results: Results) -> str:
    places = len({row["population"] for row in results.rows("widths", "population")})
    return f"{results.settings('widths')['samples']} data sets from each of {named(places)} populations"


def widths_narrowest(results: Results) -> str:
    rows = results.rows("widths", "population")
    won = {name: sum(_narrowest(row) == name for row in rows) for name in GUARANTEED}
    others = [f"`{name}` in {count}" for name, count in won.items() if count and name != "pairing"]
    listed = ", ".join([f"`pairing` in {won['pairing']}", *others])
    return f"The narrowest guaranteed interval of {len(rows)} populations and numbers of trials is {listed}."


# --- pairs separated


#: Pairs of algorithms in one sample.
_PAIRS = comb(len(STUDY.algorithms), 2)


def in_short(results: Results) -> str:
    """Return how many pairs the default method and the bootstrap decide, by number of trials."""
    told = []
    for name, way in (("pairing", "branching"), ("bootstrap", "published")):
        rows = results.rows("power", "method", method=name)
        shares = [f"{percent(row[way])} of {_of(row)} pairs with {row['trials']:,} trials" for row in rows]
        kind = "" if rows[0]["guaranteed"] else " (approximate)"
        told.append(f"`{name}`{kind} decides {', '.join(shares)}")
    return f"On the paper's experiment, under the game's weights, {'; '.join(told)}."


def _of(row: Row) -> str:
    return f"{_PAIRS * row['replicates']:,}"


def separated(results: Results) -> str:
    """Return the share of decided pairs by method, as they are judged by default."""
    rows = results.rows("power", "method")
    sizes = list(dict.fromkeys(row["trials"] for row in rows))
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {row["trials"]: row for row in rows if row["method"] == method}
        papers = [each for row in own.values() if (each := row["in_the_paper"]) is not None]
        lines.append(
            [
                f"`{method}`",
                "guaranteed" if own[sizes[0]]["guaranteed"] else "approximate",
                *(percent(own[size].get("branching", own[size]["published"])) for size in sizes),
                " / ".join(map(percent, papers)),
            ]
        )
    heads = [f"{size:,} trials, {_of(results.rows('power', 'method', trials=size)[0])} pairs" for size in sizes]
    return table(["method", "kind", *heads, "the paper"], lines, left=2)


def steps(results: Results) -> str:
    """Return what every step adds to the share of pairs that the default method decides."""
    rows = results.rows("power", "branching", method="pairing")
    lines = [[f"{row['trials']:,}", _of(row), *(percent(row[way]) for way in WAYS)] for row in rows]
    return table(["trials", "pairs", *WAYS.values()], lines, left=0)


def wrong(results: Results) -> str:
    rows = results.rows("power", "against_the_final_verdict")
    count = sum(row["against_the_final_verdict"] for row in rows)
    total = sum(round(row.get("branching", row["published"]) * row["replicates"] * _PAIRS) for row in rows)
    return f"{count:,} of {total:,} verdicts contradict"


def limits(results: Results) -> str:
    return table(
        ["trials", "pairs", "decided", "intervals allow the opposite", "branching budget used up"],
        [
            [
                f"{row['trials']:,}",
                f"{row['decided'] + row['intervals'] + row['propagation']}",
                f"{row['decided']}",
                f"{row['intervals']}",
                f"{row['propagation']}",
            ]
            for row in results.rows("power", "to_blame")
        ],
        left=0,
    )


def blame(results: Results) -> str:
    """Return which percentile carries most of the uncertainty of undecided pairs, by number of trials."""
    told = []
    for row in results.rows("power", "to_blame"):
        if row["to_blame"]:
            name, share = max(row["to_blame"].items(), key=lambda each: each[1])
            told.append(f"{percent(share)} with {row['trials']:,} trials ({name})")
    return f"the most uncertain percentile carries {' and '.join(told)}"


def budgets(results: Results) -> str:
    """Return how many pairs `pairing` decides on the same experiment with several budgets of branching."""
    cells = (len(STUDY.algorithms), len(STUDY.environments))
    power_rows = {row["trials"]: row for row in results.rows("power", "method", method="pairing")}
    paper, again = results.content("paper"), results.content("reproduction")["table_2"]
    found = [
        (
            "this page (`power.json`)",
            default_cases(*cells),
            {size: (row["branching"], row["replicates"]) for size, row in power_rows.items()},
        ),
        ("[the paper's own test](coverage.md#the-papers-own-test) (`paper.json`)", *_replicated(paper)),
        (f"[`untuned reproduce`](reproduction.md), {again['population']} (`reproduction.json`)", *_replicated(again)),
        (
            "[as collected](coverage.md#as-collected) (`collected.json`)",
            results.settings("collected")["refine"],
            {
                row["trials"]: (row["decided"], row["data_sets"])
                for row in results.rows("collected", "decided", method="pairing")
            },
        ),
    ]
    lines = [
        [where, f"{cases:,}", *(f"{percent(by[size][0], 1)} of {by[size][1]:,} x {_PAIRS}" for size in (100, 1_000))]
        for where, cases, by in found
    ]
    return table(["where", "cases for a pair", "100 trials", "1,000 trials"], lines)


def _replicated(found: Row) -> tuple[int, dict[int, tuple[float, int]]]:
    rows = [row for row in found["rows"] if row["method"] == "pairing"]
    return found["settings"]["refine"], {row["trials"]: (row["significant"], row["samples"]) for row in rows}


def functional(results: Results) -> str:
    return table(
        ["algorithms x environments", "trials", "narrower than intervals", "mean gain"],
        [
            [
                f"{row['algorithms']} x {row['environments']}",
                f"{row['trials']:,}",
                f"in {percent(row['functional_narrower'])} of pairs",
                f"{row['mean_gain']:+.3f}",
            ]
            for row in results.rows("power", "functional_narrower")
        ],
    )


# --- predicted numbers of trials


_WHERE = {"all": "all", "near": f"up to {named(10)} times the pilot", "far": "beyond that"}


def plan(results: Results) -> str:
    """Return predicted over actual numbers for `pairing`, all populations together, and on the paper's experiment."""
    collected = results.rows("plan-collected", "predictions", predictions="all", population="all")
    rows = [row for row in results.rows("plan", "predictions", population="all") if row["predictions"] != "all"]
    rows += collected
    words = [*[_WHERE[row["predictions"]] for row in rows[: -len(collected)]], *(["the paper's test"] * len(collected))]
    lines = [[name, f"{row['pilot']:,}", *_predicted(row)] for name, row in zip(words, rows, strict=True)]
    return table(["predictions", "pilot", *_PREDICTED], lines)


_PREDICTED = ("pairs", "median ratio (tenth below, tenth above)", "within 2", "within 3")


def _predicted(row: Row) -> list[str]:
    return [
        f"{row['pairs']}",
        f"{row['median']:.2f} ({row['tenth']:.2f}, {row['ninetieth']:.2f})",
        *(percent(row[key]) for key in ("within_2", "within_3")),
    ]


def plan_worst(results: Results) -> str:
    """Return on which population predictions are least often within a factor of two."""
    rows = [row for row in results.rows("plan", "predictions", predictions="all") if row["population"] != "all"]
    row = min(rows, key=lambda each: each["within_2"])
    return (
        f"the hardest is *{row['population']}*: with pilots of {row['pilot']} trials, "
        f"{percent(row['within_2'])} of {row['pairs']} predictions are within a factor of two"
    )


def plan_settings(results: Results) -> str:
    found = results.settings("plan")
    return (
        f"open in {named(found['pilots'])} pilots of each kind, with `refine={found['refine']}`. The number needed is "
        f"that at which half of {named(found['looks'])} fresh data sets decide the pair"
    )


def plan_collected_settings(results: Results) -> str:
    found = results.settings("plan-collected")
    return (
        f"{named(found['pilots'])} pilots and {named(found['looks'])} fresh data sets, and no more than "
        f"{found['most']:,} trials"
    )


_POOLED_PLAN = "pooled-plan"


def pooled_plan(results: Results) -> str:
    """Return predicted over actual numbers for `pooled`."""
    rows = [row for row in results.rows(_POOLED_PLAN, "predictions") if row["predictions"] != "all"]
    return table(
        ["predictions", "pilot", *_PREDICTED],
        [[_WHERE[row["predictions"]], f"{row['pilot']}", *_predicted(row)] for row in rows],
    )


def pooled_plan_never(results: Results) -> str:
    """Return how many pairs were predicted to need no more trials than were tried, and were not decided."""
    rows = results.rows(_POOLED_PLAN, "predictions", predictions="all")
    return ", ".join(f"{row['never']} for pilots of {row['pilot']}" for row in rows)


def pooled_plan_settings(results: Results) -> str:
    found = results.settings(_POOLED_PLAN)
    pilots = "one pilot" if found["pilots"] == 1 else f"{named(found['pilots'])} pilots"
    return (
        f"{named(found['boards'])} boards and {pilots} of each size on each, {named(found['looks'])} fresh data sets, "
        f"and no more than {found['most']:,} trials"
    )


def design(results: Results) -> str:
    row = results.row(_POOLED_PLAN, "differences")
    name = f"difference found with probability {percent(row['power'])}"
    return table(
        ["trials per cell", *(f"{trials}" for trials in row["trials"])],
        [[name, *(f"{each:.3f}" for each in row["differences"])]],
    )


def design_settings(results: Results) -> str:
    row = results.row(_POOLED_PLAN, "differences")
    board = f"{row['algorithms']} algorithms and {row['environments']} environments"
    return f"{board} at a heterogeneity of {row['heterogeneity']:g}, in {duration(row['seconds'])} of a processor"


def crowds(results: Results) -> str:
    """Return how often one difference is found in two surroundings."""
    rows = results.rows(_POOLED_PLAN, "crowd")
    where = {
        "first and last of close ones": "between the first and the last of algorithms that are close to each other",
        "neighbours, far apart": "between neighbours of algorithms that are far apart",
    }
    told = [
        f"{row['difference']:.2f} was found in {percent(row['found'])} of {row['pairs']} cases {where[row['crowd']]}"
        for row in rows
    ]
    return f"With {named(rows[0]['trials'])} trials per cell a difference of {', and one of '.join(told)}"


# --- few runs under equal weights

_FEW_RUNS = "pooled-power"
_COLUMNS = {
    "pooled": "`pooled`",
    "head to head": "head to head",
    "pairing": "`pairing`",
    "bootstrap": "`bootstrap`, approximate",
    "game": "`pairing`, the game's weights",
}


def few_runs(results: Results) -> str:
    """Return the share of decided pairs by board and number of trials, over all heterogeneities."""
    groups: dict[tuple[str, int, int], list[Row]] = {}
    for row in results.rows(_FEW_RUNS, "board"):
        groups.setdefault((row["board"], *row["trials"]), []).append(row)
    lines = []
    for (board, fewest, most), rows in groups.items():
        trials = f"{fewest:,}" if fewest == most else f"{fewest} to {most}"
        pairs = sum(row["pairs"] * row["data_sets"] for row in rows if row["method"] == "pooled")
        shares = [_shares([row for row in rows if row["method"] == name]) for name in _COLUMNS]
        lines.append([board.replace("x", " x "), trials, f"{pairs:,}", *shares])
    return table(["board", "trials", "pairs", *_COLUMNS.values()], lines)


def _shares(rows: list[Row]) -> str:
    """Return the lowest and the highest share of decided pairs, in percent."""
    if not rows:
        return ""
    shares = sorted(round(100 * row["decided"] / (row["pairs"] * row["data_sets"])) for row in rows)
    return f"{shares[0]}" if shares[0] == shares[-1] else f"{shares[0]} to {shares[-1]}"


def few_runs_settings(results: Results) -> str:
    rows = results.rows(_FEW_RUNS, "board", method="pooled")
    values = [f"{each:g}" for each in dict.fromkeys(row["heterogeneity"] for row in rows)]
    return (
        f"{', '.join(values[:-1])} and {values[-1]}, with {counts([row['data_sets'] for row in rows])} data sets each"
    )


_CLAIMS = {
    "pooled": "equal weights",
    "head to head": "head to head",
    "game": "the game's weights",
    "bootstrap": "bootstrap, approximate",
}


def claims(results: Results) -> str:
    """Return the part of all pairs of the small board that is decided, by numbers of trials."""
    rows = results.rows(_FEW_RUNS, "board", board="6x18")
    numbers = dict.fromkeys(row["trials"][0] for row in rows)
    lines = [[f"{trials:,}", *(_claimed(rows, trials, method) for method in _CLAIMS)] for trials in numbers]
    return table(["runs per cell", *_CLAIMS.values()], lines)


def _claimed(rows: list[Row], trials: int, method: str) -> str:
    counted = [row for row in rows if row["trials"][0] == trials and row["method"] == method]
    pairs = sum(row["pairs"] * row["data_sets"] for row in counted)
    return f"{percent(sum(row['decided'] for row in counted) / pairs)} of {pairs:,}"


def claims_in_short(results: Results) -> str:
    """Return what is decided with the fewest trials, in a sentence."""
    rows = results.rows(_FEW_RUNS, "board", board="6x18")
    fewest = min(row["trials"][0] for row in rows)
    told = {method: _claimed(rows, fewest, method) for method in _CLAIMS}
    return (
        f"with {fewest} runs per cell, `pooled` decides {told['pooled']} pairs and the bootstrap {told['bootstrap']}; "
        f"under the game's weights `pairing` decides {told['game']}"
    )


def few_runs_wrong(results: Results) -> str:
    """Return how many verdicts there were, and how many of them wrong, by guaranteed methods and by the other."""
    rows = results.rows(_FEW_RUNS, "board")
    sentences = []
    for name, chosen in (
        ("guaranteed methods", [row for row in rows if row["method"] != "bootstrap"]),
        ("`bootstrap`", [row for row in rows if row["method"] == "bootstrap"]),
    ):
        wrong, decided = sum(row["wrong"] for row in chosen), sum(row["decided"] for row in chosen)
        sentences.append(f"{wrong:,} of {decided:,} by {name}")
    return f"Wrong verdicts in this table: {' and '.join(sentences)}."


PARTS: Mapping[str, Part] = {
    "power-in-short": in_short,
    "power-files": source_files(
        *("power", "widths", "pooled-power", "race-savings", "race-errors", "plan", "plan-collected", "pooled-plan")
    ),
    "power-widths": widths,
    "power-widths-data-sets": widths_data_sets,
    "power-widths-narrowest": widths_narrowest,
    "power-separated": separated,
    "power-steps": steps,
    "power-budgets": budgets,
    "power-wrong": wrong,
    "power-limits": limits,
    "power-blame": blame,
    "power-functional": functional,
    "power-claims": claims,
    "power-claims-in-short": claims_in_short,
    "power-few-runs": few_runs,
    "power-few-runs-settings": few_runs_settings,
    "power-few-runs-wrong": few_runs_wrong,
    "power-plan": plan,
    "power-plan-settings": plan_settings,
    "power-plan-collected-settings": plan_collected_settings,
    "power-plan-worst": plan_worst,
    "power-pooled-plan": pooled_plan,
    "power-pooled-plan-never": pooled_plan_never,
    "power-pooled-plan-settings": pooled_plan_settings,
    "power-design": design,
    "power-design-settings": design_settings,
    "power-crowds": crowds,
}
