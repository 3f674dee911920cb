"""Collecting from the command line: studies, progress, looking at results, exports, merging, and words for mistakes."""

import errno
import json
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal

import untuned
from support.calling import Call, Said, caller, refuse
from support.programs import ESCAPE
from support.reporting import rounded
from untuned import Study, collect_scores
from untuned.adapters import exports
from untuned.cli.progress import Display, duration, sentence
from untuned.collect.progress import Progress
from untuned.collect.store.store import Store
from untuned.collect.trial import Column, Trial

# Brackets are markup to whoever prints tables; in names they are what they are.
MARKED = "[red]sarsa[/red]"
CHAIN, GRID = "chain-10-stochastic", "gridworld-5-stochastic"
SMALL = f"""\
name = "small"
seed = 5
trials = 3
algorithms = [{{ use = "sarsa", name = "{MARKED}" }}, "q"]
environments = ["{CHAIN}", {{ name = "{GRID}", trials = 2 }}]
keep = "returns"
"""
FAILURE = "RuntimeError: no [bold]luck[/bold]"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


def refused(said: Said, *words: str) -> None:
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    for word in words:
        assert word in said.err


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Be in an empty folder, and leave nothing of the studies behind."""
    monkeypatch.setenv("COLUMNS", "100")
    # A study's folder is looked in for modules.
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The file of a study of ten trials."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that is not to be changed: two trials are missing, one has failed, one kept odd numbers."""
    folder = tmp_path_factory.mktemp("collected") / "small"
    collect_scores(Study.parse(SMALL), folder, workers=1)
    (folder.parent / "small.toml").write_text(SMALL)
    with Store.open(folder, write=True) as store:
        facts = store.facts
        facts["wanted"]["chain-10-stochastic"] = {"[red]sarsa[/red]": 5, "q": 5}
        store.set_facts(facts)
        key: dict[str, Any] = {
            "seed": 5,
            "algorithm": "q",
            "environment": CHAIN,
            "definition_version": "1",
            "fingerprint": "f",
        }
        nan = float("nan")
        odd = np.array([1.0, -np.inf])
        store.add(
            [
                Trial(**key, trial=3, score=nan, final_return=nan, failure=FAILURE, returns=odd, final_returns=odd),
                Trial(**key, trial=4, score=2.0, final_return=nan, diverged=True, adapted={"step_size": nan}),
            ]
        )
    return folder


# untuned new


def test_new_writes_a_study_that_runs(call: Call, tmp_path: Path) -> None:
    said = call("new")
    assert (said.code, said.err) == (0, "")
    assert said.out == "wrote study.toml. Next: untuned run study.toml\n"
    content = tomllib.loads(Path("study.toml").read_text())
    assert content["name"] == "study"
    assert len(content["algorithms"]) > 1
    assert len(content["environments"]) > 1
    said = call("run", "study.toml", "--trials", "2", "--workers", "1")
    assert said.code == 0
    assert "3 algorithms on 2 environments, 2 trials per cell" in said.out
    assert sum(untuned.evaluate(tmp_path / "study").trials_ae.ravel()) == 12


def test_what_new_has_as_comments_is_right_too(call: Call) -> None:
    call("new", "mine.toml")
    text, count = re.subn(r"(?m)^( *)# (\{|\"sb3|time_limit)", r"\1\2", Path("mine.toml").read_text())
    assert count == 5
    study = Study.parse(text)
    assert study.name == "mine"
    assert study.time_limit == 600
    assert len(study.algorithms) == 5
    assert len(study.environments) == 4


@pytest.mark.parametrize("name", ['say "hello".toml', "back\\slash.toml", "study.v2.toml", "λ {x}.toml"])
def test_new_takes_any_name(name: str, call: Call) -> None:
    assert call("new", name).code == 0
    assert Study.read(name).name == name.removesuffix(".toml")


def test_new_overwrites_nothing(call: Call, small: Path) -> None:
    refused(call("new", small), str(small), "exists already", "another name")
    assert small.read_text() == SMALL


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("study.yaml", ("study.yaml does not end in .toml", "untuned new study.yaml.toml")),
        ("study", ("does not end in .toml", "untuned new study.toml")),
        ("nowhere/study.toml", ("nowhere/study.toml cannot be written", "No such file or directory")),
    ],
)
def test_new_says_why_it_wrote_nothing(path: str, words: tuple[str, ...], call: Call, tmp_path: Path) -> None:
    refused(call("new", path), *words)
    assert list(tmp_path.iterdir()) == []


# untuned run


