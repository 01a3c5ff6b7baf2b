"""Trusted code is what the task's digest covers, and nothing that lies beside it."""

from __future__ import annotations

import importlib.util
import os
import py_compile
from pathlib import Path

import numpy as np

from surpass.task import Tier
from surpass.verdict import Judge, Outcome
from tests.conftest import EVALUATOR, TOML

HELPER = "def shift():\n    return 0.25\n"
PLANTED = "def shift():\n    return 0.75\n"


def _plant(source, text):
    """Bytecode of another text that claims to be of `source`: the loader compares size and time only."""
    honest, times = source.read_text(), source.stat()
    assert len(honest) == len(text)
    source.write_text(text)
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    py_compile.compile(str(source), doraise=True)
    source.write_text(honest)
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))


def _judged(task, sandbox, tmp_path):
    place = tmp_path / "place"
    (tmp_path / "work" / "outputs" / "final").mkdir(parents=True)
    np.save(tmp_path / "work" / "outputs" / "final" / "mean.npy", np.array([5.0]))
    with Judge(task, sandbox, place=place, data=tmp_path / "data", hidden={Tier.FINAL: 1}) as judge:
        sealed = judge.seal(tmp_path / "work", place / "sealed")
        return judge.judge(sealed.path, sealed.digest, Tier.FINAL)


def test_bytecode_outside_the_digest_is_not_run(make_task, sandbox, tmp_path):
    evaluator = EVALUATOR.replace("import numpy as np", "import numpy as np\nfrom helper import shift")
    evaluator = evaluator.replace("float(abs(got - want)[0])", "float(abs(got - want)[0]) + shift()")
    toml = TOML.format(id="estimate-mean").replace('"outputs/feedback/mean.npy", ', "")
    task = make_task({"task.toml": toml, "private/evaluator.py": evaluator, "private/helper.py": HELPER})
    helper = task.private / "helper.py"
    _plant(helper, PLANTED)
    assert Path(importlib.util.cache_from_source(str(helper))).is_file()
    verdict = _judged(task, sandbox, tmp_path)
    assert verdict.outcome is Outcome.DONE, verdict.detail
    assert verdict.metrics["mean"]["error"] == 0.25
