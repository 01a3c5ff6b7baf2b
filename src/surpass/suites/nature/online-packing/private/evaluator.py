"""Replays the recorded choices on the true streams in integers and counts the bins afresh."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surpass.guard import Malformed, per_instance, read_array

BEST = 1e-4  # the lower end of the ranges in task.toml, below one bin in all hidden streams together


def evaluate(outputs: Path, truth: Path) -> dict[str, dict[str, float] | Malformed]:
    """Score every family; each stands for itself when malformed."""
    capacities: dict[str, int] = json.loads((truth / "families.json").read_text())
    return per_instance(
        {
            name: lambda name=name, capacity=capacity: _score(
                outputs / f"{name}.npy", np.load(truth / f"{name}.npy", allow_pickle=False), capacity
            )
            for name, capacity in capacities.items()
        }
    )


def _score(path: Path, streams: NDArray[np.int16], capacity: int) -> dict[str, float]:
    choices = read_array(path, shape=streams.shape, dtype="int16")
    bins = [replay(items, picks, capacity) for items, picks in zip(streams.tolist(), choices.tolist(), strict=True)]
    return summarise(np.array(bins), bounds(streams, capacity))


def replay(items: list[int], choices: list[int], capacity: int) -> int:
    """Bins that one stream takes.

    Raises:
        Malformed: `no-such-bin` or `bin-overflow`.
    """
    levels = [0] * capacity  # how many open bins have that much free space
    opened = 0
    for index, (item, choice) in enumerate(zip(items, choices, strict=True)):
        if choice == -1:
            opened += 1
            rest = capacity - item
        elif not 0 <= choice < capacity or not levels[choice]:
            raise Malformed("no-such-bin", f"item {index}: no bin with {choice} free")
        else:
            levels[choice] -= 1
            rest = choice - item
        if rest < 0:
            raise Malformed("bin-overflow", f"item {index} of size {item} into a bin with {choice} free")
        levels[rest] += 1
    return opened


def bounds(streams: NDArray[np.int16], capacity: int) -> NDArray[np.int64]:
    """Per stream, the least number of bins that could hold its volume."""
    return -(-streams.sum(axis=1, dtype=np.int64) // capacity)


def summarise(bins: NDArray[np.int64], bound: NDArray[np.int64]) -> dict[str, float]:
    """The published aggregate: means over the streams first, then the ratio. The error is that of a ratio estimate.

    With few streams that error is itself uncertain. It is widened by Student's factor, so that 1.96 of it cover 95 %.
    """
    ratio = float(bins.mean() / bound.mean())
    result = {"excess": max(100 * (ratio - 1), BEST), "bins": float(bins.mean()), "bound": float(bound.mean())}
    if len(bins) > 1:
        residual = bins - ratio * bound
        error = math.sqrt(float((residual**2).sum()) / (len(bins) - 1) / len(bins))
        result["excess_se"] = 100 * error / float(bound.mean()) * student(len(bins) - 1)
    return result


def student(freedom: int) -> float:
    """The 97.5 % point of Student's t over that of the normal law (Abramowitz and Stegun 26.7.5); exact for 1 and 2."""
    if freedom < 3:
        return (12.7062, 4.3027)[freedom - 1] / 1.96
    z = 1.96
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return sum(term / freedom**power for power, term in enumerate(terms)) / z
