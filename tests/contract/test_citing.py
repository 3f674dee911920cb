"""The citation is the same everywhere: in the program, on the page, and in CITATION.cff."""

import re
from pathlib import Path
from typing import Any

import yaml

import untuned
from untuned.reports.citing import citation

ROOT = Path(__file__).parents[2]


def described() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def entry(kind: str) -> dict[str, str]:
    """Return the fields of a BibTeX entry, braces taken off."""
    text = citation(untuned.__version__)
    (body,) = re.findall(rf"^@{kind}\{{\w+,\n(.*?)^\}}", text, flags=re.M | re.S)
    return {name: value.strip("{}") for name, value in re.findall(r"^ +(\w+) += (\{.*\}),?$", body, flags=re.M)}


def test_the_file_has_the_version_and_the_title_of_the_program() -> None:
    found, program = described(), entry("software")
    assert found["cff-version"] == "1.2.0"
    assert str(found["version"]) == program["version"] == untuned.__version__
    assert found["title"] == program["title"]
    assert [author["name"] for author in found["authors"]] == [program["author"]]
    assert f'license = "{found["license"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_file_has_the_paper() -> None:
    found, paper = described()["preferred-citation"], entry("inproceedings")
    assert found["title"] == paper["title"]
    names = [f"{author['family-names']}, {author['given-names']}" for author in found["authors"]]
    assert " and ".join(names) == paper["author"]
    assert found["collection-title"] == paper["booktitle"]
    assert (str(found["volume"]), str(found["year"])) == (paper["volume"], paper["year"])
    assert f"{found['start']}--{found['end']}" == paper["pages"]
    assert found["url"] in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_has_both_entries() -> None:
    page = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert f"```bibtex\n{citation(untuned.__version__)}\n```" in page
    assert f"untuned {untuned.__version__}" in page.replace(citation(untuned.__version__), "")
