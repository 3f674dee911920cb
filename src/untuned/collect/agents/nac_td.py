"""NAC-TD: a natural actor-critic that follows the weights of the advantage over the policy's own features."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.collect.agents.agent import CompiledLearner, Place, World
from untuned.collect.agents.checks import settle_fractions, settle_step_sizes
from untuned.collect.agents.features import Features, Fourier, check_fit
from untuned.collect.agents.playing import SOFTMAX, play_features, play_table
from untuned.collect.kernels.fourier import Basis, basis, squared_norm, write_features
from untuned.collect.kernels.jit import Floats, kernel, reset_at, step_at
from untuned.collect.kernels.memory import aligned
from untuned.collect.kernels.policies import sampled, softmax
from untuned.collect.kernels.status import RUNNING
from untuned.collect.kernels.traces import add, advance_along, as_weight, decay_and_add, finish_along, product


@dataclass(frozen=True)
class NacTd:
    """NAC-TD.

    Parameters
    ----------
    features
        The features of the policy's preferences and of the state value.
    discount, trace_decay
        gamma; lambda, the same for both traces.
    actor_step_size
        The policy's step length along the normalised advantage weights.
    critic_step_size, advantage_step_size
        The step sizes of the state value and of the advantage weights.
    """

    features: Features
    discount: float
    trace_decay: float
    actor_step_size: float
    critic_step_size: float
    advantage_step_size: float

    def __post_init__(self) -> None:
        settle_fractions(self, "discount", "trace_decay")
        settle_step_sizes(self, "actor_step_size", "critic_step_size", "advantage_step_size")

    def start(self, world: World) -> CompiledLearner:
        """Return a new learner for one trial in ``world``."""
        check_fit(self.features, world.states, world.dimensions)
        troubled = np.zeros(1, dtype=np.bool_)
        rule: tuple[Any, ...] = (
            self.discount,
            self.trace_decay,
            self.actor_step_size,
            self.critic_step_size,
            self.advantage_step_size,
            troubled,
        )
        actions = world.actions
        rows = 2 * actions + 1
        probabilities = np.zeros(actions)
        if isinstance(self.features, Fourier):
            layout = basis(self.features.ranges, self.features.dorder, self.features.iorder, world.real)
            # The advantage's rows come first: they and the state value's have traces.
            weights = aligned((rows, layout.size), world.real)
            traces = aligned((actions + 1, layout.size), world.real)
            phi = aligned((2, layout.size), world.real)
            products = (np.zeros(actions + 1), np.zeros(actions + 1), np.zeros(actions))
            learning = partial(
                learn_features, world.place, layout, weights, traces, phi, *products, probabilities, *rule
            )
            playing = partial(play_features, world.place, layout, weights[actions + 1 :], phi, probabilities, SOFTMAX)
        else:
            states = self.features.states
            weights = np.zeros(states * rows)
            policy = weights[: states * actions].reshape(states, actions)
            advantage = weights[states * actions : 2 * states * actions]
            values = weights[2 * states * actions :]
            learning = partial(
                learn_table,
                world.place,
                policy,
                advantage,
                values,
                np.zeros(advantage.size),
                np.zeros(states),
                probabilities,
                *rule,
            )
            playing = partial(play_table, world.place, policy, probabilities, SOFTMAX)
        step_sizes = np.array([self.actor_step_size, self.critic_step_size, self.advantage_step_size])
        return CompiledLearner(learning, playing, weights, troubled, step_sizes)


@kernel(inline=True)
def _advance_both(
    weights: NDArray[Any],
    traces: NDArray[Any],
    row: int,
    policy: int,
    phi: NDArray[Any],
    old: int,
    new: int,
    change: float,
    move: float,
    decay: float,
    gradient: float,
) -> tuple[float, float, float, float]:
    """Update one action's advantage, in ``row``, and its policy.

    Return the products of the policy, the advantage and its trace with the new features, and the advantage's square.
    """
    real = weights.dtype.type
    change_ = real(change)
    move_ = real(move)
    decay_ = real(decay)
    gradient_ = real(gradient)
    preference = real(0.0)
    value = real(0.0)
    overlap = real(0.0)
    square = real(0.0)
    for i in range(np.uint64(weights.shape[1])):
        trace = traces[row, i]
        weight = weights[row, i] + (change_ * trace if change_ != 0.0 else real(0.0))
        weights[row, i] = weight
        direction = weights[policy, i] + move_ * weight
        weights[policy, i] = direction
        trace = decay_ * trace + gradient_ * phi[old, i]
        traces[row, i] = trace
        preference += direction * phi[new, i]
        value += weight * phi[new, i]
        overlap += trace * phi[new, i]
        square += weight * weight
    return preference, value, overlap, square


@kernel
def learn_features(
    place: Place,
    basis: Basis,
    weights: NDArray[Any],
    traces: NDArray[Any],
    phi: NDArray[Any],
    values: Floats,
    overlaps: Floats,
    preferences: Floats,
    probabilities: Floats,
    discount: float,
    trace_decay: float,
    actor_step_size: float,
    critic_step_size: float,
    advantage_step_size: float,
    troubled: NDArray[np.bool_],
    returns: Floats,
) -> int:
    """Learn over features for as many episodes as ``returns`` has entries; return the number of steps.

    ``weights`` has a row per action for the advantage, one for the state value, then a row per action for the policy;
    ``traces`` rows for the advantage and the state value; ``phi`` two, for the old and the new features.
    """
    start = reset_at(place.reset)
    step = step_at(place.step)
    actions = probabilities.size
    critic = actions
    policy = actions + 1
    decay = discount * trace_decay
    steps = 0
    for episode in range(returns.size):
        traces[:] = 0.0
        start(place.state, place.parameters, place.random)
        new = 0
        write_features(basis, place.state, phi, new)
        norm = squared_norm(basis)
        for each in range(actions):
            values[each] = product(weights, each, phi, new)
            preferences[each] = product(weights, policy + each, phi, new)
        values[critic] = product(weights, critic, phi, new)
        overlaps[:] = 0.0
        # trace.trace and advantage.trace over all actions, by recurrence within the episode.
        trace_square = 0.0
        trace_advantage = 0.0
        # Decided in the previous step: changes times traces, and the policy's move along the changed advantage.
        critic_change = 0.0
        advantage_change = 0.0
        move = 0.0
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            softmax(preferences, probabilities)
            action = sampled(probabilities, place.random)
            value = values[critic]
            # The gradient of log pi(a|s), one row per action: times the advantage, the trace, and itself.
            advantage = 0.0
            overlap = 0.0
            square = 0.0
            for each in range(actions):
                gradient = (1.0 if each == action else 0.0) - probabilities[each]
                advantage += gradient * values[each]
                overlap += gradient * overlaps[each]
                square += gradient * gradient
            trace_advantage = decay * trace_advantage + advantage
            trace_square = decay * decay * trace_square + 2.0 * decay * overlap + square * norm
            reward, status = step(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            old = new
            new = 1 - new
            delta = reward - value
            length = 0.0
            if status != RUNNING:
                last_critic = 0.0 if np.isnan(delta) else as_weight(weights, critic_step_size * delta)
                error = delta - advantage
                troubled[0] |= not np.isfinite(error)
                last_advantage = 0.0 if np.isnan(error) else as_weight(weights, advantage_step_size * error)
                for each in range(actions):
                    gradient = (1.0 if each == action else 0.0) - probabilities[each]
                    # The policy's move lies between the two changes of the advantage.
                    add(weights, traces, each, advantage_change, basis.number)
                    _add_row(weights, policy + each, each, move)
                    finish_along(weights, traces, each, phi, old, 0.0, decay, gradient, last_advantage, basis.number)
                    length += _square(weights, each)
                finish_along(weights, traces, critic, phi, old, critic_change, decay, 1.0, last_critic, basis.number)
                if length != 0.0:
                    for each in range(actions):
                        _add_row(weights, policy + each, each, actor_step_size / np.sqrt(length))
                break
            write_features(basis, place.state, phi, new)
            norm = squared_norm(basis)
            # Once every preference is NaN, the policy no longer changes.
            lost = True
            for each in range(actions):
                gradient = (1.0 if each == action else 0.0) - probabilities[each]
                preferences[each], values[each], overlaps[each], partial_square = _advance_both(
                    weights, traces, each, policy + each, phi, old, new, advantage_change, move, decay, gradient
                )
                length += partial_square
                lost = lost and np.isnan(preferences[each])
            values[critic], overlaps[critic] = advance_along(
                weights, traces, critic, phi, old, new, critic_change, decay, 1.0, False
            )
            delta += discount * values[critic]
            critic_change = 0.0 if np.isnan(delta) else as_weight(weights, critic_step_size * delta)
            error = delta - advantage
            troubled[0] |= not np.isfinite(error)
            advantage_change = 0.0 if np.isnan(error) else as_weight(weights, advantage_step_size * error)
            if advantage_change != 0.0:
                length += advantage_change * (2.0 * trace_advantage + advantage_change * trace_square)
                trace_advantage += advantage_change * trace_square
            move = actor_step_size / np.sqrt(length) if length != 0.0 else 0.0
            finite = np.isfinite(length)
            for each in range(actions):
                if advantage_change != 0.0:
                    values[each] += advantage_change * overlaps[each]
                preferences[each] += move * values[each]
                finite = finite and np.isfinite(preferences[each])
            if critic_change != 0.0:
                values[critic] += critic_change * overlaps[critic]
                finite = finite and np.isfinite(values[critic])
            if not finite and not lost:
                # After an overflow the shortcuts differ from the sums over the weights.
                length = 0.0
                for each in range(actions):
                    add(weights, traces, each, advantage_change, basis.number)
                    length += _square(weights, each)
                add(weights, traces, critic, critic_change, basis.number)
                for each in range(actions):
                    if length != 0.0:
                        _add_row(weights, policy + each, each, actor_step_size / np.sqrt(length))
                    values[each] = product(weights, each, phi, new)
                    preferences[each] = product(weights, policy + each, phi, new)
                values[critic] = product(weights, critic, phi, new)
                critic_change = 0.0
                advantage_change = 0.0
                move = 0.0
        returns[episode] = total
    return steps


@kernel(inline=True)
def _add_row(weights: NDArray[Any], row: int, other: int, factor: float) -> None:
    factor_ = weights.dtype.type(factor)
    for i in range(np.uint64(weights.shape[1])):
        weights[row, i] += factor_ * weights[other, i]


@kernel(inline=True)
def _square(weights: NDArray[Any], row: int) -> float:
    total: float = weights.dtype.type(0.0)
    for i in range(np.uint64(weights.shape[1])):
        total += weights[row, i] * weights[row, i]
    return total


@kernel
def learn_table(
    place: Place,
    policy: Floats,
    advantage: Floats,
    values: Floats,
    advantage_traces: Floats,
    value_traces: Floats,
    probabilities: Floats,
    discount: float,
    trace_decay: float,
    actor_step_size: float,
    critic_step_size: float,
    advantage_step_size: float,
    troubled: NDArray[np.bool_],
    returns: Floats,
) -> int:
    """Learn over states for as many episodes as ``returns`` has entries; return the number of steps.

    ``policy`` has a row per state; ``advantage`` and ``advantage_traces`` are flat. Every step moves the whole policy,
    so a list of active traces would save nothing.
    """
    start = reset_at(place.reset)
    step = step_at(place.step)
    actions = probabilities.size
    flat = policy.reshape(policy.size)
    decay = discount * trace_decay
    steps = 0
    for episode in range(returns.size):
        advantage_traces[:] = 0.0
        value_traces[:] = 0.0
        start(place.state, place.parameters, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            at = int(place.state[0])
            softmax(policy[at], probabilities)
            action = sampled(probabilities, place.random)
            reward, status = step(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            delta = reward - values[at]
            if status == RUNNING:
                delta += discount * values[int(place.state[0])]
            error = delta
            own = at * actions
            for j in range(actions):
                probabilities[j] = (1.0 if j == action else 0.0) - probabilities[j]
                error -= probabilities[j] * advantage[own + j]
            critic_change = 0.0 if np.isnan(delta) else critic_step_size * delta
            advantage_change = 0.0 if np.isnan(error) else advantage_step_size * error
            troubled[0] |= not np.isfinite(error)
            # The current state's traces, decayed and grown, are kept separately: only they grow.
            own_trace = decay * value_traces[at] + 1.0
            for j in range(actions):
                probabilities[j] += decay * advantage_traces[own + j]
            if np.isinf(critic_change) or np.isinf(advantage_change):
                # Without the shortcut, since infinity times a zero trace is NaN.
                value_traces *= decay
                value_traces[at] = own_trace
                advantage_traces *= decay
                advantage_traces[own : own + actions] = probabilities
                values += critic_change * value_traces
                if advantage_change != 0.0:
                    advantage += advantage_change * advantage_traces
            else:
                value_traces[at] = 0.0
                advantage_traces[own : own + actions] = 0.0
                decay_and_add(values, value_traces, decay, critic_change)
                decay_and_add(advantage, advantage_traces, decay, advantage_change)
                value_traces[at] = own_trace
                values[at] += critic_change * own_trace
                advantage_traces[own : own + actions] = probabilities
                # A skipped step changes nothing, not even where the trace is NaN, as after divergence.
                if advantage_change != 0.0:
                    for j in range(actions):
                        advantage[own + j] += advantage_change * probabilities[j]
            length = 0.0
            for i in range(np.uint64(advantage.size)):
                length += advantage[i] * advantage[i]
            if length != 0.0:
                distance = actor_step_size / np.sqrt(length)
                for i in range(np.uint64(advantage.size)):
                    flat[i] += distance * advantage[i]
        returns[episode] = total
    return steps
