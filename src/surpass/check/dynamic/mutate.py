"""Malformed variants of a file, made from a good one by what kind of file it is."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Variant", "malformed", "permuted"]

Array = NDArray[Any]
_HUGE = 1 << 40
_SPARSE_BYTES = 65 << 20
"""Just above what the guard's readers take by default."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to spoil a file."""

    name: str
    apply: Callable[[Path], None]
    """Changes the file at this path."""
    may_be_valid: bool = False
    """For formats whose grammar we do not know: the result may be well-formed, but it must score worse."""


def malformed(path: Path, *, huge: bool = True) -> Iterator[Variant]:
    """Variants that no evaluator may score, the common ones first. The file itself is only read.

    `huge` adds one that takes a while to copy; once per task is enough.
    """
    yield from _of_any_file(path)
    if huge:
        yield Variant(f"{_SPARSE_BYTES >> 20} MiB of zeros", _becomes_huge)
    readers: Mapping[str, Callable[[Path], Iterator[Variant]]] = {
        ".npy": _of_npy,
        ".npz": _of_npz,
        ".json": _of_json,
    }
    try:
        yield from list(readers.get(path.suffix, _of_text)(path))
    except (ValueError, zipfile.BadZipFile):  # not what its name says; the evaluator seems to know better
        yield from _of_text(path)


def permuted(path: Path) -> Variant | None:
    """The same rows in another order; None when the file has no two different rows to exchange."""
    try:
        return _permuted(path)
    except (ValueError, zipfile.BadZipFile):
        return None


def _permuted(path: Path) -> Variant | None:
    if path.suffix == ".npy":
        array = np.load(path, allow_pickle=False)
        rolled = _rolled(array)
        return None if rolled is None else Variant("rows in another order", _saves(rolled))
    if path.suffix == ".npz":
        return _permuted_npz(path)
    if path.suffix == ".json":
        document = json.loads(path.read_text("utf-8"))
        turned = _turned(document)
        return None if turned == document else _writes("lists in another order", json.dumps(turned).encode())
    lines = path.read_bytes().splitlines(keepends=True)
    backwards = lines[::-1]
    return None if lines == backwards else _writes("lines in another order", b"".join(backwards))


