"""The question an evaluation answers, and the answer, as sentences."""

from untuned.evaluation import Evaluation
from untuned.statements import failed_throughout, variants
from untuned.verdicts import NOT_SEPARABLE, listed


def question(evaluation: Evaluation) -> str:
    """Return the question."""
    m = len(evaluation.environments)
    return (
        f"Which of these {len(evaluation.algorithms):,} algorithms "
        f"{'performs' if len(evaluation.algorithms) == 2 else 'perform'} best "
        f"{'on this environment' if m == 1 else f'across these {m:,} environments'}?"
    )


def answer(evaluation: Evaluation) -> str:
    """Return the answer, two or three sentences: who is best under each weighting, as far as is known; never more.

    Algorithms all of whose trials failed are named as such.
    """
    if evaluation.all_failed:
        return "No algorithm can be declared best: every trial of every algorithm failed."
    return " ".join((_answer(evaluation), *failed_throughout(evaluation)))


def _answer(evaluation: Evaluation) -> str:
    shown = evaluation.each_ranking
    if len(shown) == 1:
        found = _best(evaluation)
        # A name that begins the sentence keeps its letters.
        return found if found.startswith(leaders(evaluation)[0]) else found[0].upper() + found[1:]
    said: dict[str, list[str]] = {}
    for each in shown:
        said.setdefault(_best(each), []).append(each.under_weights)
    parts = {best: " and ".join(weights) for best, weights in said.items()}
    return " ".join(f"{weights[0].upper()}{weights[1:]}, {best}" for best, weights in parts.items())


def _best(evaluation: Evaluation) -> str:
    """Return who is best by the first ranking, the rest of a sentence."""
    first = leaders(evaluation)
    others = len(evaluation.algorithms) - len(first)
    if len(first) == 1:
        rest = "the other one" if others == 1 else f"each of the other {others:,}"
        return f"{first[0]} performs best: it is better than {rest}."
    if not others:
        count = "two" if len(first) == 2 else f"{len(first):,}"
        return f"no algorithm can be declared best yet: the {count} are {NOT_SEPARABLE}."
    rest = "the other one is" if others == 1 else f"the other {others:,} are"
    return f"the best is {listed(first, 'or')} ({NOT_SEPARABLE}); {rest} ruled out."


def leaders(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the algorithms that none is known to be better than, the best score first."""
    better = evaluation.pairs.better_ab
    return tuple(evaluation.algorithms[a] for a in evaluation.order if not better[:, a].any())


def scoring(evaluation: Evaluation) -> str:
    """Return a sentence on what a score is."""
    ties = "ties count half" if evaluation.judging.payoff == "mid-rank" else "ties count in full"
    return (
        "The score of an algorithm is the mean of its performance percentiles: the share of a reference's trials that "
        f"a trial of its own is better than ({ties}), over all references and environments, weighted."
    )


def weighing(evaluation: Evaluation) -> str:
    """Return a sentence on how environments are weighed."""
    chosen = evaluation.weights
    together = "".join(f" {sentence}" for sentence in variants(evaluation))
    if chosen == "game":
        return (
            "Environments and references are weighed by the equilibrium of a game, in which one player picks an "
            "algorithm and the other an environment and a reference to hold against it. Environments that separate "
            "algorithms get more weight, which dampens the influence of which environments were chosen."
            f"{together}"
        )
    if chosen == "uniform":
        kind = "families of environments" if together else "environments"
        return f"All {kind} weigh the same, and so do all references.{together}"
    return "Environments and references have weights that were given."
