import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from untuned.collect.distributions import (
    Categorical,
    Constant,
    Distribution,
    LogInteger,
    LogUniform,
    Minus,
    NumberDistribution,
    RoundedPowerOfTwo,
    Scaled,
    Stepped,
    Uniform,
    UniformInteger,
)
from untuned.errors import InvalidInput

CONTINUOUS: list[NumberDistribution] = [
    Uniform(-1, 3),
    LogUniform(0.001, 0.1),
    Minus(1.0, LogUniform(0.001, 0.1)),
    Minus(1.0, Uniform(0, 2)),
    Minus(0.9, LogUniform(1e-4, 0.05)),
    Scaled(LogUniform(0.001, 1), 7, "n_features"),
    Scaled(Uniform(-1, 3), 0.3, "a third"),
]
# Each with all of its values, written out by hand.
DISCRETE: list[tuple[NumberDistribution, list[float]]] = [
    (UniformInteger(0, 9), list(range(10))),
    (UniformInteger(-2, 7, 3), [-2, 1, 4, 7]),
    (UniformInteger(0, 5, 2), [0, 2, 4]),
    (UniformInteger(3, 3), [3]),
    (UniformInteger(3, 5, 10), [3]),
    (LogInteger(1, 9), list(range(1, 10))),
    (LogInteger(32, 64), list(range(32, 65))),
    (LogInteger(5, 5), [5]),
    (Stepped(0, 0.3, 0.1), [0.0, 0.1, 0.2, 0.3]),
    (Stepped(0.2, 0.85, 0.1), [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]),
    (Stepped(-1, 1, 0.75), [-1.0, -0.25, 0.5]),
    (Stepped(2.5, 2.5, 1), [2.5]),
    (RoundedPowerOfTwo(6, 8), list(range(64, 257))),
    (RoundedPowerOfTwo(4, 6), list(range(16, 65))),
    (RoundedPowerOfTwo(-3, 1.4), [0, 1, 2, 3]),
    (RoundedPowerOfTwo(1.9, 2.1), [4]),
    (RoundedPowerOfTwo(math.log2(2.5), math.log2(3.5)), [3]),
    (RoundedPowerOfTwo(5, 5), [32]),
    (Constant(2.5), [2.5]),
]
ALL = [*CONTINUOUS, *(distribution for distribution, _ in DISCRETE)]
CHOICES: list[Categorical] = [
    Categorical(["a", "b"]),
    Categorical((None, True, 1, 1.0, "1")),
    Categorical([5]),
    Categorical(["x", "y", "x"]),
]

# Both ends of the range of a 53-bit generator, and values between.
PROBABILITIES = st.one_of(st.sampled_from([0.0, 2.0**-53, 0.5, 1 - 2.0**-53]), st.floats(0, 1, exclude_max=True))
IDS = [f"{type(each).__name__}-{each}" for each in ALL]


@pytest.mark.parametrize("distribution", ALL, ids=IDS)
@given(PROBABILITIES)
def test_draws_stay_in_the_declared_range_and_are_possible(distribution: NumberDistribution, u: float) -> None:
    value = distribution.quantile(u)
    assert distribution.low <= value <= distribution.high
    assert distribution.log_density(value) > -math.inf


@pytest.mark.parametrize("distribution", ALL, ids=IDS)
@given(PROBABILITIES, PROBABILITIES)
def test_the_quantile_is_monotone(distribution: NumberDistribution, u: float, v: float) -> None:
    first, second = distribution.quantile(min(u, v)), distribution.quantile(max(u, v))
    # A number minus a draw runs downwards, as in the published experiment.
    assert (first >= second) if isinstance(distribution, Minus) else (first <= second)


ENDS = st.floats(-1e300, 1e300)


@given(ENDS, ENDS, PROBABILITIES)
def test_no_uniform_leaves_its_range(one: float, other: float, u: float) -> None:
    low, high = min(one, other), max(one, other)
    if low < high:
        assert low <= Uniform(low, high).quantile(u) <= high


POSITIVE = st.floats(1e-300, 1e300)


