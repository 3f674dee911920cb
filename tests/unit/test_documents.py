"""How the tests read the documentation: blocks, commands, and what counts as shown."""

from pathlib import Path

import pytest

from support.documents import ROOT, blocks, commands, matches, parts, without_comment


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        (("one", "two", "three"), True),
        (("one", "...", "three"), True),
        (("one", "..."), True),
        (("...", "two", "..."), True),
        (("o...", "two", "th...e"), True),
        (("one  ", "two", "three"), True),
        (("one", "three"), False),
        (("one", "two"), False),
        (("one", "two", "three", "four"), False),
        (("o.e", "two", "three"), False),
        (("...", "four", "..."), False),
    ],
)
def test_what_is_shown_is_compared_with_what_was_printed(shown: tuple[str, ...], same: bool) -> None:
    assert matches(shown, "one\ntwo \nthree\n\n") is same


@pytest.mark.parametrize(
    ("printed", "tight", "loose"),
    [
        ("score 0.5300 of 3", True, True),
        ("score 0.5301 of 3", True, True),
        ("score 0.5302 of 3", False, True),
        ("score 0.5500 of 3", False, True),
        ("score 0.5700 of 3", False, False),
        ("score 0.5300 of 4", False, False),
        ("result 0.5300 of 3", False, False),
    ],
)
def test_decimals_may_differ_a_little(printed: str, tight: bool, loose: bool) -> None:
    shown = ("score 0.5300 ...",) if printed.endswith("3") else ("score 0.5300 of 3",)
    assert matches(shown, printed) is tight
    assert matches(shown, printed, loose=True) is loose


def test_comments_go_and_what_looks_like_one_stays() -> None:
    assert without_comment("untuned list   # a line each") == "untuned list"
    assert without_comment("echo 'a # b' c#d # e") == "echo 'a # b' c#d"


def test_every_program_of_a_command_is_seen() -> None:
    assert parts("a 'b c' && d | e --f=1 > g; h") == [["a", "b c"], ["d"], ["e", "--f=1", ">", "g"], ["h"]]


def test_a_page_has_files_and_commands_with_what_they_print(tmp_path: Path) -> None:
    page = ROOT / "docs" / "index.md"
    text = (
        'Words.\n\n```python title="a.py"\nx = 1\n```\n\nThis is `b.toml`, which says more:\n\n```toml\ny = 2\n```\n\n'
        "- In a list:\n\n    ```console\n    $ one \\\n    >   two   # a comment\n    printed\n\n    $ three\n    ```\n"
    )
    (tmp_path / "page.md").write_text(text)
    first, second, third = blocks(tmp_path / "page.md")
    assert (first.file, first.text, first.line) == ("a.py", "x = 1\n", 4)
    assert (second.file, second.text) == ("b.toml", "y = 2\n")
    found = [(each.text, each.shown, each.line) for each in commands(third)]
    assert found == [("one two", ("printed",), 16), ("three", (), 20)]
    assert all(not block.file for block in blocks(page))


def test_a_console_block_begins_with_a_command(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("```text\nprinted\n```\n")
    (block,) = blocks(tmp_path / "page.md")
    with pytest.raises(ValueError, match="begins with a command"):
        list(commands(block))
