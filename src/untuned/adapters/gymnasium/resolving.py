"""Gymnasium environments, for studies: `untuned.collect.resolve` loads this when a study names one."""

from collections.abc import Mapping
from typing import Any

from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment, from_gymnasium
from untuned.errors import InvalidInput


def environment(use: Any, options: Mapping[str, Any]) -> GymnasiumEnvironment | None:
    """Return the environment that a study names, None for anything that cannot be one.

    Parameters
    ----------
    use
        A Gymnasium id, a function that makes an environment, or the result of `untuned.from_gymnasium`.
    options
        Options of `untuned.from_gymnasium`.
    """
    if isinstance(use, GymnasiumEnvironment):
        if options:
            raise InvalidInput(f"the options {', '.join(options)} go with a name, not with an environment")
        return use
    return from_gymnasium(use, **options) if isinstance(use, str) or callable(use) else None
