"""Starting one sandbox: everything between a request and the moment its command is let go.

The order matters. bubblewrap is started with an empty environment and sets up its namespaces and mounts; its
first process then waits at a gate. Only when that process is in its control groups and has its resource limits,
and the harness holds descriptors of what it will watch, is the gate opened. So nothing that the command does
can escape the accounting, and nothing that the sandbox's own set-up used is charged to the command.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ._cgroup import CgroupMeter, Hierarchy
from ._disk import DiskMeter
from ._gate import START_S, await_launcher, await_mounts, failure, gone, inner_pid, kill, open_child, rlimits
from ._job import Meter, Started
from ._launcher import landlock_rules, launcher
from ._polling import PollingMeter
from ._proc import descendants
from ._seccomp import filter_program
from ._spawner import spawner
from ._types import Limits, Mount, SandboxError
from ._view import LAUNCHER_PATH, MEMORY_MOUNTS, Arguments, candidates, environment, mounts_part

__all__ = ["Boot", "Machine", "Request"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What is the same for every run of one role."""

    executable: str
    uid: int
    gid: int
    drop: bool
    """True when bubblewrap has to be started as another user than our own, root."""
    fixed: Arguments
    python: Arguments
    hierarchy: Hierarchy | None
    landlock_abi: int
    launcher: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller wants run."""

    command: tuple[str, ...]
    mounts: tuple[Mount, ...]
    env: Mapping[str, str]
    cwd: PurePosixPath
    limits: Limits


class Boot:
    """One start. Every descriptor that does not end up in the result is closed, whatever happens."""

    def __init__(self, machine: Machine, request: Request) -> None:
        self._machine = machine
        self._request = request
        self._ours = contextlib.ExitStack()
        self._theirs = contextlib.ExitStack()
        self._passed: list[int] = []
        self._sources = _sources(request.mounts)

    def with_pipes(self, stdin: bytes) -> Started:
        """Start with pipes for stdout and stderr, and for stdin when there is something to read."""
        with _translated(), self._ours, self._theirs:
            feed: int | None = None
            source: int = subprocess.DEVNULL
            if stdin:
                source, feed = self._pipe(theirs="read")
            output, sink = self._pipe(theirs="write")
            started = self._start(source, sink)
            started.stdin, started.stdin_fd, started.stdout_fd = stdin, feed, output
            self._ours.pop_all()
            return started

    def with_descriptors(self, stdin: int, stdout: int) -> Started:
        """Start with the caller's descriptors."""
        with _translated(), self._ours, self._theirs:
            started = self._start(stdin, stdout)
            self._ours.pop_all()
            return started

    def _pipe(self, *, theirs: str) -> tuple[int, int]:
        """A pipe as (read end, write end), of which `theirs` goes to the sandbox."""
        read, write = os.pipe()
        mine, other = (write, read) if theirs == "read" else (read, write)
        self._ours.callback(os.close, mine)
        self._theirs.callback(os.close, other)
        if self._machine.drop:
            # So that opening /dev/stdout again works inside: the pipe belongs to whoever made it.
            os.fchown(other, self._machine.uid, self._machine.gid)
        return read, write

    def _pass(self, fd: int) -> int:
        self._passed.append(fd)
        return fd

    def _file(self, content: bytes) -> int:
        """A descriptor, for the sandbox, from which bubblewrap reads `content`."""
        fd = os.memfd_create("surpass")
        self._theirs.callback(os.close, fd)
        with open(fd, "wb", closefd=False) as out:
            out.write(content)
        os.lseek(fd, 0, os.SEEK_SET)
        return self._pass(fd)

    def _start(self, stdin: int, stdout: int) -> Started:
        machine = self._machine
        errors, errors_sink = self._pipe(theirs="write")
        status, status_sink = self._pipe(theirs="write")
        gate_source, gate = self._pipe(theirs="read")
        report, report_sink = self._pipe(theirs="write")
        self._pass(status_sink)
        self._pass(gate_source)
        if machine.launcher:
            self._pass(report_sink)
        with spawner().lend(sorted(set(self._sources.values())), machine.uid) as lent:
            shown = {source: lent[real] for source, real in self._sources.items()}
            arguments = self._arguments(shown, status_sink, gate_source, report_sink)
            process = self._spawn(arguments, stdin, stdout, errors_sink)
            self._theirs.close()
            try:
                started = self._let_go(process, status, gate, report, errors)
            except BaseException:
                # The group is bubblewrap's own session; its end takes the process inside with it.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        for fd in (gate, *(() if machine.launcher else (report,))):
            os.close(fd)
        started.after.append(lambda: os.close(status))  # bubblewrap writes to it once more, at its end
        started.stderr_fd = errors
        started.report_fd = report if machine.launcher else None
        return started

    def _arguments(self, shown: Mapping[str, str], status: int, gate: int, report: int) -> list[str]:
        machine, request = self._machine, self._request
        env = environment(request.env)
        args = machine.fixed.copy()
        tried = candidates(request.command[0], request.cwd, env)
        command = [tried[0] if len(tried) == 1 else request.command[0], *request.command[1:]]
        if machine.launcher:
            rules = landlock_rules(machine.landlock_abi, *self._writable())
            code = launcher(
                tried, gate=gate, report=report, rlimits=self._rlimits(), abi=machine.landlock_abi, rules=rules
            )
            args.add("--as-pid-1")
            args.add_file("--file", code, LAUNCHER_PATH, "0555")
            command = [LAUNCHER_PATH, *command]
        else:
            args.add("--symlink", "none", LAUNCHER_PATH, "--block-fd", str(gate))
        mounts_part(args, machine.python, request.mounts, request.limits, shown)
        for name, value in env.items():
            args.add("--setenv", name, value)
        args.add("--chdir", str(request.cwd), "--json-status-fd", str(status))
        program = filter_program(interfaces=request.limits.interfaces)
        if program is not None:
            args.add_file("--seccomp", program)
        descriptors = [self._file(content) for content in args.files]
        listed = self._file(args.encode(descriptors))
        return [machine.executable, "--args", str(listed), "--", *command]

    def _writable(self) -> tuple[list[str], list[str]]:
        """Directories and single files, inside, that the command may write to."""
        dirs: list[str] = list(MEMORY_MOUNTS)
        files: list[str] = []
        for mount in self._request.mounts:
            if mount.writable:
                is_file = mount.source is not None and not Path(self._sources[str(mount.source)]).is_dir()
                (files if is_file else dirs).append(str(mount.target))
        return dirs, files

    def _spawn(self, command: list[str], stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        machine = self._machine
        user = {"user": machine.uid, "group": machine.gid, "extra_groups": []} if machine.drop else {}
        try:
            return spawner().popen(
                command,
                cores=self._request.limits.cores,
                env={},  # what bubblewrap is given would be readable inside, in /proc/1/environ
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=self._passed,
                cwd="/",
                start_new_session=True,
                **user,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxError(f"cannot start bubblewrap: {error}") from error

    def _let_go(self, process: subprocess.Popen[bytes], status: int, gate: int, report: int, errors: int) -> Started:
        machine, limits = self._machine, self._request.limits
        deadline = time.monotonic() + START_S
        inner = inner_pid(status, deadline, errors)
        try:
            with contextlib.ExitStack() as undo:
                meter = self._meter(process.pid, inner)
                undo.callback(meter.close)
                disk = DiskMeter(limits, meter.pids)
                undo.callback(disk.close)
                self._watch_directories(disk)
                handle = open_child(inner, process.pid)
                undo.callback(os.close, handle)
                meter.admit(inner)
                if machine.launcher:
                    await_launcher(report, deadline, errors)
                else:
                    await_mounts(inner, deadline, errors)
                    self._limit_from_outside(inner)
                self._watch_memory_mounts(disk, inner)
                meter.begin()
                os.write(gate, b"g")
                undo.pop_all()
        except ProcessLookupError:
            raise failure(errors) from None
        return Started(
            process=process,
            kill=lambda: kill(handle),
            limits=limits,
            meter=meter,
            disk=disk,
            started=time.monotonic(),
            encodes_signals=True,
            # bubblewrap's own first process may outlive the one we wait for by a moment
            after=[lambda: gone(handle), lambda: os.close(handle)],
        )

    def _limit_from_outside(self, pid: int) -> None:
        import resource

        for which, value in self._rlimits().items():
            with contextlib.suppress(PermissionError):  # a root without CAP_SYS_RESOURCE; what is polled still holds
                resource.prlimit(pid, which, (value, value))

    def _rlimits(self) -> dict[int, int]:
        return rlimits(self._request.limits, count_processes=self._machine.hierarchy is None)

    def _meter(self, outer: int, inner: int) -> Meter:
        machine, limits = self._machine, self._request.limits
        if machine.hierarchy is not None:
            return CgroupMeter(machine.hierarchy, limits)
        return PollingMeter(limits, lambda: descendants(inner), setup=(outer,), namespaced=True)

    def _watch_directories(self, disk: DiskMeter) -> None:
        """The host directories that the command may write to."""
        for mount in self._request.mounts:
            if mount.writable and mount.source is not None and Path(self._sources[str(mount.source)]).is_dir():
                disk.watch(self._sources[str(mount.source)])

    def _watch_memory_mounts(self, disk: DiskMeter, inner: int) -> None:
        """The sandbox's in-memory directories, opened before the command can touch them."""
        own = [str(mount.target) for mount in self._request.mounts if mount.source is None and mount.writable]
        for path in (*MEMORY_MOUNTS, *own):
            disk.watch_memory(f"/proc/{inner}/root{path}")


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:  # too many open files, no memory, ...
        raise SandboxError(f"cannot start a sandbox: {error}") from error


def _sources(mounts: Sequence[Mount]) -> dict[str, str]:
    """The mounts' sources and where they really are."""
    found = {}
    for mount in mounts:
        target = mount.target
        if not target.is_absolute() or ".." in target.parts or len(target.parts) < 2:
            raise SandboxError(f"{target} is no place to mount something: it must be absolute, without '..', below /")
        if mount.device and not target.is_relative_to("/dev"):
            raise SandboxError(f"{target} is no place for a device: it must lie below /dev")
        if mount.source is None:
            continue
        try:
            is_link = stat.S_ISLNK(os.lstat(mount.source).st_mode)
        except OSError as error:
            raise SandboxError(f"cannot mount {mount.source}: {error.strerror}") from error
        if is_link:
            raise SandboxError(f"cannot mount {mount.source}: it is a symbolic link; give the path it leads to")
        found[str(mount.source)] = os.path.realpath(mount.source)
    return found
