"""Source that may carry weights, and honest source that may not be mistaken for it."""

import base64
import random
from pathlib import Path

import pytest

from surpass.guard import Malformed
from surpass.guard.source import check_source

LIMIT = 64 << 10
RECORDS = Path(__file__).parents[2] / "src/surpass/suites/speedrun/records"


def check(tmp_path, content, name="train.py"):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    check_source(tmp_path, LIMIT)


def encoded(count, width):
    text = base64.b64encode(random.Random(0).randbytes(count)).decode()
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("x = 1\n" * 20_000, "source-size"),
        (b"\x80\x04\x95weights", "source-binary"),
        (f'W = """{encoded(8000, 10**6)}"""', "source-entropy"),
        (f'W = """{encoded(8000, 76)}"""', "source-entropy"),
        (f'W = """{encoded(40_000, 20)}"""', "source-entropy"),
        ("W = [" + ", ".join(f"{random.Random(i).gauss(0, 1):.4f}" for i in range(1000)) + "]", "source-entropy"),
        ("W = '" + "".join(chr(0x4E00 + i % 20_000) for i in range(5000)) + "'", "source-entropy"),
        ("W = bytes.fromhex('" + random.Random(0).randbytes(12_000).hex() + "')", "source-entropy"),
    ],
    ids=["size", "binary", "base64", "base64-lines", "short-words", "numbers", "wide", "hex"],
)
def test_weights_are_refused(tmp_path, content, code):
    with pytest.raises(Malformed) as refused:
        check(tmp_path, content)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "content",
    [
        "# " + "A long comment explains why this learning rate was chosen. " * 200,
        "x = " + "+".join(f"weights_{i}" for i in range(300)),
        "RATES = [" + ", ".join(f"{i / 1000:.3f}" for i in range(300)) + "]",
        "# Über größere Schrittweiten: très bien, 很好\n" * 50,
    ],
    ids=["prose", "no-spaces", "numbers", "languages"],
)
def test_honest_source_passes(tmp_path, content):
    check(tmp_path, content)


@pytest.mark.parametrize("record", sorted(RECORDS.glob("r*.py")), ids=lambda path: path.stem)
def test_every_record_passes(tmp_path, record):
    check(tmp_path, record.read_bytes())
