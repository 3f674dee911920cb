"""The parts of the gallery: what may be claimed of published runs."""

from functools import partial

from rendering.files import Part, Results, Row
from rendering.markdown import counts, table

_FILE = "gallery"
#: The cases of the overview: its page, and what the row is called there.
_OVERVIEW = {
    "atari-100k": ("atari-100k", "Atari 100k, two methods"),
    "atari-100k-four": ("atari-100k", "Atari 100k, four methods"),
    "atari-100k-five": ("atari-100k", "Atari 100k, five methods"),
    "dopamine-mean": ("dopamine", "Dopamine, mean over training"),
    "dopamine-final": ("dopamine", "Dopamine, end of training"),
    "walker": ("walker", "AdaStop's walker example"),
}
_REDUCTIONS = {"dopamine-mean": "mean over training", "dopamine-final": "end of training"}


def _case(results: Results, source: str) -> Row:
    return results.row(_FILE, "source", source=source)


def _ranking(row: Row, weights: str) -> Row | None:
    found: Row | None = next((each for each in row["rankings"] if each["weights"] == weights), None)
    return found


def _share(decided: int, pairs: int) -> str:
    return f"{decided} of {pairs}"


def overview(results: Results) -> str:
    """Return the sizes of all sources, and how many pairs each ranking decides."""
    lines = []
    for source, (page, words) in _OVERVIEW.items():
        row = _case(results, source)
        size = f"{row['algorithms']} x {row['environments']} x {counts(row['runs'])}"
        ranked = [_ranking(row, weights) for weights in ("uniform", "game")]
        decided = ["none is made" if each is None else _share(len(each["better"]), row["pairs"]) for each in ranked]
        heads = _share(len(row["head_to_head"]), row["pairs"])
        lines.append([f"[{words}]({page}.md)", size, decided[0], heads, decided[1], _needed(ranked[0])])
    heading = [
        "source",
        "size",
        "equal weights",
        "head to head",
        "the game",
        "for the rest",
    ]
    return table(heading, lines, left=2)


def _needed(ranking: Row | None) -> str:
    """Return the runs per cell that probably decide every open pair under a ranking, where that is known."""
    if ranking is None or ranking["to_decide"] is None:
        return "not planned"
    if not ranking["to_decide"]:
        return "nothing"
    trials = list(ranking["to_decide"].values())
    known = [each for each in trials if each is not None]
    if len(known) < len(trials):
        return f"{_share(len(known), len(trials))} pairs foreseen"
    return f"about {counts([_rounded(min(known)), _rounded(max(known))])} runs"


def _rounded(number: int) -> int:
    return int(float(f"{number:.1e}"))


def scores(source: str, results: Results) -> str:
    """Return the scores of a source under equal weights, and the intervals under the game's."""
    row = _case(results, source)
    uniform, game = (_ranking(row, weights) for weights in ("uniform", "game"))
    assert uniform is not None
    heading = ["algorithm", "score, equal weights", "interval"]
    if game is not None:
        heading += ["score, the game", "interval"]
    under = {} if game is None else {each["algorithm"]: each for each in game["scores"]}
    lines = []
    for each in uniform["scores"]:
        name = each["algorithm"]
        lines.append([name, *_score(each), *(_score(under[name]) if game is not None else ())])
    return table(heading, lines)


def _score(each: Row) -> tuple[str, str]:
    return f"{each['score']:.2f}", f"{each['low']:.2f} to {each['high']:.2f}"


def verdicts(source: str, results: Results) -> str:
    """Return what is better than what, under equal weights."""
    ranking = _ranking(_case(results, source), "uniform")
    assert ranking is not None
    order = [each["algorithm"] for each in ranking["scores"]]
    found = []
    for a in order:
        beaten = [b for b in order if [a, b] in ranking["better"]]
        if beaten:
            found.append(f"{a} is better than {_listed(beaten)}")
    return "; ".join(found) if found else "no verdict is possible"


def plan(source: str, results: Results) -> str:
    """Return the predicted runs per cell for every open pair under equal weights."""
    ranking = _ranking(_case(results, source), "uniform")
    assert ranking is not None
    lines = [
        [pair, "no number is known" if trials is None else f"{_rounded(trials):,}"]
        for pair, trials in ranking["to_decide"].items()
    ]
    return table(["open pair", "runs per cell, predicted"], lines)


def reductions(results: Results) -> str:
    """Return the verdict on every pair of Dopamine's agents, for both scores of a run."""
    cases = {words: _case(results, source) for source, words in _REDUCTIONS.items()}
    rankings = {words: _ranking(row, "uniform") for words, row in cases.items()}
    first = next(iter(rankings.values()))
    assert first is not None
    order = [each["algorithm"] for each in first["scores"]]
    lines = []
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            said = []
            for words, row in cases.items():
                ranking = rankings[words]
                assert ranking is not None
                said += [_verdict(a, b, ranking["better"]), _verdict(a, b, row["head_to_head"])]
            if len(set(said)) > 1 or said[0] == "open":
                lines.append([f"{a} / {b}", *said])
    heading = ["pair", *(f"{words}, {how}" for words in rankings for how in ("equal weights", "head to head"))]
    return table(heading, lines, left=len(heading))


def _verdict(a: str, b: str, better: list[list[str]]) -> str:
    return f"{a} better" if [a, b] in better else f"{b} better" if [b, a] in better else "open"


def findings(source: str, results: Results) -> str:
    """Return what a check of the scores finds."""
    found = [f"`{code}` ({severity})" for severity, code in _case(results, source)["findings"]]
    return _listed(found) if found else "nothing"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def decided(source: str, weights: str, results: Results) -> str:
    """Return how many pairs a ranking decides."""
    row = _case(results, source)
    found = row["head_to_head"] if weights == "head" else (_ranking(row, weights) or {"better": []})["better"]
    return _share(len(found), row["pairs"])


PARTS: dict[str, Part] = {
    "gallery-overview": overview,
    "gallery-reductions": reductions,
    **{f"gallery-scores-{each}": partial(scores, each) for each in ("atari-100k-five", "dopamine-mean", "walker")},
    **{
        f"gallery-verdicts-{each}": partial(verdicts, each)
        for each in ("atari-100k-five", "atari-100k-four", "dopamine-mean", "dopamine-final", "walker-pairing")
    },
    **{f"gallery-plan-{each}": partial(plan, each) for each in ("atari-100k-five", "dopamine-mean", "walker")},
    **{f"gallery-check-{each}": partial(findings, each) for each in ("atari-100k-five", "dopamine-mean", "walker")},
    "gallery-anytime-walker": partial(decided, "walker-anytime", "uniform"),
    "gallery-head-atari-100k-five": partial(decided, "atari-100k-five", "head"),
    "gallery-game-dopamine": partial(decided, "dopamine-mean", "game"),
}
