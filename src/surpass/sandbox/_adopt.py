"""The host users that sandboxes run as when the harness is root, and giving them files."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from ._types import Role, SandboxError

__all__ = ["ROLE_UIDS", "adopt"]

# Inside 60706..61183, which systemd's registry of user numbers leaves unused; below 65536, so that containers
# with the usual map of user numbers have them.
ROLE_UIDS = {Role.CANDIDATE: 60_710, Role.EVALUATOR: 60_711}


def adopt(path: Path, role: Role, *, recursive: bool = True) -> None:
    """Change the owner of a file or a tree to a role's user when root, nothing otherwise.

    Links are not followed. A file that has other names elsewhere keeps its owner unless a role has it already:
    the other name may be one that a candidate must not write to, a shared package cache for instance.

    Raises:
        SandboxError: `path` is a link or does not exist.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    uid = ROLE_UIDS[role]
    try:
        root = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SandboxError(f"cannot give {path} to the sandbox's user: {error.strerror}") from error
    try:
        os.fchown(root, uid, uid)
        if recursive and stat.S_ISDIR(os.fstat(root).st_mode):
            for _, dirs, files, fd in os.fwalk(".", dir_fd=root, follow_symlinks=False):
                for name in (*dirs, *files):
                    with contextlib.suppress(FileNotFoundError):
                        _give(name, fd, uid)
    finally:
        os.close(root)


def _give(name: str, directory: int, uid: int) -> None:
    info = os.stat(name, dir_fd=directory, follow_symlinks=False)
    shared = info.st_nlink > 1 and not stat.S_ISDIR(info.st_mode) and info.st_uid not in ROLE_UIDS.values()
    if not shared:
        os.chown(name, uid, uid, dir_fd=directory, follow_symlinks=False)
