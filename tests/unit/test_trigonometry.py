import numpy as np
import pytest

from untuned.collect.kernels.trigonometry import LITTLE, SLIGHT, little_sincos, sincos, slight_sincos, small_sincos


def _worst_error(function: object, angles: np.ndarray) -> float:
    found = np.array([function(angle) for angle in angles])  # type: ignore[operator]
    exact = np.stack([np.sin(angles.astype(np.longdouble)), np.cos(angles.astype(np.longdouble))], axis=1)
    return float(np.abs(found - exact).max())


@pytest.mark.parametrize(
    ("function", "reach"),
    [(slight_sincos, SLIGHT), (little_sincos, LITTLE), (small_sincos, np.pi / 4), (sincos, 60.0), (sincos, 1e5)],
)
def test_sines_and_cosines_are_exact_to_rounding(function: object, reach: float) -> None:
    angles = np.random.default_rng(1).uniform(-reach, reach, 4000)
    assert _worst_error(function, np.append(angles, [-reach, reach, 0.0])) < 2.5e-16


def test_all_quadrants_and_their_borders() -> None:
    angles = np.arange(-16, 17) * np.pi / 8
    assert _worst_error(sincos, angles) < 2.5e-16
    assert _worst_error(sincos, np.nextafter(angles, 10.0)) < 2.5e-16
