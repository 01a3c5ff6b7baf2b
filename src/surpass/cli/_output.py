"""What the verbs print: tables and messages for people, strict JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

__all__ = ["console", "emit_json", "notes"]

console = Console(highlight=False)
"""Results."""

notes = Console(stderr=True, highlight=False)
"""Progress and remarks, which must not mix with results."""


def emit_json(document: Any) -> None:
    """Print one JSON document. NaN and infinities are bugs and raise ValueError."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
