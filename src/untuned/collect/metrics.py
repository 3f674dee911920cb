"""Metrics: the score of a trial is a function of its episodes' returns."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from untuned.collect.kernels.jit import Floats
from untuned.errors import InvalidInput, UnknownName

AVERAGE = "average-return"
FINAL = "final-return"
_LAST = re.compile(r"last-([1-9][0-9]*)")


@dataclass(frozen=True)
class Metric:
    """A function from a trial's returns to its score.

    Parameters
    ----------
    name
        Its name in a study: ``average-return``, ``final-return``, ``last-10``, ``module:function``.
    function
        ``function(returns)`` for a user's own; None for the built-in ones.
    """

    name: str
    function: Callable[[Floats], float] | None = None

    @property
    def bounded(self) -> bool:
        """Whether scores stay within the range of the environment's returns, as every mean of returns does."""
        return self.function is None

    def __call__(self, returns: Floats, final_returns: Floats) -> float:
        """Return the score.

        Parameters
        ----------
        returns
            Returns of the episodes of learning, in order.
        final_returns
            Returns of the episodes after learning; none where the algorithm left no policy to play them with.

        Raises
        ------
        InvalidInput
            When there are no returns, or the user's function did not return a number.
        """
        if self.name == FINAL:
            if not final_returns.size:
                raise InvalidInput("the algorithm returned no policy to play the final episodes with")
            return float(final_returns.mean())
        if not returns.size:
            raise InvalidInput("no episode was finished")
        if self.function is not None:
            return self._own(returns)
        if self.name == AVERAGE:
            return float(returns.mean())
        return float(returns[-int(self.name.removeprefix("last-")) :].mean())

    def _own(self, returns: Floats) -> float:
        assert self.function is not None
        # A copy: the metric must not change the record.
        score: object = self.function(returns.copy())
        if not isinstance(score, (int, float, np.integer, np.floating)) or isinstance(score, bool):
            raise InvalidInput(f"the metric {self.name} returned {score!r}: it must return a number")
        if not math.isfinite(score):
            raise InvalidInput(f"the metric {self.name} returned {score}: it must return a finite number")
        return float(score)


def metric(name: str, function: Callable[[Floats], float] | None = None) -> Metric:
    """Return the metric of a name; for a user's own, of a name and a function.

    Raises
    ------
    UnknownName
        For a name that is neither.
    """
    if function is not None:
        return Metric(name, function)
    if name in (AVERAGE, FINAL) or _LAST.fullmatch(name):
        return Metric(name)
    raise UnknownName(
        "metric", name, (AVERAGE, FINAL, "last-10"), "last-10 is the mean of the last ten; your own is module:function"
    )
