"""Pictures of environments, one function per family.

Every function takes the numbers that describe one moment and returns a new C-contiguous array of
shape (height, width, 3) and type uint8, the colours in the order red, green, blue; the caller may keep it
and write to it. No state is refused: objects far outside the scene are drawn at its edge, and when a number
is infinite or NaN the scene is drawn without its moving body.
"""

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from untuned.errors import needs

with needs("gymnasium", "a picture of an environment"):
    from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Pen = ImageDraw.ImageDraw
Point = tuple[float, float]

# The accents are those of Okabe and Ito, distinguishable with the common colour vision deficiencies.
PAPER: Colour = (244, 242, 237)
PANEL: Colour = (254, 253, 251)
FAINT: Colour = (222, 218, 209)
STONE: Colour = (150, 145, 136)
INK: Colour = (52, 49, 46)
BLUE: Colour = (0, 114, 178)
SKY: Colour = (86, 180, 233)
GREEN: Colour = (0, 158, 115)
ORANGE: Colour = (230, 159, 0)
VERMILION: Colour = (213, 94, 0)

# Pillow draws hard edges: a picture is drawn larger by this factor and averaged down at the end.
OVERSAMPLING = 3
STROKE = 1.5

FAILURE_ANGLE = math.pi / 15
TRACK_LIMIT = 2.4
RAIL_Y = 333
CAR_TOP_SPEED = 0.07


def _all_finite(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)


def _clip(value: float, low: float, high: float) -> float:
    return float(min(max(value, low), high))


def _blend(colour: Colour, share: float, ground: Colour = PAPER) -> Colour:
    pairs = zip(colour, ground, strict=True)
    red, green, blue = (round(share * over + (1 - share) * under) for over, under in pairs)
    return red, green, blue


def _point_from(origin: Point, turn: float, distance: float) -> Point:
    """The point at a distance from another, in the direction `turn` clockwise from upwards."""
    return origin[0] + distance * math.sin(turn), origin[1] - distance * math.cos(turn)


def _start(width: int, height: int) -> tuple[Image.Image, Pen]:
    image = Image.new("RGB", (width * OVERSAMPLING, height * OVERSAMPLING), PAPER)
    return image, ImageDraw.Draw(image)


def _to_array(image: Image.Image) -> NDArray[np.uint8]:
    # A box average takes a tenth of the time of a Lanczos filter and leaves no ringing next to flat colours.
    return np.array(image.reduce(OVERSAMPLING), dtype=np.uint8)


