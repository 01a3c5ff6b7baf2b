"""Cores of this machine, one measurement each: runs that are compared share a core, runs that are not stay apart."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["lease_core"]

_POLL_S = 0.1


@contextlib.contextmanager
def lease_core(folder: Path | None = None) -> Iterator[int]:
    """Wait for a core that no other measurement on this machine holds, and hold it while the block lasts.

    The lease is a file lock, so that it ends with the process however that ends. `folder` holds one file a core;
    by default a folder below the system's temporary directory that all users share.
    """
    cores = sorted(os.sched_getaffinity(0), reverse=True)  # most interrupts are served by the first core
    files = {core: _open(folder or _shared(), core) for core in cores}
    try:
        while True:
            for core, descriptor in files.items():
                if _locked(descriptor):
                    yield core
                    return
            time.sleep(_POLL_S)
    finally:
        for descriptor in files.values():
            os.close(descriptor)


def _shared() -> Path:
    """The folder for everybody, or one of our own where somebody has made it theirs."""
    folder = Path(tempfile.gettempdir()) / "surpass-cores"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
    if os.access(folder, os.W_OK) and not folder.is_symlink():
        return folder
    own = folder.with_name(f"{folder.name}-{os.geteuid()}")
    own.mkdir(mode=0o700, exist_ok=True)
    return own


def _locked(descriptor: int) -> bool:
    import fcntl  # not on every system; only measurements need it

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(folder: Path, core: int) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder / f"{core}.lock", flags, 0o666)
    with contextlib.suppress(OSError):  # somebody else's file keeps its mode
        os.fchmod(descriptor, 0o666)
    return descriptor
