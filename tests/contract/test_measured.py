"""The documentation's figures are those of the files in docs/results, which the benchmarks write."""

import argparse
import json
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import failures
import fingerprints
import pages
import recording
from rendering import fidelity, markdown, overview
from rendering.coverage import experiments
from rendering.files import Results, Unusable
from untuned.collect.kernels.jit import INTERPRETED
from untuned.lab import populations

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "results"
#: Pages that are about what was measured, and nothing else.
MEASURED = ("results", "speed", "power", "coverage", "reproduction", "limitations", "comparison")
#: Tables of words in them: what a command writes, what other tools do.
WORDS = {"reproduction": "| where | what |", "comparison": "| | answers | assumes |"}
WITH_PARTS = [page for page in pages.pages() if "<!-- measured:" in page.read_text(encoding="utf-8")]
BENCHMARKS = ("environments", "engine", "judge", "store", "collect", "metered", "fidelity", "precision", "widths")
#: Files on which the guarantees rest.
GUARANTEES: tuple[str, ...] = ("guaranteed", "approximate", "adaptive", "adaptive-fixed", "pooled-coverage")
LONGER = ("power", "pooled_power", "plan", "pooled_plan", "report", "race_errors", "gallery", "protocols")


# --- the pages


@pytest.mark.parametrize("page", WITH_PARTS, ids=lambda page: str(page.stem))
def test_measured_parts_are_current(page: Path) -> None:
    results = Results(FOLDER)
    text = page.read_text(encoding="utf-8")
    wanted = pages.renewed(text, lambda name: pages.rendered(results, name))
    stale = [a for (a, old), (_, new) in zip(pages.measured(text), pages.measured(wanted), strict=True) if old != new]
    assert not stale, f"python benchmarks/pages.py renews {', '.join(stale)}"


def test_every_measured_part_is_on_a_page() -> None:
    used = {name for page in WITH_PARTS for name, _ in pages.measured(page.read_text(encoding="utf-8"))}
    assert used == set(pages.PARTS)
    assert {page.stem for page in WITH_PARTS} >= set(MEASURED)


def typed(name: str) -> str:
    """Return what people wrote of a page, without its code."""
    text = pages.without_measured((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)


@pytest.mark.parametrize("name", MEASURED)
def test_no_table_is_typed_by_hand(name: str) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", typed(name), flags=re.M)
    assert len(tables) == (name in WORDS)
    assert all(table.startswith(WORDS[name]) for table in tables)


NUMBER = r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)"
CLAIM = re.compile(
    rf"\b{NUMBER}(?:\s+(?:to|or|and)\s+{NUMBER})?(?:\s+times\b|\s*(?:%|x\s+as|ms|µs|ns|s|MB|GB|seconds?|minutes?|hours?|"
    r"bytes|microseconds?|milliseconds?|nanoseconds?)(?!\w))|\b\d[\d,]* of (?:all )?\d[\d,]*"
)
#: Numbers with a unit that are settings of an experiment, not its results.
SETTINGS = {
    "coverage": {"95 %", "70 %", "5 %"},
    "power": {"four times"},
    "reproduction": {"20 minutes"},
    "limitations": {"5 %"},
    "comparison": {"95 %", "5 %"},
}


@pytest.mark.parametrize("name", MEASURED)
def test_no_claim_is_typed_by_hand(name: str) -> None:
    found = {match[0] for match in CLAIM.finditer(" ".join(typed(name).split()))}
    assert found == SETTINGS.get(name, set())


@pytest.mark.parametrize(
    "claim", ["420 times", "8 times as fast", "1.6 hours", "eight times", "0.85 s, which", "45 %", "39 of 60"]
)
def test_a_claim_is_seen(claim: str) -> None:
    assert CLAIM.search(f"It is {claim}.")


