"""Writes runs.csv: scores as they lie about after some weeks, invented, for the tutorial "Evaluate your scores".

    python examples/runs.py > examples/runs.csv

Other names of columns than untuned's, a task that one agent never ran on, runs that crashed and left no score, and not
many trials. The same bytes every time.
"""

import random

#: The mean return of a good run and how much runs differ; at times hyperparameters are drawn with which nothing works.
AGENTS = {
    "tree-search": {"maze": (81, 6), "arm": (52, 7), "kite": (60, 7), "lander": (70, 9)},
    "actor-critic": {"maze": (70, 8), "arm": (50, 9), "kite": (57, 9), "lander": (66, 10)},
    "tabular-q": {"maze": (74, 9), "arm": (31, 8), "kite": (38, 9)},
    "random-walk": {"maze": (22, 5), "arm": (12, 4), "kite": (16, 5), "lander": (9, 4)},
}
HOPELESS = {"tree-search": 0.04, "actor-critic": 0.22, "tabular-q": 0.10, "random-walk": 0.0}
CRASHES = {"actor-critic": 0.08, "tree-search": 0.02}
TRIALS = 40


def main() -> None:
    """Print a row per run."""
    dice = random.Random(20)
    print("agent,task,seed,mean_return,status")
    for agent, tasks in AGENTS.items():
        for task, (mean, spread) in tasks.items():
            for seed in range(TRIALS):
                hopeless = dice.random() < HOPELESS[agent]
                crashed = dice.random() < CRASHES.get(agent, 0.0)
                found = dice.gauss(0.2 * mean if hopeless else mean, spread)
                score = "" if crashed else f"{min(max(found, 0.0), 100.0):.1f}"
                print(f"{agent},{task},{seed},{score},{'crashed' if crashed else 'ok'}")


if __name__ == "__main__":
    main()
