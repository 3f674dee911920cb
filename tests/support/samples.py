"""Small folders and files of results, each as its program writes it: three algorithms, two environments, several runs.

The pages that show how to import results are tested with them. Every sample has the same learning curves, so that all
of them lead to the same ranking.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from support import log_writers

ENVIRONMENTS = ("CartPole-v1", "Acrobot-v1")
RUNS = 8
STEPS = tuple(range(1000, 10_001, 1000))
RETURN = "charts/episodic_return"

Curve = list[tuple[int, float]]

#: Where curves of an algorithm begin and end on each environment.
_LEVELS = {
    "ppo": ((20.0, 420.0), (-450.0, -90.0)),
    "dqn": ((20.0, 300.0), (-470.0, -120.0)),
    "a2c": ((15.0, 180.0), (-480.0, -180.0)),
}


def curves(runs: int = RUNS) -> Iterator[tuple[str, str, int, Curve]]:
    """Yield algorithm, environment, seed and learning curve of every run; no two runs share a seed."""
    random = np.random.default_rng(11)
    seed = 0
    for algorithm, levels in _LEVELS.items():
        for environment, (low, high) in zip(ENVIRONMENTS, levels, strict=True):
            for _ in range(runs):
                seed += 1
                final = random.normal(high, 0.12 * (high - low))
                rise = 1.0 - np.exp(-np.arange(len(STEPS)) / 3.0)
                values = low + (final - low) * rise + random.normal(0.0, 0.03 * (high - low), len(STEPS))
                points = [(s, round(float(v), 2)) for s, v in zip(STEPS, values, strict=True)]
                yield algorithm, environment, seed, points


def write_table(path: Path, header: list[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def long_scores(path: Path) -> None:
    """Write one row per run: the last value of each curve."""
    rows = ([a, e, seed, curve[-1][1]] for a, e, seed, curve in curves())
    write_table(path, ["algorithm", "environment", "seed", "score"], rows)


def long_curves(path: Path) -> None:
    """Write one row per point of a curve, with columns named as people name them."""
    rows = ([a, e, seed, step, value] for a, e, seed, curve in curves() for step, value in curve)
    write_table(path, ["algo", "env_id", "seed", "global_step", "episodic_return"], rows)


def file_per_run(folder: Path) -> None:
    """Write a table per run, ``per_run/ALGORITHM/ENVIRONMENT/seedN.csv``."""
    for a, e, seed, curve in curves():
        home = folder / a / e
        home.mkdir(parents=True, exist_ok=True)
        write_table(home / f"seed{seed}.csv", ["step", "return"], curve)


def sweep(path: Path) -> None:
    """Write two seeds of every configuration of a sweep."""
    random = np.random.default_rng(3)
    rows = []
    for a, e, seed, curve in curves():
        rate = round(0.0001 * (1 + seed % RUNS), 4)
        rows += [[a, e, each, rate, round(curve[-1][1] + float(random.normal(0, 5)), 2)] for each in (1, 2)]
    write_table(path, ["algorithm", "environment", "seed", "hp.lr", "performance"], rows)


def wide(path: Path) -> None:
    """Write a column per environment."""
    final = {(a, e, seed): curve[-1][1] for a, e, seed, curve in curves()}
    rows = []
    for algorithm in _LEVELS:
        each = [[v for (a, e, _), v in final.items() if (a, e) == (algorithm, name)] for name in ENVIRONMENTS]
        rows += [[algorithm, run, *scores] for run, scores in enumerate(zip(*each, strict=True), start=1)]
    write_table(path, ["algorithm", "run", *ENVIRONMENTS], rows)


def adastop(folder: Path) -> None:
    """Write a file per environment, with a column per algorithm."""
    folder.mkdir()
    for name in ENVIRONMENTS:
        columns = {a: [c[-1][1] for b, e, _, c in curves() if (a, name) == (b, e)] for a in _LEVELS}
        rows = ([run, *scores] for run, scores in enumerate(zip(*columns.values(), strict=True)))
        write_table(folder / f"{name}.csv", ["", *columns], rows)


def jsonl(path: Path) -> None:
    """Write an object per run."""
    rows = ({"algorithm": a, "environment": e, "seed": seed, "score": c[-1][1]} for a, e, seed, c in curves())
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def cleanrl(folder: Path) -> None:
    """Write TensorBoard files in CleanRL's folders."""
    for a, e, seed, curve in curves():
        log_writers.write_events(
            folder / f"{e}__{a}__{seed}__{1_700_000_000 + seed}" / "events.out.tfevents.1700000000.host",
            {RETURN: curve, "losses/value_loss": [(step, 1.0) for step, _ in curve]},
        )


