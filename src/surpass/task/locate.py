"""Find the line of a key in a TOML text: the standard parser keeps no positions."""

from __future__ import annotations

import re

__all__ = ["line_of"]

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*(?P<key>[A-Za-z0-9_.\-"']+)\s*=""")


def line_of(text: str, path: tuple[str | int, ...]) -> int | None:
    """The 1-based line where the value at `path` is set, or that of its closest enclosing table."""
    positions = _positions(text)
    while path:
        if path in positions:
            return positions[path]
        path = path[:-1]
    return None


def _positions(text: str) -> dict[tuple[str | int, ...], int]:
    positions: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            names = tuple(_unquoted(part) for part in header[2].split("."))
            if header[1] == "[[":
                index = counts.get(names, 0)
                counts[names] = index + 1
                table = (*names, index)
            else:
                table = names
            positions.setdefault(table, number)
        elif key := _KEY.match(line):
            positions.setdefault((*table, *(_unquoted(part) for part in key["key"].split("."))), number)
    return positions


def _unquoted(name: str) -> str:
    return name.strip().strip("\"'")
