"""`Shard`: a part of a study's trials, for machines that share nothing."""

from dataclasses import dataclass

import numpy as np

from untuned.collect.engines.engine import Numbers
from untuned.errors import InvalidInput


@dataclass(frozen=True)
class Shard:
    """A part of a study: number ``part`` of ``parts``, from 1; trial t belongs to part t mod parts + 1.

    Parameters
    ----------
    part, parts
        The number of this part, and of all parts.
    """

    part: int = 1
    parts: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.part <= self.parts:
            raise InvalidInput(f"shard {self.part}/{self.parts} does not exist: parts are numbered 1 to {self.parts}")

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Return the shard written as ``3/16``."""
        part, _, parts = text.partition("/")
        try:
            return cls(int(part), int(parts))
        except ValueError as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"shard {text!r}: write PART/PARTS, for example 3/16") from None

    def of(self, trials: int) -> Numbers:
        """Return the numbers of this part's trials."""
        return np.arange(self.part - 1, trials, self.parts, dtype=np.int64)
