"""The reference: average what lies near the centre, starting from the median."""

import os
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("SURPASS_DATA", "/data"))
REACH = 2.5


def estimate(readings: np.ndarray) -> np.ndarray:
    centre = np.median(readings, axis=1, keepdims=True)
    scale = 1.4826 * np.median(np.abs(readings - centre), axis=1, keepdims=True)
    for _ in range(20):
        near = np.abs(readings - centre) <= REACH * scale
        centre = (readings * near).sum(axis=1, keepdims=True) / near.sum(axis=1, keepdims=True)
    return centre[:, 0]


for tier in ("feedback", "final"):
    outputs = Path("outputs") / tier
    outputs.mkdir(parents=True, exist_ok=True)
    np.save(outputs / "levels.npy", estimate(np.load(DATA / tier / "inputs" / "readings.npy")))
