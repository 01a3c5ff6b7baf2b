"""No sandbox at all, for `--unsafe-no-sandbox`: the same calls and, by polling, the same limits."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from ._disk import DiskMeter
from ._job import Started
from ._polling import PollingMeter
from ._proc import descendants, processes_with_environment
from ._python import interpreter
from ._spawner import confined
from ._supervise import Supervisor, Watched
from ._types import Capabilities, Completed, Limits, Mount, Role, Running, SandboxError, SandboxUnavailable
from ._view import environment

__all__ = ["DirectSandbox"]

_MARKER = "SURPASS_RUN"
_OPEN_FILES = 4096
_BLOCK = 512  # bytes in which POSIX counts `ulimit -f`


class DirectSandbox:
    """UNSAFE: the command can read, change and reach whatever the user who runs `surpass` can.

    Nothing can be mounted, so where the command, its arguments, its environment or the working directory name
    a mount's target, the host path is put in its place. A program with such a path in its text will not find it.
    Limits are polled; a process that leaves its group is found by a mark in its environment, which it can remove.
    """

    name = "none"

    def __init__(self) -> None:
        if os.name != "posix":
            raise SandboxUnavailable("Commands can be run on Linux and macOS only; use one of these.")

    @property
    def capabilities(self) -> Capabilities:
        """What protects a run: nothing."""
        return Capabilities(backend=self.name, tier="rlimit")

    def run(
        self,
        command: Sequence[str],
        *,
        mounts: Sequence[Mount],
        env: Mapping[str, str],
        cwd: PurePosixPath,
        limits: Limits,
        stdin: bytes = b"",
        role: Role = Role.CANDIDATE,
    ) -> Completed:
        """Run to completion, unprotected."""
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            source, feed = _pipe(reader=theirs, writer=ours) if stdin else (subprocess.DEVNULL, None)
            output, sink = _pipe(reader=ours, writer=theirs)
            started = _start(command, mounts=mounts, env=env, cwd=cwd, limits=limits, stdin=source, stdout=sink)
            started.stdin, started.stdin_fd, started.stdout_fd = stdin, feed, output
            ours.pop_all()
        return Supervisor(started).run()

    def start(
        self,
        command: Sequence[str],
        *,
        mounts: Sequence[Mount],
        env: Mapping[str, str],
        cwd: PurePosixPath,
        limits: Limits,
        stdin: int,
        stdout: int,
        role: Role = Role.CANDIDATE,
    ) -> Running:
        """Start with the caller's descriptors, unprotected."""
        return Watched(_start(command, mounts=mounts, env=env, cwd=cwd, limits=limits, stdin=stdin, stdout=stdout))

    def adopt(self, path: Path, role: Role = Role.CANDIDATE, *, recursive: bool = True) -> None:
        """Nothing to do: the command runs as the same user."""


def _pipe(*, reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    read, write = os.pipe()
    reader.callback(os.close, read)
    writer.callback(os.close, write)
    return read, write


def _start(
    command: Sequence[str],
    *,
    mounts: Sequence[Mount],
    env: Mapping[str, str],
    cwd: PurePosixPath,
    limits: Limits,
    stdin: int,
    stdout: int,
) -> Started:
    private = Path(tempfile.mkdtemp(prefix="surpass-unsafe-"))
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, private, ignore_errors=True)
        places = _places(mounts, private)
        marker = f"{_MARKER}={secrets.token_hex(16)}"
        inside = {name: _translate(value, places) for name, value in environment(env).items()}
        inside[_MARKER] = marker.partition("=")[2]
        words = [_translate(word, places) for word in command]
        if words[0] in ("python", "python3"):
            words[0] = interpreter()
        watched = [places["/tmp"], *(places[str(mount.target)] for mount in mounts if mount.writable)]
        disk = DiskMeter(limits, list)  # nobody looks for files that are removed but open
        undo.callback(disk.close)
        for path in watched:
            if Path(path).is_dir():
                disk.watch(path)
        errors, sink = os.pipe()
        undo.callback(os.close, errors)
        try:
            with confined(limits.cores):
                process = subprocess.Popen(
                    ["/bin/sh", "-c", _limiting(limits), "sh", *words],
                    env=inside, stdin=stdin, stdout=stdout, stderr=sink,
                    cwd=_translate(str(cwd), places), start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise SandboxError(f"cannot start {words[0]}: {error}") from error
        finally:
            os.close(sink)
        undo.pop_all()
    meter = PollingMeter(limits, lambda: descendants(process.pid), namespaced=False)
    kill = _Killer(process.pid, marker)
    return Started(
        process=process,
        kill=kill,
        limits=limits,
        meter=meter,
        disk=disk,
        started=time.monotonic(),
        stderr_fd=errors,
        after=[kill, lambda: shutil.rmtree(private, ignore_errors=True)],
    )


def _places(mounts: Sequence[Mount], private: Path) -> dict[str, str]:
    """The host path that stands for each mount's target, and for /tmp."""
    places = {}
    for number, path in enumerate([PurePosixPath("/tmp"), *(m.target for m in mounts if m.source is None)]):
        place = private / str(number)
        place.mkdir()
        places[str(path)] = str(place)
    places |= {str(mount.target): str(mount.source) for mount in mounts if mount.source is not None}
    return _folders(places, private / "view") | places


def _folders(places: Mapping[str, str], view: Path) -> dict[str, str]:
    """The folders that exist inside only because targets lie below them, made of links to those targets."""
    folders: dict[str, str] = {}
    for target, place in places.items():
        above = [parent for parent in PurePosixPath(target).parents if parent != PurePosixPath("/")]
        if any(str(parent) in places for parent in above):
            continue  # it lies inside another target, where nothing may be written
        link = view / target.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(place)
        folders |= {str(parent): str(view / str(parent).lstrip("/")) for parent in above}
    return folders


def _translate(text: str, places: Mapping[str, str]) -> str:
    """`text` with each whole path that is, or is below, a target replaced by the path on the host.

    Of a folder above targets only its own name is replaced: what lies below it is a target or does not exist.
    """
    longest_first = sorted(places, key=len, reverse=True)
    pattern = rf"(?<![\w./-])({'|'.join(map(re.escape, longest_first))})(?![\w.-])"

    def on_host(found: re.Match[str]) -> str:
        path = found.group(1)
        is_folder = any(other.startswith(f"{path}/") for other in places)
        return path if is_folder and text[found.end() : found.end() + 1] == "/" else places[path]

    return re.sub(pattern, on_host, text)


def _limiting(limits: Limits) -> str:
    steps = ["ulimit -c 0", f"ulimit -f {max(1, limits.disk_bytes // _BLOCK)}", f"ulimit -n {_OPEN_FILES}"]
    return " && ".join([*(f"{step} 2>/dev/null" for step in steps), 'exec "$@"'])


class _Killer:
    """Ends the group, and whoever left it but still carries the mark."""

    def __init__(self, group: int, marker: str) -> None:
        self._group = group
        self._marker = marker.encode()

    def __call__(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        if not Path("/proc/self").is_dir():
            return
        while True:  # a tree that forks while we look needs another look
            found = list(processes_with_environment(self._marker))
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not found:
                return
            time.sleep(0.002)
