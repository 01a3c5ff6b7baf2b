"""Runs untrusted commands with given mounts and limits and nothing else of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._open import open_sandbox
from ._types import (
    Capabilities,
    Completed,
    Limits,
    Mount,
    Reason,
    Role,
    Running,
    Sandbox,
    SandboxError,
    SandboxUnavailable,
)
from .probe import ProbeResult, probe, require_safe

if TYPE_CHECKING:
    from ._bubblewrap import BubblewrapSandbox
    from ._direct import DirectSandbox

__all__ = [
    "BubblewrapSandbox",
    "Capabilities",
    "Completed",
    "DirectSandbox",
    "Limits",
    "Mount",
    "ProbeResult",
    "Reason",
    "Role",
    "Running",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "open_sandbox",
    "probe",
    "require_safe",
]


def __getattr__(name: str) -> Any:
    """The implementations are imported when asked for: their modules are for POSIX systems only."""
    if name == "BubblewrapSandbox":
        from ._bubblewrap import BubblewrapSandbox

        return BubblewrapSandbox
    if name == "DirectSandbox":
        from ._direct import DirectSandbox

        return DirectSandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
