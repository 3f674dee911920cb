"""Usual names in logs: of settings that identify a run, and of series that are its returns."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import UnknownName
from untuned.scores import Floats

#: Series that are returns, evaluations first. Not among the first: ``eval/episodic_return``, which CleanRL logs after
#: training, with the number of the episode as step.
RETURNS = (
    "eval/mean_reward",
    "eval/episode_return",
    "eval/mean_return",
    "eval/return",
    "eval/episode_reward",
    "eval/avg_reward",
    "eval/average_return",
    "eval/reward",
    "eval/score",
    "evaluation/return",
    "evaluation/average_return",
    "Evaluation/AverageReturn",
    "Eval_AverageReturn",
    "test/episode_return",
    "test/return",
    "test/reward",
    "test_return_mean",
    "eval_return",
    "eval_reward",
    "evaluation/env_runners/episode_return_mean",
    "ray/tune/evaluation/env_runners/episode_return_mean",
    "ray/tune/evaluation/episode_reward_mean",
    "charts/episodic_return",
    "charts/episode_return",
    "charts/episode_reward",
    "charts/avg_episodic_return",
    "rollout/ep_rew_mean",
    "rollout/return",
    "rollout/mean_return",
    "episode/score",
    "env_runners/episode_return_mean",
    "ray/tune/env_runners/episode_return_mean",
    "ray/tune/episode_reward_mean",
    "episode_reward_mean",
    "Reward / Total reward (mean)",
    "Train/mean_reward",
    "train/episode_return",
    "train/episode_reward",
    "train/return",
    "train/reward",
    "train_return",
    "episodic_return",
    "episode_return",
    "episode_reward",
    "eval/episodic_return",
    "Reward/train",
    "return",
    "score",
    "reward",
)

_SETTINGS = {
    "algorithm": (
        "algorithm",
        "algo",
        "alg",
        "algorithm_name",
        "algo_name",
        "alg_name",
        "agent",
        "agent_name",
        "method",
        "method_name",
        "exp_name",
    ),
    "environment": (
        "environment",
        "env",
        "env_id",
        "env_name",
        "environment_id",
        "environment_name",
        "gym_id",
        "task",
        "task_id",
        "task_name",
        "game",
    ),
    "run": ("seed", "random_seed", "rng_seed", "run_seed", "seed_id", "trial_seed"),
}
#: Settings that only group others.
_HOLDERS = {"args", "cfg", "config", "flags", "hparams", "hyperparameters", "params"}
_IN_PATTERN = {"algorithm": "algorithm|algo", "environment": "environment|env", "run": "run|seed|trial"}


def from_config(config: Mapping[str, object]) -> dict[str, str | None]:
    """Return the algorithm, the environment and the run that settings name; None for missing ones.

    Parameters
    ----------
    config
        Settings of a run; values may be settings again, ``{"env": {"name": "CartPole-v1"}}``.
    """
    flat = {key: name for key, name in reversed(list(_flat(config))) if name is not None}
    return {role: next((flat[key] for key in keys if key in flat), None) for role, keys in _SETTINGS.items()}


def named(config: Mapping[str, object], asked: Reading, where: str) -> dict[str, str | None]:
    """Return the result of `from_config`, unless the user chose settings, or a pattern for paths.

    Raises
    ------
    UnknownName
        If a setting that the user chose is missing.
    """
    found = from_config(config)
    flat = {key: name for key, name in reversed(list(_flat(config))) if name is not None}
    for role, chosen in (("algorithm", asked.algorithm), ("environment", asked.environment), ("run", asked.run)):
        if chosen is not None:
            if _plain(chosen) not in flat:
                raise UnknownName(f"setting of {where}", chosen, flat)
            found[role] = flat[_plain(chosen)]
        elif asked.pattern is not None and re.search(rf"\{{({_IN_PATTERN[role]})\}}", asked.pattern):
            found[role] = None
    return found


def rows(place: str, names: Mapping[str, str | None], score: Floats, **more: Any) -> Rows:
    """Return rows with the names from `named`."""
    return Rows(place, score, names["algorithm"], names["environment"], names["run"], **more)


def distinct(parts: Sequence[Rows], ids: Sequence[str]) -> list[Rows]:
    """Return runs with distinct names: the identifier is added if runs of a cell have the same name.

    The seed is usually the name of a run, and a search over hyperparameters often keeps it constant; such runs would be
    merged.
    """

    def key(part: Rows) -> tuple[object, ...]:
        named = part.algorithm is not None and part.environment is not None
        return part.algorithm, part.environment, part.run, None if named else part.path.rpartition("/")[0]

    count = Counter(map(key, parts))
    return [
        replace(part, run=f"{part.run} ({name})") if part.run is not None and count[key(part)] > 1 else part
        for part, name in zip(parts, ids, strict=True)
    ]


def counted(count: int, one: str, many: str) -> str:
    """Return a number of things as text: ``"1 run"``, ``"3 runs"``."""
    return f"{count:,} {one if count == 1 else many}"


def _flat(config: Mapping[str, object], before: str = "", depth: int = 0) -> Iterator[tuple[str, str | None]]:
    """Yield all settings: ``env: {name: x}`` is ``env_name``."""
    for key, value in config.items():
        name = _plain(f"{before}_{key}" if before else key)
        if isinstance(value, Mapping):
            if depth < 3:
                # W&B's files have {"desc": ..., "value": ...} for a value.
                inner = {"": value["value"]} if value.keys() == {"desc", "value"} else value
                yield from _flat(inner, "" if name in _HOLDERS else name, depth + 1)
        else:
            yield name, _name(value)


def _plain(key: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")


def _name(value: object) -> str | None:
    """Return a value as a name; None if it is not one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value).strip() if isinstance(value, str) or abs(value) < 1 << 64 else ""
    # Unprintable names could not be shown in a report either.
    return text if text not in ("", "None", "null") and text.isprintable() else None
