"""Each dynamic check, in the real sandbox: the finished package passes it, a package with one defect fails it."""

from __future__ import annotations

import pytest

from surpass.check import CHECKS, run_checks
from surpass.task import Deliverable
from tests.check.edits import remove, swap, together, write

DYNAMIC = [check.id for check in CHECKS if check.kind == "dynamic"]

EVALUATOR = "private/evaluator.py"
READ = 'levels = read_array(path, shape=true.shape, dtype="float64")  # finite, not pickled, no link followed'
CARELESS = """levels = np.nan_to_num(np.load(path, allow_pickle=False)).reshape(-1)[: len(true)].astype("float64")"""

# The same problem as a program that the harness runs on hidden inputs.
PROGRAM = """
import os
from pathlib import Path
import numpy as np

def estimate(readings):
    return np.{how}(readings, axis=1)

readings = np.load(Path(os.environ["SURPASS_INPUTS"]) / "readings.npy")
np.save(Path(os.environ["SURPASS_OUTPUTS"]) / "levels.npy", estimate(readings))
"""
AS_PROGRAM = together(
    swap("task.toml", 'deliverable = "outputs"', 'deliverable = "program"'),
    swap("task.toml", "per_tier = true", 'command = ["python", "/submission/main.py"]'),
    swap("task.toml", '["outputs/feedback/levels.npy", "outputs/final/levels.npy"]', '["main.py"]'),
    swap("task.toml", "sota = 6.83e-3", "sota = 1.28e-2"),
    write("public/start/main.py", PROGRAM.format(how="mean")),
    write("solutions/oracle/main.py", PROGRAM.format(how="median")),
    *(remove(f"{folder}/solve.py") for folder in ("public/start", "solutions/oracle")),
    *(remove(f"solutions/evil-{name}") for name in ("nan", "pickle", "short")),
)

SLOW_ORACLE = together(
    swap("task.toml", "run_seconds = 60", "run_seconds = 1"),
    write("solutions/oracle/solve.py", "while True: pass\n"),
)
FORGIVES_SILENCE = swap(
    EVALUATOR, "    true = np", "    if not path.exists():\n        return {'rmse': 0.2}\n    true = np"
)
ROOT = "rmse = math.sqrt(squares.mean())"
SLOW_EVALUATOR = together(
    swap("task.toml", "evaluate_seconds = 30", "evaluate_seconds = 2"),
    swap(EVALUATOR, READ, f"{READ}\n    import time; time.sleep(1.2)"),
)
TELLS_A_PATH = swap(EVALUATOR, READ, f"if not path.exists(): raise Malformed(f'No file at {{path}}')\n    {READ}")
GENERATOR = "private/generate.py"

BREAKS = [
    ("D01", "differs between two runs", swap(GENERATOR, "[seed, TIERS.index(tier)]", "")),
    ("D01", "cannot be judged", swap(GENERATOR, "import numpy", "import no_such_module\nimport numpy")),
    ("D02", "the dev tier has the same data", swap(GENERATOR, "[seed, TIERS.index(tier)]", "seed")),
    ("D02", "another seed has the same data", swap(GENERATOR, "[seed, ", "[7, ")),
    ("D03", "no_such_module", swap(EVALUATOR, "import math", "import math, no_such_module")),
    ("D04", "the start scores", swap("task.toml", "baseline = 0.232", "baseline = 0.5")),
    ("D04", "the start has no score", write("public/start/solve.py", "raise SystemExit(3)\n")),
    ("D05", "below 1", swap("task.toml", "sota = 6.83e-3", "sota = 2e-3")),
    ("D05", "timeout", SLOW_ORACLE),
    ("D06", "recovers", swap(EVALUATOR, "allow_pickle=False)", "allow_pickle=False) + 0.05")),
    ("D07", "NaN: 'tank' still scores", swap(EVALUATOR, READ, CARELESS)),
    ("D07", "evaluator-error", swap(EVALUATOR, READ, CARELESS)),
    ("D07", "as if nothing were wrong", swap(EVALUATOR, READ, "levels = true + 0.005; _ = path.stat()")),
    ("D08", "scores the same", swap(EVALUATOR, READ, f"{READ}\n    levels, true = np.sort(levels), np.sort(true)")),
    ("D09", "exits at once: scores", together(AS_PROGRAM, FORGIVES_SILENCE)),
    ("D10", "with not-finite, expected shape", swap("solutions/evil-nan/evil.toml", "not-finite", "shape")),
    ("D10", "evil-nan was not rejected", swap("solutions/evil-nan/solve.py", "levels[0] = np.nan", "pass")),
    ("D11", "and then", swap(EVALUATOR, ROOT, f"import os; {ROOT} + os.urandom(1)[0] * 1e-9")),
    ("D12", "s of the 2 s", SLOW_EVALUATOR),
    ("D13", "an agent would be told 'No file at /judged", TELLS_A_PATH),
]
HAND_OUT = swap("task.toml", '["outputs/feedback/levels.npy", "outputs/final/levels.npy"]', "[]")
"""Lets a submission without answers reach the evaluator."""


