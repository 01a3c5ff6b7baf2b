"""A task's identity: the hash of every byte of its package."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["CACHE_NAMES", "digest_of", "package_files"]

# What tools leave behind unasked; no part of a task, nor of a submission.
CACHE_NAMES = frozenset(
    {"__pycache__", ".DS_Store", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)


def package_files(root: Path) -> Iterator[Path]:
    """Every regular file of a folder in a fixed order, caches left out."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not CACHE_NAMES.intersection(path.relative_to(root).parts):
            yield path


def digest_of(root: Path, skip: Collection[str] = ()) -> str:
    """SHA-256 over names and contents, as 64 hex digits; independent of times, modes and location.

    `skip` are paths relative to `root` that do not count.
    """
    total = hashlib.sha256()
    for path in package_files(root):
        if path.relative_to(root).as_posix() in skip:
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root).as_posix()}\0{content}\n".encode())
    return total.hexdigest()
