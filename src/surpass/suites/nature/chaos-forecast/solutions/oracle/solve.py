"""Reference: polynomial features of a few delayed samples, one ridge regression, run in closed loop."""

import os
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("SURPASS_DATA", "/data"))
BOUND = 1e6  # a forecast that runs away stays finite; it is lost long before


def delayed(series: np.ndarray, taps: int, spacing: int) -> np.ndarray:
    """Samples at t, t - spacing, ... side by side, one row for each t that has all of them."""
    lead = (taps - 1) * spacing
    return np.hstack([series[lead - k * spacing : len(series) - k * spacing] for k in range(taps)])


def monomials(linear: np.ndarray, degree: int) -> np.ndarray:
    """Every distinct product of `degree` columns."""
    index = np.array(list(combinations_with_replacement(range(linear.shape[1]), degree)))
    return linear[:, index].prod(axis=2)


def quadratic(linear: np.ndarray) -> np.ndarray:
    return np.hstack([np.ones((len(linear), 1)), linear, monomials(linear, 2)])


def odd_cubic(linear: np.ndarray) -> np.ndarray:
    """The circuit is odd: no constant and no even products."""
    return np.hstack([linear, monomials(linear, 3)])


def fit(features: np.ndarray, targets: np.ndarray, ridge: float) -> np.ndarray:
    gram = features.T @ features + ridge * np.eye(features.shape[1])
    return np.linalg.pinv(gram) @ (features.T @ targets)


def forecast(series: np.ndarray, rows: int, expand, ridge: float) -> np.ndarray:
    """Two taps; the target is the increment to the next sample. Row 0 is the last known sample."""
    weights = fit(expand(delayed(series[:-1], 2, 1)), np.diff(series[1:], axis=0), ridge)
    path = list(series[-2:])
    for _ in range(rows - 1):
        step = expand(np.concatenate([path[-1], path[-2]])[None])[0] @ weights
        path.append(np.clip(path[-1] + step, -BOUND, BOUND))
    return np.array(path[1:])


def infer(observed: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Four taps, five samples apart; no feedback, since the observed variables stay available."""
    features = quadratic(delayed(observed, 4, 5))
    lead = len(observed) - len(features)
    train = len(known) - lead
    return features[train:] @ fit(features[:train], known[lead:], 0.05)


def main() -> None:
    for tier in ("feedback", "final"):
        inputs, outputs = DATA / tier / "inputs", Path("outputs") / tier
        outputs.mkdir(parents=True, exist_ok=True)
        for name, rows, expand, ridge in (("flow", 44, quadratic, 2.5e-6), ("circuit", 31, odd_cubic, 1e-3)):
            segments = np.load(inputs / f"{name}.npy")
            np.save(outputs / f"{name}.npy", np.stack([forecast(s, rows, expand, ridge) for s in segments]))
        observed = np.load(inputs / "hidden-coordinate-observed.npy")
        known = np.load(inputs / "hidden-coordinate-known.npy")
        inferred = [infer(o, k) for o, k in zip(observed, known, strict=True)]
        np.save(outputs / "hidden-coordinate.npy", np.stack(inferred))


if __name__ == "__main__":
    main()
