"""The Fourier features compared with the oracle's in long double: values, layout, and what lies around them."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import untuned
from oracle.reference import fourier as oracle
from untuned.collect.agents.features import Fourier, largest_dorder
from untuned.collect.environments.environment import ContinuousStates
from untuned.collect.kernels.fourier import basis, sincospi, squared_norm, write_features
from untuned.collect.kernels.memory import LANES, aligned, padded

# The first example of a test may wait for the compiler.
UNHURRIED = settings(deadline=None)

#: The features' error that is allowed, given the same scaled state.
ALLOWED = 1e-14

Range = tuple[float, float]


def written(
    state: np.ndarray, ranges: tuple[Range, ...], dorder: int, iorder: int, real: Any = np.float64
) -> tuple[float, np.ndarray]:
    """Return phi.phi without a pass, and the features written into a row of junk, zeros after the end."""
    layout = basis(ranges, dorder, iorder, real)
    phi = aligned((3, layout.size), real)
    phi[:, : Fourier(ranges, dorder, iorder).number] = 77.0
    write_features(layout, state, phi, 1)
    return squared_norm(layout), phi


def worst_error(phi: np.ndarray, truth: np.ndarray) -> float:
    return float(np.abs(phi[1, : len(truth)] - truth).max())


def orders(dimensions: int) -> list[tuple[int, int]]:
    """Return pairs of orders, the largest included, whose oracle does not take seconds."""
    top = min(9, largest_dorder(dimensions))
    pairs = [(dorder, iorder) for dorder in range(top + 1) for iorder in {0, 1, dorder, dorder + 1, 9}]
    small = [pair for pair in pairs if (pair[0] + 1) ** dimensions <= 400]
    return [*small, (top, 9)]


CASES = [(dimensions, *pair) for dimensions in range(1, 7) for pair in orders(dimensions)]


@pytest.mark.parametrize(("dimensions", "dorder", "iorder"), CASES)
def test_features_are_those_of_the_oracle(dimensions: int, dorder: int, iorder: int) -> None:
    ranges = ((0.0, 1.0),) * dimensions
    rng = np.random.default_rng([dimensions, dorder, iorder])
    borders = [0.0, 1.0, 0.5, -3.0, 4.0, 0.25, 1.0 / 3.0, -0.0]
    states = [
        rng.uniform(0.0, 1.0, dimensions),
        rng.uniform(-3.0, 4.0, dimensions),
        rng.choice(borders, dimensions),
        np.nextafter(rng.choice(borders, dimensions), 2.0),
    ]
    for state in states:
        truth = oracle.features(state, ranges, dorder, iorder)
        norm, phi = written(state, ranges, dorder, iorder)
        assert worst_error(phi, truth) <= ALLOWED
        # The layout: the oracle's order, then zeros; and nothing of the other rows was touched.
        assert len(truth) == Fourier(ranges, dorder, iorder).number
        assert phi.shape[1] == padded(len(truth))
        assert phi.shape[1] % LANES == 0
        assert phi.shape[1] - len(truth) < LANES
        assert not phi[:, len(truth) :].any()
        assert (phi[[0, 2], : len(truth)] == 77.0).all()
        square = float(np.sum(truth * truth))
        assert norm == pytest.approx(square, rel=1e-13)


@pytest.mark.parametrize(
    ("dimensions", "dorder", "iorder"), [(1, 9, 9), (2, 5, 9), (3, 3, 4), (4, 2, 5), (5, 2, 1), (6, 1, 3)]
)
def test_features_in_single_precision(dimensions: int, dorder: int, iorder: int) -> None:
    ranges = ((0.0, 1.0),) * dimensions
    rng = np.random.default_rng(dimensions)
    for _ in range(20):
        state = rng.uniform(-3.0, 4.0, dimensions)
        truth = oracle.features(state, ranges, dorder, iorder)
        norm, phi = written(state, ranges, dorder, iorder, np.float32)
        assert phi.dtype == np.float32
        assert worst_error(phi, truth) <= 1e-6
        assert not phi[1, len(truth) :].any()
        # Computed from powers in double precision, whatever the type of the features.
        assert norm == pytest.approx(float(np.sum(truth * truth)), rel=1e-13)


@pytest.mark.parametrize("name", ["cart-pole", "mountain-car", "acrobot", "pinball-empty"])
def test_features_from_states_as_they_are(name: str) -> None:
    # Scaling rounds once or twice more: a phase of up to 36 pi then moves by some 1e-14.
    states = untuned.environment(name).states
    assert isinstance(states, ContinuousStates)
    rng = np.random.default_rng(3)
    for dorder, iorder in ((1, 9), (3, 5)):
        for _ in range(25):
            state = np.array([rng.uniform(low - 0.2 * (high - low), high) for low, high in states.ranges])
            truth = oracle.features(state, states.ranges, dorder, iorder)
            assert worst_error(written(state, states.ranges, dorder, iorder)[1], truth) <= 2e-14


def test_the_order_is_written_out() -> None:
    # Two dimensions, dorder 1, iorder 2: (0,0) (0,1) (1,0) (1,1), then (2,0), then (0,2).
    state = np.array([0.3, 0.1])
    _, phi = written(state, ((0.0, 1.0), (0.0, 1.0)), 1, 2)
    phases = [0.0, 0.1, 0.3, 0.4, 0.6, 0.2]
    np.testing.assert_allclose(phi[1, :6], np.cos(np.pi * np.array(phases)), atol=1e-15)


def test_a_basis_of_order_zero_is_the_constant_alone() -> None:
    for dimensions in range(1, 7):
        norm, phi = written(np.full(dimensions, 0.3), ((0.0, 1.0),) * dimensions, 0, 0)
        assert phi[1].tolist() == [1.0] + [0.0] * 15
        assert norm == 1.0


def test_nothing_is_left_of_the_state_before() -> None:
    ranges = ((0.0, 1.0),) * 3
    layout = basis(ranges, 3, 5, np.float64)
    phi = aligned((1, layout.size))
    write_features(layout, np.array([np.nan, np.inf, 1e300]), phi, 0)
    state = np.array([0.1, 0.9, 0.4])
    write_features(layout, state, phi, 0)
    np.testing.assert_array_equal(phi[0], written(state, ranges, 3, 5)[1][1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_state_that_is_no_number_gives_features_that_are_none(bad: float) -> None:
    norm, phi = written(np.array([0.2, bad]), ((0.0, 1.0), (0.0, 1.0)), 2, 4)
    truth = oracle.frequencies(2, 2, 4)
    # Frequency 0 in the bad dimension: untouched by it only where it stands alone.
    assert np.isnan(phi[1, : len(truth)][truth[:, 1] > 0]).all()
    assert not phi[1, len(truth) :].any()
    assert np.isnan(norm)


# sincospi


def truth_of(x: float) -> tuple[Any, Any]:
    # A long double holds every double and its remainder by 2 exactly.
    remainder = np.fmod(np.longdouble(x), np.longdouble(2))
    return np.sin(oracle.PI * remainder), np.cos(oracle.PI * remainder)


@UNHURRIED
@given(st.floats(-1e15, 1e15) | st.floats(-10, 10))
def test_sincospi_is_right_to_the_last_place(x: float) -> None:
    for found, exact in zip(sincospi(x), truth_of(x), strict=True):
        assert abs(found - exact) <= 2.3e-16


@UNHURRIED
@given(st.integers(-(2**50), 2**50))
def test_sincospi_is_exact_at_multiples_of_one_half(halves: int) -> None:
    expected = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][halves % 4]
    assert sincospi(halves / 2) == expected


@pytest.mark.parametrize("power", [53, 54, 62, 63, 64, 200, 1022])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_sincospi_of_numbers_too_large_to_be_odd(power: int, sign: float) -> None:
    assert sincospi(sign * 2.0**power) == (0.0, 1.0)


@pytest.mark.parametrize("x", [2.0**51 + 0.5, -(2.0**51) - 1.5, 2.0**52 - 0.5, 2.0**1023])
def test_sincospi_where_adding_a_half_rounds(x: float) -> None:
    for found, exact in zip(sincospi(x), truth_of(x), strict=True):
        assert abs(found - exact) <= 2.3e-16


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sincospi_of_no_number_is_no_number(bad: float) -> None:
    assert np.isnan(sincospi(bad)).all()


# memory


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_rows_start_at_a_cache_line(real: Any) -> None:
    for rows, number in itertools.product((1, 2, 5), (1, 16, 17, 10_000)):
        memory = aligned((rows, padded(number)), real)
        assert memory.ctypes.data % 64 == 0
        assert memory.strides[0] % 64 == 0
        assert memory.dtype == real
        assert memory.flags.c_contiguous
        assert not memory.any()
