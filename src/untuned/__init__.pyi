# The public names, each once, and where each is defined: `__init__.py` reads this file. To add a name, add a line of
# this form, and a line to docs/reference/python.md. To make a module public, import it from untuned.
from untuned import agents as agents
from untuned import distributions as distributions
from untuned import figures as figures
from untuned import intervals as intervals
from untuned import kernels as kernels
from untuned import lab as lab
from untuned import sb3 as sb3
from untuned import tables as tables
from untuned import types as types
from untuned.adapters.exports import export as export
from untuned.adapters.gymnasium.from_gymnasium import DescribedEnvironment as DescribedEnvironment
from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment as GymnasiumEnvironment
from untuned.adapters.gymnasium.from_gymnasium import from_gymnasium as from_gymnasium
from untuned.adapters.histories import read_histories as read_histories
from untuned.adapters.sources import read_scores as read_scores
from untuned.adapters.training.trainer import Trainer as Trainer
from untuned.adapters.training.trial import train_trial as train_trial
from untuned.api import check as check
from untuned.api import collect_scores as collect_scores
from untuned.api import design as design
from untuned.api import evaluate as evaluate
from untuned.api import plan as plan
from untuned.api import report as report
from untuned.api import run as run
from untuned.collect.definitions.definition import Definition as Definition
from untuned.collect.definitions.draw import Draw as Draw
from untuned.collect.definitions.registry import algorithm as algorithm
from untuned.collect.definitions.registry import algorithms as algorithms
from untuned.collect.environments.registry import environment as environment
from untuned.collect.environments.registry import environments as environments
from untuned.collect.runner.trial import run_trial as run_trial
from untuned.collect.session import Session as Session
from untuned.collect.session import merge as merge
from untuned.collect.study import Study as Study
from untuned.collect.trial import Trial as Trial
from untuned.diagnostics.diagnosis import Diagnosis as Diagnosis
from untuned.errors import BudgetSpent as BudgetSpent
from untuned.errors import InvalidInput as InvalidInput
from untuned.errors import MissingExtra as MissingExtra
from untuned.errors import Stopped as Stopped
from untuned.errors import StoreError as StoreError
from untuned.errors import UnknownName as UnknownName
from untuned.errors import UntunedError as UntunedError
from untuned.evaluation import Evaluation as Evaluation
from untuned.judge.judging import Judging as Judging
from untuned.reports.report import Report as Report
from untuned.reproduction.reproduce import reproduce as reproduce
from untuned.scores import ScoreTable as ScoreTable

__all__: list[str]
__version__: str
