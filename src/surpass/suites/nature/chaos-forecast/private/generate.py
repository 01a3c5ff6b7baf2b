"""Fresh recordings of two three-variable chaotic systems, cut into segments.

Each tier and seed integrates its own trajectories from its own initial condition. The integrator is part of the data:
the published protocol samples SciPy's RK23 at its default tolerances (rtol 1e-3, atol 1e-6), whose error is far above
rounding and is what limits a forecast. A tighter integrator would give another, easier problem.

Per segment the axes are permuted and their signs flipped at random. That costs nothing (a polynomial feature set with a
ridge penalty gives the same forecast in the new axes, bit for bit apart from rounding) and stops a remembered equation
from being integrated blindly. A general rotation was tried and rejected: see source.toml.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
Rhs = Callable[[float, Array], list[float]]

TIERS = ("dev", "feedback", "final")
# The first recording of a segment feeds the oldest tap, so that 400 training targets remain, as published.
FORECAST_KNOWN = 402
FLOW_ROWS, CIRCUIT_ROWS = 44, 31  # one Lyapunov time: 1.104 at 0.025, 7.8125 at 0.25; row 0 is the last known one
HIDDEN_KNOWN, HIDDEN_ROWS = 415, 900  # 15 lead-in samples, 20 time units of training, 45 of test, at 0.05


def flow(_: float, state: Array) -> list[float]:
    """Three-mode convection with the parameters 10, 28, 8/3."""
    x, y, z = state.tolist()
    return [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z]


def circuit(_: float, state: Array) -> list[float]:
    """Two voltages and a current of a circuit with a diode pair: odd under (v1, v2, i) -> -(v1, v2, i)."""
    v1, v2, i = state.tolist()
    drop = v1 - v2
    diode = drop / 3.44 + 2 * 2.25e-5 * math.sinh(11.6 * drop)
    return [v1 / 1.2 - diode, diode - i, v2 - 0.193 * i]


@dataclass(frozen=True)
class Source:
    """Where a recording starts and how it is sampled; lengths are in samples of `step` time units."""

    rhs: Rhs
    centre: tuple[float, float, float]  # a published point on the attractor
    jitter: float
    step: float
    transient: int  # many Lyapunov times: forgets the initial condition
    gap: tuple[int, int]  # between segments; long enough that the next one tells nothing about the rows to forecast


FLOW_POINT = (17.67715816276679, 12.931379185960404, 43.91404334248268)
CIRCUIT_POINT = (0.37926545, 0.058339, -0.08167691)
SOURCES = {
    "flow": Source(flow, FLOW_POINT, 1.0, 0.025, 1000, (200, 400)),
    "circuit": Source(circuit, CIRCUIT_POINT, 0.05, 0.25, 800, (240, 400)),
    "hidden-coordinate": Source(flow, FLOW_POINT, 1.0, 0.05, 500, (40, 100)),
}


def record(rhs: Rhs, start: Array, step: float, samples: int) -> Array:
    """`samples` states `step` apart, the start included; shape (samples, 3)."""
    times = step * np.arange(samples)
    solution = solve_ivp(rhs, (0.0, times[-1]), start, t_eval=times, method="RK23")
    if not solution.success:
        raise RuntimeError(solution.message)
    return solution.y.T


def cut(source: Source, segments: int, length: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Disjoint segments in random order, (segments, length, 3), and the variance of each variable over the record."""
    gaps = rng.integers(*source.gap, size=segments)
    starts = source.transient + np.cumsum(gaps) + length * np.arange(segments)
    start = np.array(source.centre) + source.jitter * rng.standard_normal(3)
    states = record(source.rhs, start, source.step, int(starts[-1]) + length)
    cuts = np.stack([states[first : first + length] for first in rng.permutation(starts)])
    return cuts, states[source.transient :].var(axis=0)


def disguise(cuts: Array, rng: np.random.Generator) -> Array:
    """Permute the variables of each segment and flip their signs at random."""
    order = np.argsort(rng.random((len(cuts), cuts.shape[2])), axis=1)
    signs = rng.choice([-1.0, 1.0], size=order.shape)
    return np.take_along_axis(cuts, order[:, None, :], axis=2) * signs[:, None, :]


def generate(tier: str, seed: int, inputs: Path, truth: Path, *, segments: int = 40, long_segments: int = 20) -> None:
    """Write `segments` segments of each forecast and `long_segments` of the hidden coordinate."""
    scales = {}
    for index, (name, rows) in enumerate((("flow", FLOW_ROWS), ("circuit", CIRCUIT_ROWS))):
        rng = np.random.default_rng([seed, TIERS.index(tier), index])
        cuts, variance = cut(SOURCES[name], segments, FORECAST_KNOWN + rows - 1, rng)
        cuts = disguise(cuts, rng)
        np.save(inputs / f"{name}.npy", cuts[:, :FORECAST_KNOWN].copy())
        np.save(truth / f"{name}.npy", cuts[:, FORECAST_KNOWN - 1 :].copy())
        scales[name] = math.sqrt(variance.sum())

    rng = np.random.default_rng([seed, TIERS.index(tier), 2])
    cuts, variance = cut(SOURCES["hidden-coordinate"], long_segments, HIDDEN_KNOWN + HIDDEN_ROWS, rng)
    hidden = cuts[:, :, 2]
    np.save(inputs / "hidden-coordinate-observed.npy", disguise(cuts[:, :, :2], rng))
    np.save(inputs / "hidden-coordinate-known.npy", hidden[:, :HIDDEN_KNOWN].copy())
    np.save(truth / "hidden-coordinate.npy", hidden[:, HIDDEN_KNOWN:].copy())
    scales["hidden-coordinate"] = math.sqrt(variance[2])
    (truth / "scales.json").write_text(json.dumps(scales))
