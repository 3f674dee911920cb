"""Families: variants of one environment, which together weigh as much as one environment."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from untuned.errors import InvalidInput, UnknownName

# NumPy takes time to load, and `untuned --help` does not need it.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The variants of every family, by its name.
Families = Mapping[str, tuple[str, ...]]


def checked(families: object) -> dict[str, tuple[str, ...]]:
    """Return a copy of families after checking their form; `check` checks the names.

    Raises
    ------
    InvalidInput
        For anything but ``{family: [environment, ...]}``, an empty family, or an environment in two families.
    """
    if not isinstance(families, Mapping):
        raise InvalidInput(
            f"families: {families!r} is not allowed, write the environments of each, {{'maze': ['maze-1', 'maze-2']}}"
        )
    found: dict[str, tuple[str, ...]] = {}
    owner: dict[str, str] = {}
    for name, variants in families.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"families: {name!r} is not a name, give the family a text that is not empty")
        if isinstance(variants, str) or not isinstance(variants, Sequence):
            raise InvalidInput(f"families: {name!r} has {variants!r}, write a list of environments")
        if not variants:
            raise InvalidInput(f"families: {name!r} is empty, name its environments or leave it out")
        for each in variants:
            if not isinstance(each, str):
                raise InvalidInput(f"families: {name!r} has {each!r} in it, write the names of environments")
            if each in owner:
                where = f"{owner[each]!r} and {name!r}" if owner[each] != name else f"{name!r} twice"
                raise InvalidInput(f"families: {each!r} is in {where}, an environment belongs to one family, once")
            owner[each] = name
        found[name] = tuple(variants)
    return found


def check(families: Families, environments: Sequence[str]) -> None:
    """Refuse families of unknown environments, and family names that are an environment's name.

    Parameters
    ----------
    families
        As `checked` returns them.
    environments
        The names of all environments.
    """
    for name, variants in families.items():
        for each in variants:
            if each not in environments:
                raise UnknownName("environment", each, environments, f"It is to be a variant in the family {name!r}")
        if name in environments:
            raise InvalidInput(
                f"families: {name!r} is the name of an environment too, give the family another, such as "
                f"{name + '-family'!r}"
            )


def among(families: Families | None, environments: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    """Return the families restricted to some environments."""
    if families is None:
        return None
    kept = {name: tuple(each for each in variants if each in environments) for name, variants in families.items()}
    return {name: variants for name, variants in kept.items() if variants}


def shares(families: Families | None, environments: Sequence[str]) -> "NDArray[np.float64] | None":
    """Return 1/k for each of k variants of one environment, 1 for others; None where there are no variants."""
    sizes = {each: len(variants) for variants in (families or {}).values() for each in variants}
    if all(size == 1 for size in sizes.values()):
        return None
    from numpy import array

    return array([1.0 / sizes.get(name, 1) for name in environments])


def count(families: Families | None, environments: Sequence[str]) -> int:
    """Return how many environments there are if the variants of one count as one."""
    return len(environments) - sum(len(variants) - 1 for variants in (families or {}).values())


def listed(families: Families) -> str:
    """Return the families of several variants as text: ``"maze (maze-1, maze-2) and arm (arm-1, arm-2)"``."""
    parts = [f"{name} ({', '.join(variants)})" for name, variants in families.items() if len(variants) > 1]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
