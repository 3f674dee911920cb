"""PPO, A2C and DQN of Stable-Baselines3 as complete definitions: ``pip install 'untuned[sb3]'``."""

from untuned.adapters.sb3 import a2c as a2c
from untuned.adapters.sb3 import dqn as dqn
from untuned.adapters.sb3 import ppo as ppo
