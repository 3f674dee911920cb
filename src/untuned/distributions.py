"""Distributions of hyperparameters and of dynamics: what `Draw.suggest` takes."""

from untuned.collect.distributions import Categorical as Categorical
from untuned.collect.distributions import Constant as Constant
from untuned.collect.distributions import LogInteger as LogInteger
from untuned.collect.distributions import LogUniform as LogUniform
from untuned.collect.distributions import Minus as Minus
from untuned.collect.distributions import RoundedPowerOfTwo as RoundedPowerOfTwo
from untuned.collect.distributions import Scaled as Scaled
from untuned.collect.distributions import Stepped as Stepped
from untuned.collect.distributions import Uniform as Uniform
from untuned.collect.distributions import UniformInteger as UniformInteger
