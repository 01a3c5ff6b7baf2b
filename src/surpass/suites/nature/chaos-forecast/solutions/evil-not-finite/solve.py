"""Persistence, with one NaN."""

import os
from pathlib import Path

import numpy as np

data = Path(os.environ.get("SURPASS_DATA", "/data"))
for tier in ("feedback", "final"):
    inputs, outputs = data / tier / "inputs", Path("outputs") / tier
    outputs.mkdir(parents=True, exist_ok=True)
    for name, rows in (("flow", 44), ("circuit", 31)):
        np.save(outputs / f"{name}.npy", np.load(inputs / f"{name}.npy")[:, -1:].repeat(rows, axis=1))
    known = np.load(inputs / "hidden-coordinate-known.npy")
    np.save(outputs / "hidden-coordinate.npy", known.mean(axis=1, keepdims=True).repeat(900, axis=1))

    flow = np.load(outputs / "flow.npy")
    flow[-1, -1, -1] = np.nan
    np.save(outputs / "flow.npy", flow)
