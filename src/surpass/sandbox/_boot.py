"""Starting one sandbox: everything between a request and the moment its command is let go.

The order matters. bubblewrap is started with an empty environment and sets up its namespaces and mounts; its
first process then waits at a gate. Only when that process is in its control groups and has its resource limits,
and the harness holds descriptors of what it will watch, is the gate opened. So nothing that the command does
can escape the accounting, and nothing that the sandbox's own set-up used is charged to the command.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ._cgroup import CgroupMeter, Hierarchy
from ._disk import DiskMeter
from ._launcher import landlock_rules, launcher
from ._linux import set_rlimit
from ._polling import PollingMeter
from ._proc import descendants
from ._seccomp import filter_program
from ._spawner import spawner
from ._supervise import Meter, Started
from ._types import Limits, Mount, Role, SandboxError
from ._view import LAUNCHER_PATH, MEMORY_MOUNTS, Arguments, candidates, environment, mounts_part

__all__ = ["Boot", "Machine", "Request"]

_START_S = 30.0
_OPEN_FILES = 4096


@dataclass(frozen=True, slots=True)
class Machine:
    """What is the same for every run of one role."""

    executable: str
    uid: int
    gid: int
    drop: bool
    """True when bubblewrap has to be started as another user than our own, root."""
    fixed: Arguments
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
    role: Role


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
        with self._ours, self._theirs:
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
        with self._ours, self._theirs:
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
        """A descriptor, for the sandbox, from which `content` can be read."""
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
        for fd in (status, gate, *(() if machine.launcher else (report,))):
            os.close(fd)
        started.stderr_fd = errors
        started.report_fd = report if machine.launcher else None
        return started

    def _arguments(self, shown: Mapping[str, str], status: int, gate: int, report: int) -> list[str]:
        machine, request = self._machine, self._request
        env = environment(request.env, request.role)
        args = machine.fixed.copy()
        mounts_part(args, request.mounts, request.limits, shown)
        for name, value in env.items():
            args.add("--setenv", name, value)
        args.add("--chdir", str(request.cwd), "--json-status-fd", str(status))
        program = filter_program()
        if program is not None:
            args.add_file("--seccomp", program)
        tried = candidates(request.command[0], request.cwd, env)
        command = [tried[0] if len(tried) == 1 else request.command[0], *request.command[1:]]
        if machine.launcher:
            rules = landlock_rules(machine.landlock_abi, *self._writable())
            code = launcher(tried, gate=gate, report=report, abi=machine.landlock_abi, rules=rules)
            args.add("--as-pid-1")
            # The root directory is read-only from the last argument of `mounts_part` on, but not yet for bubblewrap.
            args.words[:0] = []
            self._prepend_file(args, code)
            command = [LAUNCHER_PATH, *command]
        else:
            args.add("--block-fd", str(gate))
            self._prepend_link(args)
        descriptors = [self._file(content) for content in args.files]
        listed = self._file(args.encode(descriptors))
        return [machine.executable, "--args", str(listed), "--", *command]
