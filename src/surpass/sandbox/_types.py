"""The records and the Protocol that every sandbox speaks. Imports nothing of surpass."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

__all__ = [
    "Capabilities",
    "Completed",
    "Limits",
    "Mount",
    "Reason",
    "Role",
    "Running",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
]


class SandboxError(Exception):
    """The sandbox itself could not be built or started. Never the fault of the command inside."""


class SandboxUnavailable(SandboxError):
    """This machine cannot give a safe sandbox. The message is one sentence: what is missing, what to do."""


class Role(enum.StrEnum):
    """Who runs inside. Each role has its own user, so that none can touch another's processes or files."""

    CANDIDATE = "candidate"
    EVALUATOR = "evaluator"


class Reason(enum.StrEnum):
    """Why a command is no longer running."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    PIDS = "pids"
    DISK = "disk"
    SIGNAL = "signal"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Mount:
    """One host path made visible inside; an empty, private, in-memory directory when `source` is None.

    A `source` that is itself a symbolic link is refused: whoever wrote the link would choose what is shown.
    """

    source: Path | None
    target: PurePosixPath
    writable: bool = False
    device: bool = False
    """A device node, such as a GPU's, to be opened for reading and writing. Its target lies below /dev."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use. Every limit is enforced from outside the sandbox."""

    wall_s: float
    """Seconds of wall-clock time."""
    memory_bytes: int = 2 << 30
    """Memory of the whole process tree, its private /tmp included."""
    pids: int = 64
    """Processes and threads alive at once."""
    cpus: float = 1.0
    """CPU cores' worth of time per second."""
    disk_bytes: int = 256 << 20
    """Bytes in each writable mount, and in the private /tmp."""
    files: int = 10_000
    """Directory entries in each writable mount, and in the private /tmp."""
    output_bytes: int = 1 << 20
    """Bytes kept of stdout and of stderr each; the rest is read and dropped."""
    cpu_s: float | None = None
    """CPU seconds of the process tree; None for no limit besides wall time. Spent: `Reason.TIMEOUT`."""
    cores: tuple[int, ...] = ()
    """Numbers of the cores that the tree may run on; empty for all. The system call filter keeps it there."""
    interfaces: bool = False
    """May ask the kernel which network interfaces there are, as torch.distributed does. Inside, there is only lo."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What happened to one command."""

    exit_code: int
    """The command's exit status; 128 + signal number when a signal ended it."""
    reason: Reason
    wall_s: float
    cpu_s: float
    """CPU seconds, user and system, of the whole process tree."""
    peak_memory_bytes: int
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    tier: str = ""
    """How limits were enforced: `cgroup2`, `cgroup1` or `rlimit`."""

    @property
    def ok(self) -> bool:
        """True when the command ended by itself with exit status 0."""
        return self.reason is Reason.EXITED and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What protects a run on this machine. Stored with every result, so that a reader can judge it."""

    backend: str
    """`bubblewrap`, or `none` when untrusted code runs unsandboxed."""
    tier: str
    """How limits are enforced: `cgroup2`, `cgroup1` or `rlimit`."""
    bwrap_path: str = ""
    bwrap_version: str = ""
    user_namespaces: bool = False
    seccomp: bool = False
    """False when libseccomp is missing: no system call filter then."""
    landlock_abi: int = 0
    """Version of the kernel's Landlock in use inside; 0 when it is not applied."""
    dedicated_uid: bool = False
    """True when each role runs under its own host user, which needs the harness to be root."""


class Running(Protocol):
    """A command that has been started and whose stdin and stdout are the caller's file descriptors."""

    def wait(self, timeout_s: float | None = None) -> Completed | None:
        """Wait for the end; None when `timeout_s` seconds passed first. Limits are enforced meanwhile."""

    def kill(self) -> Completed:
        """Kill the whole tree now and say what it had used."""

    def cpu_s(self) -> float:
        """CPU seconds that the whole tree has used so far."""


class Sandbox(Protocol):
    """Runs untrusted commands with given mounts and limits and nothing else of the host."""

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """What protects a run."""

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
        """Run to completion.

        Raises:
            SandboxError: the sandbox could not be started.
        """

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
        """Start with `stdin` and `stdout` bound to the given file descriptors and return at once.

        The caller keeps its own copies of the descriptors and closes them. The thread that calls must
        outlive the command: the kernel kills the sandbox when the thread that started it ends.

        Raises:
            SandboxError: the sandbox could not be started.
        """

    def adopt(self, path: Path, role: Role = Role.CANDIDATE, *, recursive: bool = True) -> None:
        """Give a host file or directory tree to a role, so that it may write there. Links are not followed.

        What a candidate has written may be too deep to walk: give it single paths, `recursive=False`.
        """
