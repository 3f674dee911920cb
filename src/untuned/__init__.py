"""Which reinforcement-learning algorithms perform well across many environments with little or no tuning?

Everything public is here, and is loaded when it is first used:

- `environment`, `environments`: the paper's fifteen environments, as compiled kernels;
- `algorithm`, `algorithms`: complete definitions of algorithms, the paper's eleven among them;
- `Definition`, `Draw`: to write one's own;
- `run_trial`: one trial, from its key to its result;
- `Study`: which algorithms, on which environments, how many trials; `run` collects and evaluates it, `collect_scores`
  collects only;
- `read_scores`, `ScoreTable`: scores from files, data frames, dictionaries and arrays;
- `evaluate`: scores, intervals and ranks of all algorithms, from a table of scores; `Evaluation`, what it returns;
- `from_gymnasium`: any Gymnasium environment, for algorithms in Python and, where its spaces allow, for compiled ones;
- `Trainer`: anybody's algorithm in Python, a function that trains; `BudgetSpent`: how its learning ends; `train_trial`:
  one trial of it;
- `plan`: how many trials would probably settle what is open;
- `report`: an evaluation as a page to read, with all tables and figures; `Report`, what it returns; `figures` and
  `tables`: each of them by itself; `read_histories`: what the trials of a study left besides their scores;
- `reproduce`: the paper's experiment once more, beside what it published;
- `lab`: whether the intervals keep their word, on data of which the truth is known;
- `UntunedError` and its kinds: everything that is raised on purpose.

Importing this package also makes ``gymnasium.make("untuned/CartPole-v0")`` and the others work.
"""

from typing import TYPE_CHECKING

from untuned.adapters.gymnasium.registration import register_when_loaded as _register_when_loaded
from untuned.errors import BudgetSpent, InvalidInput, MissingExtra, Stopped, StoreError, UnknownName, UntunedError

if TYPE_CHECKING:
    from untuned import lab
    from untuned.adapters.gymnasium.from_gymnasium import from_gymnasium
    from untuned.adapters.histories import read_histories
    from untuned.adapters.sources import read_scores
    from untuned.adapters.training.trainer import Trainer
    from untuned.adapters.training.trial import train_trial
    from untuned.api import collect_scores, evaluate, plan, report, reproduce, run
    from untuned.collect.definitions.definition import Definition
    from untuned.collect.definitions.draw import Draw
    from untuned.collect.definitions.registry import algorithm, algorithms
    from untuned.collect.environments.registry import environment, environments
    from untuned.collect.runner.trial import TrialKey, TrialResult, run_trial
    from untuned.collect.study import Study
    from untuned.evaluation import Evaluation
    from untuned.reports import figures, tables
    from untuned.reports.report import Report
    from untuned.scores import ScoreTable

__version__ = "0.1.0"

__all__ = [
    "BudgetSpent",
    "Definition",
    "Draw",
    "Evaluation",
    "InvalidInput",
    "MissingExtra",
    "Report",
    "ScoreTable",
    "Stopped",
    "StoreError",
    "Study",
    "Trainer",
    "TrialKey",
    "TrialResult",
    "UnknownName",
    "UntunedError",
    "__version__",
    "algorithm",
    "algorithms",
    "collect_scores",
    "environment",
    "environments",
    "evaluate",
    "figures",
    "from_gymnasium",
    "lab",
    "plan",
    "read_histories",
    "read_scores",
    "report",
    "reproduce",
    "run",
    "run_trial",
    "tables",
    "train_trial",
]

_HOMES = {
    "Definition": "untuned.collect.definitions.definition",
    "Draw": "untuned.collect.definitions.draw",
    "Evaluation": "untuned.evaluation",
    "Report": "untuned.reports.report",
    "ScoreTable": "untuned.scores",
    "Trainer": "untuned.adapters.training.trainer",
    "TrialKey": "untuned.collect.runner.trial",
    "TrialResult": "untuned.collect.runner.trial",
    "algorithm": "untuned.collect.definitions.registry",
    "algorithms": "untuned.collect.definitions.registry",
    "environment": "untuned.collect.environments.registry",
    "environments": "untuned.collect.environments.registry",
    "collect_scores": "untuned.api",
    "evaluate": "untuned.api",
    "plan": "untuned.api",
    "report": "untuned.api",
    "run": "untuned.api",
    "Study": "untuned.collect.study",
    "from_gymnasium": "untuned.adapters.gymnasium.from_gymnasium",
    "read_histories": "untuned.adapters.histories",
    "read_scores": "untuned.adapters.sources",
    "reproduce": "untuned.api",
    "run_trial": "untuned.collect.runner.trial",
    "train_trial": "untuned.adapters.training.trial",
}

_MODULES = {"figures": "untuned.reports.figures", "lab": "untuned.lab", "tables": "untuned.reports.tables"}


def __getattr__(name: str) -> object:
    import importlib

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


_register_when_loaded()