def test_the_page_on_coverage_says_that_guaranteed_methods_kept_their_level() -> None:
    results = Results(FOLDER)
    found = experiments(results, "guaranteed")
    assert found.broken() == ()
    assert all(row.data_sets >= 2_000 and row.guaranteed for row in found.rows)
    assert {row.population for row in found.rows} == {each.name for each in populations()}
    assert {row.trials for row in found.rows} == {10, 30, 100, 1_000}
    assert all(found.finding(method) == "kept" for method in found.methods)
    assert experiments(results, "adaptive").broken() == ()
    for row in results.content("pooled-coverage")["rows"]:
        assert row["data_sets"] >= 2_000
        assert (row["finding"] == "broken") == ("*" in row["method"]), row
    assert "kept their level in all" in pages.rendered(results, "coverage-pooled-in-short")
    assert "`betting` kept its level with a look" in pages.rendered(results, "coverage-in-short")
    assert "All five guaranteed methods kept their level of 5 % in every experiment" in pages.rendered(
        results, "coverage-in-short"
    )


def test_the_picture_of_coverage_is_of_these_numbers() -> None:
    picture = (FOLDER.parent / "images" / "coverage.png").read_bytes()
    command = "python benchmarks/failures.py --picture docs/images/coverage.png --out docs/results"
    assert failures.pictured(Results(FOLDER)).encode() in picture, f"{command} draws it again"


# --- the files


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: str(path.stem))
def test_a_file_of_results_says_nothing_of_the_machine_but_its_kind(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    content = json.loads(text)
    assert content.get("complete", True)
    assert not re.search(r'"(/|~|[A-Z]:\\)', text)
    if len(socket.gethostname()) > 3:
        assert socket.gethostname() not in text
    if "benchmark" in content:
        assert content["machine"]["processors"] >= 1
        assert {"python", "numpy", "numba", "untuned"} <= set(content["machine"]["versions"])
        assert content["rows"]


def test_every_benchmark_has_left_its_file() -> None:
    written = {json.loads(path.read_text(encoding="utf-8")).get("benchmark") for path in FOLDER.glob("*.json")}
    assert {*BENCHMARKS, *LONGER} <= written


@pytest.mark.parametrize("name", GUARANTEES)
def test_what_is_said_of_guarantees_was_measured_with_this_code(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert fingerprints.is_current(content), (
        f"measure {name}.json again, or, where an edit cannot change its numbers, say why: "
        f"python benchmarks/fingerprints.py {name} --unchanged REASON"
    )


def test_a_file_of_other_code_is_outdated_until_it_is_said_why_no_number_changes(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    for each in tmp_path.glob("*.json"):
        recording.write(each, "widths", {}, [{"width": 0.5}])
    path = tmp_path / "widths.json"
    recording.write(path, "widths", {}, [{"width": 0.5}])
    assert fingerprints.outdated(tmp_path) == []
    current = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'"digest": "\w', '"digest": "x', current), encoding="utf-8")
    assert fingerprints.outdated(tmp_path) == ["widths.json"]
    row = next(line for line in overview.files(Results(tmp_path)).splitlines() if "`widths.json`" in line)
    assert row.endswith("| earlier |")
    for reasons in (["a name"], ["a name", 'a "quoted" [name], {"digest": 1}']):
        path.write_text(re.sub(r'"digest": "\w', '"digest": "x', path.read_text(encoding="utf-8"), count=1))
        fingerprints.restamp(path, reasons[-1])
        assert fingerprints.outdated(tmp_path) == []
        content = json.loads(path.read_text(encoding="utf-8"))
        assert content["fingerprint"].pop("unchanged") == reasons
        assert content == json.loads(current)
    del content["fingerprint"]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert fingerprints.outdated(tmp_path) == ["widths.json"]
    with pytest.raises(SystemExit, match="no fingerprint"):
        fingerprints.restamp(path, "a name")


def test_what_decides_a_benchmarks_numbers_exists() -> None:
    for name in fingerprints.DECIDES:
        found = fingerprints.fingerprint(name)
        assert all((ROOT / part).exists() for part in found["of"]), name
        assert fingerprints.is_current({"fingerprint": found})


def test_a_page_says_when_the_machine_was_busy(tmp_path: Path) -> None:
    for path in FOLDER.glob("*.json"):
        content = json.loads(path.read_text())
        (tmp_path / path.name).write_text(json.dumps({**content, "load": 0.5}))
    assert pages.rendered(Results(tmp_path), "speed-busy").startswith("No file was measured while")
    for name, load in (("judge", 2.0), ("store", 1.9), ("report", None)):
        content = json.loads((FOLDER / f"{name}.json").read_text())
        machine = {**content["machine"], "processors": 2}
        (tmp_path / f"{name}.json").write_text(json.dumps({**content, "machine": machine, "load": load}))
    assert "other work during `judge.json`: there" in pages.rendered(Results(tmp_path), "speed-busy")


# --- renewing pages


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(
        "Two threads: <!-- measured: speed-threads -->old<!-- end -->.\n\n"
        "<!-- measured: speed-engine -->\n\n<!-- end -->\n"
    )
    return path


def called(module: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", [f"{module}.py", *arguments])
    import_module(module).main()


def test_renewing_writes_what_the_files_say_and_nothing_else(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        called("pages", monkeypatch, "--check", str(page))
    assert stopped.value.code == 1
    assert "page.md: speed-threads is out of date" in capsys.readouterr().out
    assert "old" in page.read_text()
    called("pages", monkeypatch, str(page))
    text = page.read_text()
    row = next(row for row in json.loads((FOLDER / "engine.json").read_text())["rows"] if "workers" in row)
    assert text.startswith(f"Two threads: <!-- measured: speed-threads -->{row['vs_one']:.2f} times as fast as one")
    assert "-->\n\n| dorder (features) |" in text
    assert text.endswith("|\n\n<!-- end -->\n")
    called("pages", monkeypatch, "--check", str(page))
    assert page.read_text() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a <!-- measured: speed-nothing -->b<!-- end -->", "no measured part is called 'speed-nothing'"),
        (
            "<!-- measured: speed-threads -->at the beginning of a line<!-- end -->",
            "neither within a line nor on lines",
        ),
        ("a <!-- measured: speed-threads -->b", "no beginning or no end"),
        ("a <!-- end -->", "no beginning or no end"),
    ],
)
def test_wrong_marks_are_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.md").write_text(text)
    with pytest.raises(SystemExit) as stopped:
        called("pages", monkeypatch, str(tmp_path / "page.md"))
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "page.md").read_text() == text


