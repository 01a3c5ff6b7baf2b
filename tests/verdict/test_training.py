"""The training deliverable: null 0, oracle 1, every cheat caught, every honest neighbour scored. No torch needed."""

import shutil
import tomllib

import pytest

from surpass.task import Tier
from surpass.verdict import Judge, Outcome, judge_solution
from tests.verdict.ladder import START, STEPS, SUITE, write_task

EVIL = sorted(folder.name for folder in (SUITE / "evil").iterdir() if folder.is_dir())
DATA: dict = {}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Data of the one task that all these tests judge on."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def judged(tmp_path, shared, sandbox):
    """Judge a folder of files on the small ladder."""

    def judge(files, tier=Tier.FINAL, **changes):
        task = write_task(tmp_path / "r01-pairs", **changes)
        folder = tmp_path / "submission"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        hidden = dict.fromkeys(Tier, 11)
        with Judge(task, sandbox, place=tmp_path / "place", data=shared, hidden=hidden) as judge:
            return judge_solution(judge, folder, tmp_path / "place/one", sandbox, tier)

    return judge


def test_null_is_zero(judged):
    verdict = judged({"train.py": START})
    metrics = verdict.metrics["speedup"]
    assert verdict.outcome is Outcome.DONE
    # Not "the interval holds 0", which by its own level is wrong once in 30 times; benchmarks/ counts that.
    assert abs(metrics["fsr"]) < 0.4
    assert metrics["fsr_low"] <= metrics["fsr"] <= metrics["fsr_high"]
    assert metrics["rounds"] in (3, 4)
    assert metrics["baseline_steps"] == STEPS
    assert ("steps_share" in metrics) == (not metrics["fsr_low"] <= 0 <= metrics["fsr_high"])


def test_oracle_is_one_and_its_saving_comes_from_steps(judged):
    verdict = judged({"train.py": START.replace(f'"steps": {STEPS}', f'"steps": {STEPS // 2}')})
    metrics = verdict.metrics["speedup"]
    assert metrics["fsr"] == pytest.approx(1, abs=0.4)
    assert metrics["steps_share"] > 0.6
    assert metrics["steps_share"] + metrics["cost_share"] == pytest.approx(1)
    assert metrics["cost"] < 12


def test_cheaper_steps_are_told_from_fewer_steps(judged):
    verdict = judged({"train.py": START.replace("range(4)", "range(2)")}, Tier.FEEDBACK)
    metrics = verdict.metrics["speedup"]
    assert metrics["cost_share"] > 0.8
    assert metrics["fsr"] > 0.5
    assert "fsr_se" not in metrics  # one round says nothing about scatter


@pytest.mark.parametrize("name", EVIL)
def test_cheats_have_no_score(judged, name):
    """The suite's own evil submissions, wrapped around this ladder's start."""
    folder = SUITE / "evil" / name
    files = {path.name: path.read_bytes() for path in folder.glob("*.py")} | {"base.py": START}
    verdict = judged(files)
    expected = tomllib.loads((folder / "evil.toml").read_text())["expect"]
    assert (verdict.code, verdict.scorecard) == (expected, None), verdict.detail


def test_a_hundred_megabytes_of_source(judged):
    verdict = judged({"train.py": START, "weights.txt": b"a" * (100 << 20)})
    assert verdict.outcome is Outcome.INVALID
    assert verdict.code in ("too-large", "source-size")


WRAPPER = """
import sys
from pathlib import Path
import base
load = base.load
{}
if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
"""

HONEST = {
    # Turned-back clocks change nothing: nobody asks them.
    "patched-clock": """
import time, os
def main(data, out, seed):
    for name in ("time", "perf_counter", "process_time", "monotonic"):
        setattr(time, name, lambda: 0.0)
    base.train(data, out, seed)
""",
    # A helper that is waited for is counted like everything else.
    "helper": """
import os
def main(data, out, seed):
    child = os.fork()
    if child == 0:
        base.train(data, out, seed)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
""",
    # Work at import is inside the clock.
    "import": """
if __name__ == "__main__":
    base.train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
def main(data, out, seed):
    pass
""",
    # Files in /tmp are allowed, and gone in the next run.
    "scratch": """
def main(data, out, seed):
    scratch = Path("/tmp/scratch.bin")
    assert not scratch.exists()
    scratch.write_bytes(b"x" * 1000)
    base.train(data, out, seed)
""",
    # Odd output is ignored.
    "babble": r"""
def main(data, out, seed):
    print("step 5/0 train_loss 1", "step 9/3 train_loss 2", "step x/y train_loss z", sep="\n", flush=True)
    print("\x1b[31m" + "y" * 100_000, flush=True)
    base.train(data, out, seed)
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_neighbours_score_like_the_start(judged, name):
    verdict = judged({"train.py": WRAPPER.format(HONEST[name]), "base.py": START}, Tier.FEEDBACK)
    assert verdict.outcome is Outcome.DONE, (verdict.code, verdict.detail)
    assert abs(verdict.metrics["speedup"]["fsr"]) < 0.4


def test_a_run_that_cannot_reach_the_target_is_stopped(judged):
    """Its training loss lies above the envelope; it is ended long before its time."""
    slow = START.replace("4 * 0.5 ** (step / steps)", "9.0")
    verdict = judged({"train.py": slow}, envelope=[[0.25, 4.0]])
    assert verdict.code == "hopeless"
    assert "at 2" in verdict.detail or "at 3" in verdict.detail or "at 4" in verdict.detail


def test_a_diverged_run_is_stopped(judged):
    verdict = judged({"train.py": START.replace("{4 * 0.5 ** (step / steps):.4f}", "nan")})
    assert verdict.code == "hopeless"


def test_wall_clock(judged):
    """A quarter of the work: far enough from the baseline for a clock that other processes move."""
    cheap = START.replace("range(4)", "range(1)").replace("+= 0.25", "+= 1")
    verdict = judged({"train.py": cheap}, clock="wall")
    assert verdict.metrics["speedup"]["fsr"] > 0.5, verdict.detail


def test_a_broken_reference_is_ours(judged):
    verdict = judged({"train.py": START}, reference_steps=2 * STEPS)
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert "not faster" in verdict.detail


def test_hidden_text_is_not_visible(judged, tmp_path):
    """The sandbox of a training holds the training split, the submission, the runner and the export; no truth."""
    look = """
import os
def main(data, out, seed):
    seen = [os.path.join(root, f) for top in ("/data", "/inputs", "/truth", "/private", "/harness", "/task")
            for root, _, files in os.walk(top) for f in files]
    allowed = {"/data/train.bin", "/data/meta.json", "/harness/runner.py", "/task/start/train.py"}
    assert set(seen) <= allowed, seen
    base.train(data, out, seed)
"""
    verdict = judged({"train.py": WRAPPER.format(look), "base.py": START}, Tier.FEEDBACK)
    assert verdict.outcome is Outcome.DONE, verdict.detail
    shutil.rmtree(tmp_path / "place")