def _fill_box(pen: Pen, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
    edges = [round(edge * OVERSAMPLING) for edge in (left, top, right, bottom)]
    # Pillow includes the last pixel.
    pen.rectangle((edges[0], edges[1], edges[2] - 1, edges[3] - 1), fill=fill)


def _fill_polygon(pen: Pen, corners: Sequence[Point], fill: Colour) -> None:
    # Half a pixel less, because Pillow names a pixel by its centre.
    pen.polygon([(round(x - 0.5), round(y - 0.5)) for x, y in corners], fill=fill)


def _fill_around(pen: Pen, points: Sequence[Point], radius: float, fill: Colour) -> None:
    """Fill everything within `radius` of one point, of a segment between two, or of a polygon of more."""
    reach = radius * OVERSAMPLING
    corners = [(x * OVERSAMPLING, y * OVERSAMPLING) for x, y in points]
    if len(corners) > 2:
        _fill_polygon(pen, corners, fill)
    if reach < 1:
        return
    for (x, y), (next_x, next_y) in zip(corners, corners[1:] + corners[:1], strict=True):
        left, top, right, bottom = (round(edge) for edge in (x - reach, y - reach, x + reach, y + reach))
        pen.ellipse((left, top, right - 1, bottom - 1), fill=fill)
        length = math.hypot(next_x - x, next_y - y)
        if length > 0:
            # Pillow fills a polygon half a pixel past its edge: without this a bar is wider than its ends.
            across, down = (y - next_y) / length * (reach - 0.5), (next_x - x) / length * (reach - 0.5)
            near_side = [(x + across, y + down), (next_x + across, next_y + down)]
            _fill_polygon(pen, [*near_side, (next_x - across, next_y - down), (x - across, y - down)], fill)


def _fill_body(pen: Pen, points: Sequence[Point], radius: float, fill: Colour) -> None:
    """Fill as `_fill_around` does, with a dark outline for moving objects."""
    _fill_around(pen, points, radius, INK)
    _fill_around(pen, points, radius - min(STROKE, 0.25 * radius), fill)


def _draw_star(pen: Pen, x: float, y: float, radius: float) -> None:
    reaches = (radius, 0.45 * radius)
    points = [_point_from((x, y), math.pi * tip / 5, reaches[tip % 2]) for tip in range(10)]
    _fill_around(pen, points, 0.04 * radius, GREEN)


def _draw_arrow(pen: Pen, start: Point, direction: Point, length: float) -> None:
    right, down = direction
    tip_x, tip_y = start[0] + right * length, start[1] + down * length
    neck_x, neck_y = tip_x - 8 * right, tip_y - 8 * down
    barbs = [(neck_x - 4 * down, neck_y + 4 * right), (neck_x + 4 * down, neck_y - 4 * right)]
    _fill_around(pen, (start, (neck_x, neck_y)), 1, INK)
    _fill_around(pen, [(tip_x, tip_y), *barbs], 0.4, INK)


def _lay_out_cells(size: int, room: int, widest: int, width: int) -> tuple[float, float]:
    """The side of a cell and where the first one starts, in whole pixels if possible, for even lines."""
    cell = min(room / size, float(widest))
    cell = cell if cell < 3 else cell // 1
    return cell, (width - cell * size) // 2


# Cached, like the hill below and unlike the other scenes: its many lines take longer to draw than to copy.
@functools.lru_cache(maxsize=2)
def _gridworld_scene(size: int) -> Image.Image:
    image, pen = _start(480, 480)
    cell, start = _lay_out_cells(size, 450, 450, 480)
    end = start + cell * size
    mark = max(cell, 6.0)
    # A small cell has no room for a star: it is filled with the colour instead.
    roomy = cell >= 16
    _fill_box(pen, start - 2, start - 2, end + 2, end + 2, INK)
    _fill_box(pen, start, start, end, end, PANEL)
    _fill_box(pen, start, start, start + mark, start + mark, _blend(BLUE, 0.16 if roomy else 0.4, PANEL))
    _fill_box(pen, end - mark, end - mark, end, end, _blend(GREEN, 0.2 if roomy else 1, PANEL))
    line = 2 if cell >= 20 else 1
    for index in range(1, size if cell >= 4 else 1):
        middle = start + index * cell - line // 2
        _fill_box(pen, middle, start, middle + line, end, FAINT)
        _fill_box(pen, start, middle, end, middle + line, FAINT)
    if roomy:
        _draw_star(pen, end - 0.5 * cell, end - 0.48 * cell, min(0.4 * cell, 75))
    return image


def draw_gridworld(size: int, row: int, column: int) -> NDArray[np.uint8]:
    """A square board seen from above, row 0 at the top, the start top left and the goal bottom right."""
    size = max(int(size), 1)
    image = _gridworld_scene(size).copy()
    pen = ImageDraw.Draw(image)
    if _all_finite(row, column):
        cell, start = _lay_out_cells(size, 450, 450, 480)
        x = start + (_clip(column, 0, size - 1) + 0.5) * cell
        y = start + (_clip(row, 0, size - 1) + 0.5) * cell
        _fill_body(pen, [(x, y)], _clip(0.28 * cell, 4.5, 50), BLUE)
    return _to_array(image)


def draw_chain(size: int, position: int) -> NDArray[np.uint8]:
    """A row of cells, position 0 at the left and the goal at the right."""
    size = max(int(size), 1)
    image, pen = _start(960, 120)
    cell, start = _lay_out_cells(size, 912, 80, 960)
    end = start + cell * size
    top, bottom = 60 - max(cell, 30) // 2, 60 + max(cell, 30) // 2
    roomy = cell >= 30
    _fill_box(pen, start - 2, top - 2, end + 2, bottom + 2, INK)
    _fill_box(pen, start, top, end, bottom, PANEL)
    _fill_box(pen, end - max(cell, 3), top, end, bottom, _blend(GREEN, 0.2 if roomy else 0.5, PANEL))
    line = 2 if cell >= 20 else 1
    # Lines closer than a few pixels would merge into grey: one line then stands for ten cells, or a hundred.
    stride = 1
    while stride * cell < 6:
        stride *= 10
    for index in range(stride, size, stride):
        middle = start + index * cell - line // 2
        _fill_box(pen, middle, top, middle + line, bottom, FAINT)
    star_y, star_radius = (60 + 0.02 * cell, 0.4 * cell) if roomy else (top - 18, 12)
    _draw_star(pen, end - 0.5 * cell, star_y, star_radius)
    if _all_finite(position):
        x = start + (_clip(position, 0, size - 1) + 0.5) * cell
        _fill_body(pen, [(x, 60)], max(0.28 * cell, 8.5), BLUE)
    return _to_array(image)


def _track_x(x: float) -> float:
    return 320 + 110 * x


def draw_cart_pole(x: float, angle: float, half_length: float, cart_mass: float, pole_mass: float) -> NDArray[np.uint8]:
    """A cart between the ends of its track, the pole upright at angle 0 and leaning right when positive."""
    image, pen = _start(640, 400)
    _fill_box(pen, 0, RAIL_Y + 2, 640, 400, _blend(FAINT, 0.6))
    for tick in range(-2, 3):
        end = RAIL_Y + (10 if tick else 16)
        _fill_box(pen, _track_x(tick) - 1, RAIL_Y, _track_x(tick) + 1, end, STONE)
    _fill_box(pen, _track_x(-TRACK_LIMIT), RAIL_Y, _track_x(TRACK_LIMIT), RAIL_Y + 3, INK)
    for limit in (-TRACK_LIMIT, TRACK_LIMIT):
        _fill_around(pen, [(_track_x(limit), RAIL_Y - 15), (_track_x(limit), RAIL_Y + 18)], 2.5, VERMILION)
    if not _all_finite(x, angle, half_length, cart_mass, pole_mass):
        return _to_array(image)
    # Roots, so that masses that differ by a factor of fifty still look alike.
    width = 70 * _clip(cart_mass, 0.02, 20) ** 0.25
    thickness = 4.2 * (_clip(pole_mass, 0.005, 2) / 0.1) ** 0.35
    length = 220 * _clip(half_length, 0.02, 2)
    wheel, corner = 0.13 * width, 5
    middle, floor = _track_x(_clip(x, -2.9, 2.9)), RAIL_Y - 1.2 * wheel
    pivot = (middle, floor - 0.38 * width)
    rim = [_point_from(pivot, FAILURE_ANGLE * step / 8, length + 14) for step in range(-8, 9)]
    _fill_around(pen, [pivot, *rim], 0, _blend(VERMILION, 0.09))
    for edge in (rim[0], rim[-1]):
        _fill_around(pen, [pivot, edge], 0.6, _blend(VERMILION, 0.5))
    left, right = middle - width / 2 + corner, middle + width / 2 - corner
    upper, lower = pivot[1] + corner, floor - corner
    _fill_body(pen, [(left, upper), (right, upper), (right, lower), (left, lower)], corner, BLUE)
    for offset in (-0.28, 0.28):
        _fill_body(pen, [(middle + offset * width, RAIL_Y - wheel)], wheel, FAINT)
    _fill_body(pen, [pivot, _point_from(pivot, angle, length)], thickness, ORANGE)
    _fill_body(pen, [pivot], thickness + 2.5, PANEL)
    return _to_array(image)


def _hill_point(position: float) -> Point:
    return 320 * (position + 1.35), 250 - 120 * math.sin(3 * position)


def _hill_slope(position: float) -> float:
    return 3 * 120 / 320 * math.cos(3 * position)


@functools.lru_cache(maxsize=1)
def _mountain_car_scene() -> Image.Image:
    image, pen = _start(640, 400)
    surface = [_hill_point(-1.36 + 0.01 * step) for step in range(203)]
    _fill_around(pen, [*surface, (660, 420), (-20, 420)], 0, FAINT)
    for segment in itertools.pairwise(surface):
        _fill_around(pen, segment, 1.25, INK)
    wall_x, wall_y = _hill_point(-1.2)
    _fill_around(pen, [(wall_x, wall_y - 17), (wall_x, wall_y + 17)], 2.5, VERMILION)
    flag_x, flag_y = _hill_point(0.5)
    _fill_around(pen, [(flag_x, flag_y - 80), (flag_x + 36, flag_y - 66), (flag_x, flag_y - 52)], 0, GREEN)
    _fill_around(pen, [(flag_x, flag_y), (flag_x, flag_y - 81)], 1.5, INK)
    return image


def draw_mountain_car(position: float, velocity: float) -> NDArray[np.uint8]:
    """A car in its valley, the goal at the flag, above the car an arrow that grows with its speed."""
    image = _mountain_car_scene().copy()
    pen = ImageDraw.Draw(image)
    if not _all_finite(position, velocity):
        return _to_array(image)
    position = _clip(position, -1.3, 0.6)
    wheel = 8.5
    hubs = []
    for offset in (-18, 18):
        touch = position + offset / 320 / math.hypot(1, _hill_slope(position))
        (touch_x, touch_y), slope = _hill_point(touch), _hill_slope(touch)
        # One more than the wheel's radius, since it stands on the line that is drawn along the hill.
        lift = (wheel + 1) / math.hypot(1, slope)
        hubs.append((touch_x - slope * lift, touch_y - lift))
    (rear_x, rear_y), (front_x, front_y) = hubs
    base = math.hypot(front_x - rear_x, front_y - rear_y)
    right, down = (front_x - rear_x) / base, (front_y - rear_y) / base
    x, y = (rear_x + front_x) / 2, (rear_y + front_y) / 2

    def place(*points: Point) -> list[Point]:
        return [(x + ahead * right + up * down, y + ahead * down - up * right) for ahead, up in points]

    _fill_body(pen, place((-17, 10), (-12, 21), (4, 21), (13, 10)), 4.5, BLUE)
    _fill_around(pen, place((-12.5, 13), (-9.5, 20), (-4, 20), (-4, 13)), 1, _blend(SKY, 0.4, PANEL))
    _fill_around(pen, place((0, 13), (0, 20), (3, 20), (8.5, 13)), 1, _blend(SKY, 0.4, PANEL))
    _fill_body(pen, place((-26, 2), (-26, 9), (17, 9), (26, 6), (26, 2)), 4.5, BLUE)
    for hub in hubs:
        _fill_around(pen, [hub], wheel, INK)
        _fill_around(pen, [hub], 0.42 * wheel, FAINT)
    if velocity != 0:
        sign = math.copysign(1, velocity)
        length = 12 + 34 * _clip(sign * velocity, 0, CAR_TOP_SPEED) / CAR_TOP_SPEED
        [start] = place((-sign * length / 2, 38))
        _draw_arrow(pen, start, (sign * right, sign * down), length)
    return _to_array(image)


def draw_acrobot(angle_1: float, angle_2: float, length_1: float, length_2: float) -> NDArray[np.uint8]:
    """Two links, hanging at angles 0 and turning counter-clockwise, and the line above which to swing."""
    lengths = [value if math.isfinite(value) else 1.0 for value in (length_1, length_2)]
    upper, lower = (93 * _clip(length, 0.05, 3) for length in lengths)
    image, pen = _start(480, 480)
    reach = upper + lower
    _fill_around(pen, [(240, 240)], reach + 1, FAINT)
    _fill_around(pen, [(240, 240)], reach, PANEL)
    widest = math.acos(upper / reach)
    cap = [_point_from((240, 240), widest * step / 40, reach) for step in range(-40, 41)]
    _fill_around(pen, cap, 0, _blend(GREEN, 0.2, PANEL))
    _fill_box(pen, 0, 239 - upper, 480, 241 - upper, GREEN)
    if _all_finite(angle_1, angle_2, length_1, length_2):
        # Reduced one by one, because the sum of two finite angles can be infinite.
        turn_1, turn_2 = math.fmod(angle_1, math.tau), math.fmod(angle_2, math.tau)
        elbow = _point_from((240, 240), math.pi - turn_1, upper)
        tip = _point_from(elbow, math.pi - turn_1 - turn_2, lower)
        _fill_body(pen, [(240, 240), elbow], 9, BLUE)
        _fill_body(pen, [elbow, tip], 7.5, ORANGE)
        _fill_around(pen, [tip], 2.5, INK)
        _fill_body(pen, [elbow], 9, PANEL)
    _fill_body(pen, [(240, 240)], 11, PANEL)
    _fill_around(pen, [(240, 240)], 4, INK)
    return _to_array(image)


def _table_point(x: float, y: float) -> Point:
    return 12 + 456 * _clip(x, -9, 9), 468 - 456 * _clip(y, -9, 9)


def draw_pinball(
    x: float,
    y: float,
    x_velocity: float,
    y_velocity: float,
    ball_radius: float,
    target: tuple[float, float, float],
    obstacles: Sequence[Sequence[Point]],
) -> NDArray[np.uint8]:
    """The unit square from above, y upwards: the obstacles, the target as a hole, the ball and its path."""
    image, pen = _start(480, 480)
    _fill_box(pen, 12, 12, 468, 468, PANEL)
    if _all_finite(*target):
        hole, hole_radius = _table_point(target[0], target[1]), 456 * _clip(target[2], 0.005, 1)
        _fill_around(pen, [hole], hole_radius, GREEN)
        _fill_around(pen, [hole], hole_radius - min(4, 0.25 * hole_radius), INK)
    for obstacle in obstacles:
        corners = [_table_point(*corner) for corner in obstacle if _all_finite(*corner)]
        if len(corners) > 2:
            _fill_around(pen, corners, 0, STONE)
    if not _all_finite(x, y, x_velocity, y_velocity, ball_radius):
        return _to_array(image)
    ball_x, ball_y = _table_point(_clip(x, -0.02, 1.02), _clip(y, -0.02, 1.02))
    radius = 456 * _clip(ball_radius, 0.006, 1)
    right, down = _clip(x_velocity, -1e6, 1e6), -_clip(y_velocity, -1e6, 1e6)
    speed = math.hypot(right, down)
    if speed > 1e-9:
        length = radius + 12 + 20 * min(speed, 1)
        _draw_arrow(pen, (ball_x, ball_y), (right / speed, down / speed), length)
    _fill_body(pen, [(ball_x, ball_y)], radius, BLUE)
    shine = (ball_x - 0.3 * radius, ball_y - 0.3 * radius)
    _fill_around(pen, [shine], 0.2 * radius, _blend(PANEL, 0.75, BLUE))
    return _to_array(image)
