"""Every command that the documentation shows does what it says: it runs, ends well, and prints what is shown.

The commands of a page run one after the other in one folder. What a page shows as a file (a block with
``title="my_agent.py"``, or after a sentence that names the file and ends with a colon) is in that folder from there on;
other files come from ``FILES`` when a command names them. What cannot run here is in ``SMALLER`` or ``NOT_RUN``, with
the reason.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import yaml

import untuned
from support import needs, samples
from support.documents import (
    PAGES,
    ROOT,
    Block,
    Command,
    blocks,
    commands,
    indented_commands,
    matches,
    page_name,
    parts,
    without_comment,
)
from support.processes import python
from untuned.cli.main import app

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@dataclass(frozen=True)
class Smaller:
    """A command that takes too long here, and what runs instead; its shown output is not compared.

    Attributes
    ----------
    pattern
        A regular expression of the whole command.
    instead
        What runs, with the pattern's groups.
    reason
        Why.
    """

    pattern: str
    instead: str
    reason: str


@dataclass(frozen=True)
class NotRun:
    """A command that cannot run here; its program, options and files are still checked.

    Attributes
    ----------
    pattern
        A regular expression of the beginning of the command.
    check
        Raises an AssertionError where the command, given as words, cannot be right.
    reason
        Why.
    everywhere
        Whether it holds for a program as such: then no page needs to have such a command.
    """

    pattern: str
    check: Callable[[list[str]], None]
    reason: str
    everywhere: bool = False


def check_untuned(words: list[str]) -> None:
    """Refuse a command, an option or an argument that the program does not have, without running it."""
    program: Any = typer.main.get_command(app)
    assert len(words) > 1, "untuned without a command"
    assert words[1] in program.commands, f"there is no command {words[1]}: {', '.join(program.commands)}"
    redirected = next((place for place, word in enumerate(words) if re.fullmatch(r"\d?(>|>>|<)(&\d)?", word)), None)
    arguments = [word for word in words[2:redirected] if word != "--debug"]
    if {"-h", "--help"} & set(arguments):
        return
    try:
        program.commands[words[1]].make_context(words[1], arguments)
    except _MISTYPED as error:
        raise AssertionError(f"{' '.join(words)}: {error}") from None


# What typer raises for a wrong command, option or argument: it exports the kinds, not their root.
_MISTYPED: Any = typer.BadParameter.__mro__[2]


def check_make(words: list[str]) -> None:
    """Refuse a target that the Makefile does not have."""
    targets = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
    finished = subprocess.run(
        [needs.program("make", "make"), "--dry-run", *targets], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr


def check_pip(words: list[str]) -> None:
    """Refuse an extra that the project does not have, and a package that it never asks for."""
    wanted = [word for word in words[words.index("install") + 1 :] if not word.startswith("-")]
    known = [re.split(r"[\[<>=~! ]", each)[0] for each in PROJECT["dependencies"]]
    for extra in PROJECT["optional-dependencies"].values():
        known += [re.split(r"[\[<>=~! ]", each)[0] for each in extra]
    for each in wanted:
        name, _, extras = each.rstrip("]").partition("[")
        assert name in {".", "untuned", *known}, f"{name} is not a package that this project requires"
        for extra in filter(None, extras.split(",")):
            assert name not in {".", "untuned"} or extra in PROJECT["optional-dependencies"], f"no extra {extra}"


def check_python_script(words: list[str]) -> None:
    """Refuse a script that is not in the repository, and an option that its help does not have."""
    script = ROOT / words[1]
    assert script.is_file(), f"there is no {words[1]}"
    finished = python(str(script), "--help", cwd=ROOT)
    assert finished.returncode == 0, finished.stderr
    _options_are_in(words, finished.stdout)


def check_ray(words: list[str]) -> None:
    """Refuse a command or an option that Ray does not have."""
    needs.extra("ray", "ray")
    finished = subprocess.run(
        ["ray", words[1], "--help"], capture_output=True, text=True, timeout=300, check=False, env=environment()
    )
    assert finished.returncode == 0, finished.stderr
    _options_are_in(words, finished.stdout)


def _options_are_in(words: list[str], text: str) -> None:
    for word in words:
        if word.startswith("--"):
            assert re.search(rf"{re.escape(word.partition('=')[0])}\b", text), f"no option {word}"


def check_nothing(words: list[str]) -> None:
    """Accept commands that need a network, another program or their own shell: they do not involve this project."""


#: Commands that would take too long. The first that fits counts.
SMALLER = (
    Smaller(
        r"untuned coverage --protocol paper",
        "untuned coverage --protocol paper --collect 2 --data-sets 2 --trials 10 --methods pbp@paper --workers 1",
        "20 minutes",
    ),
    Smaller(
        r"untuned coverage --populations (\S+) --methods \S+ --trials \S+ --data-sets \d+ --rows",
        r"untuned coverage --populations \1 --methods pbp-t --trials 10 --data-sets 2 --rows --workers 1",
        "minutes",
    ),
    Smaller(
        r"timeout --foreground --preserve-status --signal INT 10 (untuned collect .*--out stopped) \|\| test .*",
        # Stopped as soon as there is something to stop. A shell starts what runs behind it deaf to SIGINT.
        r"\1 & for look in $(seq 3000); do test -s stopped/results.sqlite && break; sleep 0.1; done; "
        "kill -TERM $!; wait $! || test $? = 130",
        "ten seconds may be over before it begins, on a busy machine",
    ),
    Smaller(r"(untuned report .*--figures )pdf,png", r"\1png", "draws every figure twice"),
    Smaller(
        r"(untuned coverage .*--every .*)",
        r"\1 --data-sets 1 --populations duplicates --workers 1",
        "200 data sets take minutes",
    ),
    Smaller(r"(untuned coverage .*--weights .*)", r"\1 --data-sets 1 --workers 1", "200 data sets take minutes"),
    Smaller(
        r"(untuned coverage\b.*)",
        r"\1 --data-sets 1 --methods pbp-t --trials 10 --workers 1",
        "200 data sets take minutes",
    ),
)

#: Commands of which only the options and files are checked.
NOT_RUN = (
    NotRun(
        r"untuned (run|collect) .*--engine ray", check_untuned, "a cluster; tests/contract/test_ray.py collects on one"
    ),
    NotRun(r"untuned reproduce", check_untuned, "hours; the tests of reproduction run it small", everywhere=True),
    NotRun(r"make\b", check_make, "make sets up its own environment", everywhere=True),
    NotRun(
        r"python examples/gallery/(atari_100k|dopamine|figure)\.py (downloaded|dopamine/|tables/)",
        check_python_script,
        "files that the reader downloads",
    ),
    NotRun(r"python benchmarks/", check_python_script, "benchmarks need minutes and a quiet machine", everywhere=True),
    NotRun(r"(python -m )?pip install\b", check_pip, "the environment of the tests stays as it is", everywhere=True),
    NotRun(r"python3? -m venv\b", check_nothing, "an environment of one's own", everywhere=True),
    NotRun(r"(source|\.) (\S+/)?activate$", check_nothing, "an environment of one's own", everywhere=True),
    NotRun(r"ray (start|stop|status|up|down|submit|job)\b", check_ray, "needs machines", everywhere=True),
    NotRun(r"export RAY_AUTH_MODE=", check_nothing, "a cluster with a token; tests/contract/test_ray.py has one"),
    NotRun(r"git (clone|checkout|pull)\b", check_nothing, "needs a network", everywhere=True),
    NotRun(r"(scp|rsync|ssh) ", check_nothing, "needs another machine", everywhere=True),
    NotRun(r"(sbatch|srun|squeue|scancel) ?", check_nothing, "needs Slurm", everywhere=True),
    NotRun(r"(open|xdg-open) ", check_nothing, "opens a window", everywhere=True),
)

#: What runs as it is: programs that are on every machine, and ours.
RUN = {"untuned", "python", "python3", "cat", "head", "tail", "ls", "cp", "mv", "rm", "mkdir", "cd", "echo", "wc"}
RUN |= {"sort", "grep", "less", "cut", "test", "diff", "sed", "kill", "sleep", "timeout"}


def write_scores(path: Path) -> None:
    """Write the table of scores that pages speak of: three algorithms, two environments."""
    random = np.random.default_rng(3)
    means = {"mine": (7.0, 60.0), "theirs": (5.0, 40.0), "random": (2.0, 10.0)}
    rows = [
        f"{algorithm},{environment},{float(np.clip(random.normal(mean, high / 10), 0, high))!r},{trial}"
        for algorithm, of_each in means.items()
        for (environment, high), mean in zip({"maze": 10.0, "arm": 100.0}.items(), of_each, strict=True)
        for trial in range(60)
    ]
    path.write_text("\n".join(["algorithm,environment,score,seed", *rows]) + "\n")


def write_study(path: Path) -> None:
    """Write a study's file that is done in a second."""
    path.write_text(
        'name = "small"\nseed = 1\ntrials = 20\nkeep = "returns"\n'
        'algorithms = ["sarsa-parl2", "q-s"]\nenvironments = ["chain-10-stochastic", "gridworld-5-stochastic"]\n'
    )


