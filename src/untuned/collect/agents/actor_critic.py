"""Actor-Critic with linear functions: a softmax policy and a state value, both with accumulating traces."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.collect.agents.agent import CompiledLearner, Place, World
from untuned.collect.agents.features import Features, Fourier
from untuned.collect.agents.playing import SOFTMAX, play_features, play_table
from untuned.collect.kernels.fourier import Basis, basis, squared_norm, write_features
from untuned.collect.kernels.jit import Floats, kernel, reset_at, step_at
from untuned.collect.kernels.memory import aligned
from untuned.collect.kernels.policies import sampled, softmax
from untuned.collect.kernels.status import RUNNING
from untuned.collect.kernels.traces import FORGOTTEN, add, advance_along, finish_along, product


@dataclass(frozen=True)
class ActorCritic:
    """Actor-Critic.

    Parameters
    ----------
    features
        What the policy's preferences and the state value are linear in.
    discount, trace_decay
        gamma; lambda, the same for both traces.
    actor_step_size
        The policy's step size.
    critic_step_size
        The state value's; None for Parl2: it starts at 1 and falls to what keeps an update from overshooting.
    surprise_bonus
        The error that both learn from gets an extra -surprise_bonus * log pi(a|s).
    """

    features: Features
    discount: float
    trace_decay: float
    actor_step_size: float
    critic_step_size: float | None
    surprise_bonus: float = 0.0

    def start(self, world: World) -> CompiledLearner:
        """Return a learner that knows nothing yet."""
        adapted = self.critic_step_size is None
        step_sizes = np.array([self.actor_step_size, 1.0 if self.critic_step_size is None else self.critic_step_size])
        rule = (self.discount, self.trace_decay, step_sizes, adapted, self.surprise_bonus)
        # A row per action for the policy, then one for the state value.
        rows = world.actions + 1
        probabilities = np.zeros(world.actions)
        if isinstance(self.features, Fourier):
            layout = basis(self.features.ranges, self.features.dorder, self.features.iorder, world.real)
            weights = aligned((rows, layout.size), world.real)
            phi = aligned((2, layout.size), world.real)
            memory = (weights, aligned(weights.shape, world.real), phi, np.zeros(rows), np.zeros(rows), probabilities)
            learning = partial(learn_features, world.place, layout, *memory, *rule)
            playing = partial(play_features, world.place, layout, weights, phi, probabilities, SOFTMAX)
        else:
            weights = np.zeros((self.features.states, rows))
            active = np.zeros(self.features.states, dtype=np.int64)
            learning = partial(learn_table, world.place, weights, np.zeros(weights.shape), active, probabilities, *rule)
            playing = partial(play_table, world.place, weights, probabilities, SOFTMAX)
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
    probabilities: Floats,
    discount: float,
    trace_decay: float,
    step_sizes: Floats,
    adapted: bool,
    surprise_bonus: float,
    returns: Floats,
) -> int:
    """Learn over features for as many episodes as ``returns`` has places; return the number of steps.

    ``weights`` and ``traces`` have a row per action and a last one for the state value; ``phi`` has two rows, for the
    old and the new features.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    actions = probabilities.size
    critic = actions
    decay = discount * trace_decay
    actor_step_size = step_sizes[0]
    critic_step_size = step_sizes[1]
    steps = 0
    for episode in range(returns.size):
        traces[:] = 0.0
        start(place.state, place.parameters, place.random)
        new = 0
        write_features(basis, place.state, phi, new)
        for each in range(actions + 1):
            values[each] = product(weights, each, phi, new)
            overlaps[each] = 0.0
        norm = squared_norm(basis) if adapted else 0.0
        # What the previous step decided to add, times the traces; added in the next pass.
        actor_change = 0.0
        critic_change = 0.0
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            softmax(values, probabilities)
            action = sampled(probabilities, place.random)
            value = values[critic]
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            old = new
            new = 1 - new
            surprise = surprise_bonus * np.log(probabilities[action]) if surprise_bonus != 0.0 else 0.0
            delta = reward - value - surprise
            overshoot = decay * overlaps[critic] + norm
            if status == RUNNING:
                write_features(basis, place.state, phi, new)
                for each in range(actions):
                    gradient = (1.0 if each == action else 0.0) - probabilities[each]
                    values[each], overlaps[each] = advance_along(
                        weights, traces, each, phi, old, new, actor_change, decay, gradient
                    )
                values[critic], overlaps[critic] = advance_along(
                    weights, traces, critic, phi, old, new, critic_change, decay, 1.0
                )
                delta += discount * values[critic]
                overshoot -= discount * overlaps[critic]
                norm = squared_norm(basis) if adapted else 0.0
            if adapted and overshoot > 0.0:
                critic_step_size = min(critic_step_size, 1.0 / overshoot)
            next_actor_change = 0.0 if np.isnan(delta) else actor_step_size * delta
            next_critic_change = 0.0 if np.isnan(delta) else critic_step_size * delta
            if status != RUNNING:
                for each in range(actions):
                    gradient = (1.0 if each == action else 0.0) - probabilities[each]
                    finish_along(weights, traces, each, phi, old, actor_change, decay, gradient, next_actor_change)
                finish_along(weights, traces, critic, phi, old, critic_change, decay, 1.0, next_critic_change)
                break
            actor_change = next_actor_change
            critic_change = next_critic_change
            finite = True
            for each in range(actions + 1):
                change = actor_change if each < actions else critic_change
                if change != 0.0:
                    values[each] += change * overlaps[each]
                    finite = finite and np.isfinite(values[each])
            if not finite:
                # Beyond all numbers the short cut does not say what the sum over the weights would.
                for each in range(actions + 1):
                    add(weights, traces, each, actor_change if each < actions else critic_change)
                    values[each] = product(weights, each, phi, new)
                actor_change = 0.0
                critic_change = 0.0
        returns[episode] = total
    step_sizes[1] = critic_step_size
    return steps


