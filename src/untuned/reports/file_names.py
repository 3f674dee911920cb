"""Names of algorithms and environments as parts of file names."""

import re
import unicodedata
from collections.abc import Sequence

#: Some file systems take no longer names.
_LONGEST = 60


def file_names(names: Sequence[str]) -> dict[str, str]:
    """Return a part of a file name for each name: lower-case letters, digits and hyphens, no two the same."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
        stem = file = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].rstrip("-") or "unnamed"
        number = 1
        while file in taken:
            number += 1
            file = f"{stem}-{number}"
        taken.add(file)
        found[name] = file
    return found
