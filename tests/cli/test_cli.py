"""The program as its users meet it: what it prints, where, with which exit code, and never a traceback."""

import functools
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import untuned
from support.calling import refuse
from support.programs import ESCAPE, PROGRAM, environment, run, succeeded
from untuned.cli.main import main
from untuned.collect.environments.names import NAMES

# The program with one more command, which goes wrong in the way it is told to.
FAILING = """
import sys
sys.argv[0] = "untuned"
import untuned.cli.main as program
from untuned.errors import InvalidInput, MissingExtra, UnknownName

ERRORS = {
    "invalid": InvalidInput("size=-3 is not allowed: give a whole number from 2 to 1,000 [bold]really[/bold]"),
    "unknown": UnknownName("environment", "card-pole", ["cart-pole", "acrobot"]),
    "missing": MissingExtra("Ray", "ray"),
    "defect": RuntimeError("something of ours broke"),
    "wordless": AssertionError(),
    "nested": RecursionError("maximum recursion depth exceeded"),
    "interrupted": KeyboardInterrupt(),
}


@program.app.command()
def fail(kind: str) -> None:
    raise ERRORS[kind]


program.main()
"""


def said_once(message: str, text: str) -> bool:
    """Whether a message is there just once, however its lines are broken and framed."""
    plain = " ".join(re.sub("[│|]", " ", text).split())
    return plain.count(message) == 1


def test_the_program_is_installed_under_its_name() -> None:
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="untuned")
    assert script.load() is main


def test_version() -> None:
    assert succeeded("--version") == f"untuned {untuned.__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_says_what_there_is(option: str) -> None:
    printed = succeeded(option)
    assert "Usage: untuned" in printed
    assert "little or no tuning?" in printed
    for word in ("list", "--version", "--debug", "--help"):
        assert word in printed


def test_every_command_has_help() -> None:
    printed = succeeded("list", "--help")
    assert "Usage: untuned list" in printed
    assert "--json" in printed
    assert said_once("List algorithms, environments, interval methods,", printed)


def test_no_arguments_show_the_help() -> None:
    finished = run()
    assert "Usage: untuned" in finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr


# list


def test_list_shows_every_environment_on_a_line_of_its_own() -> None:
    printed = succeeded("list", "environments")
    lines = printed.splitlines()
    for name in NAMES:
        assert sum(line.split()[:1] == [name] for line in lines) == 1


def test_list_shows_everything() -> None:
    printed = succeeded("list")
    titles = [printed.index(title) for title in ("Algorithms", "Environments", "Interval methods", "Populations")]
    assert titles == sorted(titles)


def test_interval_methods_say_whether_they_keep_their_level() -> None:
    facts = {each["name"]: each for each in json.loads(succeeded("list", "intervals", "--json"))}
    assert {name: each["guaranteed"] for name, each in facts.items()} == {
        "pbp": True,
        "pbp-t": False,
        "bootstrap": False,
        "kl": True,
        "bentkus": True,
        "betting": True,
        "pairing": True,
        "pooled": True,
        "pooled-rounds": True,
        "wilson": False,
    }
    printed = {line.split()[0]: line for line in succeeded("list", "intervals").splitlines() if line.strip()}
    for name, each in facts.items():
        assert each["summary"] in printed[name]
        assert ("always" in printed[name]) == each["guaranteed"]
        assert ("at any time" in printed[name]) == each["anytime"]
        assert ("(default)" in printed[name]) == each["default"] == (name == "pairing")


def test_json_has_every_fact() -> None:
    facts = json.loads(succeeded("list", "environments", "--json"), parse_constant=refuse)
    assert [each["name"] for each in facts] == list(NAMES)
    for each in facts:
        expected = untuned.environment(each["name"]).facts()
        expected["paper_name"] = expected.pop("title")
        assert {key: each[key] for key in expected} == expected
        assert each["score_range"][0] < each["score_range"][1]


def test_json_names_ids_that_gymnasium_makes() -> None:
    import gymnasium

    for each in json.loads(succeeded("list", "environments", "--json")):
        env = gymnasium.make(each["gymnasium_id"])
        made: Any = env.unwrapped
        assert made.environment.name == each["name"]
        assert int(getattr(env.action_space, "n", 0)) == each["actions"]["number"]