def test_missing_and_unfinished_files_are_refused(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        called("pages", monkeypatch, "--results", str(tmp_path), str(page))
    assert "engine.json is not there" in capsys.readouterr().err
    content = json.loads((FOLDER / "engine.json").read_text())
    (tmp_path / "engine.json").write_text(json.dumps({**content, "complete": False}))
    with pytest.raises(SystemExit):
        called("pages", monkeypatch, "--results", str(tmp_path), str(page))
    assert "engine.json is not complete" in capsys.readouterr().err
    (tmp_path / "engine.json").write_text(json.dumps({**content, "rows": []}))
    with pytest.raises(SystemExit):
        called("pages", monkeypatch, "--results", str(tmp_path), str(page))
    assert "engine.json has no row with" in capsys.readouterr().err


def test_cells_of_fidelity_are_a_table_and_a_sentence(tmp_path: Path) -> None:
    cells = [
        {"environment": "cart-pole", "algorithm": "sarsa", "trials": 50, "mean": 1.0, "published": 2.0, "z": -0.04},
        {"environment": "cart-pole", "algorithm": "q", "trials": 60, "mean": 1.0, "published": 0.5, "z": 4.6},
        {"environment": "cart-pole", "algorithm": "ac", "trials": 50, "mean": 1.0, "published": 0.5, "z": 3.0},
        {"environment": "acrobot", "algorithm": "ac", "trials": 50, "mean": 1.0, "published": None, "z": None},
    ]
    (tmp_path / "fidelity.json").write_text(json.dumps({"rows": cells}))
    found = fidelity.by_environment(fidelity.cells(Results(tmp_path)).values())
    assert found == {"cart-pole": ["50 to 60", "4.6 (q)", "1 of 3"]}
    assert fidelity.by_environment(cells[:1]) == {"cart-pole": ["50", "0.0 (sarsa)", "0 of 1"]}
    summary = pages.rendered(Results(tmp_path), "fidelity-summary")
    assert summary.startswith("of 3 z-scores 1 are beyond 3, where chance gives 0.0, and 1 beyond 4.5")
    assert summary.endswith("the largest 4.60")
    (tmp_path / "fidelity.json").write_text(json.dumps({"rows": [cells[0], cells[0]]}))
    with pytest.raises(Unusable, match="twice"):
        pages.rendered(Results(tmp_path), "fidelity-summary")


def test_every_file_is_in_the_table_of_files() -> None:
    stems = {path.stem for path in FOLDER.glob("*.json")}
    assert set(overview.FILES) == stems, "overview.FILES says what each file in docs/results holds"
    for _, benchmark, page in overview.FILES.values():
        assert benchmark == "untuned reproduce" or (ROOT / "benchmarks" / benchmark).is_file()
        assert (ROOT / "docs" / page.partition("#")[0]).is_file()


def test_transcribed_files_are_named_where_they_are_used() -> None:
    results = Results(FOLDER)
    names = {path.stem for path in FOLDER.glob("*.json")}
    taken = {name for name in names if "transcribed" in (results.content(name).get("settings") or {})}
    listed = pages.rendered(results, "overview-transcribed")
    table = pages.rendered(results, "overview-files").splitlines()
    for name in taken:
        assert f"- `{name}.json`: {results.settings(name)['transcribed']}." in listed
    assert sum("transcribed" in line for line in table) == len(taken)
    noted = {name for part in pages.PARTS if part.endswith("-files") for name in taken & noted_by(results, part)}
    assert noted == taken


def noted_by(results: Results, part: str) -> set[str]:
    """Return the files that the note of a page calls transcribed."""
    text = pages.rendered(results, part)
    return set(re.findall(r"`([\w-]+)\.json`(?!\])", text.partition("**transcribed**")[0])) if "**tr" in text else set()


def test_the_same_experiment_is_quoted_with_its_branching_budget() -> None:
    results = Results(FOLDER)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part_lines(results, "power-budgets")]
    budgets = [int(row[1].replace(",", "")) for row in rows]
    assert budgets == [
        results.row("judge-whole", "evaluation_seconds", algorithms=4, environments=9)["cases_per_pair"],
        results.settings("paper")["refine"],
        results.content("reproduction")["table_2"]["settings"]["refine"],
        results.settings("collected")["refine"],
    ]
    shares = [
        results.row("power", "method", method="pairing", trials=100)["branching"],
        results.row("paper", "significant", method="pairing", trials=100)["significant"],
        next(
            row["significant"]
            for row in results.content("reproduction")["table_2"]["rows"]
            if (row["method"], row["trials"]) == ("pairing", 100)
        ),
        results.row("collected", "decided", method="pairing", trials=100)["decided"],
    ]
    assert [row[2].partition(" of ")[0] for row in rows] == [f"{100 * share:.1f} %" for share in shares]


