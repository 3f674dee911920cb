"""JSON indented by two spaces, of large documents too."""

import json
from functools import lru_cache
from typing import Any


def indented(content: Any) -> str:
    """Return the text of ``json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)``.

    Python writes indented JSON value by value. Here what has no further levels is written by its compiled encoder, with
    the line feeds as separators: 94 MB in a third of the time.

    Parameters
    ----------
    content
        JSON types; the keys of mappings are texts.
    """
    return _text(content, "\n")


@lru_cache(maxsize=64)
def _encoder(separator: str) -> json.JSONEncoder:
    return json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(separator, ": "))


def _text(value: Any, line: str) -> str:
    """Return a value whose closing bracket stands on a line of its own that begins with ``line``."""
    inner = line + "  "
    if not value or not isinstance(value, (dict, list, tuple)):
        return _encoder(", ").encode(value)
    values = value.values() if isinstance(value, dict) else value
    if _flat(values):
        written = _encoder(f",{inner}").encode(value)
        return f"{written[0]}{inner}{written[1:-1]}{line}{written[-1]}"
    if isinstance(value, dict):
        parts = [f"{_encoder(', ').encode(key)}: {_text(each, inner)}" for key, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if all(isinstance(each, dict) and each and _flat(each.values()) for each in value):
        # Rows of a table, at once. A JSON string has no line feed, so these brackets are not part of a string.
        row = inner + "  "
        rows = _encoder(f",{row}").encode(value)[2:-2].replace(f"}},{row}{{", f"{inner}}},{inner}{{{row}")
        return f"[{inner}{{{row}{rows}{inner}}}{line}]"
    return f"[{inner}{f',{inner}'.join([_text(each, inner) for each in value])}{line}]"


def _flat(values: Any) -> bool:
    return not any(isinstance(each, (dict, list, tuple)) for each in values)
