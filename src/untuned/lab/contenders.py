"""Contenders: the interval methods under test, unmodified or modified on purpose.

``"pbp-t@paper"`` is a method under the paper's conventions; ``"pairing*0.7"`` is one whose intervals are shrunk to 70 %
of their length on either side of the estimate, which a test of coverage must detect. ``"default"`` is what
`untuned.evaluate` uses without a named method: one for the game's weights, another for equal ones.
"""

import hashlib
import marshal
import math
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from untuned.errors import InvalidInput
from untuned.judge.judging import BOTH, GAME, UNIFORM, Judging
from untuned.judge.methods import BUILT_IN, DEFAULT, METHODS, Conventions, Method, check_conventions, method
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, ScoreTable


@dataclass(frozen=True)
class Contender:
    """An interval method and the conventions it is used under.

    Attributes
    ----------
    name
        ``"pairing"``, ``"pbp-t@paper"``, ``"pairing*0.7"``, ``"default"``.
    method
        The interval method; for ``"default"`` the one for the game's weights.
    conventions
        How ties and equal ends count.
    own
        For a user's method, a hash of its function's code, because its name does not show changes. Functions that it
        calls are not hashed.
    factor
        For a method without intervals on percentiles: the factor that shrinks its intervals on scores, differences and
        head-to-head comparisons; 1 for no shrinking.
    """

    name: str
    method: Method
    conventions: Conventions = "valid"
    own: str = ""
    factor: float = 1.0

    @property
    def guaranteed(self) -> bool:
        """Whether it guarantees its level."""
        return self.method.guaranteed and self.conventions == "valid"

    def judging(self, options: Judging) -> Judging:
        """Return the options with this method, and with weights that it supports if none are given.

        Parameters
        ----------
        options
            The options that all contenders share. Without weights, methods for weights chosen beforehand get
            equal ones, ``"default"`` both, and all others the game's.
        """
        default = self.name == _DEFAULT
        weights = options.weights
        if weights is None:
            weights = BOTH if default else UNIFORM if self.method.fixed else GAME
        intervals = None if default else self.method
        return replace(options, intervals=intervals, conventions=self.conventions, weights=weights)


#: The contenders when no method is named.
_DEFAULT = "default"


def contender(what: str | Method) -> Contender:
    """Return the contender of a name; a user's `Method` is used unchanged.

    Parameters
    ----------
    what
        The name of a method: ``pairing``; ``pbp-t@paper``, under the paper's conventions; ``pairing*0.7``, with
        intervals that are shrunk; ``default``. Or a `Method`.
    """
    if isinstance(what, Method):
        return Contender(what.name, what, own=_own(what))
    if not isinstance(what, str):
        raise InvalidInput(f"methods: {what!r} is not a method: pass a name, untuned list intervals shows all")
    if what == _DEFAULT:
        return Contender(what, method(DEFAULT))
    name, star, factor = what.partition("*")
    name, at, conventions = name.partition("@")
    if at and conventions not in ("valid", "paper"):
        raise InvalidInput(f"{what!r}: after @ write valid or paper, as in pbp-t@paper")
    chosen = method(name)
    under: Conventions = "paper" if conventions == "paper" else "valid"
    check_conventions(chosen, under)
    own = _own(chosen)
    if not star:
        return Contender(what, chosen, under, own)
    number = _factor(what, factor)
    if chosen.fixed:
        return Contender(what, chosen, under, own, number)
    return Contender(what, _shrunk(chosen, what, number), under, own)


def _own(chosen: Method) -> str:
    """Return a hash of the code of a user's method; nothing for those that come with the package."""
    if any(each is chosen for each in BUILT_IN):
        return ""
    function = chosen.intervals
    code = getattr(function, "__code__", None)
    try:
        content = pickle.dumps(function) if code is None else marshal.dumps(code)
    except (pickle.PicklingError, AttributeError, TypeError):
        content = repr(type(function)).encode()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def contenders(names: Sequence[str | Method] | None, weights: object = None) -> tuple[Contender, ...]:
    """Return the contenders: by default every method for these weights, the paper's also as published."""
    if names is None:
        published = [f"{each.name}@paper" for each in METHODS.values() if each.published and weights != BOTH]
        fixed = [each.name for each in METHODS.values() if each.fixed and weights in (GAME, BOTH)]
        names = [*([_DEFAULT] if weights == BOTH else []), *(each for each in METHODS if each not in fixed), *published]
    if isinstance(names, str):
        raise InvalidInput(f"methods={names!r} is one string: pass a list of names")
    if not isinstance(names, Iterable):
        raise InvalidInput(f"methods={names!r} is not a list: pass a list of names, even of one")
    names = list(names)
    if not names:
        raise InvalidInput("there are no methods to test: name at least one, untuned list intervals shows all")
    found = tuple(contender(name) for name in names)
    twice = [each.name for each in found if [other.name for other in found].count(each.name) > 1]
    if twice:
        raise InvalidInput(f"the method {twice[0]!r} is named twice: names must differ")
    return found


def _factor(what: str, factor: str) -> float:
    try:
        number = float(factor)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise InvalidInput(f"{what!r}: after * write the factor that shrinks intervals, as in pairing*0.7")
    return number


def _shrunk(chosen: Method, what: str, number: float) -> Method:
    if chosen.intervals is None:
        raise InvalidInput(f"{what!r}: {chosen.name} has no intervals on percentiles that could be shrunk")
    return replace(chosen, name=what, title=what, intervals=partial(_scaled, chosen, number))


def _scaled(
    chosen: Method,
    factor: float,
    table: ScoreTable,
    pools: Sequence[Pool],
    estimates: Percentiles,
    delta: float,
    conventions: Conventions,
) -> tuple[Floats, Floats]:
    """Return intervals with both ends at ``factor`` times their distance from the estimate, within [0, 1]."""
    assert chosen.intervals is not None
    low, high = chosen.intervals(table, pools, estimates, delta, conventions)
    z = estimates.z_aer
    return (z - factor * (z - low)).clip(0.0, 1.0), (z + factor * (high - z)).clip(0.0, 1.0)
