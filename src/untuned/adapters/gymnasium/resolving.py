"""Gymnasium environments, for studies: `untuned.collect.resolve` loads this when a study names one."""

from collections.abc import Mapping
from typing import Any

import gymnasium

from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment
from untuned.adapters.gymnasium.open_gymnasium import OpenEnvironment, open_gymnasium
from untuned.collect.fingerprints import source_digest
from untuned.errors import InvalidInput


def environment(use: Any, options: Mapping[str, Any]) -> GymnasiumEnvironment | OpenEnvironment | None:
    """Return the environment that a study means, None for what cannot be one.

    Parameters
    ----------
    use
        A Gymnasium id, a function that makes an environment, or what `untuned.from_gymnasium` or
        `untuned.open_gymnasium` returned.
    options
        For `untuned.open_gymnasium`.
    """
    if isinstance(use, GymnasiumEnvironment | OpenEnvironment):
        if options:
            raise InvalidInput(f"the options {', '.join(options)} go with a name, not with an environment")
        return use
    return open_gymnasium(use, **options) if isinstance(use, str) or callable(use) else None


def making(place: GymnasiumEnvironment | OpenEnvironment) -> dict[str, str]:
    """Return what decides how an environment is made, for its fingerprint."""
    return {"made": source_digest(place.make), "gymnasium": gymnasium.__version__}
