"""Sarsa(lambda) and Q(lambda) with linear functions, accumulating traces, and a given or an adapted step size."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.collect.agents.agent import CompiledLearner, Place, World
from untuned.collect.agents.features import Features, Fourier
from untuned.collect.agents.playing import play_features, play_table
from untuned.collect.kernels.fourier import Basis, basis, squared_norm, write_features
from untuned.collect.kernels.jit import Floats, kernel, reset_at, step_at
from untuned.collect.kernels.memory import aligned
from untuned.collect.kernels.policies import epsilon_greedy, greedy
from untuned.collect.kernels.status import RUNNING
from untuned.collect.kernels.traces import FORGOTTEN, add, advance, advance_along, finish_along, product


@dataclass(frozen=True)
class Sarsa:
    """Sarsa(lambda).

    Parameters
    ----------
    features
        What the action values are linear in.
    discount, trace_decay, epsilon
        gamma; lambda; the probability of a random action.
    step_size
        None for Parl2: it starts at 1 and falls to what keeps an update from overshooting.
    """

    features: Features
    discount: float
    trace_decay: float
    epsilon: float
    step_size: float | None

    def start(self, world: World) -> CompiledLearner:
        """Return a learner that knows nothing yet."""
        return _started(self, False, world)


@dataclass(frozen=True)
class QLearning:
    """Q(lambda): the target is the best next action, not the one taken next; traces are never cut.

    Parameters
    ----------
    features
        What the action values are linear in.
    discount, trace_decay, epsilon
        gamma; lambda; the probability of a random action.
    step_size
        None for Parl2: it starts at 1 and falls to what keeps an update from overshooting.
    """

    features: Features
    discount: float
    trace_decay: float
    epsilon: float
    step_size: float | None

    def start(self, world: World) -> CompiledLearner:
        """Return a learner that knows nothing yet."""
        return _started(self, True, world)


def _started(agent: Sarsa | QLearning, off_policy: bool, world: World) -> CompiledLearner:
    adapted = agent.step_size is None
    step_sizes = np.array([1.0 if agent.step_size is None else agent.step_size])
    rule = (agent.discount, agent.trace_decay, agent.epsilon, step_sizes, adapted, off_policy)
    values = np.zeros(world.actions)
    if isinstance(agent.features, Fourier):
        layout = basis(agent.features.ranges, agent.features.dorder, agent.features.iorder, world.real)
        weights = aligned((world.actions, layout.size), world.real)
        phi = aligned((2, layout.size), world.real)
        live = np.zeros(world.actions, dtype=np.bool_)
        memory = (weights, aligned(weights.shape, world.real), phi, values, np.zeros(world.actions), live)
        learning = partial(learn_features, world.place, layout, *memory, *rule)
        playing = partial(play_features, world.place, layout, weights, phi, values, agent.epsilon)
    else:
        weights = np.zeros((agent.features.states, world.actions))
        learning = partial(
            learn_table,
            world.place,
            weights,
            np.zeros(weights.shape),
            np.zeros((weights.size, 2), dtype=np.int64),
            values,
            *rule,
        )
        playing = partial(play_table, world.place, weights, values, agent.epsilon)
    return CompiledLearner(learning, playing, weights, step_sizes)


@kernel
def learn_features(
    place: Place,
    basis: Basis,
    weights: NDArray[Any],
    traces: NDArray[Any],
    phi: NDArray[Any],
    values: Floats,
    overlaps: Floats,
    live: NDArray[np.bool_],
    discount: float,
    trace_decay: float,
    epsilon: float,
    step_sizes: Floats,
    adapted: bool,
    off_policy: bool,
    returns: Floats,
) -> int:
    """Learn over features for as many episodes as ``returns`` has places; return the number of steps.

    ``weights`` and ``traces`` have a row per action, ``phi`` two rows, for the old and the new features; ``live`` says
    which traces are not zero: with lambda = 0 that is one at most.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    actions = values.size
    decay = discount * trace_decay
    step_size = step_sizes[0]
    steps = 0
    for episode in range(returns.size):
        for each in range(actions):
            if live[each]:
                traces[each, :] = 0.0
                live[each] = False
        start(place.state, place.parameters, place.random)
        new = 0
        write_features(basis, place.state, phi, new)
        for each in range(actions):
            values[each] = product(weights, each, phi, new)
            overlaps[each] = 0.0
        action = epsilon_greedy(values, epsilon, place.random)
        value = values[action]
        norm = squared_norm(basis) if adapted else 0.0
        # What the previous step decided to add, times the traces; added in the next pass.
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
                last = 0.0 if np.isnan(delta) else step_size * delta
                for each in range(actions):
                    # An infinite change makes NaN of every weight, as infinity times a zero trace does.
                    if live[each] or each == action or not np.isfinite(last):
                        gradient = 1.0 if each == action else 0.0
                        finish_along(weights, traces, each, phi, old, change, decay, gradient, last)
                live[action] = True
                break
            write_features(basis, place.state, phi, new)
            for each in range(actions):
                if each == action:
                    values[each], overlaps[each] = advance_along(
                        weights, traces, each, phi, old, new, change, decay, 1.0
                    )
                    live[each] = True
                elif live[each]:
                    values[each], overlaps[each] = advance(weights, traces, each, phi, new, change, decay)
                    live[each] = decay != 0.0
                else:
                    values[each] = product(weights, each, phi, new)
                    overlaps[each] = 0.0
            chosen = epsilon_greedy(values, epsilon, place.random)
            if adapted:
                norm = squared_norm(basis)
                overshoot = own_overlap - discount * overlaps[chosen]
                if overshoot > 0.0:
                    step_size = min(step_size, 1.0 / overshoot)
            target = values[greedy(values)] if off_policy else values[chosen]
            delta = reward + discount * target - value
            change = 0.0 if np.isnan(delta) else step_size * delta
            value = values[chosen]
            if change != 0.0:
                value += change * overlaps[chosen]
                if not np.isfinite(value):
                    # Beyond all numbers the short cut does not say what the sum over the weights would.
                    for each in range(actions):
                        add(weights, traces, each, change)
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
    returns: Floats,
) -> int:
    """Learn over states for as many episodes as ``returns`` has places; return the number of steps.

    ``weights`` and ``traces`` have a row per state; ``active`` lists where traces are not zero, (state, action) a row.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    decay = discount * trace_decay
    step_size = step_sizes[0]
    count = 0
    steps = 0
    for episode in range(returns.size):
        for each in range(count):
            traces[active[each, 0], active[each, 1]] = 0.0
        count = 0
        start(place.state, place.parameters, place.random)
        at = int(place.state[0])
        for each in range(values.size):
            values[each] = weights[at, each]
        action = epsilon_greedy(values, epsilon, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            if traces[at, action] == 0.0:
                active[count, 0] = at
                active[count, 1] = action
                count += 1
            # The trace of the state and action left behind is 1 after a visit, plus what is left of earlier ones.
            own_trace = decay * traces[at, action] + 1.0
            next_at = at
            chosen = action
            delta = reward - weights[at, action]
            overshoot = own_trace
            if status == RUNNING:
                next_at = int(place.state[0])
                for each in range(values.size):
                    values[each] = weights[next_at, each]
                chosen = epsilon_greedy(values, epsilon, place.random)
                delta += discount * (values[greedy(values)] if off_policy else values[chosen])
                same = next_at == at and chosen == action
                overshoot -= discount * (own_trace if same else decay * traces[next_at, chosen])
            if adapted and overshoot > 0.0:
                step_size = min(step_size, 1.0 / overshoot)
            change = 0.0 if np.isnan(delta) else step_size * delta
            traces[at, action] = 0.0
            kept = 0
            for each in range(count):
                i = active[each, 0]
                j = active[each, 1]
                trace = decay * traces[i, j]
                if i == at and j == action:
                    trace = own_trace
                weights[i, j] += change * trace
                if trace > FORGOTTEN:
                    traces[i, j] = trace
                    active[kept, 0] = i
                    active[kept, 1] = j
                    kept += 1
                else:
                    traces[i, j] = 0.0
            count = kept
            if not np.isfinite(change):
                # Infinity times a zero trace is no number.
                for i in range(weights.shape[0]):
                    for j in range(weights.shape[1]):
                        if traces[i, j] == 0.0:
                            weights[i, j] = np.nan
            at = next_at
            action = chosen
        returns[episode] = total
    for each in range(count):
        traces[active[each, 0], active[each, 1]] = 0.0
    step_sizes[0] = step_size
    return steps