@kernel
def learn_table(
    place: Place,
    weights: Floats,
    traces: Floats,
    active: NDArray[np.int64],
    probabilities: Floats,
    discount: float,
    trace_decay: float,
    step_sizes: Floats,
    adapted: bool,
    surprise_bonus: float,
    returns: Floats,
) -> int:
    """Learn over states for as many episodes as ``returns`` has places; return the number of steps.

    ``weights`` and ``traces`` have a row per state: a column per action, then the state value's; ``active`` lists the
    states whose traces are not zero.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    actions = probabilities.size
    critic = actions
    decay = discount * trace_decay
    actor_step_size = step_sizes[0]
    critic_step_size = step_sizes[1]
    count = 0
    steps = 0
    for episode in range(returns.size):
        for each in range(count):
            traces[active[each], :] = 0.0
        count = 0
        start(place.state, place.parameters, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            at = int(place.state[0])
            softmax(weights[at], probabilities)
            action = sampled(probabilities, place.random)
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            surprise = surprise_bonus * np.log(probabilities[action]) if surprise_bonus != 0.0 else 0.0
            delta = reward - weights[at, critic] - surprise
            if traces[at, critic] == 0.0:
                active[count] = at
                count += 1
            for each in range(count):
                for j in range(actions + 1):
                    traces[active[each], j] *= decay
            for j in range(actions):
                traces[at, j] += (1.0 if j == action else 0.0) - probabilities[j]
            traces[at, critic] += 1.0
            overshoot = traces[at, critic]
            if status == RUNNING:
                next_at = int(place.state[0])
                delta += discount * weights[next_at, critic]
                overshoot -= discount * traces[next_at, critic]
            if adapted and overshoot > 0.0:
                critic_step_size = min(critic_step_size, 1.0 / overshoot)
            actor_change = 0.0 if np.isnan(delta) else actor_step_size * delta
            critic_change = 0.0 if np.isnan(delta) else critic_step_size * delta
            kept = 0
            for each in range(count):
                i = active[each]
                for j in range(actions):
                    weights[i, j] += actor_change * traces[i, j]
                weights[i, critic] += critic_change * traces[i, critic]
                if traces[i, critic] > FORGOTTEN:
                    active[kept] = i
                    kept += 1
                else:
                    traces[i, :] = 0.0
            count = kept
            if not (np.isfinite(actor_change) and np.isfinite(critic_change)):
                # Infinity times a zero trace is no number.
                for i in range(weights.shape[0]):
                    if traces[i, critic] == 0.0:
                        weights[i, :] = np.nan
        returns[episode] = total
    for each in range(count):
        traces[active[each], :] = 0.0
    step_sizes[1] = critic_step_size
    return steps
