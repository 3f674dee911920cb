"""Which reinforcement-learning algorithms perform well across many environments with little or no tuning?

The public names are those that `dir(untuned)` lists, and no others. Each is loaded when it is first used.

- Judge: `read_scores`, `ScoreTable`; `check`, `Diagnosis`; `evaluate`, `Judging`, `Evaluation`; `plan`, `design`;
  `report`, `Report`, `read_histories`.
- Collect: `Study`, `Session`, `run`, `collect_scores`, `merge`, `export`; one trial with `run_trial` or `train_trial`,
  which return a `Trial`; the paper's experiment with `reproduce`.
- Algorithms and environments: `algorithm`, `algorithms`, `environment`, `environments`; your own with `Definition`,
  `Draw`, `Trainer`, `from_gymnasium`.
- Errors: `UntunedError` and its subclasses.
- Modules: `agents`, `distributions`, `figures`, `intervals`, `kernels`, `lab`, `protocols`, `sb3`, `summaries`,
  `tables`, `types`. Their public names are those without a leading underscore.

Every other module (`untuned.collect`, `untuned.judge`, `untuned.reports`, `untuned.adapters`, ...) is private: it may
change in any release. `docs/reference/python.md` describes what is public.

Importing this package also makes ``gymnasium.make("untuned/CartPole-v0")`` and the others work.
"""

from untuned.adapters.registration import register_when_loaded as _register_when_loaded
from untuned.version import __version__ as __version__


def _homes() -> dict[str, str]:
    """Return the module of every public name.

    The stub ``__init__.pyi`` is the one list: type checkers read it, and so does this function.
    """
    stub = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()
    # Every line is: from MODULE import NAME as NAME.
    lines = [line.split() for line in stub.splitlines() if line.startswith("from ")]
    return {line[3]: line[1] for line in lines}


_HOMES = _homes()
__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if _HOMES[name] == __name__:
        return importlib.import_module(f"{__name__}.{name}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__


_register_when_loaded()
