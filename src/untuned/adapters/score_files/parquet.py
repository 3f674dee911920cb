"""Parquet in long form, read in pieces."""

from collections.abc import Iterator, Sequence

from untuned.adapters.score_files.column_names import chosen_columns
from untuned.adapters.score_files.columns import Columns
from untuned.adapters.score_files.delimited import no_rows
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.parquet_footer import contradiction
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

#: Number of rows read at a time.
_ROWS = 4_000_000
#: Number of unread columns that are examined.
_LOOKED_AT = 50
#: From the first number of rows on, more than the second number per byte count as a decompression bomb.
_MANY, _DENSE = 10_000_000, 32


def read_parquet(file: File, asked: Reading, *, of_several: bool = False) -> Iterator[Rows]:
    """Yield the rows of a file, in pieces; `read_delimited` explains the difference for one of several."""
    import polars

    def example() -> list[object]:
        return list(next(polars.read_parquet(file.path, n_rows=1, glob=False).iter_rows(), ()))

    wrong = contradiction(file)
    if wrong is not None:
        raise InvalidInput(f"{file.name} cannot be read as parquet ({wrong}): is it complete? Write it again")
    try:
        names = list(polars.read_parquet_schema(file.path))
        by_path = of_several or asked.pattern is not None
        chosen = chosen_columns(names, asked, file.name, example, named_by_path=by_path)
        read = [names[each] for each in chosen.positions]
        others = [name for name in names if name not in read][:_LOOKED_AT] if chosen.anonymous else []
        # As a pattern the name a[1].parquet would match a1.parquet.
        table = polars.scan_parquet(file.path, glob=False)
        height = int(table.select(polars.len()).collect().item())
        _check_growth(file, height)
        for begin in range(0, height, _ROWS):
            frame = table.select(read + others).slice(begin, _ROWS).collect()
            values = {each: frame[names[each]] for each in chosen.positions}
            unread = {name: frame[name] for name in others}
            yield Columns(file.name, names, chosen, values, file.below, begin + 1, unread=unread).rows()
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


def _check_growth(file: File, height: int) -> None:
    """Refuse a small file with very many equal rows, which would fill the memory."""
    if height > _MANY and height > _DENSE * file.size:
        raise InvalidInput(
            f"{file.name} has {height:,} rows in {file.size:,} bytes: no scores are so much alike. If you trust it, "
            "write it as CSV and pass that"
        )


def _claims(file: File) -> bool:
    return file.suffix == ".parquet" and not file.path.name.lower().endswith(".gz")


def _read_all(files: Sequence[File], asked: Reading) -> Recognised:
    several = len(files) > 1
    return Recognised(rows for file in files for rows in read_parquet(file, asked, of_several=several))


READER = Reader("parquet", "Parquet file", _claims, _read_all)
