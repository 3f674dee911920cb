"""Our environments' ids in Gymnasium's registry.

Gymnasium has no entry points for packages: an id must be registered before it exists. `import untuned` must do that
without importing Gymnasium (a quarter of a second) for users who do not need it. So the ids are registered immediately
if Gymnasium is already loaded, and otherwise when it is loaded.
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
    """Register the paper's fifteen environments, and the families of any size, with Gymnasium; once."""
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
    """An import finder that finds nothing, but registers our ids once Gymnasium is loaded."""

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

    A search for Gymnasium without an import, or a failed import, must not remove the watcher.
    """

    def __init__(self, loader: Loader, watcher: _Watcher) -> None:
        self._loader = loader
        self._watcher = watcher

    def __getattr__(self, name: str) -> object:
        # Resource readers and tracebacks use more than a loader's required methods.
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if self._watcher in sys.meta_path:
            sys.meta_path.remove(self._watcher)
        register()
