"""The parts of the page on how much it takes: widths, pairs separated, predicted numbers of trials."""

from collections.abc import Mapping
from functools import partial

from rendering.files import Part, Results, Row
from rendering.markdown import digits, duration, named, percent, table

GUARANTEED = ("pbp", "kl", "bentkus", "betting", "pairing")
WAYS = {"published": "as published", "apart": "intervals", "direct": "differences", "branching": "branching"}


# --- widths


def widths(results: Results) -> str:
    lines = []
    for row in results.rows("widths", "population"):
        least = _narrowest(row)
        shown = [f"**{_width(row[name])}**" if name == least else _width(row[name]) for name in GUARANTEED]
        saved = digits((row["pbp"] / row["pairing"]) ** 2)
        lines.append([row["population"], f"{row['trials']:,}", *shown, _width(row["wilson"]), saved])
    heading = ["scores", "trials", *(f"`{name}`" for name in (*GUARANTEED, "wilson")), "(`pbp` / `pairing`)²"]
    return table(heading, lines)


def _narrowest(row: Row) -> str:
    return min(GUARANTEED, key=lambda name: row[name])


def _width(width: float) -> str:
    return f"{width:.3f}" if width >= 0.00995 else f"{width:.4f}"


def widths_data_sets(results: Results) -> str:
    return f"{results.settings('widths')['samples']} data sets"


def widths_narrowest(results: Results) -> str:
    rows = results.rows("widths", "population")
    won = {name: sum(_narrowest(row) == name for row in rows) for name in GUARANTEED}
    others = [f"`{name}` in {named(count)}" for name, count in won.items() if count and name != "pairing"]
    return f"`pairing` is the narrowest in {won['pairing']} of {len(rows)} lines, {' and '.join(others)}"


# --- pairs separated


def told_apart(trials: int, results: Results) -> str:
    rows = results.rows("power", "method", trials=trials)
    lines = []
    for row in rows:
        name = f"`{row['method']}`{'' if row['guaranteed'] else ', approximate'}"
        paper = "" if row["in_the_paper"] is None else f" ({percent(row['in_the_paper'])})"
        cells = [f"{percent(row[way])}{paper if way == 'published' else ''}" if way in row else "" for way in WAYS]
        lines.append([name, *cells])
    samples = f"{named(rows[0]['replicates'])} {'sample' if rows[0]['replicates'] == 1 else 'samples'}"
    return table([f"{trials:,} trials ({samples})", *WAYS.values()], lines)


def wrong(results: Results) -> str:
    rows = results.rows("power", "against_the_final_verdict")
    count = sum(row["against_the_final_verdict"] for row in rows)
    many = "no verdict" if count == 0 else "one verdict" if count == 1 else f"{count} verdicts"
    return f"{many} of any method {'were' if count > 1 else 'was'}"


def limits(results: Results) -> str:
    return table(
        ["trials", "pairs", "decided", "undecided: intervals allow the opposite", "undecided: branching given up"],
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
    return table(
        ["percentile", "trials", "share of the uncertainty of undecided pairs"],
        [
            [name, f"{row['trials']:,}", percent(share)]
            for row in results.rows("power", "to_blame")
            for name, share in row["to_blame"].items()
        ],
    )


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


def plan(results: Results) -> str:
    lines = []
    for row in plan_rows(results):
        where = {
            "all": "",
            "near": f", predictions up to {named(10)} times the pilot",
            "far": ", predictions beyond that",
        }[row["predictions"]]
        name = row["population"] if row["population"] in ("all", "the paper's test") else f"`{row['population']}`"
        lines.append(
            [
                f"{name}{where}",
                f"{row['pilot']:,}",
                f"{row['pairs']}",
                *(f"{row[key]:.2f}" for key in ("median", "tenth", "ninetieth")),
                *(percent(row[key]) for key in ("within_2", "within_3")),
            ]
        )
    heading = ["population", "pilot", "pairs", "median", "a tenth below", "a tenth above", "within 2", "within 3"]
    return table(heading, lines)


def plan_rows(results: Results) -> list[Row]:
    """Return the lines of the table: every population, then near and far predictions of all, then the paper's test."""
    rows = results.rows("plan", "predictions")
    chosen = [row for row in rows if row["predictions"] == "all" or row["population"] == "all"]
    collected = results.rows("plan-collected", "predictions", predictions="all", population="all")
    return [*chosen, *({**row, "population": "the paper's test"} for row in collected)]


def plan_settings(results: Results) -> str:
    found = results.settings("plan")
    return (
        f"open in {named(found['pilots'])} pilots of each kind, with `refine={found['refine']}`. What it takes is the "
        f"number of trials at which half of {named(found['looks'])} fresh data sets decide the pair"
    )


def plan_collected_settings(results: Results) -> str:
    found = results.settings("plan-collected")
    return (
        f"{named(found['pilots'])} pilots and {named(found['looks'])} fresh data sets, and no more than "
        f"{found['most']:,} trials"
    )


_POOLED_PLAN = "pooled-plan"


def pooled_plan(results: Results) -> str:
    """Return predicted over actual numbers for `pooled`; pairs that stayed open are counted once for a pilot."""
    words = {"all": "all", "near": f"up to {named(10)} times the pilot", "far": "beyond that"}
    lines = []
    for row in results.rows(_POOLED_PLAN, "predictions"):
        whole = row["predictions"] == "all"
        lines.append(
            [
                words[row["predictions"]],
                f"{row['pilot']}",
                f"{row['pairs']}",
                *(f"{row[key]:.2f}" for key in ("median", "tenth", "ninetieth")),
                *(percent(row[key]) for key in ("within_2", "within_3")),
                f"{row['never']}" if whole else "",
                duration(row["plan_seconds"]) if whole else "",
            ]
        )
    heading = ["predictions", "pilot", "pairs", "median", "a tenth below", "a tenth above", "within 2", "within 3"]
    return table([*heading, "not decided", "processor's time"], lines)


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
    "bentkus": "`bentkus`",
    "bootstrap": "`bootstrap`, approximate",
    "game": "`pairing`, the game's weights",
}


