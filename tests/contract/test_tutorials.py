"""The figures in the sentences of tutorials are those of their data and code."""

import itertools
import re

import numpy as np
import polars as pl
from scipy.stats import mannwhitneyu

from support.documents import ROOT, blocks
from support.processes import python

TUTORIALS = ROOT / "docs" / "tutorials"


def text(page: str) -> str:
    return " ".join((TUTORIALS / page).read_text(encoding="utf-8").split())


def test_the_tests_per_task_of_the_tutorial_on_scores() -> None:
    runs = pl.read_csv(ROOT / "examples" / "runs.csv").filter(pl.col("task") != "lander")
    # A crashed run counts as the worst score.
    cells = {
        key: np.nan_to_num(group["mean_return"].fill_null(0.0).to_numpy())
        for key, group in runs.group_by("agent", "task")
    }
    agents, tasks = (sorted({key[place] for key in cells}) for place in (0, 1))
    pairs = [(cells[a, task], cells[b, task]) for task in tasks for a, b in itertools.combinations(agents, 2)]
    found = sum(mannwhitneyu(*pair).pvalue < 0.05 / len(pairs) for pair in pairs)
    page = text("your-scores.md")
    assert f"of {len(pairs)} Mann-Whitney tests" in page
    assert f"{found} have p < 0.05/{len(pairs)}" in page
    critic = np.concatenate([cells["actor-critic", task] for task in tasks])
    assert f"{int((critic < 10).sum())} of its {len(critic)} runs score below 10" in page


def test_the_counts_of_the_lesson() -> None:
    printed = [
        python("-c", block.text, check=True).stdout
        for block in blocks(TUTORIALS / "lesson.md")
        if block.language == "python"
    ]
    page = text("lesson.md")
    assert printed[0] in (TUTORIALS / "lesson.md").read_text(encoding="utf-8")
    laboratories, tests, verdicts = (each.split()[0] for each in printed[1:4])
    assert f"{laboratories} of these 200 do" in page
    assert f"{tests} of these 200 do" in page
    assert verdicts == "0"
    assert "None of these 30 does" in page
    decided = re.findall(r"(\d+) of 15 pairs decided, 0 of them wrong", printed[4])
    assert "{}, {} and {} of 15, none of them wrong".format(*decided) in page
