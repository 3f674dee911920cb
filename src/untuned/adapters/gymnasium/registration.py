"""Our environments' ids in Gymnasium's registry.

Gymnasium has no entry points for packages: an id exists once something registered it. `import untuned` must do that,
and must not import Gymnasium (a quarter of a second) for those who do not use it. So the ids are registered at once
when Gymnasium is loaded already, and else at the moment it is.
"""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

NAMESPACE = "untuned"
VERSION = 0

_FAMILIES = ("gridworld", "chain", "pinball")
_ENTRY_POINT = "untuned.adapters.gymnasium.environment:UntunedEnvironment"


def gymnasium_id(name: str) -> str:
    """Return the Gymnasium id of an environment's plain name: ``cart-pole`` is ``untuned/CartPole-v0``."""
    camel = "".join(word.capitalize() for word in name.split("-"))
    return f"{NAMESPACE}/{camel}-v{VERSION}"


def register() -> None:
    """Put the paper's fifteen environments, and the families of any size, into Gymnasium's registry; once."""
    import gymnasium

    from untuned.collect.environments.names import NAMES

    for name in (*NAMES, *_FAMILIES):
        if (identifier := gymnasium_id(name)) not in gymnasium.registry:
            gymnasium.register(id=identifier, entry_point=_ENTRY_POINT, kwargs={"environment": name})


def register_when_loaded() -> None:
    """Register now if Gymnasium is loaded, else as soon as it is."""
    if hasattr(sys.modules.get("gymnasium"), "register"):
        register()
    elif not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())


class _Watcher:
    """An import finder that finds nothing itself, and registers after Gymnasium has loaded."""

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register()

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
