"""Root-mean-square error of the levels."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from surpass.guard import Malformed, per_instance, read_array


def evaluate(outputs: Path, truth: Path) -> dict[str, dict[str, float] | Malformed]:
    """Score every instance; each stands for itself when malformed."""
    return per_instance({"tank": lambda: _score(outputs / "levels.npy", truth / "levels.npy")})


def _score(path: Path, truth_path: Path) -> dict[str, float]:
    true = np.load(truth_path, allow_pickle=False)
    levels = read_array(path, shape=true.shape, dtype="float64")  # finite, not pickled, no link followed
    squares = (np.clip(levels, -1e3, 1e3) - true) ** 2
    rmse = math.sqrt(squares.mean())
    # The standard error of a root: that of the mean below it, by the delta method.
    error = float(squares.std(ddof=1)) / math.sqrt(len(squares)) / (2 * rmse) if rmse > 0 else 0.0
    return {"rmse": min(max(rmse, 1e-6), 100.0), "rmse_se": error}  # the range in task.toml