def few_runs(results: Results) -> str:
    """Return decided pairs of a data set, on average, and in brackets how many verdicts were wrong."""
    groups: dict[tuple[str, int, int, float], dict[str, Row]] = {}
    for row in results.rows(_FEW_RUNS, "board"):
        groups.setdefault((row["board"], *row["trials"], row["heterogeneity"]), {})[row["method"]] = row
    lines = []
    for (board, fewest, most, heterogeneity), rows in groups.items():
        any_row = rows["pooled"]
        trials = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        sizes = [f"{heterogeneity:g}", f"{any_row['data_sets']}", f"{any_row['pairs']:,}"]
        lines.append([board.replace("x", " x "), trials, *sizes, *(_decided(rows.get(name)) for name in _COLUMNS)])
    heading = ["board", "trials", "heterogeneity", "data sets", "pairs in each", *_COLUMNS.values()]
    return table(heading, lines)


def _decided(row: Row | None) -> str:
    if row is None:
        return ""
    mean = row["decided"] / row["data_sets"]
    shown = f"{mean:,.0f}" if mean >= 100 or mean == int(mean) else f"{mean:.1f}"
    return shown + (f" ({row['wrong']} wrong)" if row["wrong"] else "")


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
        sentences.append(f"{wrong:,} of {decided:,} verdicts of {name}")
    return f"Wrong were {' and '.join(sentences)}."


def few_runs_speed(results: Results) -> str:
    lines = [
        [
            f"{row['algorithms']} x {row['environments']}",
            f"{row['trials']:,}",
            duration(row["seconds"]),
            duration(row["processor_seconds"]),
            duration(row["required_seconds"]),
            f"{row['peak_megabytes']:,} MB",
        ]
        for row in results.rows(_FEW_RUNS, "required_seconds")
    ]
    return table(["board", "trials", "time", "processor's time", "required: less than", "peak memory"], lines)


PARTS: Mapping[str, Part] = {
    "power-widths": widths,
    "power-widths-data-sets": widths_data_sets,
    "power-widths-narrowest": widths_narrowest,
    "power-100": partial(told_apart, 100),
    "power-1000": partial(told_apart, 1_000),
    "power-10000": partial(told_apart, 10_000),
    "power-wrong": wrong,
    "power-limits": limits,
    "power-blame": blame,
    "power-functional": functional,
    "power-claims": claims,
    "power-claims-in-short": claims_in_short,
    "power-few-runs": few_runs,
    "power-few-runs-wrong": few_runs_wrong,
    "power-few-runs-speed": few_runs_speed,
    "power-plan": plan,
    "power-plan-settings": plan_settings,
    "power-plan-collected-settings": plan_collected_settings,
    "power-pooled-plan": pooled_plan,
    "power-pooled-plan-settings": pooled_plan_settings,
    "power-design": design,
    "power-design-settings": design_settings,
    "power-crowds": crowds,
}
