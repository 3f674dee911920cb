"""All tables of an evaluation as files, under names that every system takes."""

from collections.abc import Sequence
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.reports.file_names import file_names
from untuned.reports.tables.content import aggregate, environment, environments, head_to_head, pairs, weights
from untuned.reports.tables.printed import printed
from untuned.reports.tables.table import FORMATS


def save_all(evaluation: Evaluation, folder: str | Path, formats: Sequence[str] = ("md", "csv", "tex")) -> list[Path]:
    """Write every table, and return the paths: printed, aggregate, pairs, weights, environments, one per environment.

    Of a second ranking there are aggregate and pairs with its weights in the name: aggregate-uniform.tex.

    An environment's file is called after it, in small letters and digits: environment-cart-pole.tex. Where two
    environments would share a name, the later one gets a number: environment-cart-pole-2.tex.

    Parameters
    ----------
    evaluation
        What to show.
    folder
        Where to write; made if it is not there. Files of the same names are replaced.
    formats
        Some of md, csv, tex and html; all but html by default.
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
        "printed": printed(evaluation),
        "printed-medians": printed(evaluation, "median"),
    }
    for ranking in evaluation.rankings[1:]:
        other = evaluation.under(ranking.weights)
        tables |= {f"aggregate-{ranking.weights}": aggregate(other), f"pairs-{ranking.weights}": pairs(other)}
    if evaluation.head_to_head is not None:
        tables["head-to-head"] = head_to_head(evaluation)
    files = file_names(evaluation.environments)
    tables |= {f"environment-{file}": environment(evaluation, name) for name, file in files.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error.strerror}") from None
    return [table.save(folder / f"{name}.{each}") for name, table in tables.items() for each in dict.fromkeys(formats)]
