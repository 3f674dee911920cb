"""The paper's eleven algorithms as complete definitions: its appendix "Algorithm Definitions", as run for its numbers.

The order of the draws is fixed: those of the features, gamma, lambda, then the rest in the order of the paper's table.
Changing it changes every number, and needs a new version.
"""

import math
from enum import Enum, auto
from functools import partial

from untuned.collect.agents.actor_critic import ActorCritic
from untuned.collect.agents.agent import Agent
from untuned.collect.agents.features import Features, Fourier, Tabular, largest_dorder
from untuned.collect.agents.nac_td import NacTd
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.sarsa import QLearning, Sarsa
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw
from untuned.collect.distributions import LogUniform, Minus, RoundedPowerOfTwo, Scaled
from untuned.collect.environments.environment import DiscreteStates, Environment
from untuned.errors import InvalidInput

VERSION = 1

#: The factor of -log pi(a|s) that is added to AC-Parl2's temporal-difference error.
SURPRISE_BONUS = 0.01

_GAP_BELOW_THE_DISCOUNT = LogUniform(1e-4, 0.05)

#: Step sizes on discrete states, and on continuous ones; the last for those that are scaled by the features.
_ON_DISCRETE = LogUniform(1e-3, 1e-1)
_ON_CONTINUOUS = LogUniform(1e-6, 1e-3)
_BEFORE_SCALING = LogUniform(1e-3, 1.0)


class Rule(Enum):
    """How a step size is set: drawn, drawn and divided by the number of weights, or adapted by Parl2."""

    DRAWN = auto()
    SCALED = auto()
    ADAPTED = auto()


def _features(environment: Environment, draw: Draw) -> Features:
    if isinstance(environment.states, DiscreteStates):
        return Tabular(environment.states.number)
    highest = min(9, largest_dorder(environment.states.dimensions))
    dorder = draw.suggest_int("dorder", 0, highest)
    return Fourier(environment.states.ranges, dorder, iorder=draw.suggest_int("iorder", 1, 9))


def _discount(environment: Environment, draw: Draw) -> float:
    if environment.discount < _GAP_BELOW_THE_DISCOUNT.high:
        raise InvalidInput(
            f"the discount of {environment.name} is {environment.discount:g}; the paper's algorithms take up to "
            f"{_GAP_BELOW_THE_DISCOUNT.high:g} off it, and need one of {_GAP_BELOW_THE_DISCOUNT.high:g} to 1"
        )
    return draw.suggest("gamma", Minus(environment.discount, _GAP_BELOW_THE_DISCOUNT))


def _shared(environment: Environment, draw: Draw) -> tuple[Features, float, float]:
    """Return the hyperparameters that all eleven share: features, discount, trace decay."""
    return _features(environment, draw), _discount(environment, draw), draw.suggest_float("lambda", 0.0, 1.0)


def _plain_step_size(name: str, environment: Environment, draw: Draw) -> float:
    on_discrete = isinstance(environment.states, DiscreteStates)
    return draw.suggest(name, _ON_DISCRETE if on_discrete else _ON_CONTINUOUS)


def _scaled_step_size(
    name: str, environment: Environment, draw: Draw, features: Features, *, by_actions: bool = False
) -> float:
    # Only one weight of a table is active at a time, so there is nothing to scale by.
    if isinstance(environment.states, DiscreteStates):
        return _plain_step_size(name, environment, draw)
    divisor, label = features.number, "n_features"
    if by_actions:
        divisor, label = divisor * len(environment.actions), "(n_features * n_actions)"
    return draw.suggest(name, Scaled(_BEFORE_SCALING, divisor, label))


def _value_step_size(name: str, rule: Rule, environment: Environment, draw: Draw, features: Features) -> float | None:
    if rule is Rule.ADAPTED:
        draw.note(name, "adapted, starts at 1")
        return None
    if rule is Rule.SCALED:
        return _scaled_step_size(name, environment, draw, features)
    return _plain_step_size(name, environment, draw)


def _temporal_difference(
    learning: type[Sarsa] | type[QLearning], rule: Rule, environment: Environment, draw: Draw
) -> Agent:
    features, gamma, decay = _shared(environment, draw)
    epsilon = draw.suggest_float("epsilon", 0.0, 0.1)
    step_size = _value_step_size("step_size", rule, environment, draw, features)
    return learning(features=features, discount=gamma, trace_decay=decay, epsilon=epsilon, step_size=step_size)


def _actor_critic(rule: Rule, environment: Environment, draw: Draw) -> Agent:
    features, gamma, decay = _shared(environment, draw)
    critic = _value_step_size("critic_step_size", rule, environment, draw, features)
    # Parl2 adapts only the step sizes of values: the actor's step size is then the scaled one.
    actor = (
        _plain_step_size("actor_step_size", environment, draw)
        if rule is Rule.DRAWN
        else _scaled_step_size("actor_step_size", environment, draw, features, by_actions=True)
    )
    bonus = SURPRISE_BONUS if rule is Rule.ADAPTED else 0.0
    return ActorCritic(
        features=features,
        discount=gamma,
        trace_decay=decay,
        actor_step_size=actor,
        critic_step_size=critic,
        surprise_bonus=bonus,
    )


