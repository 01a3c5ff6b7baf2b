"""The plain mean of each sensor's readings. Run it: python solve.py"""

import os
from pathlib import Path

import numpy as np

SHARE = 0.0  # knob: float 0 0.4

DATA = Path(os.environ.get("SURPASS_DATA", "/data"))


def estimate(readings: np.ndarray) -> np.ndarray:
    """Levels, shape (S,): the mean without the lowest and the highest SHARE of the readings."""
    drop = int(SHARE * readings.shape[1])
    ordered = np.sort(readings, axis=1)
    return ordered[:, drop : ordered.shape[1] - drop].mean(axis=1)


for tier in ("feedback", "final"):
    outputs = Path("outputs") / tier
    outputs.mkdir(parents=True, exist_ok=True)
    np.save(outputs / "levels.npy", estimate(np.load(DATA / tier / "inputs" / "readings.npy")))
