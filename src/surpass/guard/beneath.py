"""Reach files below a folder that a candidate could write, without following any link on the way."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from surpass.guard.malformed import Malformed

__all__ = ["open_beneath"]


def open_beneath(root: Path, relative: str | PurePosixPath, flags: int, mode: int = 0o644) -> int:
    """A file descriptor for `root / relative`, opened one component at a time with O_NOFOLLOW.

    Parent folders are created when `flags` hold O_CREAT.

    Raises:
        Malformed: `bad-name` for an absolute path or one with `..`; `link` when a component is a link.
        OSError: whatever else opening it raises.
    """
    parts = PurePosixPath(relative).parts
    if not parts or PurePosixPath(relative).is_absolute() or ".." in parts:
        raise Malformed("bad-name", f"'{relative}' is not a path below the folder")
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            if flags & os.O_CREAT:
                _make_directory(part, directory)
            child = _open(part, os.O_RDONLY | os.O_DIRECTORY, directory, 0)
            os.close(directory)
            directory = child
        return _open(parts[-1], flags, directory, mode)
    finally:
        os.close(directory)


def _make_directory(name: str, directory: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=directory)
    except FileExistsError:
        return


def _open(name: str, flags: int, directory: int, mode: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, mode, dir_fd=directory)
    except OSError:
        if _is_link(name, directory):
            raise Malformed("link", name) from None
        raise


def _is_link(name: str, directory: int) -> bool:
    try:
        os.readlink(name, dir_fd=directory)
    except OSError:
        return False
    return True