def test_run_prints_the_ranking_and_where_the_trials_are(call: Call, small: Path, tmp_path: Path) -> None:
    said = call("run", small, "--workers", "1")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "2 algorithms on 2 environments, 2 to 3 trials per cell; delta = 0.05"
    for ranking in untuned.evaluate(tmp_path / "small").each_ranking:
        start = lines.index(ranking.rankings[0].heading) + 2
        for line, row in zip(lines[start : start + 2], ranking.rows(), strict=True):
            assert line.split()[0] == row["name"]
            assert rounded(line.split()[1], row["score"])
        assert any(line.startswith(MARKED) for line in lines[start : start + 2])
    folder = tmp_path / "small"
    assert lines[-1] == f"The trials are in {folder}. Next: untuned report {folder} --out report.html"
    assert "10 of 10 trials (100 %), 4 of 4 cells" in said.err
    # Once more, there is nothing to do but to judge, which gives the same.
    quiet = call("run", small, "--workers", "1", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out == said.out.rpartition("\nThe trials are in")[0]


def test_what_to_do_next_can_be_pasted(call: Call, small: Path) -> None:
    for command, out in (("run", "by run"), ("collect", "by collect")):
        said = call(command, small, "--out", out, "--workers", "1")
        assert said.code == 0
        # After the program's name comes what it can be called with.
        next_command = shlex.split(said.out.splitlines()[-1].partition("Next: untuned ")[2])
        assert next_command[1] == out
        assert call(*next_command).code == 0
    assert Path("report.html").is_file()


def test_run_as_json_is_the_library_s_evaluation(call: Call, small: Path, tmp_path: Path) -> None:
    said = call("run", small, "--json", "--trials", "4", "--out", tmp_path / "there", "--workers", "1")
    assert (said.code, said.err) == (0, "")
    assert said.json == untuned.evaluate(tmp_path / "there").to_dict()
    # A number of trials of the environment's own stays.
    assert untuned.evaluate(tmp_path / "there").trials_ae.tolist() == [[4, 2], [4, 2]]
    assert not (tmp_path / "small").exists()
    chosen = call("run", small, "--json", "--trials", "4", "--out", "there", "--intervals", "pbp-t", "--delta", "0.2")
    assert chosen.json == untuned.evaluate("there", intervals="pbp-t", delta=0.2).to_dict()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--intervals", "pbt"], ("'pbt'", "did you mean 'pbp-t'")),
        (["--delta", "2"], ("--delta 2.0", "(0, 0.5]")),
        (["--trials", "0"], ("trials=0", "whole number")),
        (["--trials", "many"], ("'--trials'", "untuned run --help")),
        (["--workers", "0"], ("--workers 0", "positive")),
        (["--engine", "nonsense"], ("--engine nonsense", "'local' or 'ray'")),
        (["--shard", "1/2"], ("--shard",)),
        (["--weights", "nowhere.json"], ("--weights nowhere.json",)),
        (["--weights", "chain=1"], ("'chain'", f"known: {CHAIN}")),
    ],
)
def test_run_checks_what_it_is_told_before_any_trial(
    arguments: list[str], words: tuple[str, ...], call: Call, small: Path, tmp_path: Path
) -> None:
    refused(call("run", small, *arguments), *words)
    assert list(tmp_path.iterdir()) == [small]


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (SMALL.replace(', "q"', ""), (), ("there is one algorithm", "Add another")),
        (
            re.sub("environments = .*", f'environments = ["{CHAIN}"]', SMALL),
            ("--weights", "game"),
            ("one environment", "--weights uniform"),
        ),
    ],
    ids=["one algorithm", "one environment"],
)
def test_run_refuses_what_cannot_be_compared_before_any_trial(
    content: str, options: tuple[str, ...], words: tuple[str, ...], call: Call, small: Path, tmp_path: Path
) -> None:
    small.write_text(content)
    refused(call("run", small, *options), *words)
    assert list(tmp_path.iterdir()) == [small]
    # Collecting is another matter.
    assert call("collect", small, "--workers", "1").code == 0


def test_run_takes_weights(call: Call, small: Path) -> None:
    said = call("run", small, "--weights", "uniform", "--json", "--workers", "1")
    assert said.json == untuned.evaluate("small", weights="uniform").to_dict()


CRASHING = f"""\
name = "crashing"
trials = 30
algorithms = ["sarsa", {{ use = "crashes:train", name = "mine" }}]
environments = ["{CHAIN}", "{GRID}"]
"""


