"""PPO, A2C and DQN of Stable-Baselines3 as complete definitions.

Every hyperparameter that a user would have to set is drawn from distributions that do not depend on the environment:
each spans an order of magnitude or two around the customary value. The library and PyTorch are imported when a trial
begins.
"""

import contextlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

from untuned.errors import BudgetSpent, InvalidInput, MissingExtra, needs

with needs("sb3", "Stable-Baselines3"):
    import gymnasium
    from gymnasium import spaces

from untuned.adapters.training.budgeted import Metered
from untuned.adapters.training.trainer import Policy, Trainer
from untuned.collect.definitions.definition import Hyperparameter, describe_draws
from untuned.collect.definitions.draw import Draw
from untuned.collect.distributions import LogUniform, Minus

#: More steps than any budget has: the environment ends the learning.
_ENDLESS = 10**12

#: Must change whenever the draws, or their use, change.
_VERSION = 1


def ppo() -> Trainer:
    """Return Stable-Baselines3's PPO as a trainer, ``sb3-ppo``; raises MissingExtra where it is not installed."""
    return _trainer("sb3-ppo", "SB3 PPO", "Stable-Baselines3's proximal policy optimization", _train_ppo)


def a2c() -> Trainer:
    """Return Stable-Baselines3's A2C as a trainer, ``sb3-a2c``; raises MissingExtra where it is not installed."""
    return _trainer("sb3-a2c", "SB3 A2C", "Stable-Baselines3's advantage actor-critic", _train_a2c)


def dqn() -> Trainer:
    """Return Stable-Baselines3's DQN as a trainer, ``sb3-dqn``; raises MissingExtra where it is not installed.

    For discrete actions.
    """
    return _trainer("sb3-dqn", "SB3 DQN", "Stable-Baselines3's deep Q-network", _train_dqn)


def describe() -> dict[str, tuple[Hyperparameter, ...]]:
    """Return the hyperparameters of each trainer by name, with their distributions; needs no extra installed."""
    asked = {"sb3-ppo": ppo_settings, "sb3-a2c": a2c_settings, "sb3-dqn": dqn_settings}
    return {name: describe_draws(ask) for name, ask in asked.items()}


# What is drawn, by the names that Stable-Baselines3 has for it.


def ppo_settings(draw: Draw) -> dict[str, Any]:
    """Return the arguments for SB3's PPO, drawn."""
    common = _actor_critic(draw)
    n_steps = draw.suggest_categorical("n_steps", [32, 64, 128, 256, 512, 1024, 2048])
    return {
        **common,
        "n_steps": n_steps,
        # Always whole minibatches: both lengths are powers of two, and the shortest batch has two steps.
        "batch_size": n_steps // draw.suggest_categorical("minibatches", [1, 2, 4, 8, 16]),
        "n_epochs": draw.suggest_int("n_epochs", 1, 10),
        "clip_range": draw.suggest_float("clip_range", 0.1, 0.3),
        "policy_kwargs": _network(draw),
    }


def a2c_settings(draw: Draw) -> dict[str, Any]:
    """Return the arguments for SB3's A2C, drawn."""
    return {
        **_actor_critic(draw),
        "n_steps": draw.suggest_categorical("n_steps", [4, 8, 16, 32, 64, 128]),
        "use_rms_prop": draw.suggest_categorical("use_rms_prop", [True, False]),
        "normalize_advantage": draw.suggest_categorical("normalize_advantage", [True, False]),
        "policy_kwargs": _network(draw),
    }


def dqn_settings(draw: Draw) -> dict[str, Any]:
    """Return the arguments for SB3's DQN, drawn."""
    return {
        **_learning(draw),
        "buffer_size": draw.suggest_categorical("buffer_size", [4096, 16384, 65536]),
        "batch_size": draw.suggest_categorical("batch_size", [16, 32, 64, 128]),
        "learning_starts": draw.suggest_categorical("learning_starts", [128, 256, 512, 1024]),
        "train_freq": draw.suggest_categorical("train_freq", [1, 2, 4, 8, 16]),
        "target_update_interval": draw.suggest_categorical("target_update_interval", [16, 64, 256, 1024, 4096]),
        "exploration_fraction": draw.suggest_float("exploration_fraction", 0.05, 0.5),
        "exploration_final_eps": draw.suggest_float("exploration_final_eps", 0.0, 0.1),
        "policy_kwargs": _network(draw),
    }


def _learning(draw: Draw) -> dict[str, Any]:
    return {
        "learning_rate": draw.suggest_float("learning_rate", 1e-5, 1e-2, log=True),
        "gamma": draw.suggest("gamma", Minus(1.0, LogUniform(1e-4, 0.05))),
    }


