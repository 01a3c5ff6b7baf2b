"""Streams of item sizes from two laws, as int16 arrays of shape (streams, items), one file a family.

Set a: integers uniform on 20..100, capacity 150. Set b: 45 times a Weibull variate of shape 3, truncated to an
integer and limited to 1..100, capacity 100 (truncation, not rounding: see source.toml). All streams of all families are
played in one random order, so that neither a family nor the length of a stream is announced.

The streams repeat for a known (tier, seed), and this file is public: the seed must be a secret of many bits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TIERS = ("dev", "feedback", "final")


@dataclass(frozen=True)
class Family:
    """Streams of one law and one length."""

    capacity: int
    items: int


FAMILIES = {
    "a-120": Family(150, 120),
    "a-250": Family(150, 250),
    "a-500": Family(150, 500),
    "a-1000": Family(150, 1000),
    "b-5k": Family(100, 5_000),
    "b-10k": Family(100, 10_000),
    "b-100k": Family(100, 100_000),
}


def draw(family: Family, streams: int, rng: np.random.Generator) -> NDArray[np.int16]:
    """Item sizes, shape (streams, family.items)."""
    shape = (streams, family.items)
    if family.capacity == 150:
        return rng.integers(20, 101, size=shape, dtype=np.int16)
    return np.clip(np.floor(45 * rng.weibull(3.0, size=shape)), 1, 100).astype(np.int16)


def generate(
    tier: str,
    seed: int,
    inputs: Path,
    truth: Path,
    *,
    a_120: int = 200,
    a_250: int = 100,
    a_500: int = 50,
    a_1000: int = 24,
    b_5k: int = 16,
    b_10k: int = 8,
    b_100k: int = 3,
) -> None:
    """Write that many streams of each family (0: no such family); `order.npy` holds (family, stream) pairs."""
    numbers = dict(zip(FAMILIES, (a_120, a_250, a_500, a_1000, b_5k, b_10k, b_100k), strict=True))
    numbers = {name: streams for name, streams in numbers.items() if streams}
    for index, name in enumerate(FAMILIES):
        if name in numbers:
            rng = np.random.default_rng([seed, TIERS.index(tier), index])
            items = draw(FAMILIES[name], numbers[name], rng)
            np.save(inputs / f"{name}.npy", items)
            np.save(truth / f"{name}.npy", items)
    pairs = [(index, stream) for index, streams in enumerate(numbers.values()) for stream in range(streams)]
    rng = np.random.default_rng([seed, TIERS.index(tier), len(FAMILIES)])
    np.save(inputs / "order.npy", rng.permutation(np.array(pairs, dtype=np.int32).reshape(-1, 2)))
    capacities = json.dumps({name: FAMILIES[name].capacity for name in numbers})
    for folder in (inputs, truth):
        (folder / "families.json").write_text(capacities)
