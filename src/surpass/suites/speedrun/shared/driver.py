"""Asks an exported language model for logits and computes its loss; finds out whether it plays by the rules.

Every row of hidden tokens is asked twice, once as it is and once with everything after a random position exchanged for
another row's text. The two look alike from outside. Where the logits before that position differ, the model looks ahead;
each row tests the very next token at one position. Some batches are asked a third time at the end, their rows in another order:
where those answers differ, something was learned or remembered meanwhile.

A request is two 4-byte unsigned integers B and T and B * T 8-byte integers; the answer is three such integers B, T and V
and B * T * V 4-byte floats.
B = 0 ends the exchange.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from surpass.guard import Malformed

BATCH = 50
AGAIN = 3  # batches that are asked once more at the end
# Logits of one position may differ by rounding when rows are batched with others.
ABSOLUTE, RELATIVE = 2e-3, 1e-3
PROBES, PROBE_TOKENS = 200, 64
UNPACKED_BYTES = 64 << 20
_SHAPE = struct.Struct("<III")

Tokens = NDArray[np.int64]
Logits = NDArray[np.float32]


class Model:
    """The other end of the pipe."""

    def __init__(self, send: BinaryIO, receive: BinaryIO, vocabulary: int) -> None:
        self._send, self._receive, self._vocabulary = send, receive, vocabulary

    def logits(self, tokens: Tokens) -> Logits:
        """(B, T) tokens -> (B, T, vocabulary) logits."""
        self._tell(struct.pack("<II", *tokens.shape) + tokens.astype("<i8").tobytes())
        shape = (*tokens.shape, self._vocabulary)
        header = self._receive.read(_SHAPE.size)
        if len(header) != _SHAPE.size:
            raise Malformed("no-answer", "the model ended before it answered")
        if _SHAPE.unpack(header) != shape:
            raise Malformed("wrong-size", f"logits of shape {_SHAPE.unpack(header)} instead of {shape}")
        answer = self._receive.read(int(np.prod(shape)) * 4)
        if len(answer) != int(np.prod(shape)) * 4:
            raise Malformed("no-answer", f"{len(answer)} bytes instead of {shape} floats")
        logits = np.frombuffer(answer, "<f4").reshape(shape)
        if not np.isfinite(logits).all():
            raise Malformed("not-finite", "some logits are NaN or infinite")
        return logits

    def finish(self) -> None:
        """Say that nothing more is asked; whatever still comes is more than was asked for."""
        self._tell(struct.pack("<II", 0, 0))
        if self._receive.read(1):
            raise Malformed("wrong-size", "more bytes than the logits have")

    def _tell(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._send.fileno(), content) :]
        except BrokenPipeError:
            raise Malformed("no-answer", "the model ended before it had read the question") from None


def drive(inputs: Path, outputs: Path, send: BinaryIO, receive: BinaryIO) -> None:
    """Examine the model; outputs/result.json gets `loss` (nats a token) and `tokens`."""
    rows, meta = hidden_rows(inputs / "truth")
    refuse_corpus(inputs / "train", inputs / "export")
    model = Model(send, receive, int(meta["vocab_size"]))
    rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
    total, kept = 0.0, []
    for batch in batches(len(rows), rng):
        logits = ask_twice(model, rows, batch, rng)
        total += negative_log_likelihood(logits, rows[batch, 1:])
        if len(kept) < AGAIN:
            kept.append((batch, logits))
    for batch, before in kept:
        order = rng.permutation(len(batch))
        require_same(
            "stateful", before[order], model.logits(rows[batch[order], :-1]), "asked again, it answers differently"
        )
    model.finish()
    tokens = rows[:, 1:].size
    (outputs / "result.json").write_text(json.dumps({"loss": total / tokens, "tokens": tokens}))


def hidden_rows(truth: Path) -> tuple[Tokens, dict[str, Any]]:
    """The hidden tokens, (rows, T + 1), checked against the hash that was recorded when they were made."""
    meta = json.loads((truth / "meta.json").read_text())
    content = (truth / "val.bin").read_bytes()
    if hashlib.sha256(content).hexdigest() != meta["sha256"]:
        raise ValueError("the hidden tokens are not those that were prepared")
    rows = np.frombuffer(content, np.uint16).astype(np.int64).reshape(-1, meta["sequence"] + 1)
    return rows, meta


def batches(count: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Every row once, in random order."""
    order = rng.permutation(count)
    for start in range(0, count, BATCH):
        yield order[start : start + BATCH]


def ask_twice(model: Model, rows: Tokens, batch: NDArray[np.intp], rng: np.random.Generator) -> Logits:
    """The logits of a batch, after a comparison with those of the same rows with exchanged ends."""
    whole = rows[batch, :-1]
    cuts = rng.integers(1, whole.shape[1], len(batch))
    others = rows[rng.integers(0, len(rows), len(batch)), :-1]
    after = np.arange(whole.shape[1]) >= cuts[:, None]
    exchanged = np.where(after, others, whole)
    # The first exchanged token has to be another one, or the next token would not be tested.
    same = exchanged[np.arange(len(batch)), cuts] == whole[np.arange(len(batch)), cuts]
    others_first = (whole[np.arange(len(batch)), cuts] + 1) % (rows.max() + 1)
    exchanged[np.arange(len(batch))[same], cuts[same]] = others_first[same]
    first, second = (exchanged, whole) if rng.random() < 0.5 else (whole, exchanged)
    answers = [model.logits(first), model.logits(second)]
    logits, altered = answers if first is whole else answers[::-1]
    for row, cut in enumerate(cuts):
        if not same_logits(logits[row, :cut], altered[row, :cut]):
            # Either it looks ahead, or it answers the same question differently each time.
            require_same("stateful", logits, model.logits(whole), "asked again, it answers differently")
            raise Malformed("non-causal", f"text after position {cut} changes what comes before")
    return logits


def require_same(code: str, one: Logits, other: Logits, detail: str) -> None:
    """Refuse answers that differ by more than rounding."""
    if not same_logits(one, other):
        raise Malformed(code, f"{detail}: logits differ by {np.abs(one - other).max():.3g}")


def same_logits(one: Logits, other: Logits) -> bool:
    """True when they differ by no more than rounding."""
    return np.allclose(one, other, rtol=RELATIVE, atol=ABSOLUTE)


def negative_log_likelihood(logits: Logits, targets: Tokens) -> float:
    """Sum over all targets, in nats, in double precision."""
    z = logits.astype(np.float64)
    z -= z.max(-1, keepdims=True)
    chosen = np.take_along_axis(z, targets[..., None], -1)[..., 0]
    return float((np.log(np.exp(z).sum(-1)) - chosen).sum())


def refuse_corpus(train: Path, export: Path) -> None:
    """Refuse an export in which stretches of the training text lie, in any usual integer type."""
    tokens = np.fromfile(train / "train.bin", np.uint16)
    starts = np.random.default_rng(0).integers(0, len(tokens) - PROBE_TOKENS, PROBES)
    for content in contents(export):
        for start in starts:
            probe = tokens[start : start + PROBE_TOKENS]
            if any(probe.astype(kind).tobytes() in content for kind in (np.uint8, np.uint16, np.int32, np.int64)):
                raise Malformed("corpus", "the export holds stretches of the training text")


def contents(export: Path) -> Iterator[bytes]:
    """Every file of the export, and every member of those that are archives (as npz files are)."""
    for path in sorted(export.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            yield content
            yield from members(content)


def members(content: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                with archive.open(member) as file:
                    yield file.read(UNPACKED_BYTES)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError):
        return
