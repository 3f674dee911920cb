"""The page of all commands, from what the program itself says of them.

    python docs_tools/commands.py            writes docs/reference/commands.md
    python docs_tools/commands.py --check    says whether it is current: exit code 1 if it is not

No terminal has a part in it: the page is the same at every width.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from untuned.cli.main import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"

_HEAD = """\
<!-- Written by docs_tools/commands.py from what the program says of itself; `make reference` writes it again. -->

# Commands

`untuned --help` lists the commands, `untuned COMMAND --help` says what is here. `untuned --version` prints the version.

Results go to standard output, progress and complaints to standard error. Exit codes:

- 0: all went well;
- 1: a bug in untuned; please report it, with what `--debug` prints;
- 2: a mistake in what was asked for; the message says what was found, what is allowed and what to do;
- 3: `untuned check` found something serious in the scores;
- 130: stopped with Ctrl-C; what was finished is kept; rerun the command to resume.

`--debug`, anywhere on the line, shows the traceback of an error too.

`untuned --install-completion` makes bash, zsh, fish or PowerShell complete commands and options with the tab key;
`untuned --show-completion` prints the script instead.
"""

#: What stands for a value of each type, where the option does not say it better.
_VALUES = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


def page() -> str:
    """Return the page."""
    program: Any = typer.main.get_command(app)
    # Types are those of the functions: how typer keeps them changes with its release.
    functions = {info.name: info.callback for info in app.registered_commands}
    sections = (_section(name, command, get_type_hints(functions[name])) for name, command in program.commands.items())
    return "\n".join([_HEAD, *sections])


def _section(name: str, command: Any, types: dict[str, Any]) -> str:
    visible = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in visible if each.param_type_name == "argument"]
    options = [each for each in visible if each.param_type_name == "option"]
    usage = " ".join([f"untuned {name}", *map(_usage, arguments), "[OPTIONS]"])
    lines = [f"## untuned {name}", "", *_sentences(command.help), "", "```text", usage, "```", ""]
    for kind, listed in (("Arguments", arguments), ("Options", options)):
        if listed:
            lines += [f"{kind}:", "", *(f"- {_description(each, types[each.name])}" for each in listed), ""]
    return "\n".join(lines)


def _sentences(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield " ".join(paragraph.split())


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _description(parameter: Any, kind: Any) -> str:
    if parameter.param_type_name == "argument":
        called = f"`{_usage(parameter)}`"
    else:
        value = "" if parameter.is_flag else " " + (parameter.metavar or _value(kind))
        called = ", ".join(f"`{each}{value}`" for each in [*parameter.opts, *parameter.secondary_opts])
    said = f"{called}: {' '.join((parameter.help or '').split())}"
    default = parameter.default
    return (
        f"{said} Default: `{default}`."
        if isinstance(default, int | float | str | Path) and default is not False
        else said
    )


def _value(kind: Any) -> str:
    """Return what stands for a value of a type, ``int | None`` for one."""
    return next(_VALUES[each] for each in (kind, *get_args(kind)) if each in _VALUES)


def main() -> None:
    """Write the page, or say whether it is current."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page is out of date")
    if parser.parse_args().check:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
        print("current" if current else "out of date: make reference")
        sys.exit(0 if current else 1)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}")


if __name__ == "__main__":
    main()
