"""NumPy's files, read without pickle and only up to their declared size."""

import contextlib
import io
import warnings
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.opening import MOST, File
from untuned.errors import InvalidInput

#: As for other compressed files: the allowed unpacked size, and the allowed factor.
_GROWN, _FACTOR = 100_000_000, 250
_ZIP = b"PK\x03\x04"
_NPY = b"\x93NUMPY"


def is_npz(file: File) -> bool:
    """Whether a file is a zip archive with NumPy's suffix."""
    return file.suffix == ".npz" and file.head.startswith(_ZIP)


def is_npy(file: File) -> bool:
    """Whether a file is an array, by its first bytes."""
    return file.head.startswith(_NPY)


def members(file: File) -> frozenset[str]:
    """Return the names of the arrays in an archive; empty on errors."""
    with contextlib.suppress(Exception), file.stream() as stream, zipfile.ZipFile(stream) as archive:
        return frozenset(each.removesuffix(".npy") for each in archive.namelist())
    return frozenset()


def arrays(file: File) -> dict[str, NDArray[Any]]:
    """Return the arrays in an archive, by name.

    Raises
    ------
    InvalidInput
        For damaged, pickled, or unsafely large files.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(file.content())) as archive:
            _check_sizes(archive, file.name)
            found = {}
            for each in archive.infolist():
                name = each.filename.removesuffix(".npy")
                ours = each.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
                if name == each.filename or name in found or not ours:
                    raise InvalidInput(
                        f"{file.name} has {each.filename!r} in it, which is not an array of its own: write it with "
                        "numpy.savez"
                    )
                found[name] = _array(archive.read(each), f"{name!r} of {file.name}")
    except InvalidInput:
        raise
    except Exception as error:  # Damaged files make zipfile, zlib and numpy raise almost anything.
        raise InvalidInput(f"{file.name} cannot be read as .npz ({_reason(error)}): is it complete?") from None
    if not found:
        raise InvalidInput(f"{file.name} has no arrays in it")
    return found


def array(file: File) -> NDArray[Any]:
    """Return the array in a file; raises InvalidInput for damaged or pickled files."""
    return _array(file.content(), file.name)


def _check_sizes(archive: zipfile.ZipFile, name: str) -> None:
    size = sum(each.file_size for each in archive.infolist())
    packed = sum(each.compress_size for each in archive.infolist())
    if size > MOST or (size > _GROWN and size > _FACTOR * packed):
        raise InvalidInput(
            f"{name} has {packed:,} bytes and says that it unpacks to {size:,}, which is more than is safe: if you "
            "trust it, load it with numpy and save the scores alone"
        )


def _array(data: bytes, where: str) -> NDArray[Any]:
    if not data.startswith(_NPY):
        raise InvalidInput(f"{where} is not an array of numpy: write it with numpy.save or numpy.savez")
    try:
        with warnings.catch_warnings():
            # Old headers cause a warning.
            warnings.simplefilter("ignore")
            _check_header(data, where)
            found: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except InvalidInput:
        raise
    except Exception as error:  # Likewise.
        raise InvalidInput(f"{where} cannot be read ({_reason(error)}): is it complete?") from None
    return found


def _check_header(data: bytes, where: str) -> None:
    """Refuse objects, and sizes larger than the file, before memory is allocated for them."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise InvalidInput(
            f"{where} is a pickle of Python objects, which can run programs when it is read, so that it is never "
            "opened: save numbers instead, np.savez('scores.npz', **{algorithm: array of shape (runs, tasks)}), or "
            "JSON, {algorithm: {task: [scores]}}"
        )
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size != len(data) - stream.tell():
        raise InvalidInput(
            f"{where} says that it has shape {shape} of {dtype}, which is {size:,} bytes, and has "
            f"{len(data) - stream.tell():,}: is it complete?"
        )


def _reason(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__