def monitor_text(environment: str, curve: Curve, sub: int) -> str:
    """Return the episodes of one of the environments in which a run acts."""
    lines = ["#" + json.dumps({"t_start": 1.7e9 + sub / 10, "env_id": environment}), "r,l,t"]
    lines += [f"{value},500,{step / 100 + sub / 10:.2f}" for step, value in curve]
    return "\n".join([*lines, ""])


def monitor(folder: Path) -> None:
    """Write the monitor files of two sub-environments per run: ``monitor_logs/ALGORITHM/SEED/N.monitor.csv``."""
    for a, e, seed, curve in curves():
        home = folder / a / f"seed_{seed}"
        home.mkdir(parents=True)
        for sub in range(2):
            (home / f"{sub}.monitor.csv").write_text(monitor_text(e, curve, sub))


def zoo(folder: Path) -> None:
    """Write the folders of RL Zoo: ``logs/ALGORITHM/ENVIRONMENT_N``, with evaluations, episodes and the seed."""
    numbers: dict[tuple[str, str], int] = {}
    for a, e, seed, curve in curves():
        numbers[a, e] = numbers.get((a, e), 0) + 1
        home = folder / a / f"{e}_{numbers[a, e]}"
        (home / e).mkdir(parents=True)
        values = np.array([value for _, value in curve])
        np.savez(
            home / "evaluations.npz",
            timesteps=np.array(STEPS),
            results=values[:, None] + np.array([-5.0, 0.0, 5.0]),
            ep_lengths=np.full((len(STEPS), 3), 200),
        )
        (home / "0.monitor.csv").write_text(monitor_text(e, curve, 0))
        (home / e / "args.yml").write_text(
            f"!!python/object/apply:collections.OrderedDict\n- - - env\n    - {e}\n  - - seed\n    - {seed}\n"
        )


def progress(folder: Path) -> None:
    """Write the CSV of the logger of Stable-Baselines3, with the holes it has."""
    for a, e, seed, curve in curves():
        home = folder / a / e / str(seed)
        home.mkdir(parents=True)
        rows: list[list[object]] = []
        for step, value in curve:
            rows += [[step - 500, value - 3, ""], [step, "", value]]
        write_table(home / "progress.csv", ["time/total_timesteps", "rollout/ep_rew_mean", "eval/mean_reward"], rows)


def wandb(folder: Path) -> None:
    """Write the files that W&B keeps of runs."""
    for a, e, seed, curve in curves():
        name = f"{seed:08x}"
        records = [log_writers.wandb_run(name, {"algo": a, "env_id": e, "seed": seed})]
        records += [log_writers.wandb_history({RETURN: value, "_step": step}, step) for step, value in curve]
        log_writers.write_wandb(
            folder / f"run-20260101_120000-{name}" / f"run-{name}.wandb", [*records, log_writers.wandb_exit(0)]
        )


def wandb_panel(path: Path) -> None:
    """Write the CSV of a panel: a column per run, and its limits."""
    columns: dict[str, list[object]] = {"Step": list(STEPS)}
    for a, e, seed, curve in curves():
        for ending in ("", "__MIN", "__MAX"):
            columns[f"{e}__{a}__{seed}__{1_700_000_000 + seed} - {RETURN}{ending}"] = [value for _, value in curve]
    write_table(path, list(columns), (list(row) for row in zip(*columns.values(), strict=True)))


def wandb_runs(path: Path) -> None:
    """Write the CSV of W&B's table of runs: settings and summaries."""
    rows = ([f"run-{seed}", "finished", a, e, seed, 3e-4, curve[-1][1]] for a, e, seed, curve in curves())
    write_table(path, ["Name", "State", "algo", "env_id", "seed", "learning_rate", RETURN], rows)


def mlflow(path: Path) -> None:
    """Write a database of MLflow."""
    log_writers.write_mlflow(
        path,
        [
            {
                "id": f"{seed:032x}",
                "params": {"algo": a, "env_id": e, "seed": seed},
                "metrics": [("eval/return", value, step) for step, value in curve],
            }
            for a, e, seed, curve in curves()
        ],
    )


def mlruns(folder: Path) -> None:
    """Write the folders of MLflow."""
    for a, e, seed, curve in curves():
        params = {"algo": a, "env_id": e, "seed": seed}
        log_writers.write_mlruns(folder / "7", f"{seed:032x}", {"eval/return": curve}, params)


def _studies(attributes: list[str]) -> list[log_writers.Study]:
    return [
        (
            f"{algorithm}_{environment}",
            ["MAXIMIZE"],
            [("COMPLETE", [c[-1][1]], attributes) for a, e, _, c in curves() if (a, e) == (algorithm, environment)],
        )
        for algorithm in _LEVELS
        for environment in ENVIRONMENTS
    ]


