"""NumPy files written by a candidate, read without unpickling and without trusting a header's size."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surpass.guard.files import read_bytes
from surpass.guard.malformed import Malformed

__all__ = ["read_array", "read_arrays"]

Shape = tuple[int | None, ...]
_MAX_BYTES = 64 << 20
# All that NumPy writes; LZMA would allocate whatever dictionary a header asks for.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BAD_HEADER = (
    KeyError, ValueError, EOFError, SyntaxError, TypeError, RecursionError, MemoryError,
    tokenize.TokenError,  # NumPy tokenizes a header that is no literal, in case Python 2 wrote it
)  # fmt: skip


def read_array(
    path: Path, *, shape: Shape, dtype: str, finite: bool = True, max_bytes: int = _MAX_BYTES
) -> NDArray[Any]:
    """One `.npy` array of exactly this dtype and shape (None: any length on that axis).

    Raises:
        Malformed: `missing`, `empty`, `not-a-file`, `too-large`, `unreadable`, `pickle`, `dtype`, `shape` or
            `not-finite`.
    """
    array = _parse(read_bytes(path, max_bytes=max_bytes), path.name)
    return _checked(array, path.name, shape, dtype, finite)


def read_arrays(
    path: Path, wanted: Mapping[str, tuple[Shape, str]], *, finite: bool = True, max_bytes: int = _MAX_BYTES
) -> dict[str, NDArray[Any]]:
    """The named arrays of one `.npz` file, whose unpacked size is bounded by `max_bytes` too.

    Raises:
        Malformed: as `read_array`; `missing` also for a name that the archive lacks.
    """
    content = read_bytes(path, max_bytes=max_bytes)
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise Malformed("unreadable", f"{path.name}: {error}") from None
    members = {info.filename: info for info in archive.infolist()}
    arrays = {}
    for name, (shape, dtype) in wanted.items():
        info = members.get(f"{name}.npy")
        if info is None:
            raise Malformed("missing", f"{path.name}: no array named {name}")
        label = f"{path.name}[{name}]"
        image = _inflate(archive, info, label, max_bytes)
        arrays[name] = _checked(_parse(image, label), label, shape, dtype, finite)
        max_bytes -= len(image)  # not what the archive claims; a negative bound would be none
    return arrays


def _inflate(archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str, max_bytes: int) -> bytes:
    """Unpack one member, reading at most one byte past the bound whatever its header claims."""
    if info.compress_type not in _COMPRESSIONS:
        raise Malformed("unreadable", f"{label}: compression method {info.compress_type}")
    try:
        with archive.open(info) as member:
            content = member.read(max_bytes + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise Malformed("unreadable", f"{label}: {error}") from None
    if len(content) > max_bytes:
        raise Malformed("too-large", f"{label}: unpacks to more than {max_bytes} bytes")
    return content


def _parse(content: bytes, label: str) -> NDArray[Any]:
    """Decode a `.npy` image. The header is read first: an object array is named as what it is."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = read_header[version](stream)
    except _BAD_HEADER as error:
        raise Malformed("unreadable", f"{label}: {error}") from None
    if dtype.hasobject:
        raise Malformed("pickle", f"{label}: object arrays are not read")
    expected = dtype.itemsize * int(np.prod(shape, dtype=object) if shape else 1)
    if expected != len(content) - stream.tell():
        raise Malformed("unreadable", f"{label}: header promises {expected} bytes, file holds another number")
    stream.seek(0)
    try:
        return np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, TypeError, MemoryError, OverflowError) as error:
        raise Malformed("unreadable", f"{label}: {error}") from None


def _checked(array: NDArray[Any], label: str, shape: Shape, dtype: str, finite: bool) -> NDArray[Any]:
    if array.dtype != np.dtype(dtype):
        raise Malformed("dtype", f"{label}: {array.dtype}, expected {dtype}")
    if len(array.shape) != len(shape) or any(
        want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
    ):
        raise Malformed("shape", f"{label}: {array.shape}, expected {shape}")
    if finite and array.dtype.kind in "fc" and not np.isfinite(array).all():
        raise Malformed("not-finite", label)
    return array
