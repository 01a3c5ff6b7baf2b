"""Text and JSON written by a candidate, read strictly."""

from __future__ import annotations

import json
import math
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
    """A JSON document without NaN, infinities or a key that is there twice.

    Raises:
        Malformed: as `read_text`; `not-finite` for NaN, infinities and numbers too large for a float; `unreadable`
            for anything that is not JSON, a repeated key, or an integer with more digits than Python converts.
    """
    text = read_text(path, max_bytes=max_bytes)
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except Malformed as failure:
        raise Malformed(failure.code, f"{path.name}: {failure.detail}") from None
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, or Python's limit on an integer's digits
        raise Malformed("unreadable", f"{path.name}: {error}") from None


def _refuse(token: str) -> NoReturn:
    raise Malformed("not-finite", token[:100])


def _finite(token: str) -> float:
    """JSON has no infinity, but `1e999` is a JSON number that becomes one."""
    number = float(token)
    if not math.isfinite(number):
        _refuse(token)
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Which of two equal keys counts is up to the reader, so a document that has them says two things."""
    document: dict[str, Any] = {}
    for key, value in pairs:
        if key in document:
            raise Malformed("unreadable", f"the key {key[:100]!r} is there twice")
        document[key] = value
    return document
