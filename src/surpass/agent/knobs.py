"""Knobs: constants that a start program declares as tunable, in a comment on the line that sets them.

RIDGE = 1e-3  # knob: log 1e-9 1.0
TAPS = 2      # knob: int 1 8
DAMPING = 0.9 # knob: float 0 1
RULE = "best" # knob: choice best worst
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Knob", "KnobError", "apply", "find"]

_LINE = re.compile(
    r"^(?P<head>(?P<name>[A-Za-z_]\w*)\s*(?::[^=]+)?=\s*)(?P<value>[^#]+?)(?P<tail>\s*#\s*knob:\s*(?P<domain>.+?)\s*)$"
)

Value = float | int | str


class KnobError(ValueError):
    """A knob comment that cannot be read."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One tunable constant: its kind (`log`, `float`, `int`, `choice`), default and domain."""

    name: str
    kind: str
    default: Value
    low: float = 0.0
    high: float = 0.0
    choices: tuple[Value, ...] = ()


def find(source: str) -> list[Knob]:
    """The knobs that a program declares, in order.

    Raises:
        KnobError: a knob comment does not follow the form; the message names the line.
    """
    knobs = []
    for number, line in enumerate(source.splitlines(), 1):
        if match := _LINE.match(line):
            try:
                knobs.append(_knob(match["name"], match["value"], match["domain"].split()))
            except (ValueError, SyntaxError) as error:
                raise KnobError(f"line {number}: {line.strip()}: {error}") from None
    return knobs


def apply(source: str, values: Mapping[str, Value]) -> str:
    """The program with knobs set to these values; every other byte stays as it is."""
    return "".join(_with_value(line, values) for line in source.splitlines(keepends=True))


def _with_value(line: str, values: Mapping[str, Value]) -> str:
    body = line.rstrip("\r\n")
    match = _LINE.match(body)
    if match is None or match["name"] not in values:
        return line
    return f"{match['head']}{values[match['name']]!r}{match['tail']}{line[len(body) :]}"


def _knob(name: str, literal: str, domain: list[str]) -> Knob:
    default = ast.literal_eval(literal.strip())
    kind, *bounds = domain
    if kind == "choice":
        choices = tuple(_literal(word) for word in bounds)
        if default not in choices:
            raise ValueError(f"the default {default!r} is none of the choices")
        return Knob(name, kind, default, choices=choices)
    if kind not in ("log", "float", "int") or len(bounds) != 2:
        raise ValueError("write 'log LOW HIGH', 'float LOW HIGH', 'int LOW HIGH' or 'choice A B ...'")
    low, high = float(bounds[0]), float(bounds[1])
    if not low <= default <= high or low >= high or (kind == "log" and low <= 0):
        raise ValueError(f"the default {default!r} must lie in [{low:g}, {high:g}], and a log range above 0")
    return Knob(name, kind, default, low, high)


def _literal(word: str) -> Value:
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word
    return value if isinstance(value, int | float | str) else word
