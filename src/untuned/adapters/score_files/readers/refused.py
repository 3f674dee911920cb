"""Common files that cannot be read: recognised so that the message says what to pass instead."""

import re
from collections.abc import Sequence

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput

_PICKLE = (
    "is a pickle, which can run programs when it is read, so that it is never opened. Save the scores as CSV with the "
    "columns algorithm, environment, run, score, or np.savez('scores.npz', **{algorithm: array of shape (runs, "
    "tasks)}); instead of RL Zoo's files for plots, pass its folder of logs"
)
_SHEET = "is a spreadsheet: save it as CSV and pass that"
_MATLAB = (
    "is a file of MATLAB: write the scores as CSV, writetable(struct2table(scores), 'scores.csv'), or save them with "
    "numpy.savez after scipy.io.loadmat"
)
_HDF5 = (
    "is HDF5, whose names do not say what is a score: load it with h5py or pandas and save the scores as CSV or "
    "Parquet with the columns algorithm, environment, run, score"
)
_YAML = (
    "is YAML, which holds settings rather than scores, and can run programs when it is read: pass the folder with the "
    "run's logs, or save the scores as CSV or JSON"
)
_MEANS = (
    "has cells that are means with their spread (±): no score of a single run is in it, and no interval can be "
    "computed from it. Pass the runs themselves: logs, or a table with a row per run. Of Open RL Benchmark, export "
    "the runs from W&B as CSV, or pass their TensorBoard files"
)

_MEANS_OF_JSON = (
    "has means with their spread ({names}): these are no scores of single runs, and no interval can be computed from "
    "them. Pass the runs themselves: logs, a table with a row per run, or "
    "{{algorithm: {{environment: [one score per run]}}}}"
)

_ENDINGS = {
    **dict.fromkeys((".pkl", ".pickle", ".p", ".pt", ".pth", ".joblib"), _PICKLE),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), _SHEET),
    ".mat": _MATLAB,
    **dict.fromkeys((".h5", ".hdf5"), _HDF5),
    **dict.fromkeys((".yaml", ".yml"), _YAML),
}
_PICKLED = re.compile(rb"\x80[\x02-\x05][\x00-\xff]")
_SPREAD = re.compile(r"(?<![\w.])-?[\d.]+\s*(?:±|\+/-|\+-|\\pm)\s*[\d.]")
#: Keys of numbers in JSON, and keys of a spread (rew_std, stderr, ci_low) or a mean.
_KEY = re.compile(r'"(\w+)"\s*:\s*[\[\d.-]')
_IS_SPREAD = re.compile(r"(?:\w+_)?(?:std|stdev|stddev|std_?err|std_?dev|sd|sem|ci|ci_?(?:low|high|95))", re.IGNORECASE)
_IS_MEAN = re.compile(r"(?:\w+_)?(?:mean|avg|average|rew|reward|score|return)s?", re.IGNORECASE)
#: Latin 1 has the sign in one byte.
_ENCODINGS = ("utf-8", "latin-1")


def means_with_spread(file: File) -> tuple[str, ...]:
    """Return the keys of a mean and of its spread in a JSON file; none unless it has both."""
    keys = list(dict.fromkeys(_KEY.findall(file.head.decode("utf-8", errors="ignore"))))
    spreads = [key for key in keys if _IS_SPREAD.fullmatch(key)]
    means = [key for key in keys if _IS_MEAN.fullmatch(key) and key not in spreads]
    return (means[0], spreads[0]) if means and spreads else ()


def _reason(file: File) -> str | None:
    if file.suffix in _ENDINGS:
        return _ENDINGS[file.suffix]
    if _PICKLED.match(file.head):
        return _PICKLE
    if file.suffix in (".csv", ".tsv", ".md", ".tex"):
        for encoding in _ENCODINGS:
            if _SPREAD.search(file.head.decode(encoding, errors="ignore")):
                return _MEANS
    if file.suffix == ".json":
        names = means_with_spread(file)
        return _MEANS_OF_JSON.format(names=", ".join(names)) if names else None
    return None


def _claims(file: File) -> bool:
    return _reason(file) is not None


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    more = f" ({len(files) - 1} more files cannot be read either)" if len(files) > 1 else ""
    raise InvalidInput(f"{files[0].name} {_reason(files[0]) or 'is nothing that is known'}{more}")


READER = Reader(name="refused", title="unreadable file", claims=_claims, read=_read)
