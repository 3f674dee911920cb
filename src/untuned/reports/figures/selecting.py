"""Which algorithms and environments a figure shows."""

from collections.abc import Sequence

from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation


def chosen_algorithms(evaluation: Evaluation, algorithms: Sequence[str] | None) -> tuple[str, ...]:
    """Return the algorithms to show, in the evaluation's order; mistakes are refused."""
    return _chosen("algorithm", evaluation.algorithms, algorithms)


def chosen_environments(evaluation: Evaluation, environments: Sequence[str] | None) -> tuple[str, ...]:
    """Return the environments to show, in the order given; mistakes are refused."""
    return _chosen("environment", evaluation.environments, environments)


def _chosen(kind: str, known: Sequence[str], chosen: Sequence[str] | None) -> tuple[str, ...]:
    if chosen is None:
        return tuple(known)
    if isinstance(chosen, str):
        raise InvalidInput(f"{kind}s={chosen!r} is one string: pass a list of names")
    if not chosen:
        raise InvalidInput(f"{kind}s is empty: name at least one {kind}, or leave it out for all")
    for name in chosen:
        if name not in known:
            raise UnknownName(kind, name, known)
    return tuple(dict.fromkeys(chosen))
