"""A study's trials as the bytes that must be the same however they were collected."""

import io
from pathlib import Path

from untuned.adapters.exports import export


def exported(folder: Path) -> bytes:
    """Return the study's export as CSV, with the returns of all episodes."""
    file = io.BytesIO()
    export(folder, file, returns=True)
    return file.getvalue()
