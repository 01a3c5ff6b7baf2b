"""The default sandbox: bubblewrap, with the launcher as its first process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from . import _cgroup
from ._adopt import ROLE_UIDS, adopt
from ._boot import Boot, Machine, Request
from ._bwrap import Bwrap
from ._launcher import launcher_supported
from ._linux import landlock_abi
from ._seccomp import filter_program
from ._spawner import spawner
from ._supervise import Supervisor, Watched
from ._types import Capabilities, Completed, Limits, Mount, Role, Running
from ._view import fixed_part, python_part

__all__ = ["BubblewrapSandbox"]


class BubblewrapSandbox:
    """Runs commands in bubblewrap. Safe to use from several threads at once."""

    name = "bubblewrap"

    def __init__(self, bwrap: Bwrap, *, tier: str | None = None, use_launcher: bool = True) -> None:
        """`tier="rlimit"` does without control groups; without the launcher there is no Landlock either."""
        self._bwrap = bwrap
        self._hierarchy = None if tier == "rlimit" else _cgroup.detect()
        self._launcher = use_launcher and launcher_supported()
        self._root = os.geteuid() == 0
        self._machines: dict[tuple[int, Role], Machine] = {}
        self._capabilities = Capabilities(
            backend=self.name,
            tier=self._hierarchy.tier if self._hierarchy else "rlimit",
            bwrap_path=bwrap.path,
            bwrap_version=bwrap.version,
            user_namespaces=True,
            seccomp=filter_program() is not None,
            landlock_abi=landlock_abi() if self._launcher else 0,
            dedicated_uid=self._root,
        )
        if self._hierarchy:
            _cgroup.remove_stale(self._hierarchy)

    @property
    def capabilities(self) -> Capabilities:
        """What protects a run on this machine."""
        return self._capabilities

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
        """See `Sandbox.run`."""
        request = Request(tuple(command), tuple(mounts), env, cwd, limits)
        return Supervisor(Boot(self._machine(role), request).with_pipes(stdin)).run()

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
        """See `Sandbox.start`. A thread of this process keeps the limits, whether or not anybody waits."""
        request = Request(tuple(command), tuple(mounts), env, cwd, limits)
        return Watched(Boot(self._machine(role), request).with_descriptors(stdin, stdout))

    def adopt(self, path: Path, role: Role = Role.CANDIDATE, *, recursive: bool = True) -> None:
        """See `Sandbox.adopt`."""
        adopt(path, role, recursive=recursive)

    def _machine(self, role: Role) -> Machine:
        """What is the same for every run of a role. Paths made reachable are this process's own, a fork's are not."""
        key = (os.getpid(), role)
        if key not in self._machines:
            self._machines[key] = self._prepare(role)
        return self._machines[key]

    def _prepare(self, role: Role) -> Machine:
        uid = ROLE_UIDS[role] if self._root else os.geteuid()
        gid = ROLE_UIDS[role] if self._root else os.getegid()

        def show(path: str) -> str:
            return spawner().keep(path, uid) if self._root else path

        home, executable = self._bwrap.home, Path(self._bwrap.path)
        return Machine(
            executable=str(Path(show(home)) / executable.relative_to(home)),
            uid=uid,
            gid=gid,
            drop=self._root,
            fixed=fixed_part(uid, gid, show),
            python=python_part(show),
            hierarchy=self._hierarchy,
            landlock_abi=self._capabilities.landlock_abi,
            launcher=self._launcher,
        )
