"""Evaluations to report on, from numbers that are the same with every version of everything."""

import numpy as np

import untuned
from untuned.evaluation import Evaluation
from untuned.scores import Floats

#: Names that mean something to HTML, LaTeX, Markdown, CSV, mathematics, legends or a shell.
HORRIBLE = (
    "<script>document.title='owned'</script>",
    "</script><b>bold</b> & \"quoted\" 'twice'",
    r"100% \textbf{a_b} $x^2$ {~#}",
    "| pipes | and `ticks` *stars* [link](x)",
    "_underscore",
    "=1+1",
    "%{x} %{customdata[0]} {{ 7 * 7 }}",
    "Sarsa(λ) Ångström",
    "a very long name " + 6 * "that goes on and on ",
    "-leading; $(dash)",
    "two\nlines",
)


def rounded(text: str, number: float) -> bool:
    """Return whether a text is a score or a difference of scores, rounded to two, three or four decimals."""
    decimals = len(text.partition(".")[2])
    return 2 <= decimals <= 4 and abs(float(text) - number) <= 0.5001 * 10.0**-decimals


def scores(algorithm: int, environment: int, trials: int) -> Floats:
    """Return scores without a random generator: quantiles of a normal law in an order that means nothing."""
    from scipy.stats import norm

    levels = (np.arange(trials) * 0.6180339887498949 + 0.37 * algorithm + 0.11 * environment) % 1.0
    shift = 1.2 * algorithm * (1.0 if environment % 3 else 0.4) - 0.2 * ((algorithm * environment) % 4)
    return np.asarray(
        10.0 * (environment + 1) * norm.ppf(0.002 + 0.996 * levels) + 10.0 * (environment + 1) * shift, dtype=np.float64
    )


def evaluated(
    algorithms: tuple[str, ...], environments: tuple[str, ...], trials: int = 200, **options: object
) -> Evaluation:
    """Return the evaluation of such scores."""
    table = {
        algorithm: {environment: scores(a, e, trials) for e, environment in enumerate(environments)}
        for a, algorithm in enumerate(algorithms)
    }
    return untuned.evaluate(table, **options)  # type: ignore[arg-type]


def many(algorithms: int, environments: int, trials: int = 30) -> Evaluation:
    """Return the evaluation of as many, with equal weights: a game of 50 algorithms takes minutes."""
    return evaluated(
        tuple(f"algorithm {a}" for a in range(algorithms)),
        tuple(f"environment {e}" for e in range(environments)),
        trials,
        weights="uniform",
    )
