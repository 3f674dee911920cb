"""RL Baselines3 Zoo's files in the folder of a run, ``logs/<algorithm>/<environment>_<number>``."""

import re

from untuned.adapters.score_files.opening import File

#: The folder of a run: the environment's name, a number, and with ``--uuid`` a unique suffix.
_FOLDER = re.compile(r"(.+)_\d+(?:_[0-9a-f-]{36})?")


def settings(file: File) -> dict[str, str]:
    """Return ``env`` and ``seed`` of the run of a file, if its folder has them.

    They are in ``<environment>/args.yml``, a dump of Python objects. A YAML loader would execute code in such a file,
    so this searches for two lines instead.
    """
    folder = _FOLDER.fullmatch(file.path.parent.name)
    kept = file.sibling(folder[1], "args.yml") if folder is not None else None
    if kept is None:
        return {}
    text = kept.head.decode("utf-8", errors="replace")
    found = {key: _value(text, key) for key in ("env", "seed")}
    return {key: value for key, value in found.items() if value}


def _value(text: str, key: str) -> str:
    """Return the value of a key, written as ``- - seed``, ``- 1`` below it, or as ``seed: 1``."""
    match = re.search(rf"^[ -]*- {key}\n +- ([^\n]*)$|^{key}: *([^\n]*)$", text.replace("\r\n", "\n"), re.MULTILINE)
    value = (match[1] or match[2] or "").strip().strip("'\"") if match else ""
    return "" if value in ("null", "~") else value
