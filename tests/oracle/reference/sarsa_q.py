"""Oracle for Sarsa(lambda) and Q(lambda), with a fixed step size or with Parl2's (Dabney, 2014)."""

from typing import Literal

import numpy as np

from oracle.reference.agent_world import (
    Environment,
    Features,
    Floats,
    Log,
    Uniform,
    diverging,
    dot,
    linear,
    play,
)


def epsilon_greedy(values: Floats, epsilon: float, uniform: Uniform) -> int:
    """Choose an action; one draw for a greedy one, two for an exploratory one."""
    if uniform() < epsilon:
        return int(uniform() * len(values))
    # The first maximum; NumPy lets the first NaN count as the maximum.
    return int(np.argmax(values))


class SarsaQ:
    """Linear action values with accumulating traces, epsilon-greedy; no step size means Parl2."""

    def __init__(
        self,
        features: Features,
        actions: int,
        discount: float,
        trace_decay: float,
        epsilon: float,
        step_size: float | None,
        rule: Literal["sarsa", "q"],
    ) -> None:
        self.features = features
        self.actions = actions
        self.discount = discount
        self.trace_decay = trace_decay
        self.epsilon = epsilon
        self.adaptive = step_size is None
        self.step_size = 1.0 if step_size is None else step_size
        self.rule = rule
        self.weights = np.zeros((actions, features.number))
        self.trace = np.zeros((actions, features.number))
        self.log: Log = []

    def choose(self, phi: Floats, uniform: Uniform) -> int:
        """Return an epsilon-greedy action."""
        return epsilon_greedy(linear(self.weights, phi), self.epsilon, uniform)

    def gradient(self, phi: Floats, action: int) -> Floats:
        """Return the gradient of an action's value: the features in the action's row, zero elsewhere."""
        result = np.zeros_like(self.weights)
        result[action] = phi
        return result

    def learn_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Learn for one episode; return the sum of its rewards, not discounted."""
        with diverging():
            total = 0.0
            self.trace = np.zeros_like(self.weights)
            phi = self.features(environment.reset())
            action = self.choose(phi, uniform)
            done = False
            while not done:
                observation, reward, done = environment.step(action)
                total += reward
                next_phi = self.features(observation)
                # Chosen before the update, from the weights that the target uses as well.
                next_action = -1 if done else self.choose(next_phi, uniform)
                self.update(phi, action, reward, next_phi, next_action, done)
                phi, action = next_phi, next_action
            return total

    def update(self, phi: Floats, action: int, reward: float, next_phi: Floats, next_action: int, done: bool) -> None:
        """Learn from one step; after the last one there is no next action."""
        gradient = self.gradient(phi, action)
        next_gradient = np.zeros_like(self.weights) if done else self.gradient(next_phi, next_action)

        if done:
            next_value = 0.0
        elif self.rule == "sarsa":
            next_value = float(linear(self.weights, next_phi)[next_action])
        else:
            next_value = float(np.max(linear(self.weights, next_phi)))
        delta = reward + self.discount * next_value - float(linear(self.weights, phi)[action])
        self.log.append((action, reward, delta))

        # An exploratory action does not cut the trace, in Q(lambda) neither.
        self.trace = self.discount * self.trace_decay * self.trace + gradient
        if self.adaptive:
            # The action taken next, not the maximising one, in Q(lambda) too.
            d = dot(self.trace, self.discount * next_gradient - gradient)
            if d < 0.0:
                self.step_size = min(self.step_size, -1.0 / d)
        if not np.isnan(delta):
            self.weights = self.weights + self.step_size * delta * self.trace

    def play_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Play one episode without learning, still epsilon-greedy; return the sum of its rewards."""
        return play(self, environment, uniform)
