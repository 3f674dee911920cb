"""Messages of the library in the language of the command line: flags instead of options of Python."""

import re

from untuned.adapters.score_files.reading import Reading
from untuned.cli.collecting_options import Collecting
from untuned.cli.judging_options import flag
from untuned.judge.judging import Judging
from untuned.options import declared

#: Options by their names in Python; those whose flag is not made from the name, and those that no record declares.
_FLAGS = {
    name: flag(name, option)
    for record in (Judging, Reading, Collecting)
    for name, (_, option) in declared(record).items()
} | {name: f"--{name.replace('_', '-')}" for name in ("approximate", "hours", "max_trials")}
_NAMES = "|".join(sorted(_FLAGS, key=len, reverse=True))
#: One option of Python with its value: reduce='mean', ranges={'maze': (0, 1)}, accept=['code'].
_OPTION = rf"(?:algorithm|environment|score|{_NAMES})=(?:'[^']*'|\"[^\"]*\"|\{{[^{{}}]*\}}|\[[^\[\]]*\]|[\w.+-]+)"
_FLAG = r"--[a-z][a-z-]*(?: [^\s().,;:]+| \d[\d.]*)*?"


def in_flags(message: str) -> str:
    """Return a message with flags alone, where it names options of Python, or both.

    Parameters
    ----------
    message
        Of an error, or advice.
    """
    # --reduce HOW (reduce='...') and --plan (untuned.plan): the second is for Python.
    message = re.sub(rf"({_FLAG}) \((?:{_OPTION}|untuned\.\w+)\)", r"\1", message)
    # nonfinite='worst' with ranges (--range NAME=LOW:HIGH --nonfinite worst): the first is.
    message = re.sub(
        rf"{_OPTION}(?:(?:, | and | with ){_OPTION}| with ranges)* ([^()]{{0,30}}?)\((--[^()]+)\)", r"\1\2", message
    )
    return re.sub(rf"\b({_NAMES})=(\['[^',]*'\]|'[^']*'|\"[^\"]*\"|[\w.+-]+)", _typed, message)


def _typed(found: re.Match[str]) -> str:
    flag, value = _FLAGS[found[1]], found[2].strip("[]'\"")
    return flag if value == "True" else f"{flag} {value}"
