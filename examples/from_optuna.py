"""A search space written for Optuna, as a complete definition: what was tuned is drawn instead.

    python examples/from_optuna.py [--trials 5]

Optuna would look for the best values, and the cost of looking would show nowhere. Here every trial draws from the same
search space, so the score says how the algorithm does for somebody who has not tuned it. Optuna is not needed.
"""

import argparse
from typing import Any

import gymnasium
import numpy as np

import untuned


def sample(trial: Any) -> dict[str, Any]:
    """The search space, as it was written for Optuna's trials."""
    return {
        "step_size": trial.suggest_float("step_size", 1e-3, 1.0, log=True),
        "epsilon": trial.suggest_float("epsilon", 0.01, 0.3),
        "discount": trial.suggest_categorical("discount", [0.9, 0.99, 1.0]),
        "optimism": trial.suggest_int("optimism", 0, 2),
    }


def tabular_q(environment: gymnasium.Env[Any, Any], draw: untuned.Draw) -> Any:
    """Tabular Q-learning with the search space's hyperparameters."""
    chosen = sample(draw)
    random = np.random.default_rng(draw.seed())
    states, actions = (int(space.n) for space in (environment.observation_space, environment.action_space))  # type: ignore[attr-defined]
    values = np.full((states, actions), float(chosen["optimism"]))
    try:
        while True:
            state, _ = environment.reset()
            over = False
            while not over:
                explores = random.random() < chosen["epsilon"]
                action = int(random.integers(actions)) if explores else int(values[state].argmax())
                after, reward, terminated, truncated, _ = environment.step(action)
                ahead = 0.0 if terminated else chosen["discount"] * values[after].max()
                values[state, action] += chosen["step_size"] * (float(reward) + ahead - values[state, action])
                state, over = after, terminated or truncated
    except untuned.BudgetSpent:
        return lambda state: int(values[state].argmax())


def main() -> None:
    """Print a line per trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    arguments = parser.parse_args()
    place = untuned.from_gymnasium("FrozenLake-v1", episodes=500, score_range=(0, 1), is_slippery=False)
    for trial in range(arguments.trials):
        result = untuned.train_trial(tabular_q, place, seed=1, trial=trial)
        drawn = ", ".join(f"{each.name}={each.value:.3g}" for each in result.draws)
        print(f"trial {trial}: score {result.score:.3f}, afterwards {result.final_return:.3f}  ({drawn})")


if __name__ == "__main__":
    main()