def test_json_of_everything_is_one_object() -> None:
    everything = json.loads(succeeded("list", "--json"), parse_constant=refuse)
    assert set(everything) == {"algorithms", "environments", "intervals", "populations", "readers", "rules"}
    assert everything["environments"] == json.loads(succeeded("list", "environments", "--json"))


# Algorithms.

ALGORITHMS = (
    *("sarsa", "sarsa-s", "sarsa-parl2", "q", "q-s", "q-parl2", "ac", "ac-s", "ac-parl2", "nac-td", "ppo"),
    "tuned-within[sarsa-s,4]",
)


def test_list_shows_every_algorithm_on_a_line_of_its_own() -> None:
    lines = [line.split() for line in succeeded("list", "algorithms").splitlines()]
    assert [line[0] for line in lines if line and line[0] in ALGORITHMS] == list(ALGORITHMS)
    (line,) = [line for line in lines if line[:1] == ["sarsa-s"]]
    assert line[1:4] == ["Sarsa(λ)-s", "Sarsa(lambda)", "with"]


@pytest.mark.parametrize("columns", ["40", "80", "0", "none of your business"])
def test_no_terminal_is_too_narrow_for_the_names_of_algorithms(columns: str) -> None:
    printed = succeeded("list", "algorithms", COLUMNS=columns)
    missing = [name for name in ALGORITHMS if not re.search(rf"(?m)^{re.escape(name)}(\s|$)", printed)]
    assert missing == []


def test_json_has_every_fact_about_algorithms() -> None:
    facts = json.loads(succeeded("list", "algorithms", "--json"), parse_constant=refuse)
    assert [each["name"] for each in facts] == list(ALGORITHMS)
    probes = {
        "discrete": untuned.environment("gridworld-5-deterministic"),
        "continuous": untuned.environment("cart-pole"),
    }
    for each in facts:
        definition = untuned.algorithm(each["name"])
        expected: dict[str, Any] = {
            "name": definition.name,
            "paper_name": None if "tuned" in definition.name else definition.title,
            "version": definition.version,
            "summary": definition.summary,
            "same_as": {kind: definition.same_as(probe) for kind, probe in probes.items()},
            "differs": list(definition.differs),
            "hyperparameters": {
                kind: [row.facts() for row in definition.describe(probe)] for kind, probe in probes.items()
            },
        }
        assert each == expected
    same = {each["name"]: each["same_as"] for each in facts}
    assert same["sarsa-s"] == {"discrete": "sarsa", "continuous": None}
    assert same["ppo"] == {"discrete": None, "continuous": None}


DESCRIBED = """\
sarsa-s (Sarsa(λ)-s in the paper)
Sarsa(lambda) with the step size divided by the number of features
the same as sarsa on discrete states

hyperparameter  discrete states               continuous states
dorder          -                             U{0..9}
iorder          -                             U{1..9}
gamma           1 - ln-uniform(0.0001, 0.05)  1 - ln-uniform(0.0001, 0.05)
lambda          U(0, 1)                       U(0, 1)
epsilon         U(0, 0.1)                     U(0, 0.1)
step_size       ln-uniform(0.001, 0.1)        ln-uniform(0.001, 1) / n_features

Differs: The paper's table prints epsilon ~ U(0, 1)"""


def test_an_algorithm_is_described_in_full() -> None:
    printed = succeeded("list", "algorithms", "--describe", "sarsa-s")
    assert "\n".join(line.rstrip() for line in printed.splitlines()).startswith(DESCRIBED)
    for note in untuned.algorithm("sarsa-s").differs:
        assert said_once(f"Differs: {note}", printed)
    # There is nothing else that can be described.
    assert succeeded("list", "--describe", "sarsa-s") == printed


def test_a_narrow_terminal_has_the_whole_description() -> None:
    printed = succeeded("list", "algorithms", "--describe", "tuned-within(ac-parl2, 2)", COLUMNS="40")
    plain = " ".join(printed.split())
    assert plain.startswith("tuned-within[ac-parl2,2] the best of 2 draws of ac-parl2")
    scaled = "ln-uniform(0.001, 1) / (n_features * n_actions)"
    for turn in (1, 2):
        assert f"{turn}.dorder continuous: U{{0..9}} {turn}.iorder" in plain
        assert f"{turn}.critic_step_size discrete: adapted, starts at 1 continuous: adapted, starts at 1" in plain
        assert f"{turn}.actor_step_size discrete: ln-uniform(0.001, 0.1) continuous: {scaled}" in plain


