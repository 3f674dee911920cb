"""Oracle for proximal policy optimisation (Schulman et al., 2017) with a linear softmax policy and a linear critic."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oracle.reference.agent_world import Environment, Features, Floats, Log, Uniform, diverging, dot, linear, play
from oracle.reference.softmax_policy import draw, log_gradient, log_probability, probabilities, softmax

__all__ = ["Adam", "Ppo", "advantages", "entropy", "permutation", "policy_gradient", "policy_objective", "softmax"]

FIRST_DECAY = 0.9
SECOND_DECAY = 0.999
ADAM_EPSILON = 1e-5


def entropy(preferences: Floats) -> float:
    """Return the entropy of the softmax; no probability is ever zero, since the preferences are clipped."""
    p = softmax(preferences)
    return float(-np.sum(p * np.log(p)))


def entropy_gradient(weights: Floats, phi: Floats) -> Floats:
    """Return the gradient of the policy's entropy in a state; the clipping counts as the identity."""
    p = probabilities(weights, phi)
    h = entropy(linear(weights, phi))
    gradient = np.zeros_like(weights)
    for b in range(len(weights)):
        gradient[b] = -p[b] * (np.log(p[b]) + h) * phi
    return gradient


def surrogates(
    weights: Floats, phi: Floats, action: int, old_log_probability: float, advantage: float, clip: float
) -> tuple[float, float]:
    """Return the advantage times the ratio of new to old probability, and times the clipped ratio."""
    ratio = float(np.exp(log_probability(weights, phi, action) - old_log_probability))
    return ratio * advantage, float(np.clip(ratio, 1.0 - clip, 1.0 + clip)) * advantage


def policy_objective(
    weights: Floats,
    phi: Floats,
    action: int,
    old_log_probability: float,
    advantage: float,
    clip: float,
    entropy_coefficient: float,
) -> float:
    """Return what one sample would have the policy maximise: the clipped surrogate and a bonus for entropy."""
    unclipped, clipped = surrogates(weights, phi, action, old_log_probability, advantage, clip)
    return min(unclipped, clipped) + entropy_coefficient * entropy(linear(weights, phi))


def policy_gradient(
    weights: Floats,
    phi: Floats,
    action: int,
    old_log_probability: float,
    advantage: float,
    clip: float,
    entropy_coefficient: float,
) -> Floats:
    """Return the gradient of one sample's objective, shaped like the weights."""
    unclipped, clipped = surrogates(weights, phi, action, old_log_probability, advantage, clip)
    gradient = entropy_coefficient * entropy_gradient(weights, phi)
    # Where the clipped one is smaller, the objective is flat in the ratio.
    if unclipped <= clipped:
        gradient = gradient + unclipped * log_gradient(weights, phi, action)
    return gradient


def advantages(
    rewards: Sequence[float] | Floats,
    values: Sequence[float] | Floats,
    ends: Sequence[bool],
    discount: float,
    trace_decay: float,
) -> Floats:
    """Return the generalised advantages (Schulman et al., 2016), cut where an episode ended.

    There is one value more than there are rewards: the value of the state after the last step. The value after a step
    that ended an episode counts as zero, whatever is given.
    """
    if len(values) != len(rewards) + 1:
        raise ValueError(f"{len(rewards)} rewards need {len(rewards) + 1} values, not {len(values)}")
    result = np.zeros(len(rewards))
    for t in range(len(rewards)):
        weight = 1.0
        for k in range(t, len(rewards)):
            next_value = 0.0 if ends[k] else values[k + 1]
            result[t] += weight * (rewards[k] + discount * next_value - values[k])
            weight *= discount * trace_decay
            if ends[k]:
                break
    return result