@given(POSITIVE, POSITIVE, st.floats(1e-3, 1e5), PROBABILITIES)
def test_no_scaled_log_uniform_leaves_its_range(one: float, other: float, divisor: float, u: float) -> None:
    low, high = min(one, other), max(one, other)
    if math.log(low) < math.log(high):
        scaled = Scaled(LogUniform(low, high), divisor, "divisor")
        assert scaled.low <= scaled.quantile(u) <= scaled.high
        assert scaled.log_density(scaled.quantile(u)) > -math.inf


@given(st.floats(0.05, 1), PROBABILITIES)
def test_no_discount_is_impossible(discount: float, u: float) -> None:
    gamma = Minus(discount, LogUniform(1e-4, 0.05))
    assert 0 <= gamma.low <= gamma.quantile(u) <= gamma.high < discount
    assert gamma.log_density(gamma.quantile(u)) > -math.inf


WHOLE = st.integers(1 - 2**52, 2**52 - 1)


@given(WHOLE, WHOLE, st.integers(1, 2**52), PROBABILITIES)
def test_no_whole_number_leaves_its_range(one: int, other: int, step: int, u: float) -> None:
    low, high = min(one, other), max(one, other)
    value = UniformInteger(low, high, step).quantile(u)
    assert type(value) is int
    assert low <= value <= high
    assert (value - low) % step == 0
    if low >= 1:
        value = LogInteger(low, high).quantile(u)
        assert type(value) is int
        assert low <= value <= high
        assert -math.inf < LogInteger(low, high).log_density(value) <= 0


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.floats(1e-3, 1e6), PROBABILITIES)
def test_no_step_leaves_its_range(low: float, width: float, step: float, u: float) -> None:
    stepped = Stepped(low, low + width, step)
    assert low <= stepped.quantile(u) <= stepped.high <= low + width
    assert stepped.log_density(stepped.quantile(u)) == pytest.approx(-math.log(stepped.number))


@given(st.floats(-52, 51.9), st.floats(0, 104), PROBABILITIES)
def test_no_power_leaves_its_range(low: float, width: float, u: float) -> None:
    powers = RoundedPowerOfTwo(low, min(low + width, 51.9))
    value = powers.quantile(u)
    assert type(value) is int
    assert powers.low <= value <= powers.high
    assert -math.inf < powers.log_density(value) <= 1e-12


def test_roundings_do_not_lead_out_of_the_range() -> None:
    # Found by search: without care the first gives 51, and the second an end of its range that is impossible.
    assert LogInteger(43, 50).quantile(1 - 2.0**-53) == 50
    scaled = Scaled(Uniform(0.4632865650113801, 1), 22, "22")
    assert scaled.low * 22 < 0.4632865650113801
    assert scaled.log_density(scaled.quantile(0.0)) == pytest.approx(scaled.log_density(0.03))


@pytest.mark.parametrize("distribution", CONTINUOUS, ids=str)
def test_the_density_integrates_to_one_and_is_zero_outside(distribution: NumberDistribution) -> None:
    total, _ = integrate.quad(lambda x: math.exp(distribution.log_density(x)), distribution.low, distribution.high)
    assert total == pytest.approx(1)
    assert distribution.log_density(distribution.low - 0.01) == -math.inf
    assert distribution.log_density(distribution.high + 0.01) == -math.inf


@pytest.mark.parametrize("distribution", CONTINUOUS, ids=str)
@pytest.mark.parametrize("u", [0.05, 0.3, 0.9])
def test_the_quantile_is_the_inverse_of_the_integrated_density(distribution: NumberDistribution, u: float) -> None:
    value = distribution.quantile(u)
    below, _ = integrate.quad(lambda x: math.exp(distribution.log_density(x)), distribution.low, value)
    assert below == pytest.approx(1 - u if isinstance(distribution, Minus) else u)


@pytest.mark.parametrize(("distribution", "values"), DISCRETE, ids=lambda each: str(each)[:40])
def test_probabilities_sum_to_one_over_the_values_and_are_zero_elsewhere(
    distribution: NumberDistribution, values: list[float]
) -> None:
    assert math.fsum(math.exp(distribution.log_density(value)) for value in values) == pytest.approx(1, abs=1e-12)
    assert (distribution.low, distribution.high) == (values[0], values[-1])
    for stranger in (values[0] - 1, values[-1] + 1, values[0] + 1e-3, values[-1] - 1e-3):
        assert distribution.log_density(stranger) == -math.inf


