"""``untuned check``: what is wrong with scores, before they are judged."""

from typing import TYPE_CHECKING

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.judging_options import AsJson, Sources, takes_records
from untuned.cli.terminal import counting, print_bytes

if TYPE_CHECKING:
    from untuned.diagnostics.diagnosis import Diagnosis
    from untuned.diagnostics.finding import Severity

#: The exit code where a finding is serious: 1 and 2 are those of bugs and of mistakes.
SERIOUS = 3

_WIDTH = 100
_STYLES: "dict[Severity, str]" = {"serious": "bold red", "warning": "bold yellow", "note": "bold"}


@takes_records
def check(
    sources: Sources,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Check scores for mistakes: copied runs, curves passed as runs, swapped axes, missing cells, and others.

    For a study, every stored trial is verified first.

    The exit code is 3 if anything serious was found, which would make the guarantee wrong, and 0 otherwise.
    """
    from untuned.checking import check

    with counting("trials verified") as tell:
        found = check(sources, tell=tell, **reading.options())
    if as_json:
        print_bytes(found.to_json())
    else:
        print_diagnosis(found)
    if found.serious:
        raise typer.Exit(SERIOUS)


def print_diagnosis(found: "Diagnosis") -> None:
    """Print the size of the table, every finding, and how many there are."""
    from rich.padding import Padding

    from untuned.cli.terminal import console, text
    from untuned.diagnostics.diagnosis import details, heading

    screen = console(_WIDTH)
    screen.print(text(screen, found.size))
    for finding in found.findings:
        screen.print()
        screen.print(text(screen, heading(finding), style=_STYLES[finding.severity]))
        for line in details(finding):
            screen.print(Padding(text(screen, line), (0, 0, 0, 2), expand=False))
    screen.print()
    screen.print(text(screen, found.summary))
