"""One thread that starts every sandbox.

Two reasons for a thread of its own. The kernel kills a sandbox when the *thread* that started it ends
(PR_SET_PDEATHSIG), and this one ends with the process only. And when the harness is root, this thread alone
gets a private mount namespace, where directories that the sandbox's user cannot reach (below /root, say) are
made visible under a path it can reach. bubblewrap, started from here, sees them; the host never does.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ._linux import bind_mount, mount_tmpfs, new_mount_namespace, unmount
from ._types import SandboxError

__all__ = ["Spawner", "confined", "reachable", "spawner"]

_STAGE = Path("/run/surpass")  # an empty directory on the host; filled in the private namespace only
T = TypeVar("T")


def reachable(path: str, uid: int) -> bool:
    """True when a user in no group can walk to `path`, an absolute path without links."""
    for parent in Path(path).parents:
        info = parent.stat()
        bit = stat.S_IXUSR if info.st_uid == uid else stat.S_IXOTH
        if not info.st_mode & bit:
            return False
    return True


class Spawner:
    """Runs functions on its thread, one after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="surpass-spawner")
        self._names = itertools.count()
        self._kept: dict[str, str] = {}
        self._problem: str | None = "only root can make it reachable"
        if os.geteuid() == 0:
            self._problem = self.call(self._prepare)

    def call(self, function: Callable[[], T]) -> T:
        """The function's result, or its exception."""
        return self._thread.submit(function).result()

    @staticmethod
    def _prepare() -> str | None:
        try:
            new_mount_namespace()
            _STAGE.mkdir(mode=0o755, exist_ok=True)
            if _STAGE.is_symlink() or _STAGE.stat().st_uid != 0:
                return f"{_STAGE} does not belong to root"
            mount_tmpfs(_STAGE)
        except OSError as error:
            return f"a private mount namespace failed: {error}"
        return None

    def keep(self, path: str, uid: int) -> str:
        """A path for `path` that `uid` can reach, for as long as this process lives."""
        if path not in self._kept:
            self._kept[path] = path if reachable(path, uid) else self.call(lambda: self._stage(path))
        return self._kept[path]

    @contextlib.contextmanager
    def lend(self, paths: list[str], uid: int) -> Iterator[dict[str, str]]:
        """Reachable paths for `paths`, until the block ends. Mounts made from them meanwhile stay."""
        staged: dict[str, str] = {}
        try:
            for path in paths:
                if os.geteuid() != 0 or reachable(path, uid):
                    continue
                if path not in staged:
                    staged[path] = self.call(lambda path=path: self._stage(path))  # type: ignore[misc]
            yield {path: staged.get(path, path) for path in paths}
        finally:
            if staged:
                self.call(lambda: _unstage(list(staged.values())))

    def _stage(self, path: str) -> str:
        if self._problem:
            raise SandboxError(f"the sandbox's user cannot reach {path}, and {self._problem}")
        target = _STAGE / str(next(self._names))
        try:
            if Path(path).is_dir():
                target.mkdir()
            else:
                target.touch()
            bind_mount(path, str(target))
        except OSError as error:
            raise SandboxError(f"cannot show {path} to the sandbox's user: {error}") from error
        return str(target)

    def popen(self, command: list[str], cores: tuple[int, ...] = (), **options: object) -> subprocess.Popen[bytes]:
        """Start a process whose parent thread is this one, on the given cores only."""

        def start() -> subprocess.Popen[bytes]:
            with confined(cores):
                return subprocess.Popen(command, **options)  # type: ignore[call-overload, no-any-return]

        return self.call(start)


@contextlib.contextmanager
def confined(cores: tuple[int, ...]) -> Iterator[None]:
    """Keep this thread, and whatever it starts, on some cores while the block lasts."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _unstage(targets: list[str]) -> None:
    for target in targets:
        with contextlib.suppress(OSError):
            unmount(target)
        path = Path(target)
        with contextlib.suppress(OSError):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()


@functools.cache
def _spawner_of(pid: int) -> Spawner:
    return Spawner()


def spawner() -> Spawner:
    """The one of this process; a forked child has none of its parent's threads and gets its own."""
    return _spawner_of(os.getpid())