@pytest.mark.parametrize(("distribution", "values"), DISCRETE, ids=lambda each: str(each)[:40])
def test_a_value_comes_out_as_often_as_its_probability_says(
    distribution: NumberDistribution, values: list[float]
) -> None:
    # A value results exactly between the two quantiles of its probability.
    below = 0.0
    for value in values:
        above = below + math.exp(distribution.log_density(value))
        width = above - below
        for place in (0.001, 0.5, 0.999):
            found = distribution.quantile(min(below + place * width, 1 - 2.0**-53))
            assert found == value
            assert type(found) is type(value)
        below = above


def test_whole_powers_of_two_are_not_drawn_alike() -> None:
    # 64 and 256 have half a number to themselves, and a number of the same size is the rarer the larger it is.
    powers = RoundedPowerOfTwo(6, 8)
    assert powers.log_density(64) == pytest.approx(math.log(math.log2(64.5 / 64) / 2))
    assert powers.log_density(100) == pytest.approx(math.log(math.log2(100.5 / 99.5) / 2))
    assert powers.log_density(256) == pytest.approx(math.log(math.log2(256 / 255.5) / 2))


def test_whole_numbers_in_their_logarithm_are_those_of_optuna() -> None:
    # exp(U(ln 0.5, ln 9.5)), rounded.
    width = math.log(9.5 / 0.5)
    assert math.exp(LogInteger(1, 9).log_density(1)) == pytest.approx(math.log(1.5 / 0.5) / width)
    assert math.exp(LogInteger(1, 9).log_density(9)) == pytest.approx(math.log(9.5 / 8.5) / width)


def test_large_neighbours_stay_apart_in_their_logarithm() -> None:
    top = 2**52 - 1
    numbers = LogInteger(top - 3, top)
    assert [numbers.quantile(u) for u in (0.1, 0.3, 0.6, 0.9)] == [top - 3, top - 2, top - 1, top]
    assert math.exp(numbers.log_density(top)) == pytest.approx(0.25)


@pytest.mark.parametrize("distribution", CHOICES, ids=str)
@given(PROBABILITIES)
def test_a_choice_is_one_of_the_choices(distribution: Categorical, u: float) -> None:
    assert any(distribution.quantile(u) is each for each in distribution.choices)
    assert distribution.log_density(distribution.quantile(u)) > -math.inf


def test_choices_are_alike_and_keep_their_types() -> None:
    five = CHOICES[1]
    assert [five.quantile(u) for u in (0.0, 0.21, 0.41, 0.61, 0.81)] == [None, True, 1, 1.0, "1"]
    assert [type(five.quantile(u)) for u in (0.21, 0.41, 0.61)] == [bool, int, float]
    assert five.log_density(True) == five.log_density(1) == pytest.approx(-math.log(5))
    assert five.log_density("one") == five.log_density(2) == -math.inf
    assert CHOICES[3].log_density("x") == pytest.approx(math.log(2 / 3))
    assert Categorical([1]) != Categorical([True])
    assert Categorical([1, 2]) == Categorical((1, 2))


@pytest.mark.parametrize("distribution", [*ALL, *CHOICES], ids=str)
def test_distributions_travel_and_compare(distribution: Distribution[Any]) -> None:
    copy = pickle.loads(pickle.dumps(distribution))
    assert copy == distribution
    assert hash(copy) == hash(distribution)
    assert copy.quantile(0.77) == distribution.quantile(0.77)


def test_a_constant_is_always_itself() -> None:
    assert {Constant(2.5).quantile(u) for u in (0.0, 0.5, 0.999)} == {2.5}
    assert (Constant(2.5).log_density(2.5), Constant(2.5).log_density(2.4)) == (0.0, -math.inf)