@pytest.fixture
def crashing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a study one of whose algorithms crashes in all of its trials; its module is forgotten afterwards."""
    monkeypatch.setitem(sys.modules, "crashes", None)
    del sys.modules["crashes"]
    (tmp_path / "crashes.py").write_text("def train(environment, draw):\n    raise RuntimeError('no such layer')\n")
    path = tmp_path / "crashing.toml"
    path.write_text(CRASHING)
    return path


@pytest.mark.parametrize("command", ["run", "collect"])
def test_an_algorithm_that_fails_in_all_of_its_first_trials_stops_a_run(
    command: str, call: Call, crashing: Path, tmp_path: Path
) -> None:
    said = call(command, crashing, "--workers", "1", "--quiet")
    refused(said, "'mine' failed in all of its first", "RuntimeError: no such layer (crashes.py:2)", "--keep-going")
    assert str(tmp_path / "crashing") in said.err


def test_an_algorithm_that_crashed_in_all_of_its_trials_is_named_first(
    call: Call, crashing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "mine failed in all of its 60 trials: each counts as the worst score of its environment."
    said = call("run", crashing, "--workers", "1", "--keep-going", "--quiet")
    assert said.code == 0
    assert said.out.splitlines()[:2] == [
        "2 algorithms on 2 environments, 30 trials per cell; delta = 0.05",
        sentence,
    ]
    assert "Every trial of mine failed." in said.out
    assert "(60 of 60 of mine)" in said.words
    facts = call("evaluate", crashing, "--json").json
    assert next(iter(facts.items())) == (
        "failures",
        [{"algorithm": "mine", "failed": 60, "trials": 60, "environments": [CHAIN, GRID]}],
    )
    assert sentence in call("evaluate", crashing, "--format", "markdown").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert f"{ESCAPE}[1;33m{sentence}" in call("evaluate", crashing).out


# untuned collect


def test_collect_tells_of_progress_in_plain_lines(call: Call, small: Path, tmp_path: Path) -> None:
    said = call("collect", small, "--workers", "1")
    folder = tmp_path / "small"
    assert said.code == 0
    assert said.out == f"10 trials are in {folder}. Next: untuned evaluate {folder}\n"
    first, *_, last = said.err.splitlines()
    assert first == "0 of 10 trials (0 %), 0 of 4 cells"
    assert re.fullmatch(r"10 of 10 trials \(100 %\), 4 of 4 cells, [\d.e+,]+ a second, ahead: (.*)", last)
    assert last.split("ahead: ")[1] in (MARKED, "q")
    assert ESCAPE not in said.err
    again = call("collect", small)
    assert again.code == 0
    assert again.out == said.out
    assert len(again.err.splitlines()) == 1


def test_collect_as_json(call: Call, small: Path) -> None:
    said = call("collect", small, "--json", "--workers", "1", "--out", "there")
    assert (said.code, said.err) == (0, "")
    assert said.json == {"folder": "there", "complete": True, "stored": 10, "wanted": 10, "failed": 0}


def test_collect_quietly_says_nothing(call: Call, small: Path) -> None:
    assert call("collect", small, "--quiet", "--workers", "1") == Said(0, "", "")
    # Errors are still reported.
    refused(call("collect", small, "--quiet", "--engine", "nonsense"), "'local' or 'ray'")


def test_a_shard_has_a_folder_of_its_own(call: Call, small: Path, tmp_path: Path) -> None:
    said = call("collect", small, "--shard", "2/3", "--json", "--workers", "1")
    folder = tmp_path / "small.shard-2-of-3"
    assert said.json == {"folder": str(folder), "complete": True, "stored": 4, "wanted": 4, "failed": 0}
    with Store.open(folder) as store:
        assert store.done("q", CHAIN).tolist() == [1]
    assert sorted(tmp_path.iterdir()) == [folder, small]
    said = call("collect", small, "--shard", "3/3", "--json", "--workers", "1", "--out", "part")
    assert said.json["folder"] == "part"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workers", "0"], ("--workers 0", "positive")),
        (["--engine", "nonsense"], ("--engine nonsense", "'local' or 'ray'")),
        (["--shard", "4/3"], ("4/3", "1 to 3")),
        (["--shard", "third"], ("'third'", "PART/PARTS")),
        (["--trials", "-1"], ("trials=-1",)),
        (["--trails", "3"], ("--trails", "untuned collect --help")),
        (["--out", "small.toml"], ("small.toml", "cannot be made")),
    ],
)
def test_collect_checks_what_it_is_told(
    arguments: list[str], words: tuple[str, ...], call: Call, small: Path, tmp_path: Path
) -> None:
    refused(call("collect", small, *arguments), *words)
    assert list(tmp_path.iterdir()) == [small]
    assert small.read_text() == SMALL


@pytest.mark.parametrize("command", ["collect", "run"])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("trials =", "trails ="), ("small.toml, line 3: 'trails' is not a key", "did you mean 'trials'?")),
        (("keep =", "colour ="), ("small.toml, line 6: 'colour' is not a key", "known: name, seed, trials")),
        (("trials = 3\n", ""), ("small.toml has no 'trials'", "untuned new")),
        (("trials = 3", "trials = 0"), ("small.toml, line 3: trials=0",)),
        (('"returns"', '"everything"'), ("small.toml, line 6: keep", "'scores' or 'returns'")),
        (("trials = 3", "trials = = 3"), ("small.toml is not TOML", "line 3")),
        (("trials = 2", "trials = 'two'"), ("small.toml, line 5: environments[1]", "'two'")),
        (('"q"', '\n"qq"'), ("small.toml, line 5: algorithms[1]", "'qq'", "did you mean 'q'")),
        ((GRID, "gridword-5-stochastic"), ("small.toml, line 5: environments[1]", f"did you mean '{GRID}'")),
        (("keep =", "metric = 'best'\nkeep ="), ("small.toml, line 6: metric", "'best'")),
    ],
)
def test_mistakes_in_the_file_are_told_with_their_place(
    command: str, changes: tuple[str, str], words: tuple[str, ...], call: Call, small: Path, tmp_path: Path
) -> None:
    small.write_text(SMALL.replace(*changes, 1))
    refused(call(command, small), *words)
    assert list(tmp_path.iterdir()) == [small]


def test_files_that_are_no_studies(call: Call, small: Path, tmp_path: Path) -> None:
    refused(call("collect", "smal.toml"), "there is no file 'smal.toml'", "did you mean 'small.toml'?")
    refused(call("run", "elsewhere/x.toml"), "there is no file 'elsewhere/x.toml'", "`untuned new` writes an example")
    refused(call("collect", tmp_path), str(tmp_path), "is a folder")
    small.write_bytes(b"name = \xff\xfe")
    refused(call("collect", small), "cannot be read as text")
    refused(call("collect"), "'study'", "untuned collect --help")


# Interruptions.


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Iterable[Callable[[int], None]]:
    """Send a signal the given number of times, after the first trials are stored."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    real = Store.add

    def prepare(times: int, number: int = signal.SIGINT) -> None:
        coming = [number] * times

        def add(self: Store, records: Iterable[Trial]) -> int:
            new = real(self, records)
            while coming:
                signal.raise_signal(coming.pop())
            return new

        monkeypatch.setattr(Store, "add", add)
        monkeypatch.setattr("untuned.collect.engines.engine.Flushed.SECONDS", 0.0)

    yield prepare
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


