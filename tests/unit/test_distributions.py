import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from untuned.collect.distributions import Constant, Distribution, LogUniform, OneMinus, Uniform

ALL: list[Distribution] = [
    Uniform(-1, 3),
    LogUniform(0.001, 0.1),
    OneMinus(LogUniform(0.001, 0.1)),
    OneMinus(Uniform(0, 2)),
]


@pytest.mark.parametrize("distribution", ALL, ids=str)
@given(st.floats(0, 1, exclude_max=True))
def test_draws_stay_in_the_declared_range(distribution: Distribution, probability: float) -> None:
    assert distribution.low <= distribution.quantile(probability) <= distribution.high


@pytest.mark.parametrize("distribution", ALL, ids=str)
def test_the_density_integrates_to_one_and_is_zero_outside(distribution: Distribution) -> None:
    total, _ = integrate.quad(lambda x: math.exp(distribution.log_density(x)), distribution.low, distribution.high)
    assert total == pytest.approx(1)
    assert distribution.log_density(distribution.low - 0.01) == -math.inf
    assert distribution.log_density(distribution.high + 0.01) == -math.inf


@pytest.mark.parametrize("distribution", ALL, ids=str)
def test_the_quantile_is_the_inverse_of_the_integrated_density(distribution: Distribution) -> None:
    value = distribution.quantile(0.3)
    below, _ = integrate.quad(lambda x: math.exp(distribution.log_density(x)), distribution.low, value)
    # One minus a draw runs downwards, as in the published experiment.
    assert below == pytest.approx(0.7 if isinstance(distribution, OneMinus) else 0.3)


def test_a_constant_is_always_itself() -> None:
    assert {Constant(2.5).quantile(u) for u in (0.0, 0.5, 0.999)} == {2.5}
    assert (Constant(2.5).log_density(2.5), Constant(2.5).log_density(2.4)) == (0.0, -math.inf)


def test_names_people_can_read() -> None:
    assert [str(each) for each in (*ALL, Constant(0.5))] == [
        "U(-1, 3)",
        "ln-uniform(0.001, 0.1)",
        "1 - ln-uniform(0.001, 0.1)",
        "1 - U(0, 2)",
        "0.5",
    ]
