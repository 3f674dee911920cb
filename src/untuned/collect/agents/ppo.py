"""PPO with linear functions: a clipped objective over batches, in minibatches and epochs, with Adam."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.collect.agents.agent import CompiledLearner, Place, World
from untuned.collect.agents.checks import settle_fractions, settle_sizes, settle_step_sizes
from untuned.collect.agents.features import Features, Fourier, check_fit
from untuned.collect.agents.playing import SOFTMAX, play_features, play_table
from untuned.collect.kernels.fourier import Basis, basis, write_features
from untuned.collect.kernels.jit import Floats, RandomState, kernel, reset_at, step_at
from untuned.collect.kernels.memory import aligned
from untuned.collect.kernels.policies import sampled, softmax
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING
from untuned.collect.kernels.traces import product

_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_EPSILON = 1e-5


@dataclass(frozen=True)
class Ppo:
    """Proximal policy optimisation.

    Parameters
    ----------
    features
        The features of the policy's preferences and of the state value.
    discount, trace_decay
        gamma and lambda of the generalised advantage.
    step_size
        Adam's step size, for both the policy and the state value.
    clip
        How far a probability ratio may differ from 1 before it is clipped.
    entropy
        The weight of the policy's entropy in the objective.
    steps_per_batch, epochs, minibatch
        Steps between updates; passes over them; samples per step of Adam.
    """

    features: Features
    discount: float
    trace_decay: float
    step_size: float
    clip: float
    entropy: float
    steps_per_batch: int
    epochs: int
    minibatch: int

    def __post_init__(self) -> None:
        settle_fractions(self, "discount", "trace_decay")
        settle_step_sizes(self, "step_size", "clip", "entropy")
        settle_sizes(self, 1, "steps_per_batch", "epochs", "minibatch")

    def start(self, world: World) -> CompiledLearner:
        """Return a new learner for one trial in ``world``."""
        check_fit(self.features, world.states, world.dimensions)
        # A row per action for the policy, then one for the state value.
        rows = world.actions + 1
        states = self.features
        observed = len(states.ranges) if isinstance(states, Fourier) else 1
        batch = Batch(
            observations=np.zeros((self.steps_per_batch, observed)),
            actions=np.zeros(self.steps_per_batch, dtype=np.int64),
            log_probabilities=np.zeros(self.steps_per_batch),
            rewards=np.zeros(self.steps_per_batch),
            ends=np.zeros(self.steps_per_batch, dtype=np.bool_),
            values=np.zeros(self.steps_per_batch + 1),
            advantages=np.zeros(self.steps_per_batch),
            order=np.zeros(self.steps_per_batch, dtype=np.int64),
            filled=np.zeros(1, dtype=np.int64),
            troubled=np.zeros(1, dtype=np.bool_),
        )
        rule = Rule(
            discount=self.discount,
            trace_decay=self.trace_decay,
            step_size=self.step_size,
            clip=self.clip,
            entropy=self.entropy,
            epochs=self.epochs,
            minibatch=self.minibatch,
        )
        values = np.zeros(rows)
        probabilities = np.zeros(world.actions)
        if isinstance(states, Fourier):
            layout = basis(states.ranges, states.dorder, states.iorder, world.real)
            shape = (rows, layout.size)
            weights = aligned(shape, world.real)
            adam = Adam(
                aligned(shape, world.real),
                aligned(shape, world.real),
                aligned(shape, world.real),
                np.zeros(1, np.int64),
            )
            phi = aligned((self.minibatch, layout.size), world.real)
            factors = np.zeros((self.minibatch, rows), world.real)
            learning = partial(
                learn_features, world.place, layout, weights, adam, phi, factors, batch, rule, values, probabilities
            )
            playing = partial(play_features, world.place, layout, weights, phi, probabilities, SOFTMAX)
        else:
            shape = (states.states, rows)
            weights = np.zeros(shape)
            adam = Adam(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(1, np.int64))
            learning = partial(learn_table, world.place, weights, adam, batch, rule, values, probabilities)
            playing = partial(play_table, world.place, weights, probabilities, SOFTMAX)
        return CompiledLearner(learning, playing, weights, batch.troubled, np.array([self.step_size]))


class Rule(NamedTuple):
    """The hyperparameters in the form that kernels take."""

    discount: float
    trace_decay: float
    step_size: float
    clip: float
    entropy: float
    epochs: int
    minibatch: int


class Adam(NamedTuple):
    """The optimiser's state: the current gradient, both moments, and the number of steps."""

    gradient: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]
    time: NDArray[np.int64]


