"""Ways of evaluating, compared from the command line."""

from pathlib import Path

import pytest

from support.calling import Call, caller

SCORES = """\
algorithm,environment,score
mine,maze,3
mine,maze,4
mine,arm,30
mine,arm,41
theirs,maze,1
theirs,maze,2
theirs,arm,10
theirs,arm,12
"""


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text(SCORES)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "compare-methods")


def test_text_json_and_page(call: Call) -> None:
    said = call("scores.csv", "--resamples", "20", "--workers", "1", "--out", "page.html")
    assert said.code == 0
    assert "Of 17 ways, 15 put mine first and 2 put mine and theirs first." in said.words
    assert "2 denominators give 1 order of the arithmetic means" in said.words
    assert said.out.endswith("page.html\n")
    assert "untuned compare-methods scores.csv --resamples 20" in Path("page.html").read_text(encoding="utf-8")
    content = call("scores.csv", "--resamples", "20", "--workers", "1", "--json").json
    assert len(content["ways"]) == 17
    assert [each["name"] for each in content["demonstrations"]] == ["ratios", "terrible", "copies"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "page.txt"), "let it end in .html"),
        (("--delta", "2"), "--delta 2.0 is outside"),
        (("--resamples", "0"), "--resamples 0 is not allowed"),
        (("--algorithms", "mine"), "two or more"),
    ],
)
def test_mistakes_are_named(call: Call, arguments: tuple[str, ...], words: str) -> None:
    said = call("scores.csv", *arguments)
    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert [path.name for path in Path().iterdir()] == ["scores.csv"]