@cache
def small_study() -> Path:
    """Return the folder of a small study, collected once."""
    place = Path(tempfile.mkdtemp(prefix="documented-"))
    write_study(place / "small.toml")
    untuned.collect_scores(untuned.Study.read(place / "small.toml"), place / "small", workers=1)
    return place / "small"


def copy_study(path: Path) -> None:
    """Put the folder of a small study there."""
    shutil.copytree(small_study(), path)


def write_own_algorithms(path: Path) -> None:
    """Write the module of algorithms that pages name in studies."""
    code = (
        block.text for block in blocks(ROOT / "docs" / "how-to" / "own-algorithms.md") if "bandit_like" in block.text
    )
    path.write_text(next(code).split("\n\nplace = ")[0] + "\n\ntrain = bandit_like\n")


#: Files and folders that pages speak of without showing them, made when a command reads them.
FILES: dict[str, Callable[[Path], None]] = {
    "scores.csv": write_scores,
    "study.toml": write_study,
    "study": copy_study,
    "my_study": copy_study,
    "results": copy_study,
    "my_agents.py": write_own_algorithms,
    **samples.SAMPLES,
}


def all_commands(page: Path) -> Iterator[Command]:
    """Yield all commands of a page."""
    if page.parent == ROOT:
        yield from indented_commands(page, ("make", "untuned", "python", "python3", "pip", "git"))
    for block in blocks(page):
        if block.language == "console":
            yield from commands(block)


