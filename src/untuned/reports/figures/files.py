"""Figures as files: the same figure is the same file, byte for byte."""

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.races.course import Course
from untuned.reports.bands import bands
from untuned.reports.curves import algorithms_in, comparable, environments_in
from untuned.reports.figures.aggregates import aggregate
from untuned.reports.figures.captions import caption
from untuned.reports.figures.closing import closing
from untuned.reports.figures.critical import critical_difference
from untuned.reports.figures.distributions import distribution_grid, quantile_grid, quantiles_with, trials_effect
from untuned.reports.figures.forest import forest
from untuned.reports.figures.illustration import percentile_illustration
from untuned.reports.figures.learning import learning_curve_grid, sample_efficiency
from untuned.reports.figures.matrices import ranks, verdict_matrix, weights
from untuned.reports.figures.order import partial_order
from untuned.reports.figures.overview import summary
from untuned.reports.figures.responses import hyperparameter_grid, varying
from untuned.reports.figures.strips import few, strip, strip_grid
from untuned.reports.file_names import file_names
from untuned.reports.tables.escaping import in_latex
from untuned.verdicts import TITLES

#: Metadata of a file: no date, so that the same picture is the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}
#: What a caption is called in the metadata of a file.
_CAPTION = {"pdf": "Subject", "svg": "Description", "png": "Description"}
FORMATS = tuple(_METADATA)
_SETTINGS: Any = {
    # IDs inside a file are hashes of their content and this salt, not random.
    "svg.hashsalt": "untuned",
    # Fonts that journals take.
    "pdf.fonttype": 42,
}
_DPI = 200
#: What the files show, by the beginning of their names: captions begin with it.
_TITLES = {
    "summary": "Summary",
    "aggregate": "Aggregate scores",
    "verdicts": "Verdicts",
    "critical-difference": "Aggregate scores, and what is not separable yet",
    "partial-order": "The order that the verdicts make",
    "ranks": "Ranks on each environment",
    "weights": "Weights of environments and references",
    "forest": "Differences of aggregate scores",
    "strips": "Scores of all trials",
    "strip": "Scores of all trials",
    "quantiles": "Quantile functions of the scores",
    "distributions": "Distribution functions of the scores",
    "percentile": "How scores become percentiles",
    "trials": "A band with more trials",
    "learning-curves": "Median returns along training",
    "sample-efficiency": "Aggregate scores along training",
    "hyperparameters": "Scores by hyperparameters",
    "closing": "How the intervals closed",
}


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file, and return its path: the suffix says in which format.

    The words for its caption are in the file's metadata: the subject of a PDF, the description of others.

    Parameters
    ----------
    figure
        What to write; ``axes.figure`` is that of any Axes.
    path
        Ends with .pdf, .svg or .png; folders that are not there are made.

    Raises
    ------
    InvalidInput
        For another suffix, or a place that cannot be written to.
    """
    place = Path(path).expanduser()
    form = place.suffix[1:].lower()
    if form not in FORMATS:
        raise InvalidInput(f"{str(path)!r} ends with {place.suffix!r}: end it with {_listed()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _start_again(figure)
        words = caption(figure)
        metadata = _METADATA[form] | ({_CAPTION[form]: words} if words else {})
        with mpl.rc_context(_SETTINGS):
            figure.savefig(place, format=form, dpi=_DPI, metadata=metadata)
    except OSError as error:
        raise InvalidInput(f"{str(place)!r} cannot be written: {error.strerror}") from None
    return place


def _start_again(figure: Figure) -> None:
    """Put Axes back where they were before any layout, so that the next layout gives the same bits."""
    if figure.get_layout_engine() is None:
        return
    for ax in figure.get_axes():
        cell = ax.get_subplotspec()
        if cell is not None:
            ax.set_subplotspec(cell)


def save_all(
    evaluation: Evaluation,
    folder: str | Path,
    *,
    compare_with: Sequence[Evaluation] = (),
    histories: Histories | None = None,
    race: Course | None = None,
    formats: Sequence[str] = ("pdf",),
    workers: int = 1,
) -> list[Path]:
    """Write every figure that has something to show, and ``figures.tex`` with their captions; return the paths.

    Of a second ranking there are the figures that differ, with its weights in the name: aggregate-uniform.pdf. Of the
    percentile's illustration, of the effect of the number of trials and of hyperparameters there is one each on
    the environment that weighs the most: the last for every algorithm.

    Parameters
    ----------
    evaluation
        The evaluation.
    folder
        Where to; made where it is not there. Files of the same names are replaced.
    compare_with
        Evaluations of the same scores by other methods, for the figure of aggregates.
    histories
        The histories of trials, for learning curves and hyperparameters.
    race
        How the study was raced, for how the intervals closed.
    formats
        File formats: any of ``"pdf"``, ``"svg"`` and ``"png"``.
    workers
        How many processes draw; with more than one, a script needs ``if __name__ == "__main__":``. The files do not
        depend on it.

    Raises
    ------
    InvalidInput
        For another format, or a folder that cannot be written to.
    """
    work = _Work(evaluation, tuple(compare_with), histories, race, Path(folder).expanduser(), checked_formats(formats))
    names = [name for name, _ in work.figures()]
    count = len(names)
    if workers == 1:
        written = [work.save(number) for number in range(count)]
    else:
        # Drawing holds Python's lock, so threads would not help. What all figures need is sent to each process once.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(workers, count), mp_context=context, initializer=_begin, initargs=(work,)) as crew:
            written = list(crew.map(_save, range(count)))
    captions = work.folder / "figures.tex"
    try:
        captions.write_text(latex({name: words for name, (words, _) in zip(names, written, strict=True)}), "utf-8")
    except OSError as error:
        raise InvalidInput(f"{str(captions)!r} cannot be written: {error.strerror}") from None
    return [*(path for _, paths in written for path in paths), captions]


def latex(captions: Mapping[str, str]) -> str:
    """Return a figure environment of LaTeX for each file, with its caption and label.

    Parameters
    ----------
    captions
        By the file's name without suffix.
    """
    return "".join(
        f"\\begin{{figure}}\n\\centering\n\\includegraphics{{{name}}}\n"
        f"\\caption{{{in_latex(_titled(name, words))}}}\\label{{fig:{name}}}\n\\end{{figure}}\n"
        for name, words in captions.items()
    ).join(("% Needs \\usepackage{graphicx}.\n", ""))


def _titled(name: str, words: str) -> str:
    """Return a caption that begins with what a file shows."""
    known = max((each for each in _TITLES if f"{name}-".startswith(f"{each}-")), key=len)
    rest = name[len(known) + 1 :]
    title = _TITLES[known] + (f", {rest}" if rest and rest not in TITLES else "")
    return words if words.startswith(title) else f"{title}. {words}".strip()


@dataclass(frozen=True, eq=False)
class _Work:
    """Everything that figures are made of, and where they go."""

    evaluation: Evaluation
    compare_with: tuple[Evaluation, ...]
    histories: Histories | None
    race: Course | None
    folder: Path
    formats: tuple[str, ...]

    def figures(self) -> list[tuple[str, Callable[[], Any]]]:
        return _figures(self.evaluation, self.compare_with, self.histories, self.race)

    def save(self, number: int) -> tuple[str, list[Path]]:
        """Draw and write one of the figures; return its caption and its files."""
        name, draw = self.figures()[number]
        drawn = draw()
        figure = drawn if isinstance(drawn, Figure) else (drawn[0] if isinstance(drawn, list) else drawn).figure
        return caption(figure), [save(figure, self.folder / f"{name}.{form}") for form in self.formats]


#: What a process draws from, set when it begins.
_here: list[_Work] = []


def _begin(work: _Work) -> None:
    _here.append(work)


def _save(number: int) -> tuple[str, list[Path]]:
    return _here[0].save(number)


def checked_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """Return formats by their plain names, once each; refuses what figures cannot be written as."""
    if isinstance(formats, str):
        raise InvalidInput(f"formats={formats!r} is one string: pass a list, [{formats!r}]")
    forms = tuple(dict.fromkeys(str(form).lower().removeprefix(".") for form in formats))
    for form in forms:
        if form not in FORMATS:
            raise InvalidInput(f"the format {form!r} is not one of those for figures: choose {_listed()}")
    if not forms:
        raise InvalidInput(f"no format for figures was given: choose {_listed()}")
    return forms


def _figures(
    evaluation: Evaluation, compare_with: Sequence[Evaluation], histories: Histories | None, race: Course | None = None
) -> list[tuple[str, Callable[[], Any]]]:
    """Return every figure that applies: the name of its file, and what draws it."""
    found: list[tuple[str, Callable[[], Any]]] = [
        ("summary", partial(summary, evaluation)),
        ("aggregate", partial(aggregate, evaluation, compare_with=evaluation.alike(compare_with))),
        ("verdicts", partial(verdict_matrix, evaluation)),
        ("critical-difference", partial(critical_difference, evaluation)),
        *_order("partial-order", evaluation),
        ("ranks", partial(ranks, evaluation)),
        ("weights", partial(weights, evaluation)),
        ("forest", partial(forest, evaluation)),
        ("strips", partial(strip_grid, evaluation)),
    ]
    if not all(few(evaluation, environment) for environment in evaluation.environments):
        found += [
            ("quantiles", partial(quantile_grid, evaluation)),
            ("distributions", partial(distribution_grid, evaluation)),
        ]
    for ranking in evaluation.rankings[1:]:
        other = evaluation.under(ranking.weights)
        found += [
            (f"aggregate-{ranking.weights}", partial(aggregate, other, compare_with=other.alike(compare_with))),
            (f"verdicts-{ranking.weights}", partial(verdict_matrix, other)),
            (f"critical-difference-{ranking.weights}", partial(critical_difference, other)),
            *_order(f"partial-order-{ranking.weights}", other),
            (f"forest-{ranking.weights}", partial(forest, other)),
        ]
    known = bands(evaluation)
    for environment, name in file_names(evaluation.environments).items():
        if few(evaluation, environment):
            found.append((f"strip-{name}", partial(strip, evaluation, environment)))
        else:
            found.append((f"quantiles-{name}", partial(quantiles_with, evaluation, environment, known)))
    by_weight = [evaluation.environments[e] for e in np.argsort(-evaluation.environment_weights, kind="stable")]
    measured = {
        place: [
            evaluation.algorithms[a]
            for a in evaluation.order
            if evaluation.scores.cells[a][evaluation.environments.index(place)].size
        ]
        for place in by_weight
    }
    for place in by_weight:
        if len(measured[place]) > 1:
            found.append(("percentile", partial(percentile_illustration, evaluation, place)))
            break
    for place in by_weight:
        if measured[place]:
            best = measured[place][0]
            found.append(("trials", partial(trials_effect, evaluation, best, place)))
            break
    if histories is not None:
        found += _histories(evaluation, histories, by_weight)
    if race is not None and race.pairs:
        found.append(("closing", partial(closing, race)))
    return found


def _order(name: str, evaluation: Evaluation) -> list[tuple[str, Callable[[], Any]]]:
    """Return the diagram of the order, where there is one."""
    return [(name, partial(partial_order, evaluation))] if evaluation.pairs.better_ab.any() else []


def _histories(
    evaluation: Evaluation, histories: Histories, by_weight: Sequence[str]
) -> list[tuple[str, Callable[[], Any]]]:
    found: list[tuple[str, Callable[[], Any]]] = []
    known = environments_in(histories)
    if histories.has_returns:
        places = [place for place in evaluation.environments if place in known] or list(known)
        found.append(
            (
                "learning-curves",
                partial(learning_curve_grid, histories, environments=places, order=evaluation.algorithms),
            )
        )
        names = [name for name in evaluation.algorithms if name in algorithms_in(histories)]
        compared, shared = comparable(histories, names, places)
        if len(compared) > 1 and shared:
            draw = partial(sample_efficiency, histories, algorithms=names, environments=places)
            found.append(("sample-efficiency", partial(draw, order=evaluation.algorithms)))
    for algorithm, name in file_names(evaluation.algorithms).items():
        for place in by_weight:
            history = histories.cells.get((algorithm, place))
            if history is not None and varying(history):
                found.append(
                    (
                        f"hyperparameters-{name}",
                        partial(hyperparameter_grid, histories, algorithm, environment=place),
                    )
                )
                break
    return found


def _listed() -> str:
    return ", ".join(f".{form}" for form in FORMATS[:-1]) + f" or .{FORMATS[-1]}"
