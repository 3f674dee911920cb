"""Compiled environments: their records, their random numbers, and what a step returns.

For stepping an environment by hand, and for writing one: ``docs/environments.md``.
"""

from untuned.collect.environments.environment import Allowed as Allowed
from untuned.collect.environments.environment import Budget as Budget
from untuned.collect.environments.environment import CompiledEnvironment as CompiledEnvironment
from untuned.collect.environments.environment import ContinuousStates as ContinuousStates
from untuned.collect.environments.environment import DiscreteStates as DiscreteStates
from untuned.collect.environments.environment import Dynamics as Dynamics
from untuned.collect.environments.environment import Environment as Environment
from untuned.collect.environments.environment import Parameter as Parameter
from untuned.collect.environments.rollout import random_returns as random_returns
from untuned.collect.kernels.jit import Floats as Floats
from untuned.collect.kernels.jit import RandomState as RandomState
from untuned.collect.kernels.rng import random_state as random_state
from untuned.collect.kernels.rng import standard_normals as standard_normals
from untuned.collect.kernels.rng import uniform as uniform
from untuned.collect.kernels.status import RUNNING as RUNNING
from untuned.collect.kernels.status import TERMINATED as TERMINATED
from untuned.collect.kernels.status import TRUNCATED as TRUNCATED
