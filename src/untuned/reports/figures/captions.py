"""What belongs into a figure's caption: how to read it and what is guaranteed. It is not drawn into the figure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from untuned.evaluation import Evaluation, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The words of every Axes that has some.
_words: "WeakKeyDictionary[Axes, str]" = WeakKeyDictionary()


def describe(ax: "Axes", words: str) -> None:
    """Note what the caption of a figure with these Axes says.

    Parameters
    ----------
    ax
        Where something was drawn.
    words
        Sentences.
    """
    _words[ax] = words


def caption(drawn: "Axes | Sequence[Axes] | Figure") -> str:
    """Return how to read a figure and what its intervals or verdicts guarantee, for its caption; empty if nothing.

    No figure has this as a title. `save` writes it into the file's metadata.

    Parameters
    ----------
    drawn
        What a function of `untuned.figures` returned.
    """
    if isinstance(drawn, Sequence):
        axes = list(drawn)
    else:
        figure = drawn.get_figure(root=True)
        axes = [drawn] if drawn is not figure else list(figure.get_axes())  # type: ignore[list-item]
    return " ".join(dict.fromkeys(_words[ax] for ax in axes if ax in _words))


def verdicts_promise(evaluation: Evaluation) -> str:
    """Return under which weights verdicts are, and with which probability they hold."""
    return _promise(evaluation, "verdicts")


def intervals_promise(evaluation: Evaluation) -> str:
    """Return under which weights intervals are, and with which probability they hold."""
    return _promise(evaluation, "intervals")


def _promise(evaluation: Evaluation, what: str) -> str:
    under = f"{evaluation.under_weights[0].upper()}{evaluation.under_weights[1:]}"
    if not evaluation.valid:
        return f"{under} {what} aim at {percent(evaluation.delta)} together: they are approximate."
    return f"{under} all {what} {hold_together(evaluation)}."


def hold_together(evaluation: Evaluation) -> str:
    """Return with which probability what is guaranteed holds."""
    return f"hold together with probability at least {percent(evaluation.delta)}"