def _findings(task, sandbox, *only):
    return run_checks(task, sandbox=sandbox, only=only or DYNAMIC)


def test_the_finished_package_passes_every_dynamic_check(package, sandbox):
    findings = _findings(package(), sandbox)
    assert [finding.id for finding in findings] == DYNAMIC
    assert [finding for finding in findings if finding.status == "fail"] == []
    assert {finding.id: finding.reason for finding in findings if finding.status == "skip"} == {
        "D09": "the submission is no program"
    }
    variants = next(finding.reason for finding in findings if finding.id == "D07")
    assert int(variants.split()[2]) >= 16


def test_a_program_that_works_passes(package, sandbox):
    task = package(AS_PROGRAM)
    assert task.spec.deliverable is Deliverable.PROGRAM
    findings = _findings(task, sandbox, "D05", "D06", "D07", "D09", "D11")
    assert {finding.id: finding.status for finding in findings} == {
        "D05": "pass",
        "D06": "skip",
        "D07": "pass",
        "D09": "pass",
        "D11": "pass",
    }


def test_every_dynamic_check_has_a_package_that_fails_it():
    assert {check for check, _, _ in BREAKS} == set(DYNAMIC)


@pytest.mark.parametrize(("check", "says", "edit"), BREAKS, ids=[f"{c}-{i}" for i, (c, _, _) in enumerate(BREAKS)])
def test_a_defect_is_found(package, sandbox, check, says, edit):
    only = [check] if check != "D13" else ["D07", "D13"]
    task = package(edit, *([HAND_OUT] if check == "D13" else []))
    fails = [finding for finding in _findings(task, sandbox, *only) if finding.status == "fail"]
    assert any(finding.id == check and says in finding.reason for finding in fails), fails
    assert all(finding.fix for finding in fails)


def test_without_a_sandbox_dynamic_checks_are_skipped(package):
    findings = run_checks(package(), only=DYNAMIC)
    assert {(finding.status, finding.reason) for finding in findings} == {("skip", "there is no sandbox to run it in")}


def test_one_cause_fails_once_and_skips_the_rest(package, sandbox):
    task = package(swap("private/evaluator.py", "import math", "import math, no_such_module"))
    findings = {finding.id: finding for finding in _findings(task, sandbox, "D03", "D04", "D05", "D11")}
    assert findings["D03"].status == "fail"
    assert {findings[name].status for name in ("D04", "D05", "D11")} == {"skip"}
    assert "D03" in findings["D04"].reason


def test_a_package_without_oracle_or_start_ends_in_findings_not_in_an_exception(package, sandbox):
    for folder in ("solutions/oracle", "public/start"):
        findings = _findings(package(remove(folder)), sandbox, "D04", "D05", "D07", "D11")
        assert findings
        assert "skip" in {finding.status for finding in findings}