def test_a_description_as_json_is_that_of_the_list() -> None:
    everything = json.loads(succeeded("list", "algorithms", "--json"))
    for place in (1, 11):
        described = json.loads(succeeded("list", "algorithms", "--describe", ALGORITHMS[place], "--json"))
        assert described == everything[place]
    other = json.loads(succeeded("list", "algorithms", "--json", "--describe", "tuned-within[q,2]"))
    assert other["name"] == "tuned-within[q,2]"


# Terminals and pipes.

DESCRIBE = ["list", "algorithms", "--describe", "ac-s"]


@pytest.mark.parametrize(
    "arguments", [["list"], ["--help"], ["list", "environments", "--json"], ["lst"], ["list", "nothing"], DESCRIBE]
)
def test_a_pipe_gets_no_colour(arguments: list[str]) -> None:
    finished = run(*arguments, TERM="xterm-256color", COLORTERM="truecolor")
    assert finished.stdout or finished.stderr
    assert ESCAPE not in finished.stdout
    assert ESCAPE not in finished.stderr


# Messages are left to the terminal to wrap, so that they can be copied and searched for.
@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["list", "--help"], DESCRIBE])
@pytest.mark.parametrize("columns", ["40", "60", "80"])
def test_lines_are_no_longer_than_the_terminal(arguments: list[str], columns: str) -> None:
    finished = run(*arguments, COLUMNS=columns)
    lines = (finished.stdout + finished.stderr).splitlines()
    assert lines
    assert max(map(len, lines)) <= int(columns)


@pytest.mark.parametrize("columns", ["40", "80", "0", "none of your business"])
def test_no_terminal_is_too_narrow_for_the_names(columns: str) -> None:
    printed = succeeded("list", COLUMNS=columns)
    missing = [name for name in NAMES if not re.search(rf"(?m)(^|\s){re.escape(name)}(\s|$)", printed)]
    assert missing == []


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [(["list"], "40"), (["list"], "80"), (["--help"], "80"), (["lst"], "80"), (DESCRIBE, "40"), (DESCRIBE, "80")],
)
def test_a_terminal_that_knows_only_ascii_is_enough(arguments: list[str], columns: str) -> None:
    finished = run(*arguments, COLUMNS=columns, PYTHONIOENCODING="ascii")
    assert finished.returncode == (2 if arguments == ["lst"] else 0), finished.stderr
    assert "internal error" not in finished.stderr
    assert (finished.stdout + finished.stderr).isascii()


@functools.cache
def into_a_closed_pipe(*arguments: str) -> tuple[int, str]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaints = process.stderr.read()
        return process.wait(timeout=300), complaints


CLOSED = pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["--help"], ["--version"]])


@CLOSED
def test_a_reader_that_has_seen_enough_hears_no_complaint(arguments: list[str]) -> None:
    _, complaints = into_a_closed_pipe(*arguments)
    assert complaints == ""


@CLOSED
def test_a_reader_that_has_seen_enough_is_no_defect_of_ours(arguments: list[str]) -> None:
    code, _ = into_a_closed_pipe(*arguments)
    assert code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["list"], ["--version"]])
