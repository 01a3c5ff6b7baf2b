"""The few Linux system calls that Python's standard library does not offer."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

__all__ = ["bind_mount", "landlock_abi", "mount_tmpfs", "new_mount_namespace", "unmount"]

_CLONE_NEWNS = 0x00020000
_MS_BIND = 4096
_MS_REC = 16384
_MS_SLAVE = 1 << 19
_MS_NOSUID, _MS_NODEV = 2, 4
_MNT_DETACH = 2
_SYS_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def new_mount_namespace() -> None:
    """Give the calling thread, and no other, its own mount namespace that the host never sees changes of."""
    _check(_libc().unshare(_CLONE_NEWNS), "unshare")
    _check(_libc().mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None), "mount")


def mount_tmpfs(target: Path) -> None:
    """Mount a small empty tmpfs that anybody may traverse."""
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV)
    result = _libc().mount(b"tmpfs", os.fsencode(target), b"tmpfs", flags, b"mode=0755,size=1m")
    _check(result, f"mount {target}")


def bind_mount(source: str, target: str) -> None:
    """Make `source`, with what is mounted below it, visible at `target`."""
    flags = ctypes.c_ulong(_MS_BIND | _MS_REC)
    _check(_libc().mount(os.fsencode(source), os.fsencode(target), None, flags, None), f"bind {source}")


def unmount(target: str) -> None:
    """Detach a mount at once, busy or not."""
    _check(_libc().umount2(os.fsencode(target), _MNT_DETACH), f"unmount {target}")


@functools.cache
def landlock_abi() -> int:
    """Version of Landlock that the kernel offers; 0 for none."""
    size = ctypes.c_size_t(0)
    answer = _libc().syscall(ctypes.c_long(_SYS_LANDLOCK_CREATE_RULESET), None, size, ctypes.c_uint32(1))
    return max(0, int(answer))
