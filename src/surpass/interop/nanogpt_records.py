"""Which folder of modded-nanogpt is which record of the published benchmark."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LICENCE", "LOSS_SD", "RECORDS", "TARGET", "TRANSITIONS", "Record"]

LICENCE = "MIT (Keller Jordan), as the checkout's LICENSE says"
TARGET = 3.28
"""Validation loss in nats a token that a run has to reach (README of modded-nanogpt, rules)."""
LOSS_SD = 0.0023
"""Between runs of one script, in nats a token: what the folders with many runs typically show."""


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the world-record history in the README of modded-nanogpt."""

    number: int
    date: str
    """As the README gives it. A folder's date can differ by days, so folders are found by keyword."""
    folder: str
    """What follows the date in the folder's name; empty where the README links no log."""
    log: str
    """How the linked log's name begins; empty where the README links the folder."""
    minutes: float
    """As the README gives them."""
    change: str


RECORDS = {
    record.number: record
    for record in (
        Record(1, "2024-05-28", "llmc", "main", 45.0, "baseline after llm.c"),
        Record(2, "2024-06-06", "AdamW", "f66d43d7", 31.4, "rotary positions and a tuned learning rate"),
        Record(3, "2024-10-04", "", "", 24.9, "the Muon optimizer"),
        Record(4, "2024-10-11", "Muon", "eb5659d0", 22.3, "Muon with scaled updates, split QKV, no warm-up"),
        Record(5, "2024-10-14", "ModernArch", "dabaaddd", 15.2, "padded vocabulary, squared ReLU, zero init, QK norm"),
        Record(6, "2024-10-18", "DistributedMuon", "22d24867", 13.1, "Muon's work shared among the GPUs"),
        Record(7, "2024-10-18", "PyTorch25", "d4bfb25f", 12.0, "PyTorch 2.5.0, same script"),
        Record(8, "2024-11-03", "UntieEmbed", "d6b50d71", 10.8, "head and embedding untied"),
        Record(9, "2024-11-06", "ShortcutsTweaks", "dd7304a6", 8.2, "value and embedding shortcuts, softcap"),
        Record(10, "2024-11-08", "CastBf16", "a833bed8", 7.8, "bfloat16 activations"),
        Record(11, "2024-11-10", "UNetDoubleLr", "c87bb826", 7.2, "U-net shortcuts, doubled learning rate"),
        Record(12, "2024-11-19", "FlexAttention", "8384493d", 5.03, "64K context with FlexAttention"),
        Record(13, "2024-11-24", "WindowWarmup", "cf9e4571", 4.66, "attention window that grows"),
        Record(14, "2024-12-04", "ValueEmbed", "", 4.41, "value embeddings"),
        Record(15, "2024-12-08", "UNetValueEmbedsTweaks", "", 3.95, "mirrored value embeddings, faster code"),
        Record(16, "2024-12-10", "MFUTweaks", "", 3.80, "split value embeddings, block window, separate masks"),
        Record(17, "2024-12-17", "SparsifyEmbeds", "", 3.57, "fewer value embeddings, half rotary, one attention less"),
        Record(18, "2025-01-04", "SoftCap", "31d6c427", 3.40, "softcap of 15 instead of 30"),
        Record(19, "2025-01-13", "Fp8LmHead", "c51969c2", 3.142, "FP8 head, shifted logits, learning-rate floor"),
        Record(20, "2025-01-16", "Sub3Min", "1d3bd93b", 2.992, "merged QKV, long and short windows, attention scale"),
        Record(21, "2025-01-26", "BatchSize", "c44090cc", 2.933, "smaller batches, longer sequences at evaluation"),
    )
}
TRANSITIONS = tuple(number for number in range(1, 21) if number != 6)
"""Task k leads from record k to k + 1. The benchmark leaves 6 -> 7 out: only PyTorch's version differs."""