def part_lines(results: Results, name: str) -> list[str]:
    """Return the lines of a table below its heading."""
    return pages.rendered(results, name).splitlines()[2:]


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0"), (0.00234, "0.0023"), (0.996, "1.0"), (9.96, "10"), (12.4, "12"), (1234.0, "1,200")]
)
def test_numbers_have_two_significant_digits(number: float, text: str) -> None:
    assert markdown.digits(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2e-5, "20 µs"), (0.0234, "23 ms"), (0.5, "0.50 s"), (119.0, "120 s"), (480.0, "8.0 min"), (7300.0, "2.0 hours")],
)
def test_times_have_their_unit(seconds: float, text: str) -> None:
    assert markdown.duration(seconds) == text


# --- the benchmarks' one door


def test_a_stopped_benchmark_leaves_the_rows_that_it_showed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "some.json"
    options = argparse.Namespace(json=path, rounds=3, folder=tmp_path, limit=None)

    def rows() -> Iterator[dict[str, Any]]:
        yield {"a": 1 / 3}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recording.show(rows(), options, "some", recording.plain)
    content = json.loads(path.read_text())
    assert content["rows"] == [{"a": 0.333333}]
    assert content["settings"] == {"rounds": 3, "folder": True}
    assert not content["complete"]
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(Unusable, match="not complete"):
        Results(path.parent).content("some")
    assert recording.show([{"a": 1}], options, "some", recording.plain) == [{"a": 1}]
    assert json.loads(path.read_text())["complete"]
    assert capsys.readouterr().out.splitlines() == [f"a {1 / 3}", "a 1"]


