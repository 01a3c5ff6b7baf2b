"""What one sandbox sees of the file system, written as bubblewrap's arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ._python import interpreter, python_view
from ._types import Limits, Mount, SandboxError

__all__ = [
    "LAUNCHER_PATH",
    "MEMORY_MOUNTS",
    "Arguments",
    "candidates",
    "environment",
    "fixed_part",
    "mounts_part",
    "python_part",
]

LAUNCHER_PATH = "/.launcher"
MEMORY_MOUNTS = ("/tmp", "/dev/shm")
_ETC = ("ld.so.cache", "alternatives", "localtime")
_NSSWITCH = b"passwd: files\ngroup: files\nhosts: files\n"
_HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost\n"


@dataclass(slots=True)
class Arguments:
    """Arguments, and the contents of the files that they create; a number stands for a file's descriptor."""

    words: list[str | int] = field(default_factory=list)
    files: list[bytes] = field(default_factory=list)

    def add(self, *words: str) -> None:
        """Append plain words."""
        self.words += words

    def add_file(self, option: str, content: bytes, target: str = "", permissions: str = "") -> None:
        """Append an option that reads a file from a descriptor."""
        if permissions:
            self.add("--perms", permissions)
        self.words += [option, len(self.files), *([target] if target else [])]
        self.files.append(content)

    def append(self, other: Arguments) -> None:
        """Append another list with its files."""
        self.words += [word + len(self.files) if isinstance(word, int) else word for word in other.words]
        self.files += other.files

    def copy(self) -> Arguments:
        """A list of its own to append to."""
        return Arguments(list(self.words), list(self.files))

    def encode(self, descriptors: Sequence[int]) -> bytes:
        """As bubblewrap reads them from its --args descriptor."""
        words = [str(descriptors[word]) if isinstance(word, int) else word for word in self.words]
        if any("\0" in word for word in words):
            raise SandboxError("a path or an environment variable contains a NUL character")
        return b"".join(os.fsencode(word) + b"\0" for word in words)


def fixed_part(uid: int, gid: int, show: Callable[[str], str]) -> Arguments:
    """What is the same for every run of one user: namespaces and system.

    `show` turns a host path into one that bubblewrap, running as `uid`, can reach.
    """
    args = Arguments()
    args.add("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
    args.add("--unshare-cgroup-try", "--uid", str(uid), "--gid", str(gid), "--disable-userns")
    args.add("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "sandbox")
    args.add("--ro-bind", show("/usr"), "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/") / name
        if path.is_symlink():
            args.add("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            args.add("--ro-bind", show(str(path)), str(path))
    args.add("--proc", "/proc", "--dev", "/dev", "--dir", "/run", "--symlink", "../tmp", "/var/tmp")
    for name in _ETC:
        path = Path("/etc") / name
        if path.exists():
            args.add("--ro-bind", show(str(path.resolve())), str(path))
    users = f"root:x:0:0::/:/usr/sbin/nologin\nsandbox:x:{uid}:{gid}::/tmp:/bin/sh\n"
    args.add_file("--file", users.encode(), "/etc/passwd", "0444")
    args.add_file("--file", f"root:x:0:\nsandbox:x:{gid}:\n".encode(), "/etc/group", "0444")
    args.add_file("--file", _NSSWITCH, "/etc/nsswitch.conf", "0444")
    args.add_file("--file", _HOSTS, "/etc/hosts", "0444")
    return args


def python_part(show: Callable[[str], str]) -> Arguments:
    """The Python that runs the harness, without the harness. It may lie below a directory that is private inside."""
    args = Arguments()
    view = python_view()
    for path in view.binds:
        args.add("--ro-bind", show(str(Path(path).resolve())), path)
    for link, target in view.links:
        args.add("--symlink", target, link)
    for path in view.masked_dirs:
        args.add("--tmpfs", path, "--remount-ro", path)
    for path in view.masked_files:
        args.add_file("--ro-bind-data", b"", path, "0444")
    return args


def mounts_part(
    args: Arguments, python: Arguments, mounts: Sequence[Mount], limits: Limits, shown: Mapping[str, str]
) -> None:
    """Append the private directories, Python, and the caller's mounts; everything else becomes read-only.

    Python comes after /tmp: an environment that lies there would be covered otherwise. `shown` maps the mounts'
    sources to paths that bubblewrap can reach.
    """
    size = str(limits.disk_bytes)
    for path in MEMORY_MOUNTS:
        args.add("--size", size, "--perms", "1777", "--tmpfs", path)
    args.append(python)
    for mount in sorted(mounts, key=lambda mount: len(mount.target.parts)):  # parents before what is in them
        target = str(mount.target)
        if mount.source is not None:
            option = "--dev-bind" if mount.device else "--bind" if mount.writable else "--ro-bind"
            args.add(option, shown[str(mount.source)], target)
        else:
            args.add("--size", size, "--tmpfs", target)
    for mount in mounts:
        if mount.source is None and not mount.writable:
            args.add("--remount-ro", str(mount.target))
    args.add("--remount-ro", "/dev", "--remount-ro", "/")  # both are private but without a size limit


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the command finds: a few defaults, then the caller's. Nothing of the harness's own."""
    path = f"{Path(interpreter()).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    defaults = {"PATH": path, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "USER": "sandbox"}
    return defaults | dict(env)


def candidates(name: str, cwd: PurePosixPath, env: Mapping[str, str]) -> list[str]:
    """Absolute paths inside that `name` may mean, in order. `python` is the harness's own interpreter."""
    if name in ("python", "python3"):
        return [interpreter()]
    if "/" in name:
        return [str(cwd / name)]
    return [str(cwd / directory / name) for directory in env["PATH"].split(":")]
