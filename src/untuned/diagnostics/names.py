"""Names that are probably spellings of one name."""

import re
from collections import defaultdict
from collections.abc import Sequence

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Sample

# What separates words. Between digits it matters, 1_1 and 11, and before a number "-" is a sign: 1e-3, x=-1.
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[\s_-]+(?=[0-9])")
_SEPARATOR = re.compile(r"[\s_]|(?<=\w)(?<![0-9]e)-|(?<=[\s_-])-|-(?![0-9.])")


def similar_names(sample: Sample) -> Finding | None:
    """Find names of algorithms or environments that differ only in case, spaces, `_` and `-`."""
    table = sample.table
    groups = [*_similar(table.algorithms), *_similar(table.environments)]
    if not groups:
        return None
    where = tuple(", ".join(map(repr, group)) for group in groups)
    return Finding(
        "similar-names",
        "warning",
        f"{counted(len(groups), 'group')} of names {'differs' if len(groups) == 1 else 'differ'} only in case, spaces, "
        f"'_' or '-', and {'is' if len(groups) == 1 else 'are'} probably one and the same: {where[0]}.",
        "The runs of one algorithm or environment are split in two, and both are compared as if they were different.",
        "Correct the names in the source. `--rename OLD=NEW` does not merge them.",
        where,
    )


def _similar(names: Sequence[str]) -> list[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        # A separator between digits becomes "/", one and the same; any other is left out.
        groups[_SEPARATOR.sub("", _BETWEEN_DIGITS.sub("/", name.strip().casefold()))].append(name)
    return [group for group in groups.values() if len(group) > 1]
