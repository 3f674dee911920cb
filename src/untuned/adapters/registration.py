"""Our environments' ids in Gymnasium's registry.

Gymnasium has no entry points for packages: an id exists once something registered it. `import untuned` must do that,
and must not import Gymnasium (a quarter of a second) for those who do not use it. So the ids are registered at once
when Gymnasium is loaded already, and else at the moment it is.
"""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

# As type checkers know it. With `python -m untuned` this module is imported before the current folder is off the path:
# a file called typing.py there must not be run.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    # importlib.abc imports tempfile, shutil, random: 20 of the 25 ms that `import untuned` took. A loader is any
    # object with these methods.
    Loader = object

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
    """An import finder that finds nothing itself, and registers our ids once Gymnasium is loaded."""

    def __init__(self) -> None:
        self._looking = False

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "gymnasium" or self._looking:
            return None
        self._looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Registering(spec.loader, self)
        return spec


class _Registering(Loader):
    """A loader that registers after another has loaded, and only then removes the watcher.

    Looking for Gymnasium without importing it, or an import that fails, must leave the watcher in its place.
    """

    def __init__(self, loader: Loader, watcher: _Watcher) -> None:
        self._loader = loader
        self._watcher = watcher

    def __getattr__(self, name: str) -> object:
        # Resource readers and tracebacks use more of a loader than its required methods.
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if self._watcher in sys.meta_path:
            sys.meta_path.remove(self._watcher)
        register()
