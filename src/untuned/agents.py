"""Compiled agents and their features, for your own `Definition`.

``docs/algorithms.md`` builds one; ``docs/agents.md`` says how each agent learns.
"""

from untuned.collect.agents.actor_critic import ActorCritic as ActorCritic
from untuned.collect.agents.features import Fourier as Fourier
from untuned.collect.agents.features import Tabular as Tabular
from untuned.collect.agents.nac_td import NacTd as NacTd
from untuned.collect.agents.ppo import Ppo as Ppo
from untuned.collect.agents.sarsa import QLearning as QLearning
from untuned.collect.agents.sarsa import Sarsa as Sarsa
from untuned.collect.definitions.tuned_within import tuned_within as tuned_within
