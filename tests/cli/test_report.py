"""``untuned report``: what it writes and says, and what it refuses before it begins."""

import json
import re
from pathlib import Path

import pytest

from support import reporting
from support.calling import Call, caller


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "report")


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """A file in which quick is better than slow."""
    lines = ["algorithm,environment,score"]
    for a, algorithm in enumerate(("slow", "quick")):
        for e, environment in enumerate(("flat", "steep")):
            lines += [f"{algorithm},{environment},{score + 20 * a}" for score in reporting.scores(a, e, 100)]
    path = tmp_path / "some scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def embedded(page: Path) -> dict[str, object]:
    text = page.read_text(encoding="utf-8")
    content = text.split('id="evaluation">')[1].split("</script>")[0]
    found: dict[str, object] = json.loads(content)
    return found


def test_a_page_and_what_is_said_of_it(call: Call, scores: Path, tmp_path: Path) -> None:
    page = tmp_path / "out" / "page.html"
    said = call(scores, "--out", page, "--title", "Mine & yours")
    assert (said.code, said.complaints) == (0, "")
    assert said.words.startswith("With equal weights and under the game's weights, quick performs best: it is better")
    assert f"{page} (one page, " in said.out
    text = page.read_text(encoding="utf-8")
    assert "<title>Mine &amp; yours</title>" in text
    assert "some scores.csv" in text


def test_an_algorithm_that_crashed_in_all_of_its_trials_is_named_before_the_answer(
    call: Call, scores: Path, tmp_path: Path
) -> None:
    with scores.open("a", encoding="utf-8") as file:
        file.writelines(f"mine,{environment},nan\n" for environment in ("flat", "steep"))
    said = call(scores, "--out", tmp_path / "page.html", "--range", "-500:500", "--nonfinite", "worst")
    assert said.code == 0
    assert said.words.startswith("mine failed in all of its 2 trials: each counts as the worst score")
    assert embedded(tmp_path / "page.html")["failures"] == [
        {"algorithm": "mine", "failed": 2, "trials": 2, "environments": ["flat", "steep"]}
    ]


def test_it_goes_to_the_present_folder_by_default(
    call: Call, scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(scores.name).code == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "untuned report &#39;some scores.csv&#39;" in text


def test_options_of_evaluate_are_those_of_report(call: Call, scores: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    said = call(
        scores, "--out", page, "--intervals", "betting", "--delta", "0.1", "--weights", "flat=3,steep=1",
        "--range", "-500:500", "--compare-with", "pbp, wilson",
    )  # fmt: skip
    assert said.code == 0
    found = embedded(page)
    assert found["method"] == "betting"
    assert found["delta"] == 0.1
    weights = [each["weight"] for each in found["environments"]]  # type: ignore[attr-defined]
    assert weights == pytest.approx([0.75, 0.25])
    assert "from top to bottom: betting, pbp, wilson" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_folder_has_everything(call: Call, scores: Path, tmp_path: Path) -> None:
    said = call(scores, "--out", tmp_path / "all", "--figures", "svg", "--weights", "uniform")
    assert said.code == 0
    there = {path.suffix for path in (tmp_path / "all").rglob("*") if path.is_file()}
    assert there == {".html", ".json", ".md", ".csv", ".tex", ".svg"}
    count = sum(path.is_file() for path in (tmp_path / "all").rglob("*"))
    assert f"({count} files, " in said.out


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--compare-with", "bootstrop"], "bootstrop"),
        (["--compare-with", "pbp,,kl"], "write names with commas between them"),
        (["--figures", "gif"], "gif"),
        (["--figures", ""], "no format for figures"),
        (["--study", "nowhere"], "there is no file or folder 'nowhere'"),
        (["--intervals", "nothing"], "nothing"),
        (["--delta", "2"], "--delta 2"),
        pytest.param(["--out", "."], None, marks=pytest.mark.slow),
    ],
)
def test_mistakes_are_said(
    call: Call, scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], wrong: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    said = call(scores, *arguments)
    if wrong is None:
        # The present folder is a folder, too.
        assert said.code == 0
        assert (tmp_path / "report.html").is_file()
    else:
        assert said.code == 2
        assert wrong in said.err
        assert [path.name for path in tmp_path.iterdir()] == [scores.name]


