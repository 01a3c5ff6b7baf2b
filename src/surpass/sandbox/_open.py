"""Choosing a sandbox and saying plainly why there is none."""

from __future__ import annotations

import sys
from pathlib import PurePosixPath

from ._types import Limits, Sandbox, SandboxError, SandboxUnavailable

__all__ = ["open_sandbox"]

# What bubblewrap says, and what the reader can do about it.
_EXPLANATIONS = (
    (
        ("creating new namespace", "No permissions to create", "setting up uid map", "max_user_namespaces"),
        "This system forbids user namespaces; allow them with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
        " or `sysctl kernel.unprivileged_userns_clone=1`, or run the container with"
        " `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`.",
    ),
    (
        ("mount proc",),
        "This container hides parts of /proc, so that a private one cannot be mounted; run it with"
        " `--security-opt systempaths=unconfined`.",
    ),
)


def open_sandbox(unsafe: bool = False) -> Sandbox:
    """The sandbox of this machine, after a first command has run in it; `unsafe` gives one that isolates nothing.

    Raises:
        SandboxUnavailable: there is none; the message says in one sentence what is missing and what to do.
    """
    from ._direct import DirectSandbox

    if unsafe:
        return DirectSandbox()
    if sys.platform != "linux":
        raise SandboxUnavailable(
            f"Sandboxes need Linux and this is {sys.platform}; use a Linux machine, or accept unprotected runs with"
            " --unsafe-no-sandbox."
        )
    from ._bubblewrap import BubblewrapSandbox
    from ._bwrap import find_bwrap

    try:
        sandbox = BubblewrapSandbox(find_bwrap())
        done = sandbox.run(["true"], mounts=[], env={}, cwd=PurePosixPath("/tmp"), limits=Limits(wall_s=30))
    except SandboxUnavailable:
        raise
    except (SandboxError, OSError) as error:
        raise SandboxUnavailable(_explain(str(error))) from error
    if not done.ok:
        raise SandboxUnavailable(_explain(done.stderr.decode(errors="replace").strip() or f"true: {done.reason}"))
    return sandbox


def _explain(said: str) -> str:
    for signs, explanation in _EXPLANATIONS:
        if any(sign in said for sign in signs):
            return explanation
    return f"No sandbox could be started ({said}); `surpass doctor` shows what this machine lacks."
