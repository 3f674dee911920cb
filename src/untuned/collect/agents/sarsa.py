"""Sarsa(lambda) and Q(lambda) with linear functions, accumulating traces, and a given or an adapted step size."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from untuned.collect.agents.agent import CompiledLearner, Place, World
from untuned.collect.agents.checks import settle_fractions, settle_step_sizes
from untuned.collect.agents.features import Features, Fourier, check_fit
from untuned.collect.agents.playing import play_features, play_table
from untuned.collect.kernels.fourier import Basis, basis, squared_norm, write_features
from untuned.collect.kernels.jit import Floats, kernel, reset_at, step_at
from untuned.collect.kernels.memory import aligned
from untuned.collect.kernels.policies import epsilon_greedy, greedy
from untuned.collect.kernels.status import RUNNING
from untuned.collect.kernels.traces import (
    FORGOTTEN,
    LIST_COSTS,
    add,
    advance,
    advance_along,
    as_weight,
    decay_and_add,
    finish_along,
    product,
)


@dataclass(frozen=True)
class Sarsa:
    """Sarsa(lambda).

    Parameters
    ----------
    features
        The features of the action values.
    discount, trace_decay, epsilon
        gamma; lambda; the probability of a random action.
    step_size
        None for Parl2: it starts at 1 and decreases until no update overshoots.
    """

    features: Features
    discount: float
    trace_decay: float
    epsilon: float
    step_size: float | None

    #: Whether the target is the best next action's value instead of that of the action taken next.
    off_policy: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle_fractions(self, "discount", "trace_decay", "epsilon")
        settle_step_sizes(self, "step_size")

    def start(self, world: World) -> CompiledLearner:
        """Return a new learner for one trial in ``world``."""
        check_fit(self.features, world.states, world.dimensions)
        adapted = self.step_size is None
        step_sizes = np.array([1.0 if self.step_size is None else self.step_size])
        troubled = np.zeros(1, dtype=np.bool_)
        rule: tuple[Any, ...] = (
            self.discount,
            self.trace_decay,
            self.epsilon,
            step_sizes,
            adapted,
            self.off_policy,
            troubled,
        )
        values = np.zeros(world.actions)
        if isinstance(self.features, Fourier):
            layout = basis(self.features.ranges, self.features.dorder, self.features.iorder, world.real)
            weights = aligned((world.actions, layout.size), world.real)
            phi = aligned((2, layout.size), world.real)
            memory = (weights, aligned(weights.shape, world.real), phi, values, np.zeros((2, world.actions)))
            learning = partial(learn_features, world.place, layout, *memory, *rule)
            playing = partial(play_features, world.place, layout, weights, phi, values, self.epsilon)
        else:
            weights = np.zeros((self.features.states, world.actions))
            traces = (np.zeros(weights.size), np.zeros(weights.size, dtype=np.int64))
            learning = partial(learn_table, world.place, weights, *traces, values, *rule)
            playing = partial(play_table, world.place, weights, values, self.epsilon)
        return CompiledLearner(learning, playing, weights, troubled, step_sizes, "step_size" if adapted else None)


@dataclass(frozen=True)
class QLearning(Sarsa):
    """Q(lambda): Sarsa(lambda) except for its target, the best next action's value; traces are never cut."""

    off_policy: ClassVar[bool] = True