def optuna(path: Path) -> None:
    """Write a database of Optuna, sampled at random."""
    log_writers.write_optuna(path, _studies([]))


def optuna_tpe(path: Path) -> None:
    """Write a database of Optuna whose sampler learned from earlier trials."""
    log_writers.write_optuna(path, _studies(["tpe:relative_params"]))


def sacred(folder: Path) -> None:
    """Write the folders of Sacred."""
    for a, e, seed, curve in curves():
        config = {"algorithm": a, "env": e, "seed": seed}
        log_writers.write_sacred(folder / str(seed), {"eval.return": curve}, config)


def dopamine(folder: Path) -> None:
    """Write Dopamine's published form: a file per game."""
    folder.mkdir()
    for name in ENVIRONMENTS:
        records = [
            {"Iteration": number, "Value": value, "Agent": a}
            for a, e, _, curve in curves()
            for number, (_, value) in enumerate(curve)
            if e == name
        ]
        (folder / f"{name}.json").write_text(json.dumps(records))


def dreamer(path: Path) -> None:
    """Write the published scores of DreamerV3."""
    runs = [
        {"task": e, "method": a, "seed": str(seed), "xs": [s for s, _ in curve], "ys": [v for _, v in curve]}
        for a, e, seed, curve in curves()
    ]
    path.write_text(json.dumps(runs))


def marl(path: Path) -> None:
    """Write marl-eval's JSON."""
    content: dict[str, dict[str, dict[str, dict[str, object]]]] = {"gym": {}}
    for a, e, seed, curve in curves():
        points = {
            f"step_{number}": {"step_count": step, "mean_episode_return": [value - 1, value + 1]}
            for number, (step, value) in enumerate(curve)
        }
        content["gym"].setdefault(e, {}).setdefault(a, {})[f"seed_{seed}"] = points
    path.write_text(json.dumps(content))


def bsuite(folder: Path) -> None:
    """Write bsuite's CSV: ``bsuite/ALGORITHM/SEED/bsuite_id_-_EXPERIMENT-0.csv``."""
    names = dict(zip(ENVIRONMENTS, ("cartpole", "catch"), strict=True))
    for a, e, seed, curve in curves():
        home = folder / a / f"seed_{seed}"
        home.mkdir(parents=True)
        total, rows = 0.0, []
        for number, (step, value) in enumerate(curve, start=1):
            total += value
            rows.append([step, number, round(total, 2), 100, value])
        header = ["steps", "episode", "total_return", "episode_len", "episode_return"]
        write_table(home / f"bsuite_id_-_{names[e]}-0.csv", header, rows)


def means(path: Path) -> None:
    """Write a table of means with their spread."""
    path.write_text("game,ppo,dqn\nPong,20.1 ± 0.4,18.2 ± 1.3\nBreakout,1705.80 ± 439.74,380.00 ± 12.00\n")


def pasted(path: Path) -> None:
    """Write scores without names of runs, every row twice."""
    rows = [[a, e, curve[-1][1]] for a, e, _, curve in curves(12)]
    write_table(path, ["algorithm", "environment", "score"], rows * 2)


def curves_as_runs(path: Path) -> None:
    """Write the points of one curve per cell as if they were runs."""
    rows = ([a, e, value] for a, e, _, curve in curves(4) for _, value in curve)
    write_table(path, ["algorithm", "environment", "score"], rows)


def crashed(path: Path) -> None:
    """Write scores with an algorithm that failed in all of its runs on an environment."""
    rows = ([a, e, seed, "" if a == "dqn" else curve[-1][1]] for a, e, seed, curve in curves())
    write_table(path, ["algorithm", "environment", "seed", "score"], rows)


#: What the pages on importing speak of, by name.
SAMPLES: dict[str, Callable[[Path], None]] = {
    "runs.csv": long_scores,
    "curves.csv": long_curves,
    "per_run": file_per_run,
    "sweep.csv": sweep,
    "wide.csv": wide,
    "adastop": adastop,
    "runs.jsonl": jsonl,
    "runs": cleanrl,
    "monitor_logs": monitor,
    "logs": zoo,
    "sb3_logs": progress,
    "wandb": wandb,
    "panel.csv": wandb_panel,
    "wandb_runs.csv": wandb_runs,
    "mlflow.db": mlflow,
    "mlruns": mlruns,
    "optuna.db": optuna,
    "tuned.db": optuna_tpe,
    "sacred": sacred,
    "dopamine": dopamine,
    "dreamer.json": dreamer,
    "marl.json": marl,
    "bsuite": bsuite,
    "means.csv": means,
    "pasted.csv": pasted,
    "points.csv": curves_as_runs,
    "crashed.csv": crashed,
}
