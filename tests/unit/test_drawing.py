"""Properties of every picture."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from untuned.adapters.gymnasium import rendering

Draw = Callable[..., NDArray[np.uint8]]

TARGET = (0.9, 0.2, 0.04)
OBSTACLES = (
    ((0.0, 0.0), (1.0, 0.0), (1.0, 0.01), (0.0, 0.01)),
    ((0.0, 0.0), (0.01, 0.0), (0.01, 1.0), (0.0, 1.0)),
    ((0.35, 0.4), (0.45, 0.4), (0.43, 0.65), (0.3, 0.7)),
)
# One ordinary call of each function, its picture's size, and how many of its arguments are numbers.
CALLS: dict[str, tuple[Draw, tuple[Any, ...], tuple[int, int], int]] = {
    "gridworld": (rendering.draw_gridworld, (5, 1, 2), (480, 480), 3),
    "chain": (rendering.draw_chain, (10, 4), (120, 960), 2),
    "cart_pole": (rendering.draw_cart_pole, (0.3, 0.1, 0.5, 1.0, 0.1), (400, 640), 5),
    "mountain_car": (rendering.draw_mountain_car, (-0.6, 0.02), (400, 640), 2),
    "acrobot": (rendering.draw_acrobot, (0.4, -0.7, 1.0, 1.0), (480, 480), 4),
    "pinball": (rendering.draw_pinball, (0.2, 0.9, 0.3, -0.2, 0.02, TARGET, OBSTACLES), (480, 480), 5),
}
FAMILIES = pytest.mark.parametrize("family", CALLS)


def changed(arguments: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    return (*arguments[:index], value, *arguments[index + 1 :])


def without_body(family: str) -> NDArray[np.uint8]:
    draw, arguments, _, _ = CALLS[family]
    state = 1 if family in ("gridworld", "chain") else 0
    return draw(*changed(arguments, state, math.nan))


def mask(picture: NDArray[np.uint8], colour: tuple[int, int, int]) -> NDArray[np.bool_]:
    return np.asarray((picture == np.array(colour, dtype=np.uint8)).all(axis=2))


def centre(picture: NDArray[np.uint8], colour: tuple[int, int, int]) -> tuple[float, float]:
    """The mean column and row of the pixels of just this colour."""
    rows, columns = np.nonzero(mask(picture, colour))
    return float(columns.mean()), float(rows.mean())


@FAMILIES
def test_shape_and_type(family: str) -> None:
    draw, arguments, size, _ = CALLS[family]
    picture = draw(*arguments)
    assert picture.shape == (*size, 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    assert picture.flags.writeable


@FAMILIES
def test_each_picture_is_its_own(family: str) -> None:
    draw, arguments, _, _ = CALLS[family]
    first, second = draw(*arguments), draw(*arguments)
    assert not np.shares_memory(first, second)
    kept = second.copy()
    first[:] = 0
    assert np.array_equal(second, kept)
    assert np.array_equal(draw(*arguments), kept)


@FAMILIES
def test_nothing_is_left_over_from_the_picture_before(family: str) -> None:
    draw, arguments, _, _ = CALLS[family]
    before = without_body(family)
    draw(*arguments)
    assert np.array_equal(without_body(family), before)
    assert not np.array_equal(draw(*arguments), before)


@pytest.mark.parametrize(
    ("family", "index", "value"),
    [
        ("gridworld", 0, 6),
        ("gridworld", 1, 2),
        ("gridworld", 2, 3),
        ("chain", 0, 11),
        ("chain", 1, 5),
        ("cart_pole", 0, 0.35),
        ("cart_pole", 1, 0.12),
        ("cart_pole", 2, 0.55),
        ("cart_pole", 3, 1.5),
        ("cart_pole", 4, 0.2),
        ("mountain_car", 0, -0.58),
        ("mountain_car", 1, -0.02),
        ("acrobot", 0, 0.45),
        ("acrobot", 1, -0.6),
        ("acrobot", 2, 1.1),
        ("acrobot", 3, 0.9),
        ("pinball", 0, 0.21),
        ("pinball", 1, 0.89),
        ("pinball", 2, -0.3),
        ("pinball", 3, 0.2),
        ("pinball", 4, 0.03),
        ("pinball", 5, (0.8, 0.2, 0.04)),
        ("pinball", 6, OBSTACLES[:2]),
    ],
)
def test_every_argument_shows(family: str, index: int, value: object) -> None:
    draw, arguments, _, _ = CALLS[family]
    assert not np.array_equal(draw(*arguments), draw(*changed(arguments, index, value)))


@pytest.mark.parametrize("size", [1, 2, 5, 10, 50, 51, 149, 151, 500, 5000])
def test_boards_of_every_size(size: int) -> None:
    for where in {0, size // 2, size - 1}:
        assert rendering.draw_gridworld(size, where, where).shape == (480, 480, 3)
        assert rendering.draw_chain(size, where).shape == (120, 960, 3)


@pytest.mark.parametrize("size", [2, 10, 50, 500])
def test_neighbouring_positions_differ(size: int) -> None:
    assert not np.array_equal(rendering.draw_chain(size, 0), rendering.draw_chain(size, 1))
    if size <= 50:
        assert not np.array_equal(rendering.draw_gridworld(size, 0, 0), rendering.draw_gridworld(size, 0, 1))


@FAMILIES
@pytest.mark.parametrize("value", [-1e308, -1e9, -3, -1e-308, 0, 1e-308, 7, 1e9, 1e308])
def test_extremes_are_drawn(family: str, value: float) -> None:
    draw, arguments, size, numbers = CALLS[family]
    first = 1 if family in ("gridworld", "chain") else 0
    everywhere = arguments[:first] + (value,) * (numbers - first) + arguments[numbers:]
    assert draw(*everywhere).shape == (*size, 3)
    for index in range(first, numbers):
        assert draw(*changed(arguments, index, value)).shape == (*size, 3)
        assert draw(*changed(arguments, index, np.float32(np.clip(value, -3e38, 3e38)))).shape == (*size, 3)


@FAMILIES
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")])
def test_no_body_without_a_finite_state(family: str, value: float) -> None:
    draw, arguments, size, numbers = CALLS[family]
    scene = without_body(family)
    for index in range(1 if family in ("gridworld", "chain") else 0, numbers):
        picture = draw(*changed(arguments, index, value))
        assert picture.shape == (*size, 3)
        assert np.array_equal(picture, scene)


def test_far_outside_is_held_at_the_edge() -> None:
    for arguments in ((50.0, 0.5), (-50.0, 0.5), (0.5, 50.0), (0.5, -50.0)):
        picture = rendering.draw_pinball(*arguments, 0.0, 0.0, 0.02, TARGET, OBSTACLES)
        assert mask(picture, rendering.BLUE).any()
    for x in (-50.0, 50.0):
        assert mask(rendering.draw_cart_pole(x, 0.0, 0.5, 1.0, 0.1), rendering.BLUE).any()
        assert mask(rendering.draw_mountain_car(x, 0.0), rendering.BLUE).any()
    assert np.array_equal(rendering.draw_gridworld(5, -7, 99), rendering.draw_gridworld(5, 0, 4))
    assert np.array_equal(rendering.draw_chain(5, 99), rendering.draw_chain(5, 4))


def test_broken_obstacles_are_left_out() -> None:
    broken = ((), ((0.1, 0.1),), ((0.1, 0.1), (0.2, 0.2)), ((math.nan, 0.1), (0.2, 0.2), (0.3, 0.1)))
    arguments = (0.2, 0.9, 0.3, -0.2, 0.02, TARGET)
    assert np.array_equal(rendering.draw_pinball(*arguments, broken), rendering.draw_pinball(*arguments, ()))
    assert rendering.draw_pinball(*arguments[:5], (math.nan, 0.5, 0.1), ()).shape == (480, 480, 3)
    assert rendering.draw_pinball(*arguments, (((-1e308, 0.0), (1e308, 0.0), (0.0, 1e308)),)).shape == (
        480,
        480,
        3,
    )


def test_directions() -> None:
    blue, orange = rendering.BLUE, rendering.ORANGE
    top_left, bottom_left = (centre(rendering.draw_gridworld(10, row, 1), blue) for row in (1, 8))
    assert top_left[1] < 240 < bottom_left[1]
    assert top_left[0] < 240
    assert centre(rendering.draw_chain(10, 1), blue)[0] < 480 < centre(rendering.draw_chain(10, 8), blue)[0]
    leaning_left, leaning_right = (
        centre(rendering.draw_cart_pole(0.0, angle, 0.5, 1.0, 0.1), orange) for angle in (-0.2, 0.2)
    )
    assert leaning_left[0] < 320 < leaning_right[0]
    hanging, to_the_right = (centre(rendering.draw_acrobot(angle, 0.0, 1.0, 1.0), orange) for angle in (0.0, 0.5))
    assert hanging[1] > 240
    assert to_the_right[0] > 245
    assert centre(rendering.draw_acrobot(0.0, 0.5, 1.0, 1.0), orange)[0] > 245
    low, high = (centre(rendering.draw_pinball(0.5, y, 0, 0, 0.02, TARGET, ()), blue) for y in (0.2, 0.8))
    assert high[1] < 240 < low[1]


def test_the_car_stands_on_the_hill() -> None:
    scene = without_body("mountain_car")
    for position in np.linspace(-1.2, 0.5, 18):
        picture = rendering.draw_mountain_car(float(position), 0.0)
        _, rows = np.nonzero((picture != scene).any(axis=2).T)
        surface = 250 - 120 * math.sin(3 * position)
        assert surface - 60 < rows.mean() < surface
