"""An agent written by hand, evaluated without tuning: linear Q-learning over tiles, on Gymnasium's Mountain Car.

    python examples/own_agent.py [--trials 5] [--episodes 60]

Every trial draws the hyperparameters anew. The score is the mean return of all learning episodes, as the environment
counted them.
"""

import argparse
from typing import Any

import gymnasium
import numpy as np

import untuned


def tiles(observation: Any, low: Any, high: Any, tilings: int, width: int) -> list[int]:
    """The active tile of each tiling; the tilings are shifted against each other by a part of a tile."""
    scaled = (np.asarray(observation) - low) / (high - low) * (width - 1)
    side = width + 1
    found = []
    for tiling in range(tilings):
        cells = np.clip((scaled + tiling / tilings).astype(int), 0, width)
        found.append(tiling * side**cells.size + int(np.ravel_multi_index(tuple(cells), (side,) * cells.size)))
    return found


def tiled_q(environment: gymnasium.Env[Any, Any], draw: untuned.Draw) -> Any:
    """Q-learning, linear in tiles, epsilon-greedy."""
    tilings = draw.suggest_categorical("tilings", [1, 4, 8])
    width = draw.suggest_int("width", 4, 12)
    step_size = draw.suggest_float("step_size", 0.01, 1.0, log=True) / tilings
    epsilon = draw.suggest_float("epsilon", 0.0, 0.1)
    random = np.random.default_rng(draw.seed())
    space: Any = environment.observation_space
    actions = int(environment.action_space.n)  # type: ignore[attr-defined]
    values = np.zeros((tilings * (width + 1) ** space.shape[0], actions))

    def seen(observation: Any) -> list[int]:
        return tiles(observation, space.low, space.high, tilings, width)

    def greedy(observation: Any) -> int:
        return int(values[seen(observation)].sum(axis=0).argmax())

    try:
        while True:
            observation, _ = environment.reset()
            over = False
            while not over:
                active = seen(observation)
                action = int(random.integers(actions)) if random.random() < epsilon else greedy(observation)
                observation, reward, terminated, truncated, _ = environment.step(action)
                ahead = 0.0 if terminated else values[seen(observation)].sum(axis=0).max()
                values[active, action] += step_size * (float(reward) + ahead - values[active, action].sum())
                over = terminated or truncated
    except untuned.BudgetSpent:
        return greedy


def main() -> None:
    """Print a line per trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=60)
    arguments = parser.parse_args()
    place = untuned.from_gymnasium("MountainCar-v0", episodes=arguments.episodes, score_range=(-200, 0))
    for trial in range(arguments.trials):
        result = untuned.train_trial(tiled_q, place, seed=1, trial=trial)
        drawn = ", ".join(f"{each.name}={each.value:.3g}" for each in result.draws)
        print(f"trial {trial}: score {result.score:7.1f}, afterwards {result.final_return:7.1f}  ({drawn})")


if __name__ == "__main__":
    main()