def steps(page: Path) -> Iterator[Block | Command]:
    """Yield the files and the commands of a page, in order."""
    found: list[Block | Command] = [block for block in blocks(page) if block.file]
    yield from sorted([*found, *all_commands(page)], key=lambda each: each.line)


def environment() -> dict[str, str]:
    """Return the variables that a command sees: our programs first, and a terminal of no particular width."""
    own = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "FORCE_COLOR"}}
    return {**own, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{own.get('PATH', '')}", "MPLBACKEND": "agg"}


def smaller(command: str) -> str | None:
    """Return what runs instead of a command, if something does."""
    for each in SMALLER:
        if re.fullmatch(each.pattern, command):
            return re.sub(f"^{each.pattern}$", each.instead, command)
    return None


def not_run(words: list[str]) -> NotRun | None:
    """Return the entry for what cannot run, if there is one."""
    return next((each for each in NOT_RUN if re.match(each.pattern, " ".join(words))), None)


def read_by(command: str) -> Iterator[str]:
    """Yield the words of a command that may be files it reads: none that the command itself writes before."""
    written: set[str] = set()
    for words in parts(command):
        reads = []
        for before, word in zip(["", *words], words, strict=False):
            if before in {"--out", "-o", ">", ">>"} or words[:2] == ["untuned", "new"]:
                written.add(word)
            else:
                reads.append(word.rstrip("/"))
        yield from (word for word in reads if word not in written)


def prepare(command: str, folder: Path) -> None:
    """Make the files that a command reads and no earlier command made."""
    for word in read_by(command):
        if not re.fullmatch(r"[\w][\w./-]*", word) or (folder / word).exists():
            continue
        if word in FILES:
            FILES[word](folder / word)
        elif (top := Path(word).parts[0]) in FILES and not (folder / top).exists():
            FILES[top](folder / top)
        elif top in {"examples", "docs", "benchmarks"} and (ROOT / word).exists():
            ignored = shutil.ignore_patterns("*.png", "__pycache__")
            shutil.copytree(ROOT / top, folder / top, ignore=ignored, dirs_exist_ok=True)


HOW_TO_HELP = (
    "What to do: mend the page or the program; show a file that the command reads in the page, as a block with "
    'title="NAME"; add one that many pages speak of to FILES, or, for what cannot run here, an entry with its reason '
    "to SMALLER or NOT_RUN, all in tests/contract/test_documented_commands.py."
)


def run(command: Command, folder: Path) -> None:
    """Run a command as the page says, and compare what it prints; or look at its options, where it cannot run."""
    text = command.text.replace(".venv/bin/", "")
    entries = [not_run(words) for words in parts(text)]
    for words, entry in zip(parts(text), entries, strict=True):
        assert entry or words[0] in RUN, f"{command.place}: no test knows the program {words[0]}.\n{HOW_TO_HELP}"
        try:
            # Of a command that is not run, every part is looked at.
            (entry.check if entry else check_untuned if words[0] == "untuned" else check_nothing)(words)
        except AssertionError as error:
            raise AssertionError(f"{command.place}: $ {command.text}\n{error}\n{HOW_TO_HELP}") from None
    if any(entries):
        return
    instead = smaller(text)
    prepare(instead or text, folder)
    finished = subprocess.run(
        [needs.program("bash", "bash"), "-c", f"set -o pipefail\n{instead or text}"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    _check_what_came_out(command, finished, folder, compared=instead is None)


def _check_what_came_out(
    command: Command, finished: "subprocess.CompletedProcess[str]", folder: Path, compared: bool
) -> None:
    out, err = finished.stdout, finished.stderr
    said = f"{command.place}: $ {command.text}\n--- printed:\n{out}--- on the error stream:\n{err}"
    # A page that shows a mistake shows its message; `untuned check` ends with 3 if something is serious.
    codes = {"error:": 2, "serious:": 3}
    expected = max((code for word, code in codes.items() for line in command.shown if line.startswith(word)), default=0)
    there = ", ".join(sorted(each.name for each in folder.iterdir()))
    assert finished.returncode == expected, (
        f"{said}--- exit code {finished.returncode} instead of {expected}; files there: {there}\n{HOW_TO_HELP}"
    )
    if command.shown and compared:
        shown = "\n".join(command.shown)
        # Numbers that do not come from a table of scores come from trials.
        loose = ".csv" not in command.text
        assert any(matches(command.shown, each, loose) for each in (out, err, err + out, out + err)), (
            f"{said}--- the page shows:\n{shown}\n--- what to do: put in the page what is printed into a pipe "
            "(`| cat`), with ... for what differs from run to run, and a line ... for lines left out"
        )


WITH_COMMANDS = [page for page in PAGES if list(all_commands(page))]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=page_name)
def test_the_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    folder = tmp_path
    for step in steps(page):
        if isinstance(step, Block):
            (folder / step.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.file).write_text(step.text)
        elif re.fullmatch(r"cd \S+", step.text):
            # After a clone, one is where one was.
            folder = folder / step.text[3:] if (folder / step.text[3:]).is_dir() else folder
        else:
            run(step, folder)


@pytest.mark.parametrize("entry", [*SMALLER, *NOT_RUN], ids=lambda entry: entry.pattern)
def test_entries_for_commands_that_do_not_run_are_needed(entry: Smaller | NotRun) -> None:
    every = [command.text.replace(".venv/bin/", "") for page in PAGES for command in all_commands(page)]
    if isinstance(entry, Smaller):
        # The first entry that fits a command counts.
        first = [next((each for each in SMALLER if re.fullmatch(each.pattern, text)), None) for text in every]
        assert entry in first, "no page has such a command any more: remove the entry"
        for text in every:
            if re.fullmatch(entry.pattern, text):
                check_untuned(parts(smaller(text) or "")[0])
    else:
        used = any(re.match(entry.pattern, " ".join(words)) for text in every for words in parts(text))
        assert used or entry.everywhere, "no page has such a command any more: remove the entry"
    assert entry.reason


def test_there_are_commands_to_run() -> None:
    texts = [command.text for page in PAGES for command in all_commands(page)]
    assert "untuned evaluate scores.csv" in texts
    assert "make test" in texts
    assert len(texts) >= 30


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_in_sentences_exist(page: Path) -> None:
    """Look up every command and option of the program, and every target of make, that a sentence names."""
    program: Any = typer.main.get_command(app)
    fenceless = re.sub(r"^\s*```.*?^\s*```$", "", page.read_text(), flags=re.M | re.S)
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", fenceless):
        words = code.split()
        if words[:1] == ["make"] and len(words) > 1:
            check_make(shlex.split(code))
        if words[:1] != ["untuned"] or len(words) < 2 or words[1].startswith(("-", ".")) or words[1] == "COMMAND":
            continue
        assert words[1] in program.commands, f"`{code}`: there is no such command"
        options = {name for each in program.commands[words[1]].params for name in [*each.opts, *each.secondary_opts]}
        for word in words[2:]:
            name = word.strip("[],.").partition("=")[0]
            assert not name.startswith("--") or name in {*options, "--help", "--debug"}, f"`{code}`: no option {name}"


CONFIGURATIONS = [
    pytest.param(block, id=block.place)
    for page in PAGES
    for block in blocks(page)
    if block.language in {"toml", "json", "yaml", "bash", "sh"}
]


@pytest.mark.parametrize("block", CONFIGURATIONS)
def test_configurations_and_scripts_can_be_read(block: Block, tmp_path: Path) -> None:
    if block.language == "toml":
        found = tomllib.loads(block.text)
        if {"algorithms", "environments"} & set(found):
            _read_study(block, found, tmp_path)
    elif block.language == "json":
        json.loads(block.text)
    elif block.language == "yaml":
        yaml.safe_load(block.text)
    else:
        bash = needs.program("bash", "bash")
        finished = subprocess.run([bash, "-n"], input=block.text, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, f"{block.place}: {finished.stderr}"
        for line in block.text.replace("\\\n", " ").splitlines():
            if re.match(r"\s*(srun |\S*/)?untuned ", line):
                # A variable stands for a number here: of the task, of the processors.
                words = parts(re.sub(r"\$\{?\w+\}?", "1", without_comment(line)))[0]
                check_untuned(["untuned", *words[next(i for i, word in enumerate(words) if "untuned" in word) + 1 :]])


def _read_study(block: Block, found: dict[str, Any], folder: Path) -> None:
    """Read a study by the program's own reader; a part of one is put into the rest of a study."""
    rest = {
        "name": 'name = "rest"',
        "trials": "trials = 10",
        "algorithms": 'algorithms = ["sarsa-s"]',
        "environments": 'environments = ["acrobot"]',
    }
    missing = [line for key, line in rest.items() if key not in found]
    chosen = [*found.get("algorithms", ()), *found.get("environments", ()), found.get("metric", "")]
    places = [each if isinstance(each, str) else each.get("use") or each.get("gymnasium", "") for each in chosen]
    for module in {place.partition(":")[0] for place in places if ":" in place}:
        _write_module(block, f"{module}.py", folder)
    (folder / "study.toml").write_text("\n".join([*missing, block.text]))
    # In a separate process: modules of one name differ from page to page.
    code = "import untuned; from untuned.collect.resolve import resolve; resolve(untuned.Study.read('study.toml'))"
    finished = python("-W", "error", "-c", code, cwd=folder)
    assert finished.returncode == 0, f"{block.place}: {finished.stderr}"


def _write_module(block: Block, file: str, folder: Path) -> None:
    for each in blocks(block.page):
        if each.file == file:
            (folder / file).write_text(each.text)
            return
    assert file in FILES, f'{block.place}: show {file} in the page, as a block with title="{file}"'
    FILES[file](folder / file)