def _nac_td(environment: Environment, draw: Draw) -> Agent:
    features, gamma, decay = _shared(environment, draw)
    critic, actor, advantage = (
        _plain_step_size(f"{part}_step_size", environment, draw) for part in ("critic", "actor", "advantage")
    )
    return NacTd(
        features=features,
        discount=gamma,
        trace_decay=decay,
        actor_step_size=actor,
        critic_step_size=critic,
        advantage_step_size=advantage,
    )


def _ppo(environment: Environment, draw: Draw) -> Agent:
    features, gamma, decay = _shared(environment, draw)
    clip = draw.suggest_float("clip", 0.1, 0.3)
    entropy = draw.suggest_float("entropy", 1e-8, 1e-2, log=True)
    steps = draw.suggest("steps_per_batch", RoundedPowerOfTwo(6, 8))
    epochs = draw.suggest_int("epochs", 1, 10)
    minibatch = draw.suggest("minibatch", RoundedPowerOfTwo(4, math.log2(min(64, steps))))
    return Ppo(
        features=features,
        discount=gamma,
        trace_decay=decay,
        step_size=_plain_step_size("step_size", environment, draw),
        clip=clip,
        entropy=entropy,
        steps_per_batch=steps,
        epochs=epochs,
        minibatch=minibatch,
    )


def _on_discrete_states(other: str, environment: Environment) -> str | None:
    return other if isinstance(environment.states, DiscreteStates) else None


_EPSILON = (
    "The paper's table prints epsilon ~ U(0, 1); its numbers were made with U(0, 0.1), and so is the definition here."
)
_EXPONENT = (
    "The paper's table sets the division by the number of weights inside the exponent; what is divided is the step "
    "size itself."
)
_BONUS = (
    "The paper's text has no bonus; its numbers were made with 0.01 times -log pi(a|s) added to the error that "
    "moves critic and actor, in AC-Parl2 alone."
)
_ENTROPY = (
    "The published run had the wrong sign in the second term of the entropy's gradient; here the gradient is the true "
    "one."
)

#: Base, scaled and adapted version of each kind, as the paper introduces them.
ELEVEN: tuple[Definition, ...] = (
    Definition(
        "sarsa",
        "Sarsa(λ)",
        VERSION,
        "on-policy values, epsilon-greedy, step size drawn",
        partial(_temporal_difference, Sarsa, Rule.DRAWN),
        differs=(_EPSILON,),
    ),
    Definition(
        "sarsa-s",
        "Sarsa(λ)-s",
        VERSION,
        "Sarsa(lambda) with the step size divided by the number of features",
        partial(_temporal_difference, Sarsa, Rule.SCALED),
        partial(_on_discrete_states, "sarsa"),
        differs=(_EPSILON, _EXPONENT),
    ),
    Definition(
        "sarsa-parl2",
        "Sarsa-Parl2",
        VERSION,
        "Sarsa(lambda) with the step size adapted by Parl2",
        partial(_temporal_difference, Sarsa, Rule.ADAPTED),
        differs=(_EPSILON,),
    ),
    Definition(
        "q",
        "Q(λ)",
        VERSION,
        "off-policy values, epsilon-greedy, traces never cut, step size drawn",
        partial(_temporal_difference, QLearning, Rule.DRAWN),
        differs=(_EPSILON,),
    ),
    Definition(
        "q-s",
        "Q(λ)-s",
        VERSION,
        "Q(lambda) with the step size divided by the number of features",
        partial(_temporal_difference, QLearning, Rule.SCALED),
        partial(_on_discrete_states, "q"),
        differs=(_EPSILON, _EXPONENT),
    ),
    Definition(
        "q-parl2",
        "Q-Parl2",
        VERSION,
        "Q(lambda) with the step size adapted by Parl2",
        partial(_temporal_difference, QLearning, Rule.ADAPTED),
        differs=(_EPSILON,),
    ),
    Definition(
        "ac",
        "AC",
        VERSION,
        "actor-critic with eligibility traces, softmax policy, step sizes drawn",
        partial(_actor_critic, Rule.DRAWN),
    ),
    Definition(
        "ac-s",
        "AC-s",
        VERSION,
        "actor-critic with the step sizes divided by the number of weights",
        partial(_actor_critic, Rule.SCALED),
        partial(_on_discrete_states, "ac"),
        differs=(_EXPONENT,),
    ),
    Definition(
        "ac-parl2",
        "AC-Parl2",
        VERSION,
        "actor-critic with the critic's step size adapted by Parl2",
        partial(_actor_critic, Rule.ADAPTED),
        differs=(_EXPONENT, _BONUS),
    ),
    Definition(
        "nac-td",
        "NAC-TD",
        VERSION,
        "natural actor-critic with temporal differences, normalised steps",
        _nac_td,
    ),
    Definition(
        "ppo",
        "PPO",
        VERSION,
        "proximal policy optimization with linear functions and Adam",
        _ppo,
        differs=(_ENTROPY,),
    ),
)