@pytest.mark.parametrize("benchmark", [*BENCHMARKS, *LONGER])
def test_every_benchmark_explains_its_door(
    benchmark: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        called(benchmark, monkeypatch, "--help")
    assert stopped.value.code == 0
    assert "--json FILE" in capsys.readouterr().out


TINY = {
    "environments": "--rounds 1 --environments cart-pole",
    "engine": "--rounds 1 --dorders 1 --only numpy float32",
    "judge": "--trials 20 --resamples 10 --peer-bounds 1 --peer-resamples 1 --only stages bounds bootstrap",
    "store": "--rows 500 --written 50 --rounds 1",
    "collect": "--no-ray --rounds 1 --trials 1 --studies chain-10",
    "metered": "--rounds 1",
    "fidelity": "--trials 2 --environments chain-10-deterministic --algorithms sarsa",
    "precision": "--trials 2 --environments chain-10-deterministic --algorithms sarsa",
    "widths": "--samples 1 --trials 30",
    "power": "--only limits --trials 10 --sizes 10 --replicates 1",
    "pooled_power": "--data-sets 1 --boards 3x57 --only power",
    "plan": "--populations normal --sizes 10 --pilots 1 --looks 1 --refine 5 --most 100",
    "pooled_plan": "--boards 1 --sizes 5 --looks 1 --most 20 --data-sets 2 --only plan crowd",
    "report": "--boards small --only page --trials 20",
    "race_errors": "--races 1 --trials 60 --populations coins",
    "gallery": "--no-plans",
    "protocols": "--replications 3 --draws 2 --seeds 2 --algorithms sarsa q",
}


@pytest.mark.skipif(INTERPRETED, reason="minutes for a plain interpreter")
@pytest.mark.parametrize("benchmark", [*BENCHMARKS, *LONGER])
def test_a_tiny_run_writes_the_rows_of_which_pages_are_made(
    benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "found.json"
    called(benchmark, monkeypatch, *TINY[benchmark].split(), "--json", str(path))
    content = json.loads(path.read_text())
    assert (content["benchmark"], content["complete"]) == (benchmark, True)
    assert content["machine"] == recording.machine()
    assert content["load"] is None or content["load"] >= 0.0
    for option, value in zip(TINY[benchmark].split(), TINY[benchmark].split()[1:], strict=False):
        if option.startswith("--") and value.isdigit():
            assert content["settings"][option[2:].replace("-", "_")] in (int(value), [int(value)])
    assert len(capsys.readouterr().out.splitlines()) >= len(content["rows"]) >= 1
    # Whatever has the keys of a row of the benchmark's files can be rendered like it; what was left out has none.
    stored = [json.loads(file.read_text()) for file in FOLDER.glob("*.json")]
    shapes = {frozenset(row) for each in stored if each.get("benchmark") == benchmark for row in each["rows"]}
    for row in content["rows"]:
        assert any(set(row) <= shape or shape <= set(row) for shape in shapes), row


@pytest.mark.parametrize(
    ("benchmark", "options"),
    [
        ("environments", "--rounds 0"),
        ("engine", "--rounds 0"),
        ("judge", "--trials 0"),
        ("store", "--written 0"),
        ("collect", "--trials 0"),
        ("metered", "--rounds 0"),
        ("precision", "--trials 1"),
        ("widths", "--level 2"),
        ("power", "--sizes 20 --trials 10"),
        ("pooled_power", "--data-sets 0"),
        ("pooled_plan", "--boards 0"),
        ("report", "--trials 0"),
        ("race_errors", "--races 0"),
        ("protocols", "--seeds 1"),
    ],
)
def test_impossible_numbers_are_refused(
    benchmark: str, options: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        called(benchmark, monkeypatch, *options.split())
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err
