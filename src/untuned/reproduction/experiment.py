"""The experiment: the paper's eleven algorithms in its fifteen environments."""

from collections.abc import Sequence

from untuned.collect.definitions.paper import ELEVEN
from untuned.collect.environments.names import NAMES
from untuned.collect.study import MOST_TRIALS, Study
from untuned.errors import InvalidInput, UnknownName
from untuned.judge.judging import whole

#: The seed; it determines, with names and numbers, everything random.
SEED = 2020
ALGORITHMS: tuple[str, ...] = tuple(definition.name for definition in ELEVEN)
#: The board of the paper's test of its intervals, its Table 2.
TESTED = ("sarsa-parl2", "q-parl2", "ac-parl2", "sarsa-s")
TESTED_ON = (*NAMES[:8], "mountain-car")

#: The default time for collecting, in wall-clock hours: with judging it is about half an hour.
HOURS = 1.0 / 3.0


def chosen(environments: Sequence[str] | None) -> tuple[str, ...]:
    """Return names of environments in the paper's order, all fifteen for None.

    Raises
    ------
    InvalidInput
        For an unknown name, and for fewer than two, because the game has nothing to weigh then.
    """
    if environments is None:
        return NAMES
    if isinstance(environments, str):
        raise InvalidInput(f"environments={environments!r} is one string: pass a list, [{environments!r}]")
    for name in environments:
        if name not in NAMES:
            raise UnknownName("environment of the paper", str(name), NAMES)
    if len(set(environments)) < 2:
        raise InvalidInput(
            f"environments={list(environments)!r}: name two or more of the paper's, which the game weighs, or leave it "
            "out for all fifteen"
        )
    return tuple(name for name in NAMES if name in set(environments))


def study(trials: int | None = None, environments: Sequence[str] | None = None) -> Study:
    """Return the study to collect.

    Parameters
    ----------
    trials
        Trials per algorithm and environment; None where a race decides.
    environments
        Some of the paper's; all fifteen by default.
    """
    places = chosen(environments)
    if trials is not None:
        count = whole("trials", trials, 2, "two trials are the least that have a spread")
        if count > MOST_TRIALS:
            raise InvalidInput(f"trials={count:,}: no more than {MOST_TRIALS:,} are possible")
    return Study(
        name="reproduction",
        seed=SEED,
        algorithms=ALGORITHMS,
        environments=places,
        trials=1 if trials is None else count,
    )
