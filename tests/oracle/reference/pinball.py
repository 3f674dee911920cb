"""Oracle for Pinball. Source of the facts: Jordan et al. (2020) and the code published with it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
Polygon = tuple[Point, ...]
Edge = tuple[Point, Point]
Observation = tuple[float, float, float, float]
Layout = Literal["empty", "box", "medium", "single"]

START: Point = (0.2, 0.9)
TARGET: Point = (0.9, 0.2)
DIRECTIONS: tuple[Point, ...] = ((1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
NO_FORCE = 4
VELOCITY_LIMIT = 2.0
SUB_STEPS = 20
SUB_STEP = 0.05
CLOCK_LIMIT = 1000.0

WALLS: tuple[Polygon, ...] = (
    ((0.0, 0.0), (0.0, 0.01), (1.0, 0.01), (1.0, 0.0)),
    ((0.0, 0.0), (0.01, 0.0), (0.01, 1.0), (0.0, 1.0)),
    ((0.0, 1.0), (0.0, 0.99), (1.0, 0.99), (1.0, 1.0)),
    ((1.0, 1.0), (0.99, 1.0), (0.99, 0.0), (1.0, 0.0)),
)
LISTED_TWICE: Polygon = (
    (0.334, 0.014),
    (0.278, 0.038),
    (0.368, 0.254),
    (0.7, 0.2),
    (0.764, 0.108),
    (0.526, 0.158),
)
POLYGONS: dict[Layout, tuple[Polygon, ...]] = {
    "empty": WALLS,
    "box": (*WALLS, ((0.45, 0.45), (0.55, 0.45), (0.55, 0.55), (0.45, 0.55))),
    "medium": (
        *WALLS,
        ((0.09, 0.228), (0.242, 0.076), (0.106, 0.03), (0.022, 0.178)),
        LISTED_TWICE,
        LISTED_TWICE,
        ((0.034, 0.852), (0.106, 0.708), (0.332, 0.674), (0.176, 0.618), (0.028, 0.718)),
        ((0.45, 0.392), (0.614, 0.258), (0.734, 0.438)),
        (
            (0.294, 0.584),
            (0.478, 0.626),
            (0.482, 0.574),
            (0.324, 0.434),
            (0.35, 0.39),
            (0.572, 0.52),
            (0.588, 0.722),
            (0.456, 0.668),
        ),
    ),
    "single": (
        *WALLS,
        ((0.35, 0.4), (0.45, 0.55), (0.43, 0.65), (0.3, 0.7), (0.45, 0.7), (0.5, 0.6), (0.45, 0.35)),
        (
            (0.2, 0.6),
            (0.25, 0.55),
            (0.15, 0.5),
            (0.15, 0.45),
            (0.2, 0.3),
            (0.12, 0.27),
            (0.075, 0.35),
            (0.09, 0.55),
        ),
        ((0.3, 0.8), (0.6, 0.75), (0.8, 0.8), (0.8, 0.9), (0.6, 0.85), (0.3, 0.9)),
        ((0.8, 0.7), (0.975, 0.65), (0.75, 0.5), (0.9, 0.3), (0.7, 0.35), (0.63, 0.65)),
        ((0.6, 0.25), (0.3, 0.07), (0.15, 0.175), (0.15, 0.2), (0.3, 0.175), (0.6, 0.3)),
        ((0.75, 0.025), (0.8, 0.24), (0.725, 0.27), (0.7, 0.025)),
    ),
}


def clip(value: float) -> float:
    """Bring a velocity's component into its range."""
    return max(-VELOCITY_LIMIT, min(VELOCITY_LIMIT, value))


def angle_between(first: Point, second: Point) -> float:
    """Return the angle from the first vector to the second, anticlockwise, in [0, 2 pi)."""
    difference = math.atan2(first[0], first[1]) - math.atan2(second[0], second[1])
    return difference + 2.0 * math.pi if difference < 0.0 else difference


def edges_of(polygon: Polygon) -> list[Edge]:
    """Return the pairs of neighbouring points, the last of them closing the polygon."""
    return [(polygon[i], polygon[(i + 1) % len(polygon)]) for i in range(len(polygon))]


def closest_point(edge: Edge, point: Point) -> Point:
    """Return the point of an edge that is nearest to the given point."""
    (ax, ay), (bx, by) = edge
    dx, dy = bx - ax, by - ay
    along = ((point[0] - ax) * dx + (point[1] - ay) * dy) / (dx * dx + dy * dy)
    along = max(0.0, min(1.0, along))
    return ax + along * dx, ay + along * dy


def boxes_are_apart(polygon: Polygon, centre: Point, radius: float) -> bool:
    """Tell whether the box around the ball and the box around the polygon have no point in common."""
    xs = [x for x, _ in polygon]
    ys = [y for _, y in polygon]
    return (
        centre[0] + radius < min(xs)
        or centre[0] - radius > max(xs)
        or centre[1] + radius < min(ys)
        or centre[1] - radius > max(ys)
    )


