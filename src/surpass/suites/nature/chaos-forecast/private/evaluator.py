"""Normalised root-mean-square error of each segment, and its geometric mean over the segments."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surpass.guard import Malformed, per_instance, read_array

INSTANCES = ("flow", "circuit", "hidden-coordinate")
BEST, WORST = 1e-6, 20.0  # the range in task.toml: a segment below or above it counts as the bound
_HUGE = 1e9  # keeps squares finite; far above WORST in any variable


def evaluate(outputs: Path, truth: Path) -> dict[str, dict[str, float] | Malformed]:
    """Score every instance; each stands for itself when malformed."""
    scales: dict[str, float] = json.loads((truth / "scales.json").read_text())
    return per_instance(
        {
            name: lambda name=name: _score(outputs / f"{name}.npy", truth / f"{name}.npy", scales[name])
            for name in INSTANCES
        }
    )


def _score(path: Path, truth_path: Path, scale: float) -> dict[str, float]:
    true = np.load(truth_path, allow_pickle=False)
    predicted = read_array(path, shape=true.shape, dtype="float64")
    return summarise(segment_errors(predicted, true, scale))


def segment_errors(predicted: NDArray[np.float64], true: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """NRMSE of each segment (first axis).

    The published definition: the mean square over all rows and variables of a segment together (pooled, not one
    ratio per variable), divided by the *sum* of the variables' variances over the whole record. `scale` is the root of
    that sum.
    """
    difference = np.clip(predicted, -_HUGE, _HUGE) - true
    mean_square = (difference**2).reshape(len(true), -1).mean(axis=1)
    return np.clip(np.sqrt(mean_square) / scale, BEST, WORST)


def summarise(errors: NDArray[np.float64]) -> dict[str, float]:
    """The geometric mean, since single segments spread over decades, and its standard error from that spread."""
    logs = np.log(errors)
    value = min(max(math.exp(logs.mean()), BEST), WORST)  # exp(log(bound)) may leave the range by one rounding
    result = {"nrmse": value, "nrmse_mean": float(errors.mean()), "nrmse_median": float(np.median(errors))}
    if len(errors) > 1:
        result["nrmse_se"] = value * float(logs.std(ddof=1)) / math.sqrt(len(errors))
    return result
