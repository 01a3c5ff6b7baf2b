"""Asks an exported language model for logits and computes its loss; finds out whether it plays by the rules.

Two copies of the model are asked, one after the other, in sandboxes that share nothing. The first gets every row of hidden
tokens as it is; from its answers follows the loss. The second gets the rows in another order, each with everything after a
random position exchanged for another row's text: where its logits before that position differ from the first's, the
model looks ahead, and each row tests the very next token at one position; or it has learned from what it was asked before, in another order.
A model that remembers cannot make the two agree: what one was asked the other never hears of.

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
AGAIN = 3  # batches that the first copy is asked once more at the end
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
    """Ask one copy of the model; called twice. The second time outputs/result.json gets `loss` and `tokens`."""
    rows, meta = hidden_rows(inputs / "truth")
    model = Model(send, receive, int(meta["vocab_size"]))
    rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
    answers = outputs / "answers.npy"
    if not answers.is_file():
        refuse_corpus(inputs / "train", inputs / "export")
        logits = ask_whole(model, rows, rng)
        model.finish()
        np.save(answers, logits)
        return
    logits = np.load(answers, allow_pickle=False)
    ask_exchanged(model, rows, logits, rng)
    model.finish()
    answers.unlink()
    tokens = rows[:, 1:].size
    loss = negative_log_likelihood(logits, rows[:, 1:]) / tokens
    (outputs / "result.json").write_text(json.dumps({"loss": loss, "tokens": tokens}))


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


def ask_whole(model: Model, rows: Tokens, rng: np.random.Generator) -> Logits:
    """The logits of every row, in the order of the rows; some batches are asked twice."""
    kept, parts = [], {}
    for batch in batches(len(rows), rng):
        logits = model.logits(rows[batch, :-1])
        parts |= dict(zip(batch.tolist(), logits, strict=True))
        if len(kept) < AGAIN:
            kept.append((batch, logits))
    for batch, before in kept:
        order = rng.permutation(len(batch))
        again = model.logits(rows[batch[order], :-1])
        require_same("stateful", before[order], again, "asked again, it answers differently")
    return np.stack([parts[row] for row in range(len(rows))])


def ask_exchanged(model: Model, rows: Tokens, first: Logits, rng: np.random.Generator) -> None:
    """Compare the logits before a random position of each row with what the first copy answered."""
    for batch in batches(len(rows), rng):
        whole, index = rows[batch, :-1], np.arange(len(batch))
        cuts = rng.integers(1, whole.shape[1], len(batch))
        others = rows[rng.integers(0, len(rows), len(batch)), :-1]
        exchanged = np.where(np.arange(whole.shape[1]) >= cuts[:, None], others, whole)
        # The first exchanged token has to be another one, or the next token would not be tested.
        same = exchanged[index, cuts] == whole[index, cuts]
        exchanged[index[same], cuts[same]] = (whole[index[same], cuts[same]] + 1) % (rows.max() + 1)
        altered = model.logits(exchanged)
        for place, cut in enumerate(cuts):
            if not same_logits(first[batch[place], :cut], altered[place, :cut]):
                # Asked the same question as the first copy, does it answer the same? Then it is the later text that counts.
                answers = model.logits(whole)
                require_same(
                    "stateful", first[batch], answers, "another copy, asked in another order, answers differently"
                )
                raise Malformed("non-causal", f"text after position {cut} changes what comes before")


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
