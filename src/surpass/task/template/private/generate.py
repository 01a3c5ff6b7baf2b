"""Readings of vessels at constant levels, a share of them wrong by far. The same arguments give the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

TIERS = ("dev", "feedback", "final")
READINGS = 64
NOISE = 0.05
WRONG = 0.125


def generate(tier: str, seed: int, inputs: Path, truth: Path, *, sensors: int = 400) -> None:
    """Write `readings.npy` for the candidate and `levels.npy` for the judge."""
    rng = np.random.default_rng([seed, TIERS.index(tier)])
    levels = rng.uniform(1.0, 9.0, sensors)
    readings = levels[:, None] + NOISE * rng.standard_normal((sensors, READINGS))
    wrong = rng.random(readings.shape) < WRONG
    readings += wrong * rng.uniform(0.5, 3.0, readings.shape)
    np.save(inputs / "readings.npy", readings)
    np.save(truth / "levels.npy", levels)