def permutation(number: int, uniform: Uniform) -> list[int]:
    """Return a random order (Fisher-Yates), from the identity; one draw fewer than there are entries."""
    order = list(range(number))
    for i in range(number - 1, 0, -1):
        j = int(uniform() * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order


class Adam:
    """Adam (Kingma & Ba, 2015) with epsilon added to the root of the raw second moment, the form of their section 2."""

    def __init__(self, shape: tuple[int, ...], step_size: float) -> None:
        self.step_size = step_size
        self.steps = 0
        self.first = np.zeros(shape)
        self.second = np.zeros(shape)

    def step(self, gradient: Floats) -> Floats:
        """Return the step to add to the weights, uphill."""
        self.steps += 1
        self.first = FIRST_DECAY * self.first + (1.0 - FIRST_DECAY) * gradient
        self.second = SECOND_DECAY * self.second + (1.0 - SECOND_DECAY) * gradient**2
        scale = self.step_size * np.sqrt(1.0 - SECOND_DECAY**self.steps) / (1.0 - FIRST_DECAY**self.steps)
        result: Floats = scale * self.first / (np.sqrt(self.second) + ADAM_EPSILON)
        return result


@dataclass
class Sample:
    """One step of a batch."""

    phi: Floats
    action: int
    log_probability: float
    reward: float
    next_phi: Floats
    done: bool


class Ppo:
    """A batch of steps, which runs on across the ends of episodes, then some epochs of Adam over it."""

    def __init__(
        self,
        features: Features,
        actions: int,
        discount: float,
        trace_decay: float,
        step_size: float,
        clip: float,
        entropy: float,
        steps_per_batch: int,
        epochs: int,
        minibatch: int,
    ) -> None:
        self.features = features
        self.actions = actions
        self.discount = discount
        self.trace_decay = trace_decay
        self.step_size = step_size
        self.clip = clip
        self.entropy = entropy
        self.steps_per_batch = steps_per_batch
        self.epochs = epochs
        self.minibatch = minibatch
        self.weights = np.zeros((actions, features.number))
        self.values = np.zeros(features.number)
        self.policy_adam = Adam(self.weights.shape, step_size)
        self.critic_adam = Adam(self.values.shape, step_size)
        self.batch: list[Sample] = []
        self.log: Log = []

    def choose(self, phi: Floats, uniform: Uniform) -> int:
        """Return an action drawn from the policy."""
        return draw(probabilities(self.weights, phi), uniform)

    def learn_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Learn for one episode; return the sum of its rewards. An unfinished batch waits for the next episode."""
        with diverging():
            total = 0.0
            phi = self.features(environment.reset())
            done = False
            while not done:
                action = self.choose(phi, uniform)
                observation, reward, done = environment.step(action)
                total += reward
                next_phi = self.features(observation)
                self.log.append((action, reward, dot(self.values, phi)))
                old = log_probability(self.weights, phi, action)
                self.batch.append(Sample(phi, action, old, reward, next_phi, done))
                if len(self.batch) == self.steps_per_batch:
                    self.update(uniform)
                    self.batch = []
                phi = next_phi
            return total

    def update(self, uniform: Uniform) -> None:
        """Learn from a full batch."""
        # Computed once, from the weights before the update: they are targets, not functions of the weights.
        values = [dot(self.values, sample.phi) for sample in self.batch]
        values.append(dot(self.values, self.batch[-1].next_phi))
        rewards = [sample.reward for sample in self.batch]
        ends = [sample.done for sample in self.batch]
        advantage = advantages(rewards, values, ends, self.discount, self.trace_decay)
        target = [advantage[i] + values[i] for i in range(len(self.batch))]

        for _ in range(self.epochs):
            order = permutation(len(self.batch), uniform)
            for start in range(0, len(order), self.minibatch):
                chosen = order[start : start + self.minibatch]
                policy_sum = np.zeros_like(self.weights)
                critic_sum = np.zeros_like(self.values)
                for i in chosen:
                    sample = self.batch[i]
                    policy_sum += policy_gradient(
                        self.weights,
                        sample.phi,
                        sample.action,
                        sample.log_probability,
                        float(advantage[i]),
                        self.clip,
                        self.entropy,
                    )
                    critic_sum += (target[i] - dot(self.values, sample.phi)) * sample.phi
                # The last minibatch may be short: its mean is over the samples that it has.
                self.weights = self.weights + self.policy_adam.step(policy_sum / len(chosen))
                self.values = self.values + self.critic_adam.step(critic_sum / len(chosen))

    def play_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Play one episode without learning; return the sum of its rewards. A waiting batch is left alone."""
        return play(self, environment, uniform)
