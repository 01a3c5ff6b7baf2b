"""The package suites/nature/chaos-forecast: its data, metric, reference, start and the submissions it must reject."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import surpass
from surpass.guard import Malformed

PACKAGE = Path(surpass.__file__).parent / "suites/nature/chaos-forecast"
TASK = tomllib.loads((PACKAGE / "task.toml").read_text())
INSTANCES = {entry["name"]: entry for entry in TASK["instance"]}
QUICK = TASK["profiles"]["quick"]["settings"]
SMALL = {"segments": 2, "long_segments": 1}
SHAPES = {"flow": (2, 44, 3), "circuit": (2, 31, 3), "hidden-coordinate": (1, 900)}
EVILS = sorted(path.name for path in PACKAGE.glob("solutions/evil-*"))
MARKER = Path("/tmp/surpass-chaos-forecast-unpickled")  # what the pickled payload would make


def _load(relative: str) -> ModuleType:
    name = "chaos_forecast_" + re.sub(r"\W", "_", relative)
    spec = importlib.util.spec_from_file_location(name, PACKAGE / relative)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


GENERATE = _load("private/generate.py")
EVALUATOR = _load("private/evaluator.py")
ORACLE = _load("solutions/oracle/solve.py")


def _generate(root: Path, tier: str, seed: int, settings: dict[str, int]) -> Path:
    folder = root / tier
    (folder / "inputs").mkdir(parents=True)
    (folder / "truth").mkdir()
    GENERATE.generate(tier, seed, folder / "inputs", folder / "truth", **settings)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("small")
    for tier in ("dev", "feedback", "final"):
        _generate(root, tier, 1, SMALL)
    return root


@pytest.fixture(scope="module", params=[1, 2, 3])
def quick(request, small, tmp_path_factory) -> Path:
    """The final tier at the quick profile; the other tiers are the small ones."""
    root = tmp_path_factory.mktemp("quick")
    for tier in ("dev", "feedback"):
        (root / tier).symlink_to(small / tier)
    _generate(root, "final", request.param, QUICK)
    return root


def _solve(solution: Path, data: Path, workspace: Path) -> Path:
    """Run a solution in a copy of the start, as the harness does; the outputs folder."""
    shutil.copytree(PACKAGE / "public/start", workspace, dirs_exist_ok=True)
    shutil.copytree(solution, workspace, dirs_exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "SURPASS_DATA": str(data), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "solve.py"]
    subprocess.run(command, cwd=workspace, env=environment, check=True, timeout=60)
    return workspace / "outputs"


def _score(outputs: Path, data: Path, tier: str = "final"):
    return EVALUATOR.evaluate(outputs / tier, data / tier / "truth")


# ---- data


def test_generator_repeats_itself_byte_for_byte(small, tmp_path):
    again = _generate(tmp_path, "final", 1, SMALL)
    names = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert len(names) == 8
    assert all((again / name).read_bytes() == (small / "final" / name).read_bytes() for name in names)


def test_tiers_and_seeds_have_other_data(small, tmp_path):
    other_seed = _generate(tmp_path, "final", 2, SMALL)
    flows = [np.load(path / "inputs/flow.npy") for path in (small / "final", small / "feedback", other_seed)]
    assert not any(np.isclose(flows[a], flows[b]).mean() > 0.01 for a, b in ((0, 1), (0, 2), (1, 2)))


def test_shapes_and_row_convention(small):
    inputs, truth = small / "dev/inputs", small / "dev/truth"
    for name, shape in SHAPES.items():
        array = np.load(truth / f"{name}.npy")
        assert array.shape == shape
        assert array.dtype == np.float64
    for name in ("flow", "circuit"):
        known = np.load(inputs / f"{name}.npy")
        assert known.shape == (2, 402, 3)
        np.testing.assert_array_equal(np.load(truth / f"{name}.npy")[:, 0], known[:, -1])
    assert np.load(inputs / "hidden-coordinate-observed.npy").shape == (1, 1315, 2)
    assert np.load(inputs / "hidden-coordinate-known.npy").shape == (1, 415)


def test_the_gap_hides_each_answer_from_the_other_segments():
    for source in GENERATE.SOURCES.values():
        assert source.gap[0] > 0
    rng = np.random.default_rng(0)
    source = GENERATE.SOURCES["flow"]
    cuts, _ = GENERATE.cut(source, 3, 445, rng)
    tails, heads = cuts[:, -44:].reshape(-1, 3), cuts[:, :401].reshape(-1, 3)
    assert np.abs(tails[:, None] - heads[None]).max(axis=2).min() > 0


def test_disguise_permutes_and_flips_each_segment():
    cuts = np.arange(5 * 4 * 3, dtype=float).reshape(5, 4, 3) + 1
    disguised = GENERATE.disguise(cuts, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.abs(disguised), axis=2), cuts)
    assert len({tuple(row) for row in np.sign(disguised[:, 0])}) > 1


def test_integrator_error_is_part_of_the_data():
    """RK23 at default tolerances; tighter ones part from it visibly within a Lyapunov time."""
    start = np.array(GENERATE.FLOW_POINT)
    loose = GENERATE.record(GENERATE.flow, start, 0.025, 44)
    times = 0.025 * np.arange(44)
    plain = solve_ivp(GENERATE.flow, (0, times[-1]), start, t_eval=times, method="RK23", rtol=1e-3, atol=1e-6)
    tight = solve_ivp(GENERATE.flow, (0, times[-1]), start, t_eval=times, method="DOP853", rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(loose, plain.y.T)
    error = math.sqrt(np.mean((loose - tight.y.T) ** 2)) / 14.6
    assert 1e-4 < error < 1e-1


# ---- metric


def test_hand_computed_value():
    """Errors are pooled over rows and variables; the scale is one number; the aggregate is a geometric mean."""
    true = np.zeros((2, 2, 3))
    predicted = np.zeros((2, 2, 3))
    predicted[0, 1, 0] = 3.0  # mean square 9/6
    predicted[1] = 1.0  # mean square 1
    errors = EVALUATOR.segment_errors(predicted, true, 2.0)
    np.testing.assert_allclose(errors, [math.sqrt(1.5) / 2, 0.5])
    averaged_over_variables = math.sqrt(4.5) / 3 / 2  # root per variable, then mean: another number
    assert abs(errors[0] - averaged_over_variables) > 0.2
    summary = EVALUATOR.summarise(errors)
    assert summary["nrmse"] == pytest.approx(0.5 * 1.5**0.25)
    # two logs: standard deviation |difference| / sqrt 2, divided by sqrt 2
    assert summary["nrmse_se"] == pytest.approx(summary["nrmse"] * math.log(math.sqrt(1.5)) / 2)
    assert summary["nrmse_mean"] == pytest.approx((math.sqrt(1.5) + 1) / 4)


def test_one_segment_has_no_standard_error():
    assert "nrmse_se" not in EVALUATOR.summarise(np.array([0.3]))


def test_scale_is_the_root_of_the_summed_variances(small):
    scales = json.loads((small / "dev/truth/scales.json").read_text())
    assert scales["flow"] == pytest.approx(14.6, rel=0.1)  # variances about 62, 81 and 73
    assert scales["circuit"] == pytest.approx(1.6, rel=0.1)  # 1.15, 0.23, 1.2
    assert scales["hidden-coordinate"] == pytest.approx(8.5, rel=0.1)


def test_truth_scores_the_lowest_value(small):
    for name, entry in INSTANCES.items():
        result = EVALUATOR.evaluate(small / "dev/truth", small / "dev/truth")[name]
        assert result["nrmse"] == pytest.approx(1e-6)
        assert entry["range"] == [EVALUATOR.BEST, EVALUATOR.WORST]
        assert entry["range"][0] <= result["nrmse"] <= entry["range"][1]


@pytest.mark.parametrize("value", [1e5, 1.7e308, -1.7e308])
def test_a_terrible_finite_forecast_scores_the_highest_value(small, tmp_path, value):
    for name, shape in SHAPES.items():
        np.save(tmp_path / f"{name}.npy", np.full(shape, value))
    for name, result in EVALUATOR.evaluate(tmp_path, small / "dev/truth").items():
        entry = INSTANCES[name]
        assert result["nrmse"] == pytest.approx(20.0)
        assert result["nrmse"] <= entry["range"][1]
        # at or below the floor of a bounded recovery, so that rubbish never beats a malformed file
        assert math.log(entry["baseline"] / result["nrmse"]) / math.log(entry["baseline"] / entry["sota"]) < -0.5
        assert all(math.isfinite(number) for number in result.values())


def test_off_by_one_rows_lose_most_of_the_score(quick):
    """The true continuation, one row early: worse than the reference by more than a factor of ten."""
    truth = quick / "final/truth"
    scales = json.loads((truth / "scales.json").read_text())
    for name in ("flow", "circuit"):
        true = np.load(truth / f"{name}.npy")
        early = np.concatenate([true[:, 1:], true[:, -1:]], axis=1)
        value = EVALUATOR.summarise(EVALUATOR.segment_errors(early, true, scales[name]))["nrmse"]
        assert value > 10 * INSTANCES[name]["sota"]


# ---- reference and start


def _check(results, reference: str) -> None:
    for name, entry in INSTANCES.items():
        value, se = results[name]["nrmse"], results[name]["nrmse_se"]
        expected, spread = entry[reference], entry[f"{reference}_spread"]
        combined = math.hypot(se / value, spread / expected)
        assert abs(math.log(value / expected)) < 3 * combined, (name, value, expected)


def test_start_scores_baseline(quick, tmp_path):
    _check(_score(_solve(PACKAGE / "public/start", quick, tmp_path), quick), "baseline")


def test_oracle_scores_sota(quick, tmp_path):
    _check(_score(_solve(PACKAGE / "solutions/oracle", quick, tmp_path), quick), "sota")


def test_oracle_learns_nothing_even_about_the_odd_circuit(small):
    series = np.load(small / "dev/inputs/circuit.npy")[0]
    forecast = ORACLE.forecast(series, 31, ORACLE.odd_cubic, 1e-3)
    np.testing.assert_allclose(ORACLE.forecast(-series, 31, ORACLE.odd_cubic, 1e-3), -forecast, atol=1e-9)
    state = np.array(GENERATE.CIRCUIT_POINT)
    np.testing.assert_allclose(GENERATE.circuit(0.0, -state), -np.array(GENERATE.circuit(0.0, state)))


def test_disguise_leaves_the_reference_alone(small):
    """Why axes may be permuted and flipped, while a rotation would move the reference."""
    series = np.load(small / "dev/inputs/flow.npy")[0]
    order, signs = [2, 0, 1], np.array([1.0, -1.0, -1.0])
    plain = ORACLE.forecast(series, 44, ORACLE.quadratic, 2.5e-6)[:, order] * signs
    moved = ORACLE.forecast(series[:, order] * signs, 44, ORACLE.quadratic, 2.5e-6)
    np.testing.assert_allclose(moved, plain, atol=1e-2)  # of 14.6; rounding, amplified by the ill-conditioned fit


@pytest.mark.parametrize(("expand", "features"), [(ORACLE.quadratic, 28), (ORACLE.odd_cubic, 62)])
def test_each_monomial_occurs_once(expand, features):
    row = expand(np.random.default_rng(0).random((1, 6)))[0]
    assert len(row) == len(np.unique(row)) == features


def test_knobs_are_declared_and_tuning_them_helps(quick, tmp_path):
    source = (PACKAGE / "public/start/solve.py").read_text()
    knobs = re.findall(r"^([A-Z]+) = (\S+)  # knob: (int|log|float|choice) (.+)$", source, re.MULTILINE)
    assert [name for name, *_ in knobs] == ["TAPS", "SPACING", "RIDGE", "SQUARES"]
    for _, value, _, limits in knobs:
        low, high = map(float, limits.split())
        assert low <= float(value) <= high
    tuned = tmp_path / "tuned"
    tuned.mkdir()
    for name, value in {"TAPS": "4", "SPACING": "2", "RIDGE": "1e-6", "SQUARES": "8"}.items():
        source = re.sub(rf"^{name} = \S+", f"{name} = {value}", source, flags=re.MULTILINE)
    (tuned / "solve.py").write_text(source)
    results = _score(_solve(tuned, quick, tmp_path / "work"), quick)
    for name, entry in INSTANCES.items():
        assert entry["sota"] * 5 < results[name]["nrmse"] < entry["baseline"]


# ---- what must be rejected


@pytest.mark.parametrize("evil", EVILS)
def test_evil_solutions_are_rejected(evil, small, tmp_path):
    expect = tomllib.loads((PACKAGE / "solutions" / evil / "evil.toml").read_text())["expect"]
    outputs = _solve(PACKAGE / "solutions" / evil, small, tmp_path)
    results = _score(outputs, small)
    if expect == "link":
        assert (outputs / "final/flow.npy").is_symlink()  # the seal refuses it; the reader does not follow it either
        expect = "not-a-file"
    assert isinstance(results["flow"], Malformed)
    assert results["flow"].code == expect
    assert all(isinstance(results[name], dict) for name in INSTANCES if name != "flow")
    assert not MARKER.exists()


def test_there_are_evil_solutions_for_each_code():
    expected = {tomllib.loads((PACKAGE / "solutions" / evil / "evil.toml").read_text())["expect"] for evil in EVILS}
    assert expected == {"not-finite", "pickle", "dtype", "link", "shape", "unreadable"}


GOOD = np.zeros(SHAPES["flow"])


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (GOOD[:, :-1], "shape"),
        (GOOD[:1], "shape"),
        (GOOD[0], "shape"),
        (GOOD.reshape(-1), "shape"),
        (GOOD.transpose(0, 2, 1), "shape"),
        (GOOD.astype(">f8"), "dtype"),
        (GOOD.astype("int64"), "dtype"),
        (GOOD.astype("complex128"), "dtype"),
        (np.where(np.arange(3) == 1, np.inf, GOOD), "not-finite"),
    ],
)
def test_malformed_arrays(small, tmp_path, array, code):
    np.save(tmp_path / "flow.npy", array)
    results = EVALUATOR.evaluate(tmp_path, small / "dev/truth")
    assert results["flow"].code == code
    assert results["circuit"].code == "missing"


@pytest.mark.parametrize(("content", "code"), [(b"", "empty"), (b"1.0, 2.0\n", "unreadable"), (None, "not-a-file")])
def test_malformed_files(small, tmp_path, content, code):
    path = tmp_path / "flow.npy"
    os.mkfifo(path) if content is None else path.write_bytes(content)  # opening a pipe must not block
    assert EVALUATOR.evaluate(tmp_path, small / "dev/truth")["flow"].code == code


def test_column_order_is_no_offence(small, tmp_path):
    np.save(tmp_path / "flow.npy", np.asfortranarray(GOOD))
    assert isinstance(EVALUATOR.evaluate(tmp_path, small / "dev/truth")["flow"], dict)


# ---- what the agent sees


def test_nothing_the_agent_sees_names_the_paper():
    hide = tomllib.loads((PACKAGE / "private/source.toml").read_text())["paper"]["hide"]
    seen = [PACKAGE / "brief.md", *PACKAGE.glob("hints/*.md"), *PACKAGE.glob("public/**/*.py")]
    text = "\n".join(path.read_text() for path in seen) + TASK["title"] + " ".join(INSTANCES)
    assert [word for word in hide if word.lower() in text.lower()] == []