def _of_any_file(path: Path) -> Iterator[Variant]:
    content = path.read_bytes()
    yield Variant("missing", Path.unlink)
    yield _writes("empty", b"")
    yield Variant("a link to another file", _becomes_a_link)
    yield Variant("a folder in its place", _becomes_a_folder)
    yield _writes("text garbage", b"this is not an answer\n" * 8)
    yield _writes("binary garbage", bytes(range(256)) * 4)
    is_text = path.suffix not in (".npy", ".npz")
    yield Variant("truncated", _writing(content[: len(content) // 2]), may_be_valid=is_text and path.suffix != ".json")


def _of_npy(path: Path) -> Iterator[Variant]:
    array = np.load(path, allow_pickle=False)
    for name, spoiled in _spoiled(array):
        yield Variant(name, _saves(spoiled))
    yield _writes("a header that promises a huge array", _huge_header(array))


def _of_npz(path: Path) -> Iterator[Variant]:
    with np.load(path, allow_pickle=False) as archive:
        arrays: dict[str, Array] = dict(archive)
    for member, array in list(arrays.items())[:4]:
        for name, spoiled in _spoiled(array):
            yield Variant(f"{member}: {name}", _saves_all(arrays | {member: spoiled}))
        rest = {key: value for key, value in arrays.items() if key != member}
        yield Variant(f"{member}: left out", _saves_all(rest))
        yield _writes(f"{member}: a header that promises a huge array", _with_member(rest, member, _huge_header(array)))


def _of_json(path: Path) -> Iterator[Variant]:
    document = json.loads(path.read_text("utf-8"))
    yield _writes("another type at the top", json.dumps("text" if not isinstance(document, str) else [1]).encode())
    yield _writes("very deep nesting", b"[" * 100_000 + b"]" * 100_000)
    for name, number in (("NaN", float("nan")), ("an infinity", float("inf")), ("text for a number", "text")):
        changed, count = _with_numbers(document, number)
        if count:
            yield _writes(name, json.dumps(changed).encode())
    if document and isinstance(document, list | dict):
        short = document[:-1] if isinstance(document, list) else dict(list(document.items())[:-1])
        yield _writes("one entry too few", json.dumps(short).encode())
    if document and isinstance(document, list):
        yield _writes("one entry too many", json.dumps([*document, document[-1]]).encode())


def _of_text(path: Path) -> Iterator[Variant]:
    content = path.read_bytes()
    yield _writes("bytes that are not UTF-8", content + b"\xff\xfe\n")
    yield _writes("a zero byte", b"\0" + content)
    yield Variant("everything twice", _writing(content + content), may_be_valid=True)
    yield Variant("the first line left out", _writing(content.partition(b"\n")[2]), may_be_valid=True)
    yield Variant("the last line left out", _writing(content.rstrip().rpartition(b"\n")[0] + b"\n"), may_be_valid=True)


def _spoiled(array: Array) -> Iterator[tuple[str, Array]]:
    """Arrays of a wrong shape, dtype or content."""
    rows = array.reshape(1) if array.ndim == 0 else array
    yield "one row too many", np.concatenate([rows, rows[-1:]])
    yield "one row too few", rows[:-1]
    yield "one axis too many", array[None]
    yield (
        "flattened" if array.ndim > 1 else "no axis",
        array.reshape(-1) if array.ndim > 1 else array.reshape(-1)[:1][0],
    )
    yield "another dtype", array.astype("float32" if array.dtype != np.float32 else "float64")
    yield "text for numbers", array.astype("U8")
    if array.dtype.kind in "fc" and array.size:
        for name, number in (("NaN", np.nan), ("an infinity", np.inf)):
            spoiled = array.copy()
            spoiled.flat[0] = number
            yield name, spoiled
    yield "an object array", array.astype(object)


def _rolled(array: Array) -> Array | None:
    for axis in range(array.ndim):
        rolled = np.roll(array, 1, axis=axis)
        if not np.array_equal(rolled, array):
            return rolled
    return None


def _permuted_npz(path: Path) -> Variant | None:
    with np.load(path, allow_pickle=False) as archive:
        arrays: dict[str, Array] = dict(archive)
    rolled = {name: turned for name, array in arrays.items() if (turned := _rolled(array)) is not None}
    return Variant("rows in another order", _saves_all(arrays | rolled)) if rolled else None


def _turned(document: Any) -> Any:
    """Every list turned by one place."""
    if isinstance(document, dict):
        return {key: _turned(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_turned(value) for value in document[-1:] + document[:-1]]
    return document


def _with_numbers(document: Any, replacement: object) -> tuple[Any, int]:
    """The document with every number replaced, and how many there were."""
    if isinstance(document, bool):
        return document, 0
    if isinstance(document, int | float):
        return replacement, 1
    if isinstance(document, dict):
        pairs = {key: _with_numbers(value, replacement) for key, value in document.items()}
        return {key: value for key, (value, _) in pairs.items()}, sum(count for _, count in pairs.values())
    if isinstance(document, list):
        entries = [_with_numbers(value, replacement) for value in document]
        return [value for value, _ in entries], sum(count for _, count in entries)
    return document, 0


def _huge_header(array: Array) -> bytes:
    stream = io.BytesIO()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": (_HUGE, *array.shape[1:])}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()[:64]


def _with_member(arrays: Mapping[str, Array], member: str, content: bytes) -> bytes:
    stream = io.BytesIO(_archive(arrays))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(f"{member}.npy", content)
    return stream.getvalue()


def _saves(array: Array) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        np.save(path, array, allow_pickle=True)

    return apply


def _saves_all(arrays: Mapping[str, Array]) -> Callable[[Path], None]:
    return _writing(_archive(arrays))


def _archive(arrays: Mapping[str, Array]) -> bytes:
    """The bytes of an `.npz`; object arrays are pickled, as an attacker's would be."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", member.getvalue())
    return stream.getvalue()


def _writes(name: str, content: bytes) -> Variant:
    return Variant(name, _writing(content))


def _writing(content: bytes) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.write_bytes(content)

    return apply


def _becomes_a_link(path: Path) -> None:
    twin = path.with_name(f"{path.name}.real")
    path.rename(twin)
    path.symlink_to(twin.name)


def _becomes_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"")


def _becomes_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(_SPARSE_BYTES)
