"""Read a checkout's files: what cannot be read becomes a sentence."""

from __future__ import annotations

import ast
import functools
import json
import math
import warnings
from pathlib import Path
from typing import Any

from surpass.interop.errors import InteropError

__all__ = ["is_python", "number", "read_bytes", "read_json", "read_script", "read_text"]


def read_bytes(path: Path) -> bytes:
    """The file's bytes.

    Raises:
        InteropError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InteropError(f"{path}: cannot be read ({error.strerror}); check the checkout") from None


def read_text(path: Path) -> str:
    """The file as UTF-8 text with `\\n` line ends.

    Raises:
        InteropError: it cannot be read, or is no text.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InteropError(f"{path}: is not UTF-8 text; check out the file again") from None
    return text.replace("\r\n", "\n")


def read_script(path: Path) -> str:
    """A Python script.

    Raises:
        InteropError: it cannot be read, or is no Python.
    """
    text = read_text(path)
    if not is_python(text):
        raise InteropError(f"{path}: is not a Python script; give the training script itself")
    return text


@functools.lru_cache(maxsize=128)
def is_python(text: str) -> bool:
    """True when the text is a Python program that does something. Many logs hold the same one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how a record writes its regular expressions is not the user's concern
            return bool(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        InteropError: it cannot be read, or holds something else.
    """
    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InteropError(f"{path}: is not valid JSON ({error}); repair or remove the file") from None
    if not isinstance(document, dict):
        raise InteropError(f"{path}: holds no JSON object; repair or remove the file")
    return document


def number(values: dict[str, Any], key: str, path: Path) -> float:
    """A number of a JSON object; NaN when it is absent, null, or not finite.

    Raises:
        InteropError: the value is something else than a number.
    """
    value = values.get(key)
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InteropError(
            f"{path}: metrics.{key} is {json.dumps(value)[:40]}, not a number; repair or remove the file"
        )
    try:
        finite = float(value)
    except OverflowError:
        return math.nan
    return finite if math.isfinite(finite) else math.nan
