"""Names to environments: the paper's fifteen, and variants with other sizes and options."""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache

from untuned.collect.environments.acrobot import acrobot
from untuned.collect.environments.cart_pole import cart_pole
from untuned.collect.environments.chain import chain
from untuned.collect.environments.checks import checked_flag
from untuned.collect.environments.environment import CompiledEnvironment
from untuned.collect.environments.gridworld import gridworld
from untuned.collect.environments.mountain_car import mountain_car
from untuned.collect.environments.names import NAMES
from untuned.collect.environments.pinball import pinball
from untuned.errors import InvalidInput, UnknownName

Family = Callable[..., CompiledEnvironment]

#: The kinds of environments, each a function of its options.
FAMILIES: dict[str, Family] = {
    "gridworld": gridworld,
    "chain": chain,
    "acrobot": acrobot,
    "cart-pole": cart_pole,
    "mountain-car": mountain_car,
    "pinball": pinball,
}

_SIZED = re.compile(r"(gridworld|chain)-(-?\d+)-(deterministic|stochastic)")
_PINBALL = re.compile(r"pinball-(\w+)")
_BRACKETED = re.compile(r"([^\[\]]+)(?:\[([^\[\]]*)\])?")


def environment(
    name: str,
    /,
    *,
    randomize: bool = True,
    parameters: Mapping[str, object] | None = None,
    **options: object,
) -> CompiledEnvironment:
    """Return the environment of that name.

    Parameters
    ----------
    name
        One of the paper's fifteen (`untuned list environments`), a gridworld or chain of any size
        (``gridworld-7-stochastic``), a family alone (``pinball``), or any of these with options in brackets
        (``mountain-car[random_start=true]``): the ``name`` of every environment gives that environment back.
    randomize
        Draw the dynamics' parameters for every trial; otherwise fix them at their customary values.
    parameters
        Values for some of the dynamics' parameters, by name; these are not drawn.
    **options
        The options of the family (``size``, ``stochastic``, ``slips``, ``layout``, ``random_start``); a parameter's
        name is accepted here, too.

    Raises
    ------
    UnknownName
        For an unknown name, option or parameter; the message suggests the nearest.
    InvalidInput
        For a value that is not allowed; the message says which are.

    Examples
    --------
    >>> environment("cart-pole").actions
    ('push left', 'push right')
    >>> environment("gridworld-5-stochastic", slips="perpendicular").name
    'gridworld-5-stochastic[slips=perpendicular]'
    >>> environment("cart-pole", gravity=9.8).name
    'cart-pole[gravity=9.8]'
    """
    family_name, asked = _parsed(name)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InvalidInput(f"parameters={parameters!r} is not allowed: give values by name, {{'gravity': 9.8}}")
    given = [*options.items(), *(parameters or {}).items()]
    if not checked_flag("randomize", randomize):
        given.append(("randomize", False))
    for key, value in given:
        if key in asked and asked[key] != value:
            raise InvalidInput(f"{key}={value!r} contradicts {key}={asked[key]!r} in the same call: give it once")
        asked[key] = value
    draw = checked_flag("randomize", asked.pop("randomize", True))
    family = FAMILIES[family_name]
    family_options = tuple(inspect.signature(family).parameters)
    built = family(**{key: asked.pop(key) for key in family_options if key in asked})
    known = {each.name for each in built.parameters}
    for key in asked:
        if key not in known:
            raise UnknownName(f"option or parameter of {built.name}", key, {*family_options, *known, "randomize"})
    fitted = built.with_parameters(asked)
    return fitted if draw else fitted.nominal()


@cache
def environments() -> tuple[CompiledEnvironment, ...]:
    """Return the paper's fifteen environments, in the order of its table."""
    return tuple(environment(name) for name in NAMES)


def _parsed(name: str) -> tuple[str, dict[str, object]]:
    """Return the family of a name, and the options in it."""
    match = _BRACKETED.fullmatch(str(name))
    if match is None:
        raise UnknownName("environment", name, NAMES)
    base, bracket = match.groups()
    options: dict[str, object] = {}
    if sized := _SIZED.fullmatch(base):
        family, size, kind = sized.groups()
        # Ten digits are far too many already, and Python refuses to read thousands.
        options |= {"size": int(size[:10]), "stochastic": kind == "stochastic"}
    elif layout := _PINBALL.fullmatch(base):
        family = "pinball"
        options["layout"] = layout[1]
        if base not in NAMES:
            raise UnknownName("environment", name, NAMES)
    elif base in FAMILIES:
        family = base
    else:
        raise UnknownName(
            "environment", name, NAMES, "Gridworlds and chains have any size you like: gridworld-7-stochastic"
        )
    for item in filter(None, (bracket or "").split(",")):
        key, equals, text = item.partition("=")
        if not equals:
            raise InvalidInput(f"{item!r} in {name!r} is not an option: write name=value, separated by commas")
        options[key.strip()] = _value(text.strip())
    return family, options


def _value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
