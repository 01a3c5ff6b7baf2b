"""What `surpass doctor` looks at."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from surpass.sandbox import SandboxError, open_sandbox, probe

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
    for name, (present, detail, remedy) in sandbox.capabilities.checks().items():
        yield Diagnosis(name, "ok" if present else "missing", detail, "" if present else remedy)
    for result in probe(sandbox, fresh=True):
        status: Literal["ok", "danger"] = "ok" if result.passed else "danger"
        yield Diagnosis(f"attack: {result.id}", status, result.detail, "" if result.passed else result.remedy)


def _extras() -> Iterator[Diagnosis]:
    for module, extra in _EXTRAS.items():
        present = importlib.util.find_spec(module) is not None
        yield Diagnosis(
            f"extra: {extra}",
            "ok" if present else "missing",
            module,
            "" if present else f"pip install 'surpass[{extra}]'",
        )
