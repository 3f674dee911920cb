"""Which path is a study, and in which folder its results are."""

from pathlib import Path

from untuned.collect.shard import Shard
from untuned.collect.store.store import RESULTS_NAME
from untuned.collect.study import Study
from untuned.errors import InvalidInput


def results_folder(study: Study | str | Path, shard: Shard | None = None) -> Path:
    """Return the folder of a study's results: for `study.toml` the folder `study` next to it.

    Parameters
    ----------
    study
        A `Study`, whose folder has its name; the path of its file, of its folder or of its results.
    shard
        The part of the study; each part has its own folder.
    """
    if isinstance(study, Study):
        folder = Path(study.name)
    else:
        path = Path(study).expanduser()
        if path.is_dir():
            folder = path
        elif path.name == RESULTS_NAME:
            folder = path.parent
        else:
            folder = path.with_suffix("") if path.suffix == ".toml" else path.with_name(f"{path.name}.results")
    return folder if shard is None else folder.with_name(f"{folder.name}.shard-{shard.part}-of-{shard.parts}")


def is_study(path: str | Path) -> bool:
    """Return whether a path is a study rather than other scores: its TOML file, its folder or its results."""
    found = Path(path).expanduser()
    return found.suffix == ".toml" or found.name == RESULTS_NAME or (found / RESULTS_NAME).is_file()


def found_folder(path: str | Path) -> Path:
    """Return the folder of a study that has results; raises InvalidInput for any other path."""
    given, folder = Path(path).expanduser(), results_folder(path)
    if (folder / RESULTS_NAME).is_file():
        return folder
    if given.suffix == ".toml":
        if not given.exists():
            raise InvalidInput(f"there is no file {str(given)!r}, and no folder {str(folder)!r}: check the name")
        raise InvalidInput(
            f"the study {str(given)!r} has no results in {str(folder)!r} yet: run it, untuned run {given}, or give the "
            "folder that you named with --out"
        )
    if not given.exists():
        raise InvalidInput(f"there is no file or folder {str(given)!r}: check the name")
    raise InvalidInput(
        f"{str(given)!r} is not a study, which is a folder with {RESULTS_NAME} in it: give the folder that `untuned "
        "run` or `untuned collect` wrote, or the study's file"
    )
