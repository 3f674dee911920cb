"""A study's trials as the bytes that must be the same however they were collected."""

import io
from pathlib import Path

from untuned.adapters.exports import write
from untuned.collect.store.store import Store


def exported(folder: Path) -> bytes:
    """Return the study's export as CSV, with the returns of all episodes."""
    file = io.BytesIO()
    with Store.open(folder) as store:
        write(store, "csv", file, returns=True)
    return file.getvalue()