@kernel
def learn_features(
    place: Place,
    basis: Basis,
    weights: NDArray[Any],
    traces: NDArray[Any],
    phi: NDArray[Any],
    values: Floats,
    memory: Floats,
    discount: float,
    trace_decay: float,
    epsilon: float,
    step_sizes: Floats,
    adapted: bool,
    off_policy: bool,
    troubled: NDArray[np.bool_],
    returns: Floats,
) -> int:
    """Learn over features for as many episodes as ``returns`` has entries; return the number of steps.

    ``weights`` and ``traces`` have a row per action, ``phi`` two rows, for the old and the new features, ``memory`` two
    rows of a number per action.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    actions = values.size
    decay = discount * trace_decay
    step_size = step_sizes[0]
    # Traces times the new features; and its decay factor, 0 once traces are forgotten: with lambda = 0, at once.
    overlaps = memory[0]
    left = memory[1]
    steps = 0
    for episode in range(returns.size):
        traces[:] = 0.0
        left[:] = 0.0
        start(place.state, place.parameters, place.random)
        new = 0
        write_features(basis, place.state, phi, new)
        norm = squared_norm(basis) if adapted else 0.0
        for each in range(actions):
            values[each] = product(weights, each, phi, new)
            overlaps[each] = 0.0
        action = epsilon_greedy(values, epsilon, place.random)
        value = values[action]
        # The change decided in the previous step, a factor of the traces; added in the next pass.
        change = 0.0
        total = 0.0
        while True:
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            old = new
            new = 1 - new
            # trace.phi of the action taken, the trace decayed and grown by this step's gradient
            own_overlap = decay * overlaps[action] + norm
            if status != RUNNING:
                if adapted and own_overlap > 0.0:
                    step_size = min(step_size, 1.0 / own_overlap)
                delta = reward - value
                troubled[0] |= not np.isfinite(delta)
                last = 0.0 if np.isnan(delta) else as_weight(weights, step_size * delta)
                for each in range(actions):
                    # An infinite change makes every weight NaN, as infinity times a zero trace does.
                    if left[each] > 0.0 or each == action or not np.isfinite(last):
                        gradient = 1.0 if each == action else 0.0
                        finish_along(weights, traces, each, phi, old, change, decay, gradient, last, basis.number)
                break
            write_features(basis, place.state, phi, new)
            norm = squared_norm(basis) if adapted else 0.0
            for each in range(actions):
                if each == action:
                    values[each], overlaps[each] = advance_along(
                        weights, traces, each, phi, old, new, change, decay, 1.0, False
                    )
                    left[each] = 1.0
                elif left[each] > 0.0:
                    values[each], overlaps[each] = advance(weights, traces, each, phi, new, change, decay)
                    left[each] *= decay
                    if left[each] < FORGOTTEN:
                        traces[each, :] = 0.0
                        left[each] = 0.0
                        overlaps[each] = 0.0
                else:
                    values[each] = product(weights, each, phi, new)
                    overlaps[each] = 0.0
            chosen = epsilon_greedy(values, epsilon, place.random)
            overshoot = own_overlap - discount * overlaps[chosen]
            if adapted and overshoot > 0.0:
                step_size = min(step_size, 1.0 / overshoot)
            target = values[greedy(values)] if off_policy else values[chosen]
            delta = reward + discount * target - value
            troubled[0] |= not np.isfinite(delta)
            change = 0.0 if np.isnan(delta) else as_weight(weights, step_size * delta)
            value = values[chosen]
            if change != 0.0:
                value += change * overlaps[chosen]
                if not np.isfinite(value):
                    # After an overflow the shortcut differs from the sum over the weights.
                    for each in range(actions):
                        add(weights, traces, each, change, basis.number)
                    change = 0.0
                    value = product(weights, chosen, phi, new)
            action = chosen
        returns[episode] = total
    step_sizes[0] = step_size
    return steps


@kernel
def learn_table(
    place: Place,
    weights: Floats,
    traces: Floats,
    active: NDArray[np.int64],
    values: Floats,
    discount: float,
    trace_decay: float,
    epsilon: float,
    step_sizes: Floats,
    adapted: bool,
    off_policy: bool,
    troubled: NDArray[np.bool_],
    returns: Floats,
) -> int:
    """Learn over states for as many episodes as ``returns`` has entries; return the number of steps.

    ``weights`` has a row per state; ``traces`` is flat, and ``active`` lists where it is not zero.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    actions = values.size
    flat = weights.reshape(weights.size)
    decay = discount * trace_decay
    step_size = step_sizes[0]
    steps = 0
    for episode in range(returns.size):
        traces[:] = 0.0
        count = 0
        start(place.state, place.parameters, place.random)
        at = int(place.state[0]) * actions
        for each in range(actions):
            values[each] = flat[at + each]
        own = at + epsilon_greedy(values, epsilon, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            reward, status = move(place.state, place.parameters, place.random, own - at)
            total += reward
            steps += 1
            # Few traces are kept in a list; once there are many, going through all of them in order is faster.
            listed = count * LIST_COSTS < flat.size
            if listed and traces[own] == 0.0:
                active[count] = own
                count += 1
            own_trace = decay * traces[own] + 1.0
            delta = reward - flat[own]
            overshoot = own_trace
            following = own
            if status == RUNNING:
                at = int(place.state[0]) * actions
                for each in range(actions):
                    values[each] = flat[at + each]
                chosen = epsilon_greedy(values, epsilon, place.random)
                following = at + chosen
                delta += discount * (values[greedy(values)] if off_policy else values[chosen])
                overshoot -= discount * (own_trace if following == own else decay * traces[following])
            if adapted and overshoot > 0.0:
                step_size = min(step_size, 1.0 / overshoot)
            troubled[0] |= not np.isfinite(delta)
            change = 0.0 if np.isnan(delta) else step_size * delta
            if np.isinf(change):
                # Without the shortcut, since infinity times a zero trace is NaN.
                traces *= decay
                traces[own] = own_trace
                flat += change * traces
            else:
                traces[own] = 0.0
                if listed:
                    kept = 0
                    for each in range(count):
                        i = active[each]
                        trace = decay * traces[i]
                        traces[i] = trace if trace > FORGOTTEN else 0.0
                        flat[i] += change * trace
                        if trace > FORGOTTEN or i == own:
                            active[kept] = i
                            kept += 1
                    count = kept
                else:
                    decay_and_add(flat, traces, decay, change)
                traces[own] = own_trace
                flat[own] += change * own_trace
            own = following
        returns[episode] = total
    step_sizes[0] = step_size
    return steps
