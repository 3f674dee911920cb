"""``untuned trial``: what it prints, as text, as JSON and as a curve, and what it says of mistakes."""

import json
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from support.calling import refuse
from support.programs import PROGRAM, environment, run, succeeded
from untuned.cli.main import main
from untuned.collect.runner.trial import run_trial

CELL = ("sarsa-s", "chain-10-stochastic")
KEY = ("--seed", "7", "--trial", "3")


def as_json(*arguments: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(succeeded("trial", *arguments, "--json"), parse_constant=refuse)
    return facts


def test_text_has_what_was_drawn_and_what_came_out() -> None:
    printed = succeeded("trial", *CELL, *KEY)
    result = run_trial(*CELL, seed=7, trial=3)
    lines = printed.splitlines()
    assert lines[0] == "sarsa-s in chain-10-stochastic, seed 7, trial 3"
    headings = [lines.index(heading) for heading in ("Hyperparameters drawn", "Environment drawn", "Outcome")]
    assert headings == sorted(headings)
    shown = {line[2:].partition("  ")[0]: line.split("  ")[-1].strip() for line in lines if line.startswith("  ")}
    for each in result.draws:
        assert f"{each.value:.6g}" in shown[each.name]
    assert shown["slip_probability"] == f"{result.dynamics['slip_probability']:.6g}"
    assert f"  {result.score:.6g}  (mean return of 100 episodes of learning)" in printed
    assert f"  {result.final_return:.6g}  (mean of 30 more, learning off)" in printed
    assert shown["steps"] == f"{result.steps:,}"
    assert "diverged" not in printed
    assert "\x1b" not in printed


def test_another_precision_is_said() -> None:
    first = succeeded("trial", *CELL, "--precision", "float32").splitlines()[0]
    assert first == "sarsa-s in chain-10-stochastic, seed 0, trial 0, float32"
    assert as_json(*CELL, "--precision", "float32")["precision"] == "float32"


def test_json_is_the_result_and_repeats() -> None:
    facts = as_json(*CELL, *KEY)
    assert facts == run_trial(*CELL, seed=7, trial=3).facts()
    for field in ("draws", "parameters", "score", "final_return", "returns", "final_returns", "diverged", "steps"):
        assert field in facts
    assert (facts["seed"], facts["trial"]) == (7, 3)
    assert len(facts["returns"]) == 100
    assert facts["score"] == pytest.approx(sum(facts["returns"]) / 100)
    again = subprocess.run(
        [sys.executable, "-c", PROGRAM, "trial", *CELL, *KEY, "--json"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    assert again.stdout == succeeded("trial", *CELL, *KEY, "--json")


def test_tuning_within_says_whose_draws_are_whose() -> None:
    printed = succeeded("trial", "tuned-within(sarsa, 2)", "chain-10-stochastic")
    assert printed.startswith("tuned-within[sarsa,2] in")
    for name in ("1.gamma", "2.step_size"):
        assert f"  {name} " in printed


DIVERGING = """
import sys
sys.argv[0] = "untuned"
import untuned.cli.main as program
import untuned.collect.definitions.paper as paper
from untuned.collect.distributions import LogUniform
paper._ON_DISCRETE = LogUniform(1e99, 1e100)
program.main()
"""


def test_divergence_is_said() -> None:
    printed = succeeded("trial", "sarsa", "chain-10-stochastic", program=DIVERGING)
    assert re.search(r"diverged +yes: .*the score still counts", printed)
    facts = json.loads(
        succeeded("trial", "sarsa", "chain-10-stochastic", "--json", program=DIVERGING), parse_constant=refuse
    )
    assert facts["diverged"] is True


BRAILLE = re.compile("[\u2800-\u28ff]")


def curve_of(text: str) -> list[str]:
    # Fewer columns than episodes share them.
    whole = "Return of each episode while learning, 1 to 100\n"
    shared = "Returns, neighbouring episodes averaged, while learning, 1 to 100\n"
    _, heading, drawing = text.partition(whole if whole in text else shared)
    assert heading
    return drawing.splitlines()


def test_the_curve_in_braille() -> None:
    printed = succeeded("trial", *CELL, "--plot")
    assert printed.startswith(succeeded("trial", *CELL))
    drawing = curve_of(printed)
    assert len(drawing) == 8
    assert all(BRAILLE.search(line) for line in drawing)
    returns = run_trial(*CELL).returns
    # A hundred episodes have a column of dots each: the scale ends at the best and the worst of them.
    assert drawing[0].split()[0] == f"{returns.max():.6g}"
    assert drawing[-1].split()[0] == f"{returns.min():.6g}"


def test_the_curve_in_ascii() -> None:
    printed = succeeded("trial", *CELL, "--plot", PYTHONIOENCODING="ascii")
    drawing = curve_of(printed)
    assert printed.isascii()
    assert len(drawing) == 8
    assert all("*" in line for line in drawing)


@pytest.mark.parametrize("columns", ["1", "20", "40", "80", "300"])
def test_the_curve_fits_the_terminal(columns: str) -> None:
    drawing = curve_of(succeeded("trial", *CELL, "--plot", COLUMNS=columns))
    longest = max(map(len, drawing))
    assert longest <= max(int(columns), 24)
    assert longest >= 11


def test_with_json_the_curve_goes_to_the_other_stream() -> None:
    finished = run("trial", *CELL, "--json", "--plot")
    assert finished.returncode == 0
    assert finished.stdout == succeeded("trial", *CELL, "--json")
    assert len(curve_of(finished.stderr)) == 8
    assert BRAILLE.search(finished.stderr)
    # The other stream decides: this one takes what cannot be encoded as escapes.
    assert "\\u28" not in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sarsaa", "cart-pole"), "did you mean 'sarsa'?"),
        (("sarsa", "cartpole"), "did you mean 'cart-pole'?"),
        (("sarsa", "cart-pole[gravity=abc]"), "gravity"),
        (("tuned-within[sarsa,60]", "chain-10-stochastic"), "60 candidates need 120"),
        (("tuned-within[sarsa,0]", "chain-10-stochastic"), "k=0 is not allowed"),
        ((*CELL, "--seed", "-1"), "--seed -1 is not allowed"),
        ((*CELL, "--seed", "1" * 30), "is not allowed: give a whole number from 0"),
        ((*CELL, "--trial", "-5"), "trial=-5 is not allowed"),
        ((*CELL, "--trial", "x"), "--trial"),
        ((*CELL, "--seed", "1.5"), "--seed"),
        ((*CELL, "--precision", "double"), "known: float32, float64"),
        ((CELL[0],), "environment"),
        ((*CELL, "more"), "more"),
        ((*CELL, "--nonsense"), "--nonsense"),
    ],
)
def test_mistakes_are_said_in_words(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["trial", *arguments])
    printed = capsys.readouterr()
    assert ending.value.code == 2
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert len(printed.err.splitlines()) <= 3


def test_help() -> None:
    printed = succeeded("trial", "--help", COLUMNS="120")
    assert "Usage: untuned trial" in printed
    for word in ("--seed", "--trial", "--precision", "--json", "--plot", "untuned list algorithms"):
        assert word in printed


# A trial that learns for minutes.
ENDLESS = """
import dataclasses, signal, sys, time
from types import SimpleNamespace
sys.argv[0] = "untuned"
import untuned.cli.main as program
import untuned.collect.runner.trial as runner
from untuned.collect.environments.environment import Budget
found = runner.environment_named
runner.environment_named = lambda name: dataclasses.replace(found(name), budget=Budget(episodes=100_000_000))
# Where tests run in the background the signal is ignored, and processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The runner looks at the clock before and after every piece of learning: at the fifth look, two pieces are done.
looks = []
def perf_counter():
    looks.append(None)
    if len(looks) == 5:
        print("learning", file=sys.stderr, flush=True)
    return time.perf_counter()
runner.time = SimpleNamespace(perf_counter=perf_counter)
program.main()
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send a process SIGINT alone: try Ctrl-C by hand there"
)
def test_an_interruption_is_heard_while_an_algorithm_learns() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, "trial", *CELL],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "learning\n"
            process.send_signal(signal.SIGINT)
            # 100 million episodes would take hours.
            process.wait(timeout=300)
        finally:
            process.kill()
