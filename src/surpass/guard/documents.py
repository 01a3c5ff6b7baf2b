"""Text and JSON written by a candidate, read strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from surpass.guard.files import read_bytes
from surpass.guard.malformed import Malformed

__all__ = ["read_json", "read_text"]


def read_text(path: Path, *, max_bytes: int = 1 << 20) -> str:
    """A UTF-8 text file.

    Raises:
        Malformed: as `read_bytes`, or `unreadable` when it is not UTF-8.
    """
    try:
        return read_bytes(path, max_bytes=max_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("unreadable", f"{path.name}: {error}") from None


def read_json(path: Path, *, max_bytes: int = 1 << 20) -> Any:
    """A JSON document without NaN or infinities.

    Raises:
        Malformed: as `read_text`; `not-finite` for NaN and infinities; `unreadable` for anything that is not JSON.
    """

    def refuse(token: str) -> NoReturn:
        raise Malformed("not-finite", f"{path.name}: {token}")

    try:
        return json.loads(read_text(path, max_bytes=max_bytes), parse_constant=refuse)
    except (json.JSONDecodeError, RecursionError) as error:
        raise Malformed("unreadable", f"{path.name}: {error}") from None
