"""Source that is handed in to be trained: text that a person could read, and too little of it to hold weights."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from pathlib import Path

from surpass.guard.malformed import Malformed

__all__ = ["check_source"]

_COMPRESSED_SHARE = 0.25
"""Of the limit, for all files compressed: prose and code shrink to a third or less, weights hardly at all."""
_WORD = re.compile(r"\S{40,}")
_DENSE_BITS, _MOST_DENSE = 4.8, 400
"""Bits a character, and characters in all words that have more. Base64 has about 5.4 in words of this length, code
without spaces 4.0 to 4.6."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+")
_MOST_DIGITS = 4000
"""In all number literals of all files together: some 1,600 bytes of weights at best."""


def check_source(folder: Path, limit_bytes: int) -> None:
    """Refuse a submission that could carry weights in its source.

    Every file counts, whatever its name. `folder` is sealed: it holds regular files only.

    Raises:
        Malformed: `source-size`, `source-binary`, or `source-entropy`.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    if size > limit_bytes:
        raise Malformed("source-size", f"{size} bytes of source, at most {limit_bytes}")
    texts = [_text(path) for path in files]
    compressed = len(zlib.compress("".join(texts).encode(), 9))
    if compressed > limit_bytes * _COMPRESSED_SHARE:
        raise Malformed("source-entropy", f"{compressed} bytes of source when compressed: more than code would have")
    dense = sum(len(word) for text in texts for word in _WORD.findall(text) if _bits(word) > _DENSE_BITS)
    if dense > _MOST_DENSE:
        raise Malformed("source-entropy", f"{dense} characters in long words that look like encoded data")
    digits = sum(len(number) for text in texts for number in _NUMBER.findall(text))
    if digits > _MOST_DIGITS:
        raise Malformed("source-entropy", f"{digits} characters of number literals, at most {_MOST_DIGITS}")


def _text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("source-binary", f"{path.name} is not UTF-8 text") from None
    if not text.isascii() and sum(not character.isascii() for character in text) > len(text) / 3:
        # One character beyond ASCII carries up to 20 bits; a comment in any language stays well below this share.
        raise Malformed("source-entropy", f"{path.name} is mostly characters beyond ASCII")
    return text


def _bits(word: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(word)
    return -math.fsum(n / len(word) * math.log2(n / len(word)) for n in counts.values())
