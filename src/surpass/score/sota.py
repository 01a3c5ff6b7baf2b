"""Reading a SOTA number out of the text of a paper, exactly as NatureBench does (reference/naturebench.md, section 2).

The rules are peculiar in places ("1,234" is 1, ".95" is nothing). They are kept so that `g` is comparable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from surpass.score.numbers import as_float, is_number

__all__ = ["best_sota", "parse_sota"]

_PLAIN = r"[-+]?\d+(?:\.\d+)?"
_NUMBER = rf"{_PLAIN}(?:[eE][-+]?\d+)?"
_MEAN = re.compile(rf"\bmean\s*=\s*({_NUMBER})", re.IGNORECASE)
_RANGE = re.compile(rf"~?\s*({_PLAIN})\s*(?:to|[-–—])\s*~?\s*({_PLAIN})")  # noqa: RUF001 - dashes of papers
_BOUND = re.compile(rf"[<>]=?\s*({_NUMBER})")
_LEADING = re.compile(_NUMBER)


def parse_sota(value: object, higher: bool) -> float | None:
    """One SOTA candidate as a number; None when nothing can be read.

    The first rule that applies decides:
        1. a number that is not a bool is itself, NaN included; anything else is read as text
        2. `mean = X` anywhere, "mean" in any case and beginning a word
        3. the text is cut at the first "(", then leading "~" go, then blanks
        4. all of it a range `A to B`, `A-B`: the second end if higher is better, else the first
        5. a bound `< A`, `<= A`, `> A`, `>= A`
        6. `A ± spread`: only what stands left of the sign goes on, trimmed as in 3 once more
        7. the number that it begins with, and no other
    """
    if value is None:
        return None
    if is_number(value):
        return as_float(value)
    text = str(value).strip()
    if mean := _MEAN.search(text):
        return float(mean[1])
    text = _trimmed(text.partition("(")[0].strip())
    if both := _RANGE.fullmatch(text):
        return float(both[2 if higher else 1])
    if bound := _BOUND.match(text):
        return float(bound[1])
    centre, sign, _ = text.partition("±")
    leading = _LEADING.match(_trimmed(centre) if sign else text)
    return float(leading[0]) if leading else None


def best_sota(field: object, higher: bool) -> float | None:
    """The best of the candidates in a `sota_score` field: a list of them, or a single one.

    A candidate is a number, a text, or a mapping that holds one under "value".
    """
    candidates = field if isinstance(field, list) else [field]
    parsed = [parse_sota(_content(candidate), higher) for candidate in candidates]
    known = [number for number in parsed if number is not None]
    if not known:
        return None
    return max(known) if higher else min(known)


def _trimmed(text: str) -> str:
    return text.lstrip("~").strip()


def _content(candidate: Any) -> object:
    return candidate.get("value") if isinstance(candidate, Mapping) else candidate
