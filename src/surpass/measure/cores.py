"""Cores of this machine, one measurement each: runs that are compared share a core, runs that are not stay apart."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

with contextlib.suppress(ImportError):  # not on every system; only measurements need it
    import fcntl

__all__ = ["lease_core", "lease_machine"]

_POLL_S = 0.1


@contextlib.contextmanager
def lease_core(folder: Path | None = None) -> Iterator[int]:
    """Wait for a core that no other measurement on this machine holds, and hold it while the block lasts.

    The lease is a file lock, so that it ends with the process however that ends. `folder` holds one file a core;
    by default a folder below the system's temporary directory that all users share. The first core comes last: it
    serves most interrupts.
    """
    with _files(folder, sorted(os.sched_getaffinity(0), reverse=True)) as (turnstile, files):
        held = None
        while held is None:
            if _locked(turnstile):  # nobody waits for the whole machine
                held = next((core for core, file in files.items() if _locked(file)), None)
                fcntl.flock(turnstile, fcntl.LOCK_UN)
            if held is None:
                time.sleep(_POLL_S)
        yield held


@contextlib.contextmanager
def lease_machine(folder: Path | None = None) -> Iterator[None]:
    """Wait until no other measurement holds a core of this machine, and hold them all while the block lasts.

    Who waits here holds the turnstile, so that cores that become free are not taken again meanwhile.
    """
    with _files(folder, range(os.cpu_count() or 1)) as (turnstile, files):
        for file in (turnstile, *files.values()):
            while not _locked(file):
                time.sleep(_POLL_S)
        yield


@contextlib.contextmanager
def _files(folder: Path | None, cores: Iterable[int]) -> Iterator[tuple[int, dict[int, int]]]:
    """Open lock files: the turnstile, and one for each core in the order given."""
    folder = folder or _shared()
    with contextlib.ExitStack() as opened:

        def lock(name: str) -> int:
            descriptor = _open(folder / f"{name}.lock")
            opened.callback(os.close, descriptor)
            return descriptor

        yield lock("turnstile"), {core: lock(str(core)) for core in cores}


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
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    with contextlib.suppress(OSError):  # somebody else's file keeps its mode
        os.fchmod(descriptor, 0o666)
    return descriptor