def _actor_critic(draw: Draw) -> dict[str, Any]:
    return {
        **_learning(draw),
        "gae_lambda": draw.suggest_float("gae_lambda", 0.8, 1.0),
        "ent_coef": draw.suggest_float("ent_coef", 1e-8, 1e-2, log=True),
        "vf_coef": draw.suggest_float("vf_coef", 0.2, 1.0),
        "max_grad_norm": draw.suggest_float("max_grad_norm", 0.3, 5.0, log=True),
    }


def _network(draw: Draw) -> dict[str, Any]:
    """Return the shape of the networks; the activation by its name, since PyTorch is not loaded here."""
    width = draw.suggest_categorical("width", [32, 64, 128, 256])
    layers = draw.suggest_int("layers", 1, 2)
    return {
        "net_arch": [width] * layers,
        "activation_fn": draw.suggest_categorical("activation", ["Tanh", "ReLU"]),
    }


# Training.


def _train_ppo(environment: gymnasium.Env[Any, Any], draw: Draw) -> Policy:
    _check_spaces("sb3-ppo", environment, (spaces.Discrete, spaces.Box))
    return _train(environment, draw, lambda library: library.PPO, ppo_settings)


def _train_a2c(environment: gymnasium.Env[Any, Any], draw: Draw) -> Policy:
    _check_spaces("sb3-a2c", environment, (spaces.Discrete, spaces.Box))
    return _train(environment, draw, lambda library: library.A2C, a2c_settings)


def _train_dqn(environment: gymnasium.Env[Any, Any], draw: Draw) -> Policy:
    _check_spaces("sb3-dqn", environment, (spaces.Discrete,))
    return _train(environment, draw, lambda library: library.DQN, dqn_settings, _explore_by_budget)


def _train(
    environment: gymnasium.Env[Any, Any],
    draw: Draw,
    algorithm: Callable[[ModuleType], Any],
    ask: Callable[[Draw], dict[str, Any]],
    prepare: Callable[[Any, gymnasium.Env[Any, Any]], None] | None = None,
) -> Policy:
    with needs("sb3", "Stable-Baselines3"):
        import stable_baselines3
        import torch
    settings = ask(draw)
    network = settings["policy_kwargs"]
    network["activation_fn"] = getattr(torch.nn, network["activation_fn"])
    # Small networks are slower with several threads, and a different order of summation changes results. Not restored,
    # because the policy is still to be played.
    torch.set_num_threads(1)
    model = algorithm(stable_baselines3)("MlpPolicy", environment, seed=draw.seed(), device="cpu", **settings)
    if prepare is not None:
        prepare(model, environment)
    with contextlib.suppress(BudgetSpent):
        model.learn(total_timesteps=_ENDLESS)
    discrete = isinstance(environment.action_space, spaces.Discrete)

    def policy(observation: Any) -> Any:
        action, _ = model.predict(observation, deterministic=True)
        # Some environments look actions up in a table, whose keys cannot be arrays.
        return int(action) if discrete else action

    return policy


def _explore_by_budget(model: Any, environment: gymnasium.Env[Any, Any]) -> None:
    """Let DQN's exploration decrease over a part of the trial's budget, in episodes or steps.

    The library counts only steps, and the number of steps of the episodes is not known beforehand.
    """
    assert isinstance(environment, Metered)
    initial, final, fraction = model.exploration_initial_eps, model.exploration_final_eps, model.exploration_fraction

    def schedule(_: float) -> float:
        return float(initial + min(environment.spent / fraction, 1.0) * (final - initial))

    model.exploration_schedule = schedule


def _check_spaces(
    name: str, environment: gymnasium.Env[Any, Any], actions: tuple[type[spaces.Space[Any]], ...]
) -> None:
    for what, space, allowed in (
        ("observation", environment.observation_space, (spaces.Discrete, spaces.Box)),
        ("action", environment.action_space, actions),
    ):
        kinds = " or ".join({spaces.Discrete: "discrete", spaces.Box: "a box"}[kind] for kind in allowed)
        if not isinstance(space, allowed):
            raise InvalidInput(
                f"{name} cannot learn with the {what} space {space}: it must be {kinds}; wrap the environment, or "
                "leave one of the two out"
            )
        if isinstance(space, spaces.Discrete) and space.start != 0:
            raise InvalidInput(
                f"{name} cannot learn with the {what} space {space}: it must count from 0; wrap the environment"
            )


def _trainer(
    name: str, title: str, summary: str, train: Callable[[gymnasium.Env[Any, Any], Draw], Policy | None]
) -> Trainer:
    if importlib.util.find_spec("stable_baselines3") is None:
        raise MissingExtra("Stable-Baselines3", "sb3", "stable_baselines3")
    # Other releases of either give different numbers.
    releases = ", ".join(f"{each} {importlib.metadata.version(each)}" for each in ("stable-baselines3", "torch"))
    return Trainer(name, title, f"{_VERSION} ({releases})", summary, train, modules=("stable_baselines3",))
