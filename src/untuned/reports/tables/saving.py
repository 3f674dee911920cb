"""All tables of an evaluation as files, under names that every system takes."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.reports.tables.content import aggregate, environment, environments, pairs, weights
from untuned.reports.tables.table import FORMATS

#: Some systems take no longer names.
_LONGEST = 60


def save_all(evaluation: Evaluation, folder: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write aggregate, pairs, weights, environments and one table per environment; return the files' paths.

    An environment's file is called after it, in small letters and digits: environment-cart-pole.tex. Where two
    environments would share a name, the later one gets a number: environment-cart-pole-2.tex.

    Parameters
    ----------
    evaluation
        What to show.
    folder
        Where to write; made if it is not there. Files of the same names are replaced.
    formats
        Some of md, csv and tex.
    """
    if isinstance(formats, str):
        raise InvalidInput(f"formats={formats!r} is one string: pass a list, for example [{formats!r}]")
    unknown = [each for each in formats if each not in FORMATS]
    if unknown or not formats:
        raise InvalidInput(f"formats={list(formats)!r}: pass some of {', '.join(FORMATS)}")
    folder = Path(folder)
    tables = {
        "aggregate": aggregate(evaluation),
        "pairs": pairs(evaluation),
        "weights": weights(evaluation),
        "environments": environments(evaluation),
    }
    names = file_names(evaluation.environments)
    tables |= {file: environment(evaluation, name) for name, file in zip(evaluation.environments, names, strict=True)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error.strerror}") from None
    return [table.save(folder / f"{name}.{each}") for name, table in tables.items() for each in dict.fromkeys(formats)]


def file_names(environments: Iterable[str]) -> list[str]:
    """Return a name for each environment's file: letters, digits and hyphens, no two the same on any system."""
    taken: set[str] = set()
    found = []
    for name in environments:
        ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
        words = re.sub("[^a-z0-9]+", "-", ascii_only).strip("-")[:_LONGEST].rstrip("-")
        plain = file = f"environment-{words or 'unnamed'}"
        number = 1
        while file in taken:
            number += 1
            file = f"{plain}-{number}"
        taken.add(file)
        found.append(file)
    return found
