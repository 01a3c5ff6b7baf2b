"""Freeze a folder that a candidate wrote: copy it without following links, bound it, hash it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from surpass.guard.removal import remove_tree
from surpass.task import CACHE_NAMES
from surpass.verdict.records import Outcome, Rejection

__all__ = ["Caps", "Seal", "digest_folder", "seal"]

_CHUNK = 1 << 20
_NAME_BYTES = 1024
# Control characters, and those that make a terminal or a page show a name in another order than it has.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_READ_FILE = stat.S_IRUSR
_READ_FOLDER = stat.S_IRUSR | stat.S_IXUSR


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
    lines: list[str] = field(default_factory=list)

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
            `too-large`. Whatever goes wrong in reading the source is `unreadable`.
        OSError: the copy could not be written.
    """
    temporary = destination.with_name(f"{destination.name}.part")
    remove_tree(temporary)
    temporary.mkdir(parents=True)
    tally = _Tally(caps)
    try:
        _copy_folder(source, None, temporary, "", tally)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    temporary.rename(destination)
    return Seal(destination, _digest(tally.lines), tally.files, tally.total_bytes)


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


def _copy_folder(entry: str | Path, parent: int | None, destination: Path, name: str, tally: _Tally) -> None:
    directory = _open(entry, os.O_DIRECTORY, parent, name)
    try:
        _require_mode(directory, _READ_FOLDER, name)
        for child in _entries(directory, name, tally):
            _copy_entry(child, directory, destination, f"{name}/{child.name}" if name else child.name, tally)
    finally:
        os.close(directory)


def _entries(directory: int, name: str, tally: _Tally) -> list[os.DirEntry[str]]:
    """What a folder holds, as far as the cap allows and one more: a listing must not fill the memory."""
    with _reading(name), os.scandir(directory) as entries:
        return list(islice(entries, tally.caps.files - tally.files + 1))


def _copy_entry(entry: os.DirEntry[str], directory: int, destination: Path, name: str, tally: _Tally) -> None:
    _refuse_bad_name(name)
    tally.entry(name)
    kind = _kind(entry, name)
    if kind in ("link", "special-file"):
        raise Rejection(Outcome.INVALID, kind, name)
    if entry.name in CACHE_NAMES:
        return
    if kind == "file":
        _copy_file(directory, entry.name, destination / entry.name, name, tally)
        return
    if name.count("/") >= tally.caps.depth:
        raise Rejection(Outcome.INVALID, "too-deep", name)
    (destination / entry.name).mkdir()
    _copy_folder(entry.name, directory, destination / entry.name, name, tally)


def _kind(entry: os.DirEntry[str], name: str) -> str:
    with _reading(name):
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "special-file"


def _copy_file(directory: int, entry: str, destination: Path, name: str, tally: _Tally) -> None:
    source = _open(entry, os.O_NONBLOCK, directory, name)
    content_hash = hashlib.sha256()
    try:
        # The entry may have been swapped between listing and opening; what was opened is what counts.
        if not stat.S_ISREG(os.fstat(source).st_mode):
            raise Rejection(Outcome.INVALID, "special-file", name)
        _require_mode(source, _READ_FILE, name)
        with destination.open("xb") as writer:
            while chunk := _read(source, name):
                tally.grow(len(chunk), name)
                content_hash.update(chunk)
                writer.write(chunk)
    finally:
        os.close(source)
    tally.lines.append(_line(name, content_hash.hexdigest()))


def _refuse_bad_name(name: str) -> None:
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise Rejection(Outcome.INVALID, "bad-name", repr(name)) from None
    if length > _NAME_BYTES or _CONTROLS.search(name):
        raise Rejection(Outcome.INVALID, "bad-name", repr(name[:200]))


def _open(name: str | Path, flags: int, directory: int | None, path: str) -> int:
    with _reading(path):
        return os.open(name, flags | os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)


def _read(descriptor: int, name: str) -> bytes:
    with _reading(name):
        return os.read(descriptor, _CHUNK)


def _require_mode(descriptor: int, bits: int, name: str) -> None:
    """Judge by the mode and not by trying: root can read everything, and a verdict must not depend on who judges."""
    if os.fstat(descriptor).st_mode & bits != bits:
        raise Rejection(Outcome.INVALID, "unreadable", name or ".")


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Whatever fails on the source's side is the candidate's doing, such as permissions that it took away."""
    try:
        yield
    except OSError as error:
        raise Rejection(Outcome.INVALID, "unreadable", f"{name or '.'}: {error.strerror}") from None