def test_a_full_disk_is_said_and_is_no_success(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
    assert finished.returncode != 0
    assert "No space left" in finished.stderr
    assert "Traceback" not in finished.stderr


# Mistakes and defects.


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["lst"], ("'lst'", "'list'")),
        (["--versio"], ("--versio", "--version")),
        (["list", "environment"], ("'environment'", "did you mean 'environments'", "algorithms", "intervals")),
        (["list", "--jsn"], ("--jsn", "--json")),
        (["list", "environments", "algorithms"], ("algorithms",)),
        (["list", "environments", "--json=yes"], ("--json",)),
        (["list", "algorithms", "--describe"], ("--describe", "requires an argument")),
        (["list", "algorithms", "--describe", "srsa"], ("no algorithm is called 'srsa'", "did you mean 'sarsa'")),
        (["list", "algorithms", "--describe", "srsa", "--json"], ("no algorithm is called 'srsa'",)),
        (["list", "algorithms", "--describe", "tuned-within[q,0]"], ("k=0 is not allowed",)),
        (
            ["list", "environments", "--describe", "cart-pole"],
            ("--describe cart-pole is for algorithms", "not for environments", "untuned list environments --json"),
        ),
        (["list", "intervals", "--describe", "sarsa"], ("--describe sarsa is for algorithms", "not for intervals")),
    ],
)
def test_a_mistake_on_the_command_line_says_what_is_allowed(arguments: list[str], parts: tuple[str, ...]) -> None:
    finished = run(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert "Traceback" not in finished.stderr
    for part in parts:
        assert part in finished.stderr


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("invalid", "size=-3 is not allowed: give a whole number from 2 to 1,000 [bold]really[/bold]"),
        ("unknown", "no environment is called 'card-pole': did you mean 'cart-pole'? known: acrobot, cart-pole"),
        ("missing", "Ray needs an optional dependency: pip install 'untuned[ray]'"),
    ],
)
def test_a_users_mistake_is_one_message_and_exit_code_2(kind: str, message: str) -> None:
    finished = run("fail", kind, program=FAILING)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr == f"error: {message}\n"


@pytest.mark.parametrize("kind", ["defect", "wordless", "nested"])
def test_a_defect_is_a_short_message_and_exit_code_1(kind: str) -> None:
    finished = run("fail", kind, program=FAILING)
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert "Traceback" not in finished.stderr
    assert finished.stderr.startswith("internal error: ")
    assert "--debug" in finished.stderr
    assert len(finished.stderr.splitlines()) <= 3


def test_a_defect_is_named() -> None:
    assert "RuntimeError: something of ours broke" in run("fail", "defect", program=FAILING).stderr


PLACES = pytest.mark.parametrize("place", [0, 1, 2])


def _with_debug(kind: str, place: int) -> subprocess.CompletedProcess[str]:
    arguments = ["fail", kind]
    arguments.insert(place, "--debug")
    return run(*arguments, program=FAILING)


@PLACES
@pytest.mark.parametrize(
    ("kind", "last"),
    [("invalid", "untuned.errors.InvalidInput: size=-3"), ("defect", "RuntimeError: something of ours broke")],
)
def test_debug_shows_the_traceback_wherever_it_stands(kind: str, last: str, place: int) -> None:
    finished = _with_debug(kind, place)
    assert finished.stderr.count("Traceback (most recent call last)") == 1
    assert said_once(last, finished.stderr)
    assert "raise ERRORS[kind]" in finished.stderr or "in fail" in finished.stderr


@PLACES
@pytest.mark.parametrize(("kind", "code"), [("invalid", 2), ("defect", 1)])
def test_debug_changes_what_is_shown_and_not_the_exit_code(kind: str, code: int, place: int) -> None:
    assert _with_debug(kind, place).returncode == code


def test_debug_changes_nothing_when_all_goes_well() -> None:
    expected = succeeded("list", "algorithms")
    for arguments in (
        ("--debug", "list", "algorithms"),
        ("list", "--debug", "algorithms"),
        ("list", "algorithms", "--debug"),
    ):
        assert succeeded(*arguments) == expected


def test_an_interruption_is_quiet() -> None:
    finished = run("fail", "interrupted", program=FAILING)
    assert finished.returncode == 130
    assert "Traceback" not in finished.stderr
    assert "internal error" not in finished.stderr


# Called from Python.


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["list", "nothing"], 2)])
def test_the_program_can_be_called_with_arguments(arguments: list[str], code: int) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == code


def test_calling_it_leaves_the_arguments_as_they_were() -> None:
    arguments = ["--debug", "--version"]
    with pytest.raises(SystemExit):
        main(arguments)
    assert arguments == ["--debug", "--version"]


def test_the_package_runs_as_a_module() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "untuned", "--version"], capture_output=True, encoding="utf-8", timeout=300, check=True
    )
    assert finished.stdout == f"untuned {untuned.__version__}\n"


def test_the_facts_name_what_the_paper_calls_them() -> None:
    facts = json.loads(succeeded("list", "environments", "--json"))
    assert [each["paper_name"] for each in facts][8:12] == ["Acrobot", "Cart-Pole", "Mountain Car", "PinBall Empty"]
    assert all("title" not in each for each in facts)
