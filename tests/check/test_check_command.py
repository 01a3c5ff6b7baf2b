"""`surpass new task` and `surpass check`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from surpass.check import run_checks
from surpass.task import TaskError
from surpass.task.scaffold import scaffold
from tests.check.edits import append


def _surpass(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "surpass.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_scaffold_lacks_nothing_but_its_texts(tmp_path, sandbox):
    task = scaffold("new-one", tmp_path)
    findings = run_checks(task, static_only=True) + run_checks(task, sandbox=sandbox, only=["D04", "D05", "D10"])
    assert {finding.id for finding in findings if finding.status != "pass"} == {"S28"}
    with pytest.raises(TaskError, match="exists already"):
        scaffold("new-one", tmp_path)
    with pytest.raises(TaskError, match="no task id"):
        scaffold("../Up", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new-one"]


def test_new_then_check(tmp_path):
    made = _surpass(tmp_path, "new", "task", "my-task", "--into", "tasks")
    assert made.returncode == 0, made.stderr
    assert "surpass check ./tasks/my-task" in made.stdout
    again = _surpass(tmp_path, "new", "task", "my-task", "--into", "tasks")
    assert again.returncode == 3
    assert "exists already" in again.stderr
    checked = _surpass(tmp_path, "check", "./tasks/my-task", "--static")
    assert checked.returncode == 1
    assert "S28" in checked.stdout
    assert "32 passed" in checked.stdout


def test_json_and_exit_status(package, tmp_path):
    task = package()
    good = _surpass(tmp_path, "check", "my-sensor", "--tasks", str(task.root), "--static", "--json")
    assert good.returncode == 0, good.stderr
    findings = json.loads(good.stdout)
    assert {tuple(finding) for finding in findings} == {("id", "task", "status", "kind", "reason", "fix")}
    assert {finding["status"] for finding in findings} == {"pass"}
    append("brief.md", "\nwinsor\n")(task.root)
    bad = _surpass(tmp_path, "check", str(task.root), "--only", "S16", "--only", "d03", "--json")
    assert bad.returncode == 1
    assert [(finding["id"], finding["status"]) for finding in json.loads(bad.stdout)] == [
        ("S16", "fail"),
        ("D03", "pass"),
    ]


def test_an_unknown_check_is_named(tmp_path):
    result = _surpass(tmp_path, "check", "nature/chaos-forecast", "--only", "S99")
    assert result.returncode == 3
    assert "unknown check 'S99'" in result.stderr
