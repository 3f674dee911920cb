"""Our environments as Gymnasium environments, running the same kernels."""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from untuned.adapters.gymnasium import rendering
from untuned.collect.environments.checks import checked_action, checked_flag
from untuned.collect.environments.environment import CompiledEnvironment, ContinuousStates, Dynamics
from untuned.collect.environments.pinball import LAYOUTS, TARGET
from untuned.collect.environments.registry import environment as environment_of_name
from untuned.collect.environments.rollout import reset_once, step_once
from untuned.collect.kernels.jit import RandomState
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.errors import InvalidInput

Observation = np.int64 | NDArray[np.float64]
Frame = NDArray[np.uint8]


class UntunedEnvironment(gymnasium.Env[Observation, np.int64]):
    """One of our environments, by Gymnasium's rules.

    The dynamics are drawn at the first reset and at every reset with a seed, and stay the same over the episodes
    between, as within one trial of the paper; ``reset(options={"redraw": True})`` redraws them. The drawn dynamics are
    in the info of every reset, under ``"dynamics"``. A seed gives the random numbers of
    ``random_state(seed, environment.name)``, dynamics first: the same trajectory as the kernels alone.

    Parameters
    ----------
    environment
        A name, or an existing environment.
    render_mode
        ``"rgb_array"`` or None.
    randomize, parameters, **options
        As in `untuned.environment`.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (Gymnasium's way)

    def __init__(
        self,
        environment: str | CompiledEnvironment = "cart-pole",
        *,
        render_mode: str | None = None,
        randomize: bool = True,
        parameters: Mapping[str, object] | None = None,
        **options: object,
    ) -> None:
        if isinstance(environment, CompiledEnvironment):
            held = environment.with_parameters({**options, **(parameters or {})})
            self.environment = held if checked_flag("randomize", randomize) else held.nominal()
        else:
            self.environment = environment_of_name(environment, randomize=randomize, parameters=parameters, **options)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise InvalidInput(f"render_mode={render_mode!r} is not allowed: give 'rgb_array' or None")
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(self.environment.actions))
        self.observation_space = _observation_space(self.environment)
        self._actions = ", ".join(f"{index} ({each})" for index, each in enumerate(self.environment.actions))
        self._state = self.environment.new_state()
        self._random = random_state(0)
        self._dynamics: Dynamics | None = None
        self._lent = False
        self._status = TRUNCATED

    @property
    def dynamics(self) -> Dynamics:
        """The draws of the current trial."""
        if self._dynamics is None:
            raise gymnasium.error.ResetNeeded("nothing is drawn yet: call reset() first")
        return self._dynamics

    def lend(self, random: RandomState) -> Dynamics:
        """From now on take all random numbers from a trial's stream; return the dynamics drawn from it.

        Seeds are then ignored: the trial is the same as in the compiled environment.
        """
        self._random = random
        self._lent = True
        self._dynamics = self.environment.draw(random)
        return self._dynamics

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; with a seed, or at the first call, a new trial with newly drawn dynamics."""
        redraw = _redraw_asked(options)
        super().reset(seed=seed)
        if not self._lent and (seed is not None or self._dynamics is None):
            self._random = random_state(self.np_random_seed, self.environment.name)
            redraw = True
        if redraw:
            self._dynamics = self.environment.draw(self._random)
        reset_once(self.environment.compiled_reset, self._state, self.dynamics.vector, self._random)
        self._status = RUNNING
        return self._observation(), {"dynamics": dict(self.dynamics.values)}

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one step; raises InvalidInput for an action that does not exist."""
        number = checked_action(self.environment.name, action, len(self.environment.actions), self._actions)
        if self._status != RUNNING:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset() before step()")
        reward, self._status = step_once(
            self.environment.compiled_step, self._state, self.dynamics.vector, self._random, number
        )
        return self._observation(), float(reward), self._status == TERMINATED, self._status == TRUNCATED, {}

    def render(self) -> Frame | None:
        """Return a picture of the current state, uint8[height, width, 3], in mode ``"rgb_array"``."""
        if self.render_mode is None:
            return None
        return _PICTURES[self.environment.family](self.environment, self._state, self.dynamics.values)

    def _observation(self) -> Observation:
        states = self.environment.states
        if isinstance(states, ContinuousStates):
            return self._state[: states.dimensions].copy()
        return np.int64(self._state[0])


def _redraw_asked(options: object) -> bool:
    if options is None:
        return False
    if isinstance(options, Mapping) and set(options) <= {"redraw"}:
        redraw = options.get("redraw", False)
        if isinstance(redraw, bool):
            return redraw
    raise InvalidInput(f"reset(options={options!r}) is not allowed: the one option is 'redraw', True or False")


def _observation_space(environment: CompiledEnvironment) -> spaces.Space[Any]:
    states = environment.states
    if isinstance(states, ContinuousStates):
        low, high = np.array(states.bounds).T
        return spaces.Box(low, high, dtype=np.float64)
    return spaces.Discrete(states.number)


State = NDArray[np.float64]
Picture = Callable[[CompiledEnvironment, State, Mapping[str, float]], Frame]


def _gridworld(environment: CompiledEnvironment, state: State, values: Mapping[str, float]) -> Frame:
    return rendering.draw_gridworld(int(environment.constants[0]), int(state[1]), int(state[2]))


def _chain(environment: CompiledEnvironment, state: State, values: Mapping[str, float]) -> Frame:
    return rendering.draw_chain(int(environment.constants[0]), int(state[0]))


def _cart_pole(environment: CompiledEnvironment, state: State, values: Mapping[str, float]) -> Frame:
    return rendering.draw_cart_pole(
        state[0], state[2], values["pole_half_length"], values["cart_mass"], values["pole_mass"]
    )


def _mountain_car(environment: CompiledEnvironment, state: State, values: Mapping[str, float]) -> Frame:
    return rendering.draw_mountain_car(state[0], state[1])


def _acrobot(environment: CompiledEnvironment, state: State, values: Mapping[str, float]) -> Frame:
    return rendering.draw_acrobot(state[0], state[1], values["length_1"], values["length_2"])


def _pinball(environment: CompiledEnvironment, state: State, values: Mapping[str, float]) -> Frame:
    layout = environment.name.partition("[")[0].removeprefix("pinball-")
    x, y, x_velocity, y_velocity = state[:4]
    target = (*TARGET, values["target_radius"])
    return rendering.draw_pinball(x, y, x_velocity, y_velocity, values["ball_radius"], target, LAYOUTS[layout])


_PICTURES: dict[str, Picture] = {
    "gridworld": _gridworld,
    "chain": _chain,
    "cart-pole": _cart_pole,
    "mountain-car": _mountain_car,
    "acrobot": _acrobot,
    "pinball": _pinball,
}
