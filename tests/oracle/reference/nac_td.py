"""Oracle for the natural actor-critic with temporal differences (Morimura et al., 2005; Degris et al., 2012)."""

import numpy as np

from oracle.reference.agent_world import Environment, Features, Floats, Log, Uniform, diverging, dot, play
from oracle.reference.softmax_policy import draw, log_gradient, probabilities


class NacTd:
    """A linear softmax policy that follows the advantage weights over its compatible features; a linear critic."""

    def __init__(
        self,
        features: Features,
        actions: int,
        discount: float,
        trace_decay: float,
        actor_step_size: float,
        critic_step_size: float,
        advantage_step_size: float,
    ) -> None:
        self.features = features
        self.actions = actions
        self.discount = discount
        self.trace_decay = trace_decay
        self.actor_step_size = actor_step_size
        self.critic_step_size = critic_step_size
        self.advantage_step_size = advantage_step_size
        self.weights = np.zeros((actions, features.number))
        self.values = np.zeros(features.number)
        self.advantage = np.zeros_like(self.weights)
        self.critic_trace = np.zeros_like(self.values)
        self.advantage_trace = np.zeros_like(self.advantage)
        self.log: Log = []

    def choose(self, phi: Floats, uniform: Uniform) -> int:
        """Return an action drawn from the policy."""
        return draw(probabilities(self.weights, phi), uniform)

    def learn_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Learn for one episode; return the sum of its rewards, not discounted."""
        with diverging():
            total = 0.0
            self.critic_trace = np.zeros_like(self.values)
            self.advantage_trace = np.zeros_like(self.advantage)
            phi = self.features(environment.reset())
            done = False
            while not done:
                action = self.choose(phi, uniform)
                observation, reward, done = environment.step(action)
                total += reward
                next_phi = self.features(observation)
                self.update(phi, action, reward, next_phi, done)
                phi = next_phi
            return total

    def update(self, phi: Floats, action: int, reward: float, next_phi: Floats, done: bool) -> None:
        """Learn from one step."""
        psi = log_gradient(self.weights, phi, action)
        next_value = 0.0 if done else dot(self.values, next_phi)
        delta = reward + self.discount * next_value - dot(self.values, phi)
        advantage_delta = delta - dot(self.advantage, psi)
        self.log.append((action, reward, delta))

        decay = self.discount * self.trace_decay
        self.critic_trace = decay * self.critic_trace + phi
        if not np.isnan(delta):
            self.values = self.values + self.critic_step_size * delta * self.critic_trace

        self.advantage_trace = decay * self.advantage_trace + psi
        if not np.isnan(advantage_delta):
            self.advantage = self.advantage + self.advantage_step_size * advantage_delta * self.advantage_trace

        norm = float(np.sqrt(dot(self.advantage, self.advantage)))
        if norm != 0.0:
            self.weights = self.weights + self.actor_step_size * self.advantage / norm

    def play_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Play one episode without learning; return the sum of its rewards, not discounted."""
        return play(self, environment, uniform)