def test_names_people_can_read() -> None:
    assert [str(each) for each in CONTINUOUS] == [
        "U(-1, 3)",
        "ln-uniform(0.001, 0.1)",
        "1 - ln-uniform(0.001, 0.1)",
        "1 - U(0, 2)",
        "0.9 - ln-uniform(0.0001, 0.05)",
        "ln-uniform(0.001, 1) / n_features",
        "U(-1, 3) / a third",
    ]
    assert [str(each) for each, _ in DISCRETE] == [
        "U{0..9}",
        "U{-2, 1..7}",
        "U{0, 2..4}",
        "U{3}",
        "U{3}",
        "ln-uniform{1..9}",
        "ln-uniform{32..64}",
        "ln-uniform{5}",
        "U{0, 0.1..0.3}",
        "U{0.2, 0.3..0.8}",
        "U{-1, -0.25..0.5}",
        "U{2.5}",
        "round(2^U(6, 8))",
        "round(2^U(4, 6))",
        "round(2^U(-3, 1.4))",
        "round(2^U(1.9, 2.1))",
        "round(2^U(1.32193, 1.80735))",
        "round(2^U(5, 5))",
        "2.5",
    ]
    assert str(UniformInteger(0, 5, 5)) == "U{0, 5}"
    assert [str(each) for each in CHOICES] == [
        "one of 'a', 'b'",
        "one of None, True, 1, 1.0, '1'",
        "one of 5",
        "one of 'x', 'y', 'x'",
    ]


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (Uniform, (3, 1), "low=3 is above high=1: give the smaller number first"),
        (Uniform, (1, 1), "low=1 is high: a range needs two different numbers; for a single one take Constant"),
        (Uniform, (NAN, 1), "low=nan is not allowed: give a finite number"),
        (Uniform, (0, INF), "high=inf is not allowed: give a finite number"),
        (Uniform, ("0", 1), "low='0' is not allowed: give a finite number"),
        (Uniform, (False, True), "low=False is not allowed: give a finite number"),
        (Uniform, (-1e308, 1e308), "is wider than any float: give a narrower range"),
        (Uniform, (0, 10**400), "high is a whole number of 401 digits: give one that a float can hold"),
        (LogUniform, (0, 1), "low=0 is not allowed for a logarithm: give a number above 0"),
        (LogUniform, (2, 1), "low=2 is above high=1"),
        (Minus, (NAN, Uniform(0, 1)), "number=nan is not allowed: give a finite number"),
        (Scaled, (Uniform(0, 1), 0, "x"), "divisor=0 is not allowed for dividing: give a number above 0"),
        (Scaled, (Uniform(0, 1), INF, "x"), "divisor=inf is not allowed: give a finite number"),
        (UniformInteger, (3, 1), "low=3 is above high=1"),
        (UniformInteger, (0.0, 1), "low=0.0 is not allowed: give a whole number below 2**52 in size"),
        (UniformInteger, (0, 2**52), "high=4503599627370496 is not allowed: give a whole number below 2**52 in size"),
        (UniformInteger, (False, 1), "low=False is not allowed"),
        (UniformInteger, (0, 5, 0), "step=0 is not allowed: give a whole number above 0"),
        (UniformInteger, (0, 5, 0.5), "step=0.5 is not allowed: give a whole number above 0"),
        (LogInteger, (0, 5), "low=0 is not allowed for a logarithm of whole numbers: give low of 1 or more"),
        (LogInteger, (5, 1), "low=5 is above high=1"),
        (Stepped, (0, 1, 0), "step=0 is not allowed for a grid: give a number above 0"),
        (Stepped, (0, 1, NAN), "step=nan is not allowed: give a finite number"),
        (Stepped, (1, 0, 1), "low=1 is above high=0"),
        (Stepped, (0, 1, 1e-17), "makes 100,000,000,000,000,001 values; at most 2**52 are allowed: take a wider step"),
        (RoundedPowerOfTwo, (8, 6), "low=8 is above high=6"),
        (RoundedPowerOfTwo, (0, 52), "high_exponent=52 is not allowed: give a number from -52 to below 52"),
        (RoundedPowerOfTwo, (-53, 1), "low_exponent=-53 is not allowed: give a number from -52 to below 52"),
        (Categorical, ([],), "choices is empty: give at least one value"),
        (Categorical, ("ab",), "choices='ab' is not allowed: give a list of values"),
        (Categorical, (5,), "choices=5 is not allowed: give a list of values"),
        (Categorical, ([1, [2]],), "[2] is not allowed among the choices: give None, booleans, finite numbers or"),
        (Categorical, ([1, NAN],), "nan is not allowed among the choices"),
    ],
)
def test_what_is_no_distribution_says_what_is(kind: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kind(*arguments)
    assert message in str(caught.value)
