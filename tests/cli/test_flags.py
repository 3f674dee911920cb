"""The command line speaks of flags: in its help, its completion, its messages."""

import os

import pytest

from support.calling import caller
from support.processes import python
from untuned.cli.flags import in_flags


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("with --reduce HOW (reduce='...'), where", "with --reduce HOW, where"),
        (
            "that is, nonfinite='worst' with ranges (--range N=L:H --nonfinite worst); or",
            "that is, --range N=L:H --nonfinite worst; or",
        ),
        ("pass ranges={'maze': (lowest, highest)} (--range maze=LOW:HIGH)", "pass --range maze=LOW:HIGH"),
        ("accept the finding: --accept order (accept=['order'])", "accept the finding: --accept order"),
        ("accept the finding: accept=['order']", "accept the finding: --accept order"),
        ("leave some out with environments=..., or", "leave some out with --environments ..., or"),
        ("say which with score='...' (--columns A,E,S)", "say which with --columns A,E,S"),
        ("delta=1.2 is outside (0, 0.5]: pass 0.05", "--delta 1.2 is outside (0, 0.5]: pass 0.05"),
        ("conventions='paper' is for one: pass weights='game'", "--conventions paper is for one: pass --weights game"),
        ("add --approximate (approximate=True), a bootstrap", "add --approximate, a bootstrap"),
        ("--plan (untuned.plan) predicts", "--plan predicts"),
        ("rerun with --replace (replace=True), or --workers 1 (workers=1)", "rerun with --replace, or --workers 1"),
        ("pass --delta 0.05 (delta=0.05)", "pass --delta 0.05"),
        ("max_algorithms=3, and there are 4", "--max-algorithms 3, and there are 4"),
        ("nothing to change (here): x=1", "nothing to change (here): x=1"),
    ],
)
def test_messages_have_flags_alone(message: str, shown: str) -> None:
    assert in_flags(message) == shown


def test_help_shows_flags_as_flags(capsys: pytest.CaptureFixture[str]) -> None:
    call = caller(capsys)
    for command in ("evaluate", "report", "check", "run", "race"):
        said = call(command, "--help")
        assert said.code == 0
        assert "bool" not in said.out.lower()
        assert "-h" in said.out
    assert "[environment," in call("evaluate", "--help").words


def test_a_shell_completes_commands_and_options() -> None:
    def completed(*words: str) -> list[str]:
        finished = python(
            "-m",
            "untuned",
            env=os.environ
            | {"_UNTUNED_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)},
            timeout=120,
        )
        return finished.stdout.split()

    assert completed("untuned", "eva") == ["evaluate"]
    assert completed("untuned", "evaluate", "--inter") == ["--intervals"]
