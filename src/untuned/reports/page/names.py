"""Names as they may stand in sentences."""

import re
import unicodedata


def isolated(name: str) -> str:
    """Return a name as it may stand in a sentence: right-to-left text must not reorder what is around it."""
    plain = re.sub("[\u202a-\u202e\u2066-\u2069]", "", name)
    if plain == name and not any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in name):
        return name
    return f"\N{FIRST STRONG ISOLATE}{plain}\N{POP DIRECTIONAL ISOLATE}"
