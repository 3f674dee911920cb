"""All readers, in the order in which they are tried: specific ones first."""

from functools import cache
from importlib import import_module

from untuned.adapters.score_files.reader import Reader

#: To add a reader, add its module here.
_MODULES = (
    "readers.tensorboard",
    "readers.wandb",
    "readers.wandb_panel",
    "readers.mlflow",
    "readers.mlruns",
    "readers.optuna",
    "readers.sacred",
    "readers.monitor",
    "readers.evaluations",
    "readers.progress",
    "readers.bsuite",
    "readers.arrays",
    "readers.dopamine",
    "readers.dreamer",
    "readers.marl_eval",
    "readers.rliable",
    "readers.refused",
    "readers.wide",
    "delimited",
    "json_lines",
    "parquet",
)

#: Tables in long form: for files that are nothing more specific.
TABLES = ("csv", "jsonl", "parquet")
#: Tables and arrays of results in other forms.
RESULTS = ("wide", "array", "rliable")


@cache
def readers() -> tuple[Reader, ...]:
    """Return all readers."""
    return tuple(import_module(f"untuned.adapters.score_files.{name}").READER for name in _MODULES)
