"""Shared builders: a small, real task package on disk, a real sandbox, and the command."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from surpass.sandbox import Sandbox, open_sandbox
from surpass.task import Task, load

TOML = """
schema = 1
id = "{id}"
version = "1.0.0"
title = "Estimate a mean"
domain = "mathematics"
track = "implement"
deliverable = "outputs"

[submission]
files = ["outputs/feedback/mean.npy", "outputs/final/mean.npy"]
per_tier = true

[budget]
solve_minutes = 1
attempts = 3
run_seconds = 20
evaluate_seconds = 5
memory_mb = 512
disk_mb = 8
pids = 16

[feedback]
detail = "score"
decimals = 1

[settings]
count = 400

[profiles.quick]
settings = {{ count = 100 }}

[[instance]]
name = "mean"
metric = "error"
direction = "lower"
unit = "1"
baseline = 1.0
sota = 0.1
sota_spread = 0.05
range = [0.0, 1e6]
"""

GENERATE = """
import numpy as np

def generate(tier, seed, inputs, truth, count):
    rng = np.random.default_rng([seed, {"dev": 0, "feedback": 1, "final": 2}[tier]])
    np.save(inputs / "values.npy", rng.normal(5.0, 1.0, count))
    np.save(truth / "mean.npy", np.array([5.0]))
"""

EVALUATOR = """
import numpy as np
from surpass.guard import per_instance, read_array

def evaluate(outputs, truth):
    return per_instance({"mean": lambda: _score(outputs, truth)})

def _score(outputs, truth):
    got = read_array(outputs / "mean.npy", shape=(1,), dtype="float64")
    want = read_array(truth / "mean.npy", shape=(1,), dtype="float64")
    return {"error": float(abs(got - want)[0])}
"""

START = """
import os
from pathlib import Path
import numpy as np

SHIFT = 1.0  # knob: float 0 2

data = Path(os.environ.get("SURPASS_DATA", "/data"))
for tier in ("feedback", "final"):
    values = np.load(data / tier / "inputs" / "values.npy")
    target = Path("outputs") / tier
    target.mkdir(parents=True, exist_ok=True)
    np.save(target / "mean.npy", np.array([5.0 + SHIFT]))
"""

SOURCE = """
licence = "none needed"

[paper]
title = "On means"
authors = ["Somebody"]
venue = "Journal of Examples"
year = 2020
doi = "10.1234/example"

[[row]]
instance = "mean"
sota = "0.1"
where = "Table 1"
checked = "read"
"""

ORACLE = START.replace("[5.0 + SHIFT]", "[values.mean()]")


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """The machine's real sandbox; without one the suite has nothing to prove and fails."""
    return open_sandbox()


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., Task]:
    """Write a task package, with any file replaced (None: left out), and load it."""

    def build(files: dict[str, str | None] | None = None, *, name: str = "estimate-mean", profile: str = "") -> Task:
        root = tmp_path / "tasks" / name
        content: dict[str, str | None] = {
            "task.toml": TOML.format(id=name),
            "brief.md": "Estimate the mean. Write `outputs/<tier>/mean.npy`, float64, shape (1,). Metric: error.\n",
            "hints/method.md": "Average the values.\n",
            "hints/full.md": "The arithmetic mean is best.\n",
            "private/generate.py": GENERATE,
            "private/evaluator.py": EVALUATOR,
            "private/source.toml": SOURCE,
            "public/start/solve.py": START,
            "solutions/oracle/solve.py": ORACLE,
        }
        for path, text in (content | (files or {})).items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(textwrap.dedent(text).lstrip("\n"))
        return load(root, profile=profile)

    return build


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def surpass(monkeypatch, capsys, tmp_path):
    """The command, in this process and as a shell would run it: arguments in, exit code and both streams out."""
    from surpass.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["surpass", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run
