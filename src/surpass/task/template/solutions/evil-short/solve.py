"""Answers for half of the sensors."""

import os
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("SURPASS_DATA", "/data"))

for tier in ("feedback", "final"):
    outputs = Path("outputs") / tier
    outputs.mkdir(parents=True, exist_ok=True)
    levels = np.median(np.load(DATA / tier / "inputs" / "readings.npy"), axis=1)
    np.save(outputs / "levels.npy", levels[: len(levels) // 2])