class Batch(NamedTuple):
    """The steps since the last update, across episodes. ``values`` has one more, after the last."""

    observations: Floats
    actions: NDArray[np.int64]
    log_probabilities: Floats
    rewards: Floats
    ends: NDArray[np.bool_]
    values: Floats
    advantages: Floats
    order: NDArray[np.int64]
    filled: NDArray[np.int64]
    troubled: NDArray[np.bool_]


@kernel
def learn_features(
    place: Place,
    basis: Basis,
    weights: NDArray[Any],
    adam: Adam,
    phi: NDArray[Any],
    factors: NDArray[Any],
    batch: Batch,
    rule: Rule,
    values: Floats,
    probabilities: Floats,
    returns: Floats,
) -> int:
    """Learn over features for as many episodes as ``returns`` has entries; return the number of steps.

    ``weights`` has a row per action and a last one for the state value; ``phi`` a row per sample of a minibatch.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    critic = probabilities.size
    steps = 0
    for episode in range(returns.size):
        start(place.state, place.parameters, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            write_features(basis, place.state, phi, 0)
            for each in range(critic + 1):
                values[each] = product(weights, each, phi, 0)
            softmax(values, probabilities)
            action = sampled(probabilities, place.random)
            remember_choice(batch, place.state, action, np.log(probabilities[action]), values[critic])
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            if remember_outcome(batch, reward, status != RUNNING):
                batch.values[-1] = 0.0
                if status == RUNNING:
                    write_features(basis, place.state, phi, 0)
                    batch.values[-1] = product(weights, critic, phi, 0)
                _update_features(basis, weights, adam, phi, factors, batch, rule, values, probabilities, place.random)
        returns[episode] = total
    return steps


@kernel
def _update_features(
    basis: Basis,
    weights: NDArray[Any],
    adam: Adam,
    phi: NDArray[Any],
    factors: NDArray[Any],
    batch: Batch,
    rule: Rule,
    values: Floats,
    probabilities: Floats,
    random: RandomState,
) -> None:
    fill_advantages(batch, rule.discount, rule.trace_decay)
    total = batch.rewards.size
    for _ in range(rule.epochs):
        shuffle(batch.order, random)
        for first in range(0, total, rule.minibatch):
            samples = min(rule.minibatch, total - first)
            for k in range(samples):
                sample = batch.order[first + k]
                write_features(basis, batch.observations[sample], phi, k)
                for each in range(weights.shape[0]):
                    values[each] = product(weights, each, phi, k)
                fill_factors(values, probabilities, batch, sample, rule.clip, rule.entropy)
                for each in range(weights.shape[0]):
                    factors[k, each] = values[each] / samples
            for each in range(weights.shape[0]):
                _fill_gradient(adam.gradient, each, factors, phi, samples)
            _climb(weights, adam, rule.step_size)


@kernel(inline=True)
def _fill_gradient(gradient: NDArray[Any], row: int, factors: NDArray[Any], phi: NDArray[Any], samples: int) -> None:
    """Write the sum over samples of factor times features; four at a time, for a quarter of the stores."""
    real = gradient.dtype.type
    whole = samples - samples % 4
    for i in range(np.uint64(gradient.shape[1])):
        gradient[row, i] = real(0.0)
    for k in range(0, whole, 4):
        a = factors[k, row]
        b = factors[k + 1, row]
        c = factors[k + 2, row]
        d = factors[k + 3, row]
        for i in range(np.uint64(gradient.shape[1])):
            gradient[row, i] += (a * phi[k, i] + b * phi[k + 1, i]) + (c * phi[k + 2, i] + d * phi[k + 3, i])
    for k in range(whole, samples):
        a = factors[k, row]
        for i in range(np.uint64(gradient.shape[1])):
            gradient[row, i] += a * phi[k, i]


@kernel
def learn_table(
    place: Place,
    weights: Floats,
    adam: Adam,
    batch: Batch,
    rule: Rule,
    values: Floats,
    probabilities: Floats,
    returns: Floats,
) -> int:
    """Learn over states for as many episodes as ``returns`` has entries; return the number of steps.

    ``weights`` has a row per state: a column per action, then the state value's.
    """
    start = reset_at(place.reset)
    move = step_at(place.step)
    critic = probabilities.size
    steps = 0
    for episode in range(returns.size):
        start(place.state, place.parameters, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            at = int(place.state[0])
            softmax(weights[at], probabilities)
            action = sampled(probabilities, place.random)
            remember_choice(batch, place.state, action, np.log(probabilities[action]), weights[at, critic])
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
            if remember_outcome(batch, reward, status != RUNNING):
                batch.values[-1] = weights[int(place.state[0]), critic] if status == RUNNING else 0.0
                _update_table(weights, adam, batch, rule, values, probabilities, place.random)
        returns[episode] = total
    return steps


@kernel
def _update_table(
    weights: Floats,
    adam: Adam,
    batch: Batch,
    rule: Rule,
    values: Floats,
    probabilities: Floats,
    random: RandomState,
) -> None:
    fill_advantages(batch, rule.discount, rule.trace_decay)
    total = batch.rewards.size
    for _ in range(rule.epochs):
        shuffle(batch.order, random)
        for first in range(0, total, rule.minibatch):
            samples = min(rule.minibatch, total - first)
            adam.gradient[:] = 0.0
            for k in range(first, first + samples):
                sample = batch.order[k]
                at = int(batch.observations[sample, 0])
                for each in range(values.size):
                    values[each] = weights[at, each]
                fill_factors(values, probabilities, batch, sample, rule.clip, rule.entropy)
                for each in range(values.size):
                    adam.gradient[at, each] += values[each] / samples
            _climb(weights, adam, rule.step_size)


@kernel(inline=True)
def remember_choice(batch: Batch, state: Floats, action: int, log_probability: float, value: float) -> None:
    """Record the data from before the environment's step."""
    place = batch.filled[0]
    for i in range(batch.observations.shape[1]):
        batch.observations[place, i] = state[i]
    batch.actions[place] = action
    batch.log_probabilities[place] = log_probability
    batch.values[place] = value


