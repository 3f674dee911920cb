"""Protocols that tune hyperparameters first: tune-and-report, Dabney's procedure, the cross-environment setting.

Each runs whole tuning procedures on a study's algorithms and environments, and returns one score per procedure: that is
the only number in it that is independent of the others. ``docs/how-to/protocols.md`` says what each answers.

Examples
--------
>>> import tempfile, untuned
>>> from untuned import protocols
>>> study = untuned.Study("small", ["sarsa", "q"], ["chain-10-stochastic"], trials=3)
>>> found = protocols.tune_and_report(study, tempfile.mkdtemp(), draws=2, seeds=2)
>>> found.scores.trials.tolist(), found.cost.runs
([[3], [3]], 24)
"""

from untuned.collect.protocol import Protocol as Protocol
from untuned.collect.running_protocols import Cost as Cost
from untuned.collect.running_protocols import Outcome as Outcome
from untuned.collect.running_protocols import cost as cost
from untuned.collect.running_protocols import cross_environment as cross_environment
from untuned.collect.running_protocols import dabney as dabney
from untuned.collect.running_protocols import protocol as protocol
from untuned.collect.running_protocols import run as run
from untuned.collect.running_protocols import tune_and_report as tune_and_report
