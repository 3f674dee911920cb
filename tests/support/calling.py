"""The program, called in the tests' own process, and what it said."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.programs import without_summary
from untuned.cli.main import main


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def complaints(self) -> str:
        """What was said on the error stream, without the line on what scores were recognised as."""
        return without_summary(self.err)

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=refuse)

    @property
    def words(self) -> str:
        """What was printed, however its lines are broken."""
        return " ".join(self.out.split())


Call = Callable[..., Said]


def refuse(constant: str) -> None:
    """Refuse JSON that only Python reads."""
    raise AssertionError(f"{constant} is no JSON")


def caller(capsys: pytest.CaptureFixture[str], *first: str) -> Call:
    """Return what runs the program with these arguments and others; what it says never is a traceback."""

    def called(*arguments: str | Path) -> Said:
        with pytest.raises(SystemExit) as ending:
            main([*first, *map(str, arguments)])
        printed = capsys.readouterr()
        assert isinstance(ending.value.code, int)
        assert "Traceback" not in printed.out + printed.err
        assert "internal error" not in printed.err
        return Said(ending.value.code, printed.out, printed.err)

    return called
