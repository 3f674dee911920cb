"""What is run: the paper's eleven algorithms in its fifteen environments, with as many trials as there is time for."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from untuned.collect.definitions.paper import ELEVEN
from untuned.collect.environments.names import NAMES
from untuned.collect.study import MOST_TRIALS, Study
from untuned.errors import InvalidInput, UnknownName
from untuned.judge.evaluate import whole

#: Decides, with names and numbers, all that is random.
SEED = 2020
ALGORITHMS: tuple[str, ...] = tuple(definition.name for definition in ELEVEN)
#: The board of the paper's test of its intervals, its Table 2.
TESTED = ("sarsa-parl2", "q-parl2", "ac-parl2", "sarsa-s")
TESTED_ON = (*NAMES[:8], "mountain-car")

#: Trials per environment of all algorithms, of all but PPO, and of those in Table 2, where these are more. What a trial
#: costs differs by a factor of thousands (docs/speed.md): together they take two processors about twenty minutes,
#: of which no environment takes more than a fifth.
_FEW: Mapping[str, int] = MappingProxyType(
    {
        "gridworld-5-deterministic": 4_000,
        "gridworld-5-stochastic": 4_000,
        "gridworld-10-deterministic": 1_000,
        "gridworld-10-stochastic": 1_000,
        "chain-10-deterministic": 4_000,
        "chain-10-stochastic": 4_000,
        "chain-50-deterministic": 1_000,
        "chain-50-stochastic": 1_000,
        "acrobot": 10,
        "cart-pole": 50,
        "mountain-car": 50,
        "pinball-empty": 10,
        "pinball-box": 20,
        "pinball-medium": 10,
        "pinball-single": 10,
    }
)
_MORE: Mapping[str, int] = MappingProxyType(
    {
        "acrobot": 25,
        "cart-pole": 150,
        "mountain-car": 200,
        "pinball-empty": 50,
        "pinball-box": 50,
        "pinball-medium": 50,
        "pinball-single": 25,
    }
)
_MOST: Mapping[str, int] = MappingProxyType({"mountain-car": 1_000})


def chosen(environments: Sequence[str] | None) -> tuple[str, ...]:
    """Return names of environments in the paper's order, all fifteen for None.

    Raises
    ------
    InvalidInput
        For a name that is none of these, and for fewer than two: there is nothing to weigh then.
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
    """Return what to collect.

    Parameters
    ----------
    trials
        Per algorithm and environment; None for numbers that take about twenty minutes on two processors: more where a
        trial costs less.
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
        trials={
            (algorithm, place): _affordable(algorithm, place) if trials is None else count
            for algorithm in ALGORITHMS
            for place in places
        },
    )


def _affordable(algorithm: str, place: str) -> int:
    """Return how many trials of a cell fit into the time."""
    counts = [_FEW[place]]
    if algorithm != "ppo":
        counts.append(_MORE.get(place, 0))
    if algorithm in TESTED:
        counts.append(_MOST.get(place, 0))
    return max(counts)