def edge_is_hit(edge: Edge, centre: Point, velocity: Point, radius: float) -> bool:
    """Tell whether the ball touches the edge and is not moving away from it."""
    nearest = closest_point(edge, centre)
    towards = (nearest[0] - centre[0], nearest[1] - centre[1])
    if towards[0] * towards[0] + towards[1] * towards[1] > radius * radius:
        return False
    angle = angle_between(towards, velocity)
    if angle > math.pi:
        angle = 2.0 * math.pi - angle
    return angle <= math.pi / 1.99


def hit_edges(polygon: Polygon, centre: Point, velocity: Point, radius: float) -> list[Edge]:
    """Return the edges of a polygon that the ball hits."""
    if boxes_are_apart(polygon, centre, radius):
        return []
    return [edge for edge in edges_of(polygon) if edge_is_hit(edge, centre, velocity, radius)]


def reflected(velocity: Point, edge: Edge) -> Point:
    """Return the velocity after a hit on one edge."""
    (ax, ay), (bx, by) = edge
    direction = (bx - ax, by - ay)
    if direction[0] < 0.0:
        direction = (ax - bx, ay - by)
    theta = angle_between(velocity, direction) - math.pi
    if theta < 0.0:
        theta += 2.0 * math.pi
    theta += angle_between((-1.0, 0.0), direction)
    speed = math.sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1])
    return speed * math.cos(theta), speed * math.sin(theta)


@dataclass(kw_only=True)
class Pinball:
    """A ball among polygons. The radii, and the drag as a factor, are those of the trial."""

    layout: Layout
    target_radius: float
    ball_radius: float
    noise: float
    drag: float
    force: float
    random_start: bool = False

    x: float = field(default=START[0], init=False)
    y: float = field(default=START[1], init=False)
    x_velocity: float = field(default=0.0, init=False)
    y_velocity: float = field(default=0.0, init=False)
    clock: float = field(default=0.0, init=False)

    def reset(self, uniform: Callable[[], float]) -> Observation:
        """Begin an episode at rest; two uniforms if the start is random, otherwise none."""
        self.x, self.y = START
        if self.random_start:
            u1 = uniform()
            u2 = uniform()
            radius = math.sqrt(-2.0 * math.log(1.0 - u1))
            self.x += 0.02 * radius * math.cos(2.0 * math.pi * u2)
            self.y += 0.02 * radius * math.sin(2.0 * math.pi * u2)
        self.x_velocity = 0.0
        self.y_velocity = 0.0
        self.clock = 0.0
        return self.observation()

    def observation(self) -> Observation:
        """Return position and velocity."""
        return self.x, self.y, self.x_velocity, self.y_velocity

    def move(self) -> None:
        """Move the ball for one sub-step."""
        self.x += self.x_velocity * self.ball_radius * SUB_STEP
        self.y += self.y_velocity * self.ball_radius * SUB_STEP

    def collide(self) -> int:
        """Change the velocity if the ball is hit; return the number of obstacles that hit it."""
        centre = (self.x, self.y)
        velocity = (self.x_velocity, self.y_velocity)
        hits: list[list[Edge]] = []
        for polygon in POLYGONS[self.layout]:
            edges = hit_edges(polygon, centre, velocity, self.ball_radius)
            if edges:
                hits.append(edges)
        if len(hits) == 1 and len(hits[0]) == 1:
            self.x_velocity, self.y_velocity = reflected(velocity, hits[0][0])
        elif hits:
            self.x_velocity, self.y_velocity = -velocity[0], -velocity[1]
        return len(hits)

    def target_reached(self) -> bool:
        """Tell whether the ball's centre is inside the target."""
        return math.hypot(self.x - TARGET[0], self.y - TARGET[1]) < self.target_radius

    def step(self, action: int, uniform: Callable[[], float]) -> tuple[Observation, float, int]:
        """Push the ball and let it roll; one uniform, and a second if the noise picks the action."""
        if uniform() < self.noise:
            action = int(5.0 * uniform())
        self.x_velocity = clip(self.x_velocity + self.force * DIRECTIONS[action][0])
        self.y_velocity = clip(self.y_velocity + self.force * DIRECTIONS[action][1])

        for number in range(1, SUB_STEPS + 1):
            self.move()
            obstacles = self.collide()
            if obstacles == 1 and number == 19:
                self.move()
            self.clock += SUB_STEP
            if self.target_reached():
                return self.observation(), 10000.0, 1
            if self.clock > CLOCK_LIMIT:
                return self.observation(), -1.0, 2

        self.x_velocity *= self.drag
        self.y_velocity *= self.drag
        self.x = self.back_inside(self.x)
        self.y = self.back_inside(self.y)
        return self.observation(), -1.0 if action == NO_FORCE else -5.0, 0

    @staticmethod
    def back_inside(coordinate: float) -> float:
        """Put a coordinate that has left the unit square back into it."""
        if coordinate > 1.0:
            return 0.95
        if coordinate < 0.0:
            return 0.05
        return coordinate
