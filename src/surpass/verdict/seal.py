"""Freeze a folder that a candidate wrote: copy it without following links, bound it, hash it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from surpass.verdict.records import Outcome, Rejection

__all__ = ["Caps", "Seal", "digest_folder", "seal"]

_CACHES = {"__pycache__", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache"}
_CHUNK = 1 << 20
_NAME_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Caps:
    """How large a sealed folder may be."""

    total_bytes: int
    files: int = 10_000
    depth: int = 32


@dataclass(frozen=True, slots=True)
class Seal:
    """A frozen copy and its content hash."""

    path: Path
    digest: str
    files: int
    total_bytes: int


@dataclass(slots=True)
class _Tally:
    caps: Caps
    files: int = 0
    total_bytes: int = 0
    lines: list[str] | None = None

    def entry(self, name: str) -> None:
        self.files += 1
        if self.files > self.caps.files:
            raise Rejection(Outcome.INVALID, "too-many-files", f"more than {self.caps.files} entries at {name}")

    def grow(self, count: int, name: str) -> None:
        self.total_bytes += count
        if self.total_bytes > self.caps.total_bytes:
            raise Rejection(Outcome.INVALID, "too-large", f"more than {self.caps.total_bytes} bytes at {name}")


def seal(source: Path, destination: Path, caps: Caps) -> Seal:
    """Copy `source` to `destination`, which must not exist, and hash what was copied.

    Every process of the candidate must be dead. Caches are left out; times and modes are not kept.

    Raises:
        Rejection: INVALID with `link`, `special-file`, `bad-name`, `unreadable`, `too-deep`, `too-many-files` or
            `too-large`.
    """
    temporary = destination.with_name(f"{destination.name}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    tally = _Tally(caps, lines=[])
    root = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _copy_folder(root, temporary, "", tally)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        os.close(root)
    temporary.rename(destination)
    return Seal(destination, _digest(tally.lines or []), tally.files, tally.total_bytes)


def digest_folder(folder: Path) -> str:
    """The content hash of an already sealed folder, to compare with the one recorded."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            lines.append(_line(path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()))
    return _digest(lines)


def _line(name: str, content_hash: str) -> str:
    return f"{name}\0{content_hash}\n"


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _copy_folder(directory: int, destination: Path, prefix: str, tally: _Tally) -> None:
    if prefix.count("/") > tally.caps.depth:
        raise Rejection(Outcome.INVALID, "too-deep", prefix)
    with os.scandir(directory) as entries:
        for entry in entries:
            name = f"{prefix}{entry.name}"
            tally.entry(name)
            _refuse_bad_name(name)
            if entry.is_symlink():
                raise Rejection(Outcome.INVALID, "link", name)
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _CACHES:
                    _copy_child(directory, entry.name, destination, name, tally)
            elif entry.is_file(follow_symlinks=False):
                _copy_file(directory, entry.name, destination / entry.name, name, tally)
            else:
                raise Rejection(Outcome.INVALID, "special-file", name)


def _copy_child(directory: int, entry: str, destination: Path, name: str, tally: _Tally) -> None:
    child = _open(entry, os.O_DIRECTORY, directory, name)
    try:
        (destination / entry).mkdir()
        _copy_folder(child, destination / entry, f"{name}/", tally)
    finally:
        os.close(child)


def _copy_file(directory: int, entry: str, destination: Path, name: str, tally: _Tally) -> None:
    source = _open(entry, os.O_NONBLOCK, directory, name)
    content_hash = hashlib.sha256()
    with os.fdopen(source, "rb") as reader, destination.open("xb") as writer:
        # The entry may have been swapped between listing and opening; what was opened is what counts.
        if not stat.S_ISREG(os.fstat(reader.fileno()).st_mode):
            raise Rejection(Outcome.INVALID, "special-file", name)
        while chunk := reader.read(_CHUNK):
            tally.grow(len(chunk), name)
            content_hash.update(chunk)
            writer.write(chunk)
    assert tally.lines is not None
    tally.lines.append(_line(name, content_hash.hexdigest()))


def _refuse_bad_name(name: str) -> None:
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise Rejection(Outcome.INVALID, "bad-name", repr(name)) from None
    if length > _NAME_BYTES or any(ord(character) < 0x20 for character in name):
        raise Rejection(Outcome.INVALID, "bad-name", repr(name[:200]))


def _open(name: str, flags: int, directory: int, path: str) -> int:
    """Open an entry; one whose owner took away our permission to read it is the candidate's doing."""
    try:
        return os.open(name, flags | os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except PermissionError:
        raise Rejection(Outcome.INVALID, "unreadable", path) from None
