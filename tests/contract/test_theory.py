"""The pages on theory: equations have numbers that lead somewhere, and every method has its section."""

import re
from collections.abc import Callable
from types import ModuleType

import pytest

from support.documents import ROOT, docs_tool
from untuned.judge.methods import METHODS

THEORY = ROOT / "docs" / "theory"
CHAPTERS = ["scores", "percentiles", "game", "intervals", "propagation", "verdicts", "pooled"]
TEXTS = {name: (THEORY / f"{name}.md").read_text() for name in ["index", *CHAPTERS]}

ANCHORED = re.compile(r'^<a id="(eq-\d+-\d+)"></a>\n\n\$\$\n(.*?)\n\$\$$', flags=re.M | re.S)
TAG = re.compile(r"\\tag\{(\d+\.\d+)\}")
LINK = re.compile(r"\[\(?(\d+\.\d+)\)?\]\(([\w./-]*)#(eq-\d+-\d+)\)")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def prose(text: str) -> str:
    return re.sub(r"^\$\$$.*?^\$\$$", "", without_code(text), flags=re.M | re.S)


@pytest.mark.parametrize("number", range(1, 1 + len(CHAPTERS)))
def test_equations_are_numbered_in_order_and_anchored(number: int) -> None:
    text = without_code(TEXTS[CHAPTERS[number - 1]])
    tags = TAG.findall(text)
    assert tags == [f"{number}.{place}" for place in range(1, len(tags) + 1)]
    assert len(tags) >= 3
    anchored = {anchor: TAG.findall(body) for anchor, body in ANCHORED.findall(text)}
    assert anchored == {f"eq-{tag.replace('.', '-')}": [tag] for tag in tags}


def test_every_page_of_the_folder_is_one_of_these() -> None:
    assert {page.stem for page in THEORY.glob("*.md")} == set(TEXTS)
    assert not TAG.search(TEXTS["index"])


@pytest.mark.parametrize("page", TEXTS)
def test_references_to_equations_are_links_to_them(page: str) -> None:
    text = prose(TEXTS[page])
    for shown, target, anchor in LINK.findall(text):
        assert anchor == f"eq-{shown.replace('.', '-')}"
        file = THEORY / target if target else THEORY / f"{page}.md"
        assert f'<a id="{anchor}"></a>' in file.read_text(), f"{page}: {shown}"
    # A number in brackets without a link would be a reference that no one can follow.
    assert not re.findall(r"(?<!\[)\(\d\.\d+\)", text)


def test_all_links_of_the_documentation_to_equations_lead_to_one() -> None:
    found = 0
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#(eq-[^)]*)\)", page.read_text()):
            assert f'<a id="{anchor}"></a>' in ((page.parent / target) if target else page).read_text(), page
            found += 1
    assert found > 40


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_page_says_what_it_assumes(page: str) -> None:
    assert re.findall(r"^## What this assumes$", TEXTS[page], flags=re.M) == ["## What this assumes"]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_section_and_says_what_it_assumes(name: str) -> None:
    sections = re.findall(rf"^## `{re.escape(name)}`\n(.*?)(?=^## )", TEXTS["intervals"], flags=re.M | re.S)
    assert len(sections) == 1
    first = " ".join(sections[0].strip().split("\n\n")[0].split())
    assert first.startswith("**Assumes** independent trials")
    assert ("**No guarantee.**" in first) != METHODS[name].guaranteed
    assert ("**Guaranteed" in first) == METHODS[name].guaranteed
    assert ("chosen beforehand" in first) != METHODS[name].anytime
    assert ("The paper's method." in first) == METHODS[name].published
    # And a row in the table that helps to choose.
    assert f"[`{name}`](intervals.md#{name})" in TEXTS["index"]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return docs_tool("equations")


def test_tex_becomes_mathml(tool: ModuleType) -> None:
    page = (
        '<p>With <span class="arithmatex">\\(a &lt; b\\)</span> and <code>$HOME</code>:</p>\n'
        '<p><a id="eq-2-1"></a></p>\n<div class="arithmatex">\\[\n\\max_{k} x_k \\tag{2.1}\n\\]</div>\n<p>So it is.</p>'
    )
    found = tool.with_mathml(page)
    assert "arithmatex" not in found
    assert "\\" not in found
    assert found.count("<math ") == 2
    assert "<mi>a</mi><mo>&#x0003C;</mo><mi>b</mi>" in found
    assert '<div class="equation" id="eq-2-1"><math' in found
    assert '<span class="equation-number">(2.1)</span></div>' in found
    assert "<munder><mi>max</mi>" in found
    assert found.count("eq-2-1") == 1
    assert "<code>$HOME</code>" in found


def test_a_full_stop_stays_with_what_it_ends(tool: ModuleType) -> None:
    found = tool.with_mathml(
        '<p>So <span class="arithmatex">\\(x\\)</span>. And <span class="arithmatex">\\(y\\)</span> is.</p>'
    )
    assert re.search(r'<span class="with-mark"><math .*?</math>\.</span> And <math ', found)


def test_a_display_without_a_number_has_none(tool: ModuleType) -> None:
    found = tool.with_mathml('<div class="arithmatex">\\[ x \\]</div>')
    assert found.startswith('<div class="equation"><math')
    assert "equation-number" not in found


@pytest.mark.parametrize("tex", [r"\nosuchcommand x", r"a & b", r"\begin{aligned} a &= b \\ &= c \end{aligned}"])
def test_tex_that_is_not_understood_is_an_error(tool: ModuleType, tex: str) -> None:
    with pytest.raises(ValueError, match="no MathML"):
        tool.mathml(tex, display=True)


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"T \text{kl}(u)", '<mi>T</mi><mspace width="0.167em" /><mtext>kl</mtext>'),
        (r"a/b", '<mo lspace="0" rspace="0">&#x0002F;</mo>'),
        (r"\Pr(A)", "<mi>Pr</mi>"),
        (r"\mathbf{1}", "<mn>&#x1D7CF;</mn>"),
        (r"q : x", '<mo lspace="0.28em" rspace="0.28em">'),
        (r"|S|", '<mo lspace="0" rspace="0" stretchy="false">'),
    ],
)
def test_spaces_are_as_in_print(tool: ModuleType, tex: str, expected: str) -> None:
    convert: Callable[[str], str] = tool.mathml
    assert expected in convert(tex)


def test_all_equations_of_the_pages_can_be_converted(tool: ModuleType) -> None:
    for text in TEXTS.values():
        shown = re.findall(r"^\$\$$\n(.*?)^\$\$$", without_code(text), flags=re.M | re.S)
        written = re.findall(r"\$([^$\n]+)\$", re.sub(r"`[^`\n]*`", "", prose(text)))
        for tex in [*(TAG.sub("", each) for each in shown), *written]:
            assert tool.mathml(tex).startswith("<math ")


def test_inline_tex_has_nothing_that_markdown_elsewhere_would_take_for_its_own() -> None:
    for page, text in TEXTS.items():
        plain = re.sub(r"`[^`\n]*`", "", prose(text))
        for line in plain.splitlines():
            assert line.count("$") % 2 == 0, f"{page}: {line}"
        for tex in re.findall(r"\$([^$\n]+)\$", plain):
            # GitHub's Markdown takes a backslash before punctuation for an escape, and tables end at a bar.
            assert not re.search(r"\\[^A-Za-z]", tex), f"{page}: {tex}"
            assert "*" not in tex, f"{page}: {tex}"
