"""What the verbs print: tables and messages for people, strict JSON for programs."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any

from rich.console import Console

__all__ = ["console", "emit_json", "notes", "visible"]

console = Console(highlight=False)
"""Results."""

notes = Console(stderr=True, highlight=False)
"""Progress and remarks, which must not mix with results."""


def visible(text: str) -> str:
    """Foreign text for a terminal: control and direction characters, which could rewrite the screen, become `?`."""
    return "".join("?" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n" else c for c in text)


def emit_json(document: Any) -> None:
    """Print one JSON document. NaN and infinities are bugs and raise ValueError."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
