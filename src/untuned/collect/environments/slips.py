"""The one parameter that gridworlds and chains draw."""

from untuned.collect.distributions import Uniform
from untuned.collect.environments.environment import PROBABILITY, Parameter


def slip_parameter(stochastic: bool) -> Parameter:
    """Return the chance that a move slips; the paper draws it in the deterministic variants as well."""
    meaning = "chance that a move slips" + ("" if stochastic else " (drawn, without effect here)")
    return Parameter("slip_probability", Uniform(0.0, 0.25), 0.2, meaning, PROBABILITY)
