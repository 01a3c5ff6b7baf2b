"""The verbs as a user types them: JSON fields, tables, repeatable runs, the documented exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from surpass.cli._exit import ExitCode
from surpass.trial import open_experiment

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_list_and_show(surpass):
    tasks = surpass("list", "--json").json()
    assert {"chaos-forecast", "online-packing", "sort-kernels"} <= {task["id"] for task in tasks}
    assert all({"id", "suite", "domain", "track", "deliverable", "digest"} <= task.keys() for task in tasks)
    assert "sort-kernels" in surpass("list").out
    shown = surpass("show", "sort-kernels", "--json").json()
    assert shown["source"]["paper"]["doi"].startswith("10.")
    assert "instance" in surpass("show", "sort-kernels").out
    assert "## Limits" in surpass("show", "sort-kernels", "--hints", "full").out


def test_run_report_and_resume_agree(surpass, make_task):
    task = make_task()
    ran = surpass("run", "-t", task.root, "-a", "nop", "-a", "oracle", "-k", "3", "-o", "e", "--json")
    assert ran.code == 0, ran.err
    rows = ran.json()
    assert {(row["agent"], row["outcome"]) for row in rows} == {("nop", "done"), ("oracle", "done")}
    for row in rows:
        assert {"task", "agent", "recovery", "low", "high", "g", "claim", "outcome"} <= row.keys()
    null, oracle = sorted(rows, key=lambda row: row["agent"])
    assert (null["recovery"], null["low"], null["high"]) == (0, pytest.approx(0), pytest.approx(0))
    assert oracle["low"] <= 1 <= oracle["high"]
    assert surpass("report", "e", "--json").json() == rows
    assert surpass("resume", "e", "--json").json() == rows
    printed = surpass("report", "e")
    assert "report.html" in printed.out + printed.err
    assert Path("e/report.html").is_file()


def test_a_seed_makes_a_run_repeatable(surpass, make_task):
    task = make_task()
    rows = [
        surpass("run", "-t", task.root, "-a", "oracle", "--seed", "5", "-o", name, "--json").json() for name in "ab"
    ]
    other = surpass("run", "-t", task.root, "-a", "oracle", "--seed", "6", "-o", "c", "--json").json()
    assert rows[0][0]["recovery"] == rows[1][0]["recovery"] != other[0]["recovery"]


def test_several_trials_at_once_give_what_one_at_a_time_gives(surpass, make_task):
    task = make_task()
    for name, many in (("a", 1), ("b", 4)):
        run = surpass(
            "run", "-t", task.root, "-a", "nop", "-a", "oracle", "-k", "2", "--seed", "1", "-n", many, "-o", name
        )
        assert run.code == 0
    verdicts = [
        {t.plan.id: t.verdict.metrics for t in open_experiment(Path(name)).journal.trials()} for name in ("a", "b")
    ]
    assert verdicts[0] == verdicts[1]


def test_postgresql_by_url(surpass, make_task):
    from tests.trial.conftest import postgres_url

    url = postgres_url()
    task = make_task()
    ran = surpass("run", "-t", task.root, "-a", "oracle", "-o", "e", "--database", url, "--json")
    assert ran.code == 0, ran.err
    assert not Path("e/surpass.db").exists()
    assert surpass("report", "e", "--database", url, "--json").json() == ran.json()


def test_an_infrastructure_error_is_printed_beside_the_score_and_resumed(surpass, make_task):
    task = make_task()
    good = (task.root / "private" / "evaluator.py").read_text()
    marker = Path("marker").resolve()
    broken = f"import pathlib\nif not pathlib.Path('/private/ok').exists(): raise SystemExit(1)\n{good}"
    task = make_task({"private/evaluator.py": broken})
    ran = surpass("run", "-t", task.root, "-a", "nop", "-o", "e", "--json")
    assert ran.code == ExitCode.INFRASTRUCTURE
    assert ran.json()[0]["outcome"] == "infra_error"
    assert ran.json()[0]["recovery"] is None
    assert surpass("resume", "e").code == ExitCode.INFRASTRUCTURE
    assert not marker.exists()


def test_without_a_sandbox_results_are_marked(surpass, make_task):
    task = make_task()
    ran = surpass("run", "-t", task.root, "-a", "oracle", "-o", "e", "--unsafe-no-sandbox", "--json")
    assert ran.code == 0, ran.err
    assert "no sandbox" in ran.err
    assert ran.json()[0]["unsafe"] is True
    assert ran.json()[0]["recovery"] > 0.8


def test_every_exit_code_is_documented():
    rows = dict(re.findall(r"^\| (\d+) \| (\w+) \|", DOCS.read_text(), re.MULTILINE))
    assert rows == {str(code.value): code.name for code in ExitCode}


def test_every_verb_is_documented(surpass):
    helped = surpass("--help").out
    for verb in ("list", "show", "new", "check", "run", "resume", "grade", "report", "doctor"):
        assert verb in helped
        assert f"surpass {verb}" in DOCS.read_text()


def test_the_command_starts_without_the_heavy_libraries():
    heavy = ("torch", "inspect_ai", "ray", "scipy", "altair", "optuna", "numpy", "sqlalchemy")
    code = f"import sys, surpass.cli.main; print([m for m in {heavy!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_importing_the_core_pulls_in_nothing_heavy():
    heavy = ("torch", "inspect_ai", "ray", "scipy.stats", "altair", "optuna")
    modules = "surpass.task, surpass.score, surpass.stats, surpass.verdict, surpass.trial, surpass.agent"
    code = f"import sys, {modules}; print([m for m in {heavy!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_doctor_lists_every_attack(surpass):
    result = surpass("doctor", "--json")
    assert result.code == 0, result.err
    findings = result.json()
    attacks = [finding for finding in findings if finding["id"].startswith("attack: ")]
    assert len(attacks) >= 10
    assert all(finding["status"] == "ok" for finding in attacks)
    assert all({"id", "status", "detail", "remedy"} <= finding.keys() for finding in findings)
