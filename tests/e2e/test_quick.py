"""The product's first quality figure, end to end: null is 0 and oracle is 1 on the quick suite, through the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from surpass.sandbox import Sandbox
from surpass.task import Catalogue

SURPASS = [sys.executable, "-m", "surpass.cli.main"]


def test_null_is_zero_and_oracle_is_one_on_the_quick_suite(tmp_path: Path):
    where = str(tmp_path / "e")
    agents = ["-a", "nop", "-a", "oracle"]
    ran = subprocess.run(
        [*SURPASS, "run", "-s", "quick", *agents, "--seed", "2026", "-o", where, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    rows = json.loads(ran.stdout)
    assert len(rows) == 6
    for row in rows:
        assert row["outcome"] == "done", row
        if row["agent"] == "nop":
            assert row["low"] - row["tie_band"] <= 0 <= row["high"] + row["tie_band"], row
        else:
            assert row["high"] >= 1, row


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chaos-forecast", "online-packing", "sort-kernels"])
def test_the_linter_passes_on_every_real_task(sandbox: Sandbox, name: str):
    from surpass.check import run_checks

    findings = run_checks(Catalogue.installed().task(name, profile="quick"), sandbox=sandbox)
    assert [finding for finding in findings if finding.status == "fail"] == []


def test_the_static_checks_pass_on_every_installed_task():
    from surpass.check import run_checks

    for task in Catalogue.installed().select():
        failed = [finding for finding in run_checks(task, static_only=True) if finding.status == "fail"]
        # A plain environment has none of the extras; that a task says so is right, and not what is tested here.
        assert [finding for finding in failed if "is not installed" not in finding.reason] == []
