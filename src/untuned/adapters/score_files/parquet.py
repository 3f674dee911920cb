"""Parquet in long form, read in pieces."""

from collections.abc import Iterator, Sequence

from untuned.adapters.score_files.columns import Columns, chosen_columns
from untuned.adapters.score_files.delimited import no_rows
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

#: Rows that are read at once.
_ROWS = 4_000_000


def read_parquet(file: File, asked: Reading) -> Iterator[Rows]:
    """Yield the rows of a file, in pieces."""
    import polars

    def example() -> list[object]:
        return list(next(polars.read_parquet(file.path, n_rows=1).iter_rows(), ()))

    try:
        names = list(polars.read_parquet_schema(file.path))
        chosen = chosen_columns(names, asked, file.name, example)
        read = [names[each] for each in chosen.positions]
        height = int(polars.scan_parquet(file.path).select(polars.len()).collect().item())
        for begin in range(0, height, _ROWS):
            frame = polars.scan_parquet(file.path).select(read).slice(begin, _ROWS).collect()
            values = {each: frame[names[each]] for each in chosen.positions}
            yield Columns(file.name, names, chosen, values, file.below, begin + 1).rows()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        # A damaged file makes polars panic, which is not a subclass of Exception.
        reason = str(error).partition("\n")[0]
        raise InvalidInput(
            f"{file.name} cannot be read as parquet ({reason}): is it complete? Write it again"
        ) from None
    except OSError as error:
        raise InvalidInput(f"{file.name} cannot be read as parquet ({error}): is it complete? Write it again") from None
    if not height:
        raise no_rows(file.name)


def _unreadable(file: File, error: BaseException) -> InvalidInput:
    reason = str(error).partition("\n")[0]
    return InvalidInput(f"{file.name} cannot be read as parquet ({reason}): is it complete? Write it again")


def _claims(file: File) -> bool:
    return file.suffix == ".parquet" and not file.path.name.lower().endswith(".gz")


def _read_all(files: Sequence[File], asked: Reading) -> Recognised:
    return Recognised(rows for file in files for rows in read_parquet(file, asked))


READER = Reader("parquet", "Parquet file", _claims, _read_all)