def test_no_such_source(call: Call, tmp_path: Path) -> None:
    said = call(tmp_path / "nothing.csv", "--out", tmp_path / "page.html")
    assert said.code == 2
    assert "there is no file" in said.err
    assert not (tmp_path / "page.html").exists()


def test_a_plan_is_asked_for(call: Call, capsys: pytest.CaptureFixture[str], scores: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("".join(scores.read_text(encoding="utf-8").splitlines(keepends=True)[::40]), encoding="utf-8")
    few.write_text("algorithm,environment,score\n" + few.read_text().split("\n", 1)[1], encoding="utf-8")
    evaluate = caller(capsys, "evaluate")
    options = ("--intervals", "pairing", "--weights", "uniform", "--plan")
    said = evaluate(few, *options)
    assert said.code == 0
    assert "would probably separate quick from slow." in said.words
    planned = evaluate(few, *options, "--json").json["plan"]
    assert planned["pairs"][0]["trials"] > 3
    assert call(few, "--out", tmp_path / "page.html", *options).code == 0
    assert planned["sentences"][0] in (tmp_path / "page.html").read_text(encoding="utf-8")
    for refused in (("--intervals", "bootstrap"), ("--conventions", "paper")):
        said = call(tmp_path / "nothing.csv", "--plan", *refused)
        assert said.code == 2
        assert "a plan needs" in said.err
    assert "--plan is for text and JSON" in evaluate(few, "--plan", "--format", "csv").err


def test_an_approximate_answer_is_asked_for(
    call: Call, capsys: pytest.CaptureFixture[str], scores: Path, tmp_path: Path
) -> None:
    lines = scores.read_text(encoding="utf-8").splitlines(keepends=True)
    few = tmp_path / "few.csv"
    few.write_text("".join([lines[0], *lines[1::20]]), encoding="utf-8")
    evaluate = caller(capsys, "evaluate")
    options = ("--approximate", "--resamples", "200")
    said = evaluate(few, *options)
    assert said.code == 0
    assert "Approximate (bootstrap), no guarantee: With equal weights:" in said.words
    assert "too few for an approximate method" in said.words
    found = evaluate(few, *options, "--json").json
    assert found["valid"] is True
    assert [each["method"] for each in found["approximate"]["rankings"]] == ["bootstrap", "bootstrap"]
    assert "Approximate (" not in evaluate(few).out
    assert evaluate(few, "--json").json["approximate"] is None
    assert call(few, "--out", tmp_path / "page.html", *options).code == 0
    assert 'id="approximate"' in (tmp_path / "page.html").read_text(encoding="utf-8")
    # The bootstrap refuses an empty cell: a sentence says so, and the rest is there.
    few.write_text("".join(line for line in few.read_text().splitlines(keepends=True) if "quick,steep" not in line))
    said = evaluate(few, *options)
    assert said.code == 0
    assert "There is no approximate answer: the bootstrap cannot draw from cells without trials." in said.words


def test_other_methods_judge_with_the_same_options(call: Call, scores: Path, tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2", "2"):
        options = ("--weights", "uniform", "--compare-with", "bootstrap", "--resamples", "30", "--seed", seed)
        assert call(scores, "--out", tmp_path / "page.html", *options).code == 0
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        # What the second method adds; the command that is shown, too, has the seed in it.
        pages.append(re.sub(r"--seed \d", "", text))
    assert pages[0] != pages[1]
    assert pages[1] == pages[2]


def test_titles_and_names_that_are_no_text(call: Call, scores: Path, tmp_path: Path) -> None:
    said = call(scores, "--out", tmp_path / "page.html", "--weights", "uniform", "--title", "not text: \udcff")
    assert (said.code, said.complaints) == (0, "")
    assert "<title>not text: ?</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    said = call(scores, "--out", "")
    assert said.code == 2
    assert "no place for the report was named" in said.err


def test_a_folder_without_scores_is_answered_in_a_sentence(call: Call, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    said = call(empty, "--out", tmp_path / "page.html")
    assert said.code == 2
    assert said.err.startswith(f"error: there are no files in {str(empty)!r}")
    assert len(said.err.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()
