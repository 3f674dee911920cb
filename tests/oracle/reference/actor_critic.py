"""Oracle for Actor-Critic with traces, the critic with a fixed step size or with Parl2's (Dabney, 2014)."""

import numpy as np

from oracle.reference.agent_world import Environment, Features, Floats, Log, Uniform, diverging, dot, play
from oracle.reference.softmax_policy import draw, log_gradient, log_probability, probabilities

# A bonus for improbable actions; only the variant with Parl2 has it.
LOG_PROBABILITY_COEFFICIENT = 0.01


class ActorCritic:
    """A linear softmax policy and a linear critic, accumulating traces; no critic step size means Parl2."""

    def __init__(
        self,
        features: Features,
        actions: int,
        discount: float,
        trace_decay: float,
        actor_step_size: float,
        critic_step_size: float | None,
    ) -> None:
        self.features = features
        self.actions = actions
        self.discount = discount
        self.trace_decay = trace_decay
        self.actor_step_size = actor_step_size
        self.adaptive = critic_step_size is None
        self.critic_step_size = 1.0 if critic_step_size is None else critic_step_size
        self.weights = np.zeros((actions, features.number))
        self.values = np.zeros(features.number)
        self.trace = np.zeros_like(self.weights)
        self.critic_trace = np.zeros_like(self.values)
        self.log: Log = []

    def choose(self, phi: Floats, uniform: Uniform) -> int:
        """Return an action drawn from the policy."""
        return draw(probabilities(self.weights, phi), uniform)

    def learn_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Learn for one episode; return the sum of its rewards, not discounted."""
        with diverging():
            total = 0.0
            self.trace = np.zeros_like(self.weights)
            self.critic_trace = np.zeros_like(self.values)
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
        # Beyond the end there is nothing, which zero features express.
        after = np.zeros_like(next_phi) if done else next_phi
        next_value = 0.0 if done else dot(self.values, next_phi)
        delta = reward + self.discount * next_value - dot(self.values, phi)
        if self.adaptive:
            delta -= LOG_PROBABILITY_COEFFICIENT * log_probability(self.weights, phi, action)
        self.log.append((action, reward, delta))

        decay = self.discount * self.trace_decay
        self.critic_trace = decay * self.critic_trace + phi
        self.trace = decay * self.trace + log_gradient(self.weights, phi, action)
        if self.adaptive:
            d = dot(self.critic_trace, self.discount * after - phi)
            if d < 0.0:
                self.critic_step_size = min(self.critic_step_size, -1.0 / d)
        if not np.isnan(delta):
            self.values = self.values + self.critic_step_size * delta * self.critic_trace
            self.weights = self.weights + self.actor_step_size * delta * self.trace

    def play_episode(self, environment: Environment, uniform: Uniform) -> float:
        """Play one episode without learning; return the sum of its rewards, not discounted."""
        return play(self, environment, uniform)