LONG = ("--trials", "100000", "--workers", "1")


def test_an_interrupted_run_judges_nothing_and_says_how_to_go_on(
    call: Call, small: Path, tmp_path: Path, ctrl_c: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c(1)
    said = call("run", small, "--json", *LONG)
    assert (said.code, said.out) == (130, "")
    assert "stopping; finished trials are stored ..." in said.err
    assert re.search(rf"stopped: \d+ of 200,004 trials are in {re.escape(str(tmp_path / 'small'))}\.", said.err)
    assert said.err.endswith("Rerun the command to resume.\n")
    with Store.open(tmp_path / "small") as store:
        kept = sum(store.counts().values())
    assert f"stopped: {kept:,} of" in said.err
    monkeypatch.undo()
    assert call("collect", small, "--json", "--workers", "1").json["complete"]


def test_interrupted_collecting_says_in_json_what_is_there(
    call: Call, small: Path, ctrl_c: Callable[..., None]
) -> None:
    ctrl_c(1, signal.SIGTERM)
    said = call("collect", small, "--json", *LONG)
    assert said.code == 130
    assert (said.json["complete"], said.json["wanted"]) == (False, 200_004)
    assert 0 < said.json["stored"] < 200_004


def test_an_interrupted_collection_is_not_called_finished(call: Call, small: Path, ctrl_c: Callable[..., None]) -> None:
    ctrl_c(1)
    said = call("collect", small, *LONG)
    assert (said.code, said.out) == (130, "")


def test_the_second_interruption_ends_it_at_once(
    call: Call, small: Path, tmp_path: Path, ctrl_c: Callable[..., None]
) -> None:
    ctrl_c(2)
    said = call("collect", small, *LONG)
    assert (said.code, said.out) == (130, "")
    assert "Rerun the command" not in said.err
    # What was stored before is safe.
    with Store.open(tmp_path / "small") as store:
        assert sum(store.counts().values()) > 0


# What is shown meanwhile.


def progress(
    stored: int,
    wanted: int = 8_000,
    rate: float = 0.0,
    failed: int = 0,
    scores: Mapping[tuple[str, str], Sequence[float]] | None = None,
) -> Progress:
    return Progress(stored, wanted, 4, 3 if stored else 0, rate, failed, scores or {})


@pytest.mark.parametrize(
    ("state", "leader", "line"),
    [
        (progress(0), None, "0 of 8,000 trials (0 %), 0 of 4 cells"),
        (
            progress(2_000, rate=1234.5),
            None,
            "2,000 of 8,000 trials (25 %), 3 of 4 cells, 1,234 a second, about 5 s left",
        ),
        (
            progress(7_999, rate=0.0123, failed=1_500),
            "q",
            "7,999 of 8,000 trials (99 %), 3 of 4 cells, 0.012 a second, about 81 s left, 1,500 failed, ahead: q",
        ),
        (progress(8_000, rate=9.96), "q", "8,000 of 8,000 trials (100 %), 3 of 4 cells, 10 a second, ahead: q"),
        (progress(0, wanted=0), None, "0 of 0 trials (0 %), 0 of 4 cells"),
    ],
)
def test_how_far_it_is_in_a_sentence(state: Progress, leader: str | None, line: str) -> None:
    assert sentence(state, leader) == line


def test_no_time_left_is_estimated_before_the_rate_has_settled() -> None:
    line = "22 of 8,000 trials (0 %), 3 of 4 cells, 0.74 a second"
    assert sentence(progress(22, rate=0.74), None, settled=False) == line


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (0.4, "0 s"),
        (59.6, "60 s"),
        (89.4, "89 s"),
        (90.0, "2 min"),
        (3_600.0, "60 min"),
        (5_399.0, "90 min"),
        (5_400.0, "2 h"),
        (36_000.0, "10 h"),
        (129_599.0, "36 h"),
        (129_600.0, "2 d"),
        (8_640_000.0, "100 d"),
    ],
)
def test_times_as_people_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words


