"""`Goal`: the question that a race answers, and the pairs that are still open for it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Floats
from untuned.verdicts import listed

Bools = NDArray[np.bool_]
Pair = tuple[int, int]

#: Longer lists of pairs are replaced by their number.
_LONGEST = 60
_FORMS = "best, top:K, all, vs:NAME, or pairs A>B,C>D; each may be followed by 'within EPS'"


@dataclass(frozen=True, eq=False)
class Known:
    """The state of knowledge about the scores at a look.

    Attributes
    ----------
    score_a
        Estimates.
    high_ab
        Upper bounds on y[a] - y[b].
    better_ab
        Whether a is shown to be better than b.
    same_ab
        Whether two are declared identical everywhere, so that no trial will separate them.
    """

    score_a: Floats
    high_ab: Floats
    better_ab: Bools
    same_ab: Bools

    def decided(self, a: int, b: int) -> bool:
        """Return whether ``a`` or ``b`` is shown to be better."""
        return bool(self.better_ab[a, b] or self.better_ab[b, a])

    def final(self, a: int, b: int) -> bool:
        """Return whether no more trials are needed: ``a`` or ``b`` is shown to be better, or they are identical."""
        return self.decided(a, b) or bool(self.same_ab[a, b])

    @property
    def order(self) -> list[int]:
        """Algorithms, best first: by verdicts, then by estimates."""
        # An algorithm that is better than another is worse than fewer others.
        worse_than = self.better_ab.sum(axis=0)
        return sorted(range(len(self.score_a)), key=lambda a: (worse_than[a], -self.score_a[a], a))


@dataclass(frozen=True)
class Goal:
    """The question that a race answers.

    Attributes
    ----------
    text
        The goal as written.
    kind
        ``"best"``, ``"top"``, ``"all"``, ``"vs"`` or ``"pairs"``.
    names
        For ``"vs"`` the one algorithm, for ``"pairs"`` two for each pair.
    count
        For ``"top"``: how many.
    within
        Differences below this need no verdict; 0 for all.

    Examples
    --------
    >>> Goal.parse("top:2 within 0.02").count
    2
    """

    text: str
    kind: str
    names: tuple[str, ...] = ()
    count: int = 1
    within: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Goal":
        """Return the goal of a text.

        Parameters
        ----------
        text
            ``best``, ``top:3``, ``all``, ``vs:mine``, ``a>b,c>d``, each also with `` within 0.02`` at its end.

        Raises
        ------
        InvalidInput
            For any other text.
        """
        if not isinstance(text, str):
            raise InvalidInput(f"goal={text!r}: pass a string, {_FORMS}")
        parts = re.fullmatch(r"\s*(.*?)(?:\s+within\s+(\S+))?\s*", text, re.DOTALL)
        assert parts is not None
        what, number = parts.groups()
        within = 0.0 if number is None else _within(text, number)
        if what in ("best", "all"):
            return cls(text.strip(), what, within=within)
        if what.startswith("top:"):
            if not re.fullmatch(r"top:\s*[1-9]\d{0,5}", what):
                raise InvalidInput(f"goal {text!r}: write top:3 for the best three")
            return cls(text.strip(), "top", count=int(what[4:]), within=within)
        if what.startswith("vs:") and what[3:].strip():
            return cls(text.strip(), "vs", (what[3:].strip(),), within=within)
        pairs = [each.split(">") for each in what.split(",")]
        if all(len(pair) == 2 and all(name.strip() for name in pair) for pair in pairs):
            return cls(text.strip(), "pairs", tuple(name.strip() for pair in pairs for name in pair), within=within)
        raise InvalidInput(f"goal {text!r} is not known: write {_FORMS}")

    def check(self, algorithms: Sequence[str]) -> None:
        """Refuse names that are not among ``algorithms``, and a top K with too large a K."""
        for name in self.names:
            if name not in algorithms:
                raise UnknownName("algorithm of this study", name, algorithms)
        for first, second in self.pairs:
            if first == second:
                raise InvalidInput(f"goal {self.text!r}: {first!r} is compared with itself, name two algorithms")
        if self.kind == "top" and self.count >= len(algorithms):
            raise InvalidInput(
                f"goal {self.text!r}: there are {len(algorithms)} algorithms, pass at most {len(algorithms) - 1}"
            )

    @property
    def short(self) -> str:
        """The text, or the number of pairs if there are many."""
        few = len(self.text) <= _LONGEST or not self.pairs
        return self.text if few else f"{len(self.pairs)} pairs{f' within {self.within:g}' if self.within else ''}"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that were named."""
        return tuple(zip(self.names[::2], self.names[1::2], strict=True)) if self.kind == "pairs" else ()

    def asked(self, known: Known, algorithms: Sequence[str]) -> list[Pair]:
        """Return the pairs of ``algorithms`` that the goal needs given what is ``known``, the leading algorithm first.

        For ``best`` and ``top`` these are the leaders against all others that may still be among the best.
        """
        found = self.compared(known, algorithms)
        if self.kind not in ("best", "top"):
            return found
        # An algorithm that is worse than that many others is not among the best.
        return [(top, other) for top, other in found if np.count_nonzero(known.better_ab[:, other]) < self.count]

    def compared(self, known: Known, algorithms: Sequence[str]) -> list[Pair]:
        """Return the pairs of ``algorithms`` that the goal is about, the leading algorithm first.

        For ``best`` and ``top`` these are the leaders by what is ``known`` against all others.
        """
        order = known.order
        n = len(order)
        if self.kind == "pairs":
            found = [(algorithms.index(a), algorithms.index(b)) for a, b in self.pairs]
        elif self.kind == "vs":
            mine = algorithms.index(self.names[0])
            found = [(mine, other) for other in range(n) if other != mine]
        elif self.kind == "all":
            found = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
        else:
            found = [(top, other) for top in order[: self.count] for other in order[self.count :]]
        place = {a: i for i, a in enumerate(order)}
        return list(dict.fromkeys(tuple(sorted(pair, key=place.__getitem__)) for pair in found))  # type: ignore[misc]

    def open(self, known: Known, algorithms: Sequence[str]) -> list[Pair]:
        """Return the pairs of ``algorithms`` that are not settled by what is ``known``, the leading algorithm first."""
        return [pair for pair in self.asked(known, algorithms) if not self._settled(known, *pair)]

    def _settled(self, known: Known, ahead: int, behind: int) -> bool:
        """Return whether a pair needs no more trials: decided, identical, or too close to matter."""
        if known.final(ahead, behind):
            return True
        if not self.within:
            return False
        close = known.high_ab[behind, ahead] < self.within
        # To name the best it is enough that none is better by more than that.
        return bool(close and (self.kind in ("best", "top") or known.high_ab[ahead, behind] < self.within))

    def answer(self, known: Known, algorithms: Sequence[str]) -> str:
        """Return what is ``known`` about the goal, as a sentence that names ``algorithms``."""
        names = [algorithms[a] for a in known.order]
        if self.kind in ("best", "top"):
            asked = self.asked(known, algorithms)
            undecided = [pair for pair in asked if not known.final(*pair)]
            what = "the best" if self.count == 1 else f"the best {self.count}"
            leaders = names[: self.count]
            twins = "".join(
                f" {algorithms[other]} is identical to {algorithms[top]}."
                for top, other in self.compared(known, algorithms)
                if known.same_ab[top, other]
            )
            if not undecided:
                return f"{listed(leaders)} {'is' if self.count == 1 else 'are'} {what}.{twins}"
            if not self.open(known, algorithms):
                than = "is better" if self.count == 1 else "is better than one of them"
                return (
                    f"{listed(leaders)} {'is' if self.count == 1 else 'are'} {what} up to {self.within:g}: no other "
                    f"algorithm {than} by {self.within:g} or more.{twins}"
                )
            left = {a for pair in undecided for a in pair}
            among = [name for name in names if name in leaders or algorithms.index(name) in left]
            return f"{what[0].upper()}{what[1:]} {'is' if self.count == 1 else 'are'} among {listed(among)}.{twins}"
        pairs = self.asked(known, algorithms)
        open_pairs = self.open(known, algorithms)
        decided = sum(known.decided(*pair) for pair in pairs)
        text = f"{decided} of {len(pairs)} {'pair is' if len(pairs) == 1 else 'pairs are'} decided"
        close = len(pairs) - decided - len(open_pairs)
        if close and self.within:
            every = "every pair that is not separable yet" if not open_pairs else f"{close} of the others"
            text += f"; {every} {'differs' if not open_pairs or close == 1 else 'differ'} by less than {self.within:g}"
        if self.kind != "all":
            won = [pair[:: 1 if known.better_ab[pair] else -1] for pair in pairs if known.decided(*pair)]
            text += "".join(f"; {algorithms[a]} is better than {algorithms[b]}" for a, b in won)
        return f"{text}."


def _within(text: str, number: str) -> float:
    try:
        found = float(number)
    except ValueError:
        found = math.nan
    if not 0.0 < found < 1.0:
        raise InvalidInput(f"goal {text!r}: 'within' takes a difference of scores between 0 and 1, for example 0.02")
    return found
