"""Actor-Critic with linear functions: a softmax policy and a state value, both with accumulating traces."""

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
from untuned.collect.kernels.traces import (
    FORGOTTEN,
    LIST_COSTS,
    add,
    advance_along,
    as_weight,
    decay_and_add,
    finish_along,
    product,
)


@dataclass(frozen=True)
class ActorCritic:
    """Actor-Critic.

    Parameters
    ----------
    features
        The features of the policy's preferences and of the state value.
    discount, trace_decay
        gamma; lambda, the same for both traces.
    actor_step_size
        The policy's step size.
    critic_step_size
        The state value's step size; None for Parl2: it starts at 1 and decreases until no update overshoots.
    surprise_bonus
        Adds -surprise_bonus * log pi(a|s) to the error that both learn from.
    """

    features: Features
    discount: float
    trace_decay: float
    actor_step_size: float
    critic_step_size: float | None
    surprise_bonus: float = 0.0

    def __post_init__(self) -> None:
        settle_fractions(self, "discount", "trace_decay")
        settle_step_sizes(self, "actor_step_size", "critic_step_size", "surprise_bonus")

    def start(self, world: World) -> CompiledLearner:
        """Return a new learner for one trial in ``world``."""
        check_fit(self.features, world.states, world.dimensions)
        adapted = self.critic_step_size is None
        step_sizes = np.array([self.actor_step_size, 1.0 if self.critic_step_size is None else self.critic_step_size])
        troubled = np.zeros(1, dtype=np.bool_)
        rule: tuple[Any, ...] = (self.discount, self.trace_decay, step_sizes, adapted, self.surprise_bonus, troubled)
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
            states = self.features.states
            weights = np.zeros(states * rows)
            policy = weights[: states * world.actions].reshape(states, world.actions)
            values = weights[states * world.actions :]
            traces = (np.zeros(policy.size), np.zeros(states), np.zeros(states, dtype=np.int64))
            learning = partial(learn_table, world.place, policy, values, *traces, probabilities, *rule)
            playing = partial(play_table, world.place, policy, probabilities, SOFTMAX)
        adapting = "critic_step_size" if adapted else None
        return CompiledLearner(learning, playing, weights, troubled, step_sizes, adapting)


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
    troubled: NDArray[np.bool_],
    returns: Floats,
) -> int:
    """Learn over features for as many episodes as ``returns`` has entries; return the number of steps.

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
        norm = squared_norm(basis) if adapted else 0.0
        for each in range(actions + 1):
            values[each] = product(weights, each, phi, new)
            overlaps[each] = 0.0
        # The change decided in the previous step, a factor of the traces; added in the next pass.
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
                norm = squared_norm(basis) if adapted else 0.0
                for each in range(actions):
                    gradient = (1.0 if each == action else 0.0) - probabilities[each]
                    values[each], overlaps[each] = advance_along(
                        weights, traces, each, phi, old, new, actor_change, decay, gradient, True
                    )
                values[critic], overlaps[critic] = advance_along(
                    weights, traces, critic, phi, old, new, critic_change, decay, 1.0, False
                )
                delta += discount * values[critic]
                overshoot -= discount * overlaps[critic]
            if adapted and overshoot > 0.0:
                critic_step_size = min(critic_step_size, 1.0 / overshoot)
            troubled[0] |= not np.isfinite(delta)
            next_actor_change = 0.0 if np.isnan(delta) else as_weight(weights, actor_step_size * delta)
            next_critic_change = 0.0 if np.isnan(delta) else as_weight(weights, critic_step_size * delta)
            if status != RUNNING:
                for each in range(actions):
                    gradient = (1.0 if each == action else 0.0) - probabilities[each]
                    finish_along(
                        weights, traces, each, phi, old, actor_change, decay, gradient, next_actor_change, basis.number
                    )
                finish_along(
                    weights, traces, critic, phi, old, critic_change, decay, 1.0, next_critic_change, basis.number
                )
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
                # After an overflow the shortcut differs from the sum over the weights.
                for each in range(actions + 1):
                    add(weights, traces, each, actor_change if each < actions else critic_change, basis.number)
                    values[each] = product(weights, each, phi, new)
                actor_change = 0.0
                critic_change = 0.0
        returns[episode] = total
    step_sizes[1] = critic_step_size
    return steps


@kernel
def learn_table(
    place: Place,
    policy: Floats,
    values: Floats,
    policy_traces: Floats,
    value_traces: Floats,
    active: NDArray[np.int64],
    probabilities: Floats,
    discount: float,
    trace_decay: float,
    step_sizes: Floats,
    adapted: bool,
    surprise_bonus: float,
    troubled: NDArray[np.bool_],
    returns: Floats,
) -> int:
    """Learn over states for as many episodes as ``returns`` has entries; return the number of steps.

    ``policy`` has a row per state, ``policy_traces`` is flat; ``active`` lists the states whose traces are not zero.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    actions = probabilities.size
    flat = policy.reshape(policy.size)
    decay = discount * trace_decay
    actor_step_size = step_sizes[0]
    critic_step_size = step_sizes[1]
    steps = 0
    for episode in range(returns.size):
        policy_traces[:] = 0.0
        value_traces[:] = 0.0
        count = 0
        start(place.state, place.parameters, place.random)
        following = int(place.state[0])
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            at = following
            softmax(policy[at], probabilities)
            action = sampled(probabilities, place.random)
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            # Few traces are kept in a list; once there are many, going through all of them in order is faster.
            listed = count * LIST_COSTS < values.size
            if listed and value_traces[at] == 0.0:
                active[count] = at
                count += 1
            own_trace = decay * value_traces[at] + 1.0
            surprise = surprise_bonus * np.log(probabilities[action]) if surprise_bonus != 0.0 else 0.0
            delta = reward - values[at] - surprise
            overshoot = own_trace
            if status == RUNNING:
                following = int(place.state[0])
                delta += discount * values[following]
                overshoot -= discount * (own_trace if following == at else decay * value_traces[following])
            if adapted and overshoot > 0.0:
                critic_step_size = min(critic_step_size, 1.0 / overshoot)
            troubled[0] |= not np.isfinite(delta)
            actor_change = 0.0 if np.isnan(delta) else actor_step_size * delta
            critic_change = 0.0 if np.isnan(delta) else critic_step_size * delta
            # From here on this array holds the policy's traces, decayed and grown, instead of the probabilities.
            own = at * actions
            for j in range(actions):
                gradient = (1.0 if j == action else 0.0) - probabilities[j]
                probabilities[j] = decay * policy_traces[own + j] + gradient
            if np.isinf(actor_change) or np.isinf(critic_change):
                # Without the shortcut, since infinity times a zero trace is NaN.
                policy_traces *= decay
                policy_traces[own : own + actions] = probabilities
                value_traces *= decay
                value_traces[at] = own_trace
                flat += actor_change * policy_traces
                values += critic_change * value_traces
            else:
                policy_traces[own : own + actions] = 0.0
                value_traces[at] = 0.0
                if listed:
                    kept = 0
                    for each in range(count):
                        i = active[each]
                        trace = decay * value_traces[i]
                        values[i] += critic_change * trace
                        remembered = trace > FORGOTTEN
                        value_traces[i] = trace if remembered else 0.0
                        for j in range(i * actions, (i + 1) * actions):
                            trace = decay * policy_traces[j]
                            flat[j] += actor_change * trace
                            policy_traces[j] = trace if remembered else 0.0
                        if remembered or i == at:
                            active[kept] = i
                            kept += 1
                    count = kept
                else:
                    decay_and_add(flat, policy_traces, decay, actor_change)
                    decay_and_add(values, value_traces, decay, critic_change)
                for j in range(actions):
                    policy_traces[own + j] = probabilities[j]
                    flat[own + j] += actor_change * probabilities[j]
                value_traces[at] = own_trace
                values[at] += critic_change * own_trace
        returns[episode] = total
    step_sizes[1] = critic_step_size
    return steps