GOOD, POOR = "[red]good[/red]", "poor"
SCORES: dict[tuple[str, str], Sequence[float]] = {
    (POOR, "x"): [1.0, 2.0, 3.0],
    (GOOD, "x"): [2.0, 3.0, 4.0],
    (POOR, "y"): [0.0, float("-inf")],
    (GOOD, "y"): [5.0, 6.0],
}


def test_lines_are_few_and_say_who_is_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(quiet=False) as display:
        watch = display.collecting
        assert watch is not None
        for stored in (0, 2_000, 4_000):
            watch(progress(stored, scores=SCORES))
        watch(progress(8_000, scores={cell: [2.0 if cell[0] == POOR else 1.0] for cell in SCORES}))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        f"0 of 8,000 trials (0 %), 0 of 4 cells, ahead: {GOOD}",
        # Looked at anew, however short the time since.
        f"8,000 of 8,000 trials (100 %), 3 of 4 cells, ahead: {POOR}",
    ]


@pytest.mark.parametrize(
    "scores",
    [{**SCORES, (GOOD, "y"): []}, {(GOOD, "x"): [1.0], (GOOD, "y"): [2.0]}, {}],
    ids=["an empty cell", "one algorithm", "nothing"],
)
def test_nobody_is_ahead_where_nothing_can_be_compared(
    scores: dict[tuple[str, str], Sequence[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    with Display(quiet=False) as display:
        watch = display.collecting
        assert watch is not None
        watch(progress(10, scores=scores))
    assert "ahead" not in capsys.readouterr().err


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> str:
    """Return what appears on a terminal that is the error stream meanwhile."""
    pty = pytest.importorskip("pty", reason="run this on Linux or macOS: it needs a pseudo-terminal")
    master, slave = pty.openpty()
    seen: list[bytes] = []

    def read() -> None:
        # Linux ends it with an error when the other end is closed, others with nothing to read.
        try:
            while piece := os.read(master, 65_536):
                seen.append(piece)
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with os.fdopen(slave, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            patch.setenv("TERM", "xterm-256color")
            patch.setenv("COLUMNS", "200")
            act()
    finally:
        reader.join()
        os.close(master)
    return b"".join(seen).decode()


def test_a_terminal_shows_one_line_that_is_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def act() -> None:
        with Display(quiet=False) as display:
            watch = display.collecting
            assert watch is not None
            watch(progress(1_234, rate=56.0, scores=SCORES))
            watch(progress(2_345, rate=56.0, failed=7, scores=SCORES))

    shown = on_a_terminal(monkeypatch, act)
    line = f"2,345 of 8,000 trials (29 %), 3 of 4 cells, 56 a second, about 2 min left, 7 failed, ahead: {GOOD}"
    assert line in shown
    assert "━" in shown
    # The cursor comes back, and what was shown is cleared away.
    assert shown.rindex(f"{ESCAPE}[?25h") > shown.index(f"{ESCAPE}[?25l")
    assert f"{ESCAPE}[2K" in shown[shown.rindex(line) :]


def test_collecting_on_a_terminal(call: Call, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Said] = []
    shown = on_a_terminal(monkeypatch, lambda: said.append(call("collect", small, "--workers", "1")))
    assert said[0].code == 0
    assert said[0].out.startswith("10 trials are in ")
    assert ESCAPE not in said[0].out
    assert "10 of 10 trials (100 %), 4 of 4 cells" in shown
    assert re.search(r"ahead: (q|\[red\]sarsa\[/red\])", shown)


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_a_terminal_may_be_left_alone(option: str, call: Call, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_a_terminal(monkeypatch, lambda: call("collect", small, option, "--workers", "1")) == ""


# untuned status


CELLS = [
    {"environment": CHAIN, "algorithm": MARKED, "trials": 3, "wanted": 5, "failed": 0},
    {"environment": CHAIN, "algorithm": "q", "trials": 5, "wanted": 5, "failed": 1},
    {"environment": GRID, "algorithm": MARKED, "trials": 2, "wanted": 2, "failed": 0},
    {"environment": GRID, "algorithm": "q", "trials": 2, "wanted": 2, "failed": 0},
]


def test_status_of_a_study_that_is_not_done(call: Call, collected: Path) -> None:
    said = call("status", collected)
    assert (said.code, said.err) == (0, "")
    lines = [line.split() for line in said.out.splitlines()]
    assert said.out.startswith("small: 12 of 14 trials, 85 %\n")
    assert lines[1] == ["environment", "algorithm", "trials", "failed"]
    for line, cell in zip(lines[2:], CELLS, strict=True):
        failed = [str(cell["failed"])] if cell["failed"] else []
        expected = [cell["environment"], cell["algorithm"], str(cell["trials"]), "of", str(cell["wanted"]), *failed]
        assert line == expected
    assert ESCAPE not in said.out
    assert call("status", collected.with_suffix(".toml")) == said


def test_status_as_json(call: Call, collected: Path) -> None:
    assert call("status", collected, "--json").json == {"name": "small", "cells": CELLS, "taken_out": 0}


def test_status_while_somebody_writes(call: Call, collected: Path, tmp_path: Path) -> None:
    shutil.copytree(collected, tmp_path / "copy")
    with Store.open(tmp_path / "copy", write=True):
        assert call("status", tmp_path / "copy", "--json").json["cells"] == CELLS


def test_no_terminal_is_too_narrow_for_the_names_in_a_status(
    call: Call, collected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    printed = call("status", collected).out
    assert "…" not in printed
    # Columns begin where their headings do; their parts, read downwards, are the names.
    heading, *lines = printed.splitlines()[1:]
    begin, end = heading.index("algorithm"), heading.index("trials")
    assert "".join(line[:begin].strip() for line in lines) == "".join(str(cell["environment"]) for cell in CELLS)
    assert "".join(line[begin:end].strip() for line in lines).startswith(MARKED)


@pytest.mark.parametrize(
    "arguments",
    [("status",), ("show", MARKED, CHAIN, "0"), ("export",), ("export", "--format", "parquet", "--out", "x.parquet")],
)
def test_folders_that_are_no_studies(arguments: tuple[str, ...], call: Call, tmp_path: Path) -> None:
    command, *rest = arguments
    (tmp_path / "empty").mkdir()
    refused(call(command, "empty", *rest), "'empty' is not a study", "give the folder")
    refused(call(command, "nowhere", *rest), "there is no file or folder 'nowhere'", "check the name")
    refused(call(command, "nowhere.toml", *rest), "there is no file 'nowhere.toml'")
    (tmp_path / "empty" / "results.sqlite").write_bytes(b"nothing of the kind" * 100)
    refused(call(command, "empty", *rest), "results.sqlite")
    assert list(tmp_path.iterdir()) == [tmp_path / "empty"]


# untuned show


def test_show_has_every_field(call: Call, collected: Path) -> None:
    said = call("show", collected, MARKED, CHAIN, "2")
    assert (said.code, said.err) == (0, "")
    with Store.open(collected) as store:
        trial = store.trial(MARKED, CHAIN, 2)
    facts = trial.as_dict()
    shown = {name: value.strip() for name, _, value in (line.partition(" ") for line in said.out.splitlines())}
    assert list(shown) == list(facts)
    for name in ("seed", "algorithm", "environment", "trial", "score", "final_return", "steps", "seconds"):
        assert shown[name] == str(facts[name])
    assert shown["draws"] == ", ".join(f"{each.name} = {each.value}" for each in trial.draws)
    assert shown["dynamics"] == f"slip_probability = {trial.dynamics['slip_probability']}"
    assert (shown["adapted"], shown["failure"], shown["diverged"]) == ("nothing", "none", "False")
    assert trial.returns is not None
    assert shown["returns"] == f"{trial.returns.size} kept, the last {trial.returns[-1]:g}"
    assert call("show", collected.with_suffix(".toml"), MARKED, CHAIN, "2") == said


def test_show_as_json_has_every_field(call: Call, collected: Path) -> None:
    with Store.open(collected) as store:
        facts = store.trial(MARKED, CHAIN, 2).as_dict()
    assert call("show", collected, MARKED, CHAIN, "2", "--json").json == facts


def test_show_has_trials_that_went_wrong(call: Call, collected: Path) -> None:
    printed = call("show", collected, "q", CHAIN, "3").out
    assert re.search(rf"(?m)^failure +{re.escape(FAILURE)}$", printed)
    assert re.search(r"(?m)^returns +2 kept, the last -inf$", printed)
    facts = call("show", collected, "q", CHAIN, "3", "--json").json
    assert (facts["score"], facts["failure"], facts["returns"]) == (None, FAILURE, [1.0, None])
    assert re.search(r"(?m)^returns +not kept$", call("show", collected, "q", CHAIN, "4").out)
    assert call("show", collected, "q", CHAIN, "4", "--json").json["adapted"] == {"step_size": None}


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (("q", CHAIN, "17"), (f"trial 17 of 'q' on '{CHAIN}' is not stored", "5 others")),
        (("qq", CHAIN, "0"), ("no algorithm of this study is called 'qq'", "did you mean 'q'?", MARKED)),
        (("q", "chain-10", "0"), ("'chain-10'", f"did you mean '{CHAIN}'?")),
        (("q", CHAIN, "first"), ("'trial'", "untuned show --help")),
        (("q", CHAIN, "-1"), ("-1",)),
        (("q", CHAIN), ("'trial'",)),
    ],
)
def test_trials_that_are_not_there(key: tuple[str, ...], words: tuple[str, ...], call: Call, collected: Path) -> None:
    refused(call("show", collected, *key), *words)


# untuned export


def test_formats_are_equal(call: Call, collected: Path, tmp_path: Path) -> None:
    for form in ("csv", "json", "parquet"):
        said = call("export", collected, "--format", form, "--returns", "--seconds", "--out", f"trials.{form}")
        assert said == Said(0, "", f"wrote trials.{form}\n")
    table = polars.read_parquet("trials.parquet")
    assert_frame_equal(polars.read_csv("trials.csv", schema=table.schema), table)
    written = json.loads(Path("trials.json").read_text(), parse_constant=refuse)
    parts = ("draws", "parameters", "adapted", "returns", "final_returns")
    rows = [
        {
            key: json.loads(value, parse_constant=refuse) if value and key in parts else value
            for key, value in row.items()
        }
        for row in table.to_dicts()
    ]
    assert rows == written
    assert len(sorted(tmp_path.iterdir())) == 3


def test_an_export_is_what_the_study_has(call: Call, collected: Path) -> None:
    rows = call("export", collected.with_suffix(".toml"), "--format", "json", "--returns", "--seconds").json
    with Store.open(collected) as store:
        trials = list(store.trials())
    assert len(rows) == len(trials) == 12
    for row, trial in zip(rows, trials, strict=True):
        assert (row["algorithm"], row["environment"], row["trial"]) == (trial.algorithm, trial.environment, trial.trial)
        assert (row["steps"], row["seconds"], row["failure"]) == (trial.steps, trial.seconds, trial.failure)
        assert row["draws"] == {each.name: each.value for each in trial.draws}
    assert trials[0].returns is not None
    assert rows[0]["returns"] == trials[0].returns.tolist()
    (failed,) = [row for row in rows if row["failure"] is not None]
    worst = untuned.environment(CHAIN).score_range
    assert worst is not None
    assert (failed["score"], failed["final_return"], failed["returns"]) == (worst[0], None, [1.0, None])
    (diverged,) = [row for row in rows if row["diverged"]]
    assert (diverged["score"], diverged["adapted"], diverged["returns"]) == (2.0, {"step_size": None}, None)


def test_what_differs_or_is_long_is_left_out_unless_asked_for(call: Call, collected: Path) -> None:
    plain = call("export", collected).out.splitlines()[0].split(",")
    assert plain[:4] == ["algorithm", "environment", "trial", "score"]
    assert not {"seconds", "returns", "final_returns"} & set(plain)
    assert call("export", collected, "--seconds").out.splitlines()[0].split(",") == [*plain, "seconds"]
    with_returns = call("export", collected, "--returns").out.splitlines()[0].split(",")
    assert with_returns == [*plain, "returns", "final_returns"]


def test_a_study_without_trials_has_columns_all_the_same(call: Call, collected: Path, tmp_path: Path) -> None:
    with Store.open(collected) as store:
        Store.create(tmp_path / "empty", store.facts).close()
    plain = call("export", collected).out.splitlines()[0]
    assert call("export", "empty").out == f"{plain}\n"
    assert json.loads(call("export", "empty", "--format", "json").out) == []
    call("export", "empty", "--format", "parquet", "--out", "file")
    call("export", collected, "--format", "parquet", "--out", "full")
    assert polars.read_parquet("file").schema == polars.read_parquet("full").schema
    assert polars.read_parquet("file").height == 0


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_is_printed_is_what_is_written(form: str, call: Call, collected: Path) -> None:
    printed = call("export", collected, "--format", form)
    assert (printed.code, printed.err) == (0, "")
    call("export", collected, "--format", form, "--out", "file")
    assert Path("file").read_bytes() == printed.out.encode()
    assert FAILURE in printed.out
    assert MARKED in printed.out


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("trouble", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_export_is_whole_or_not_there(
    trouble: BaseException,
    there: bool,
    call: Call,
    collected: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def write(content: Iterable[exports.Row], columns: Sequence[Column], file: IO[bytes]) -> None:
        file.write(b"half")
        file.flush()
        raise trouble

    monkeypatch.setitem(exports.FORMS, "csv", write)
    out = tmp_path / "trials.csv"
    if there:
        out.write_text("of yesterday")
    said = call("export", collected, "--out", out)
    assert said.out == ""
    if isinstance(trouble, OSError):
        refused(said, f"{out} cannot be written: No space left on device")
    else:
        assert said.code == 130
    assert [path.read_text() for path in tmp_path.iterdir()] == ["of yesterday"] * there


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "xml"], ("--format xml", "csv, parquet, json")),
        (["--format", "parquet"], ("--format parquet", "--out trials.parquet")),
        (["--out", "nowhere/trials.csv"], ("nowhere/trials.csv cannot be written", "No such file or directory")),
        (["--out", "."], (". cannot be written",)),
        (["--out", f"{__file__}/trials.csv"], (f"{__file__}/trials.csv cannot be written", "Not a directory")),
    ],
)
def test_exports_that_cannot_be(
    arguments: list[str], words: tuple[str, ...], call: Call, collected: Path, tmp_path: Path
) -> None:
    refused(call("export", collected, *arguments), *words)
    assert list(tmp_path.iterdir()) == []


# untuned merge


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of two parts of one study, neither of which may be changed."""
    folder = tmp_path_factory.mktemp("shards")
    for part in (1, 2):
        collect_scores(Study.parse(SMALL), folder / f"part-{part}", shard=f"{part}/2", workers=1)
    return sorted(folder.iterdir())


def test_merge_says_what_it_added(call: Call, shards: list[Path]) -> None:
    first, second = shards
    said = call("merge", "whole", first, second)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        f"{first}: 6 trials added",
        f"{second}: 4 trials added",
        "10 trials are in whole. Next: untuned evaluate whole",
    ]
    again = call("merge", "whole", second)
    assert again.out.splitlines()[0] == f"{second}: 0 trials added"
    assert again.out.splitlines()[1].startswith("10 trials are in whole")


def test_merge_says_what_is_missing_and_takes_more_trials_of_the_same_study(
    call: Call, shards: list[Path], tmp_path: Path
) -> None:
    first, second = shards
    said = call("merge", "whole", first)
    assert said.out.splitlines()[-1] == "6 trials are in whole, 4 are missing: merge the other parts, too."
    collect_scores(Study.parse(SMALL.replace("trials = 3", "trials = 4")), tmp_path / "more", workers=1)
    said = call("merge", "whole", second, tmp_path / "more")
    assert said.out.splitlines()[-1].startswith("12 trials are in whole. Next")
    assert call("status", "whole").out.startswith("small: 12 of 12 trials")


def test_merge_refuses_what_cannot_be_merged(
    call: Call, shards: list[Path], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, second = shards
    other = tmp_path_factory.mktemp("other") / "study"
    collect_scores(Study.parse(SMALL.replace("seed = 5", "seed = 6")), other, workers=1)
    refused(call("merge", first, second, first), f"{first} is one of the parts", "choose another folder")
    # However it is written.
    refused(call("merge", first, first.parent / "x" / ".." / first.name), "is one of the parts")
    refused(call("merge", "whole", "nowhere", first), "there is no file or folder 'nowhere'")
    refused(call("merge", "whole"), "'shards'")
    assert list(tmp_path.iterdir()) == []
    refused(call("merge", "whole", first, other), "not of the same study")
    assert list(tmp_path.iterdir()) == []
    assert call("merge", "whole", first).code == 0
    refused(call("merge", "whole", other), "not of the same study", "seed")
    with Store.open("whole") as store:
        assert sum(store.counts().values()) == 6


# Names.


def test_markup_in_names_is_printed_as_it_is(call: Call, small: Path) -> None:
    small.write_text(SMALL.replace('"small"', '"[bold]small[/]"').replace('"q"', '{ use = "q", name = "[/red]" }'))
    said = call("run", small, "--workers", "1")
    assert said.code == 0
    assert f"\n{MARKED} " in said.out
    assert "\n[/red] " in said.out
    status = call("status", small).out
    assert status.startswith("[bold]small[/]: 10 of 10 trials, 100 %\n")
    assert status.count(MARKED) == status.count(" [/red] ") == 2
    refused(call("show", small, "[/read]", CHAIN, "0"), "'[/read]'", "did you mean '[/red]'?", MARKED)
    assert "\nalgorithm                [/red]\n" in call("show", small, "[/red]", CHAIN, "0").out