@kernel(inline=True)
def remember_outcome(batch: Batch, reward: float, ended: bool) -> bool:
    """Record the result of the step; return whether the batch is full, and begin another if so."""
    place = batch.filled[0]
    batch.rewards[place] = reward
    batch.ends[place] = ended
    full = place + 1 == batch.rewards.size
    batch.filled[0] = 0 if full else place + 1
    return bool(full)


@kernel(inline=True)
def fill_advantages(batch: Batch, discount: float, trace_decay: float) -> None:
    """Fill in the generalised advantage of every step, cut at episodes' ends."""
    advantage = 0.0
    for k in range(batch.rewards.size - 1, -1, -1):
        delta = batch.rewards[k] - batch.values[k]
        if batch.ends[k]:
            advantage = delta
        else:
            advantage = delta + discount * batch.values[k + 1] + discount * trace_decay * advantage
        batch.advantages[k] = advantage
        batch.troubled[0] |= not np.isfinite(advantage)


@kernel(inline=True)
def shuffle(order: NDArray[np.int64], random: RandomState) -> None:
    """Fill ``order`` with a fresh permutation (Fisher and Yates)."""
    for k in range(order.size):
        order[k] = k
    for k in range(order.size - 1, 0, -1):
        other = int(uniform(random) * (k + 1))
        order[k], order[other] = order[other], order[k]


@kernel(inline=True)
def fill_factors(values: Floats, probabilities: Floats, batch: Batch, sample: int, clip: float, entropy: float) -> None:
    """Turn a sample's preferences and state value into the weights of its features in every row's gradient."""
    critic = probabilities.size
    action = batch.actions[sample]
    softmax(values, probabilities)
    advantage = batch.advantages[sample]
    ratio = np.exp(np.log(probabilities[action]) - batch.log_probabilities[sample])
    unclipped = ratio * advantage
    clipped = min(max(ratio, 1.0 - clip), 1.0 + clip) * advantage
    # Where clipping reduces the objective, it is flat.
    slope = unclipped if unclipped <= clipped else 0.0
    disorder = 0.0
    for each in range(critic):
        disorder -= probabilities[each] * np.log(probabilities[each])
    for each in range(critic):
        probability = probabilities[each]
        gradient = (1.0 if each == action else 0.0) - probability
        values[each] = slope * gradient - entropy * probability * (np.log(probability) + disorder)
    values[critic] = (advantage + batch.values[sample]) - values[critic]


@kernel(inline=True)
def _climb(weights: NDArray[Any], adam: Adam, step_size: float) -> None:
    """Take one step of Adam along the gradient; epsilon is added to the root of the raw second moment."""
    adam.time[0] += 1
    time = adam.time[0]
    real = weights.dtype.type
    rate = real(step_size * np.sqrt(1.0 - _SECOND_DECAY**time) / (1.0 - _FIRST_DECAY**time))
    first_decay = real(_FIRST_DECAY)
    first_share = real(1.0 - _FIRST_DECAY)
    second_decay = real(_SECOND_DECAY)
    second_share = real(1.0 - _SECOND_DECAY)
    epsilon = real(_EPSILON)
    for row in range(weights.shape[0]):
        for i in range(np.uint64(weights.shape[1])):
            gradient = adam.gradient[row, i]
            first = first_decay * adam.first[row, i] + first_share * gradient
            second = second_decay * adam.second[row, i] + second_share * gradient * gradient
            adam.first[row, i] = first
            adam.second[row, i] = second
            weights[row, i] += rate * first / (np.sqrt(second) + epsilon)
