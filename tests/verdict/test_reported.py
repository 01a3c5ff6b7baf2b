"""Scripts that time themselves: their word is taken, what they leave out of their clock is compared."""

import os
import stat

import pytest

from surpass.interop.modded_nanogpt import import_modded_nanogpt
from surpass.task import DATA_VARIABLE, Catalogue, TaskError, Tier, load
from surpass.verdict import Judge, Outcome, VerdictError, judge_solution
from surpass.verdict.arms import BASELINE, CANDIDATE
from surpass.verdict.reported import judge_reported

TOML = """
schema = 1
id = "r01-itself"
version = "1.0.0"
title = "A script that times itself"
domain = "language-models"
track = "optimise"
deliverable = "training"
fixed_data = true

[submission]
files = ["train.py"]

[training]
target = 3.28
clock = "reported"

[training.reported]
launch = ["python", "train.py", "{gpus}"]
data = "data/tokens"
variables = { TOKENS = "data/tokens/train.bin" }
loss_sd = 0.002

[budget]
solve_minutes = 1
run_seconds = 20
memory_mb = 512
disk_mb = 8
gpus = GPUS

[[instance]]
name = "speedup"
metric = "fsr"
direction = "higher"
unit = "1"
baseline = 0.0
sota = 1.0
range = [-100.0, 100.0]
"""
SCRIPT = """
import os
import time
from pathlib import Path

assert Path(os.environ["TOKENS"]).read_bytes() == b"tokens"
time.sleep({excluded})  # what a record spends on warm-up and compilation
started = time.perf_counter()
time.sleep({training})
print(f"step:1/2 val_loss:9.1 train_time:1ms")
print(f"step:2/2 val_loss:{loss} train_time:{{1000 * (time.perf_counter() - started)}}ms step_avg:1ms")
"""


def script(*, training=0.6, excluded=0.3, loss=3.2775):
    return SCRIPT.format(training=training, excluded=excluded, loss=loss)


START, ORACLE = script(), script(training=0.3)


@pytest.fixture
def task(tmp_path, monkeypatch):
    root = tmp_path / "r01-itself"
    for path, text in {
        "task.toml": TOML.replace("GPUS", "0"),
        "brief.md": "# Train",
        "public/start/train.py": START,
        "solutions/oracle/train.py": ORACLE,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens/train.bin").write_bytes(b"tokens")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "tokens"))
    return load(root)


@pytest.fixture
def judged(tmp_path, task, sandbox):
    def judge(source, tier=Tier.FEEDBACK):
        folder = tmp_path / "submission"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(source)
        hidden = dict.fromkeys(Tier, 1)
        with Judge(task, sandbox, place=tmp_path / "place", data=tmp_path / "made", hidden=hidden) as judge:
            verdict = judge_solution(judge, folder, tmp_path / "place/one", sandbox, tier)
        assert verdict.outcome is not Outcome.INFRA_ERROR, verdict.detail
        return verdict

    return judge


def test_null_is_zero_and_carries_an_interval(judged):
    metrics = judged(START, Tier.FINAL).metrics["speedup"]
    assert abs(metrics["fsr"]) < 0.4  # far wider than on a quiet machine: these runs take a tenth of a second
    assert metrics["fsr_low"] <= metrics["fsr"] <= metrics["fsr_high"]
    assert metrics["rounds"] in (3, 4)
    assert metrics["loss"] == pytest.approx(3.2775)
    assert "evaluation_ratio" not in metrics  # nobody has looked at the model
    assert metrics["self_reported"] == 1
    assert metrics["candidate_excluded_seconds"] > 0.3  # what the script sleeps through outside its clock


def test_oracle_is_one(judged):
    metrics = judged(ORACLE).metrics["speedup"]
    assert metrics["fsr"] == pytest.approx(1, abs=0.4)
    assert metrics["human_steps"] == 2


def test_time_moved_out_of_the_clock_counts(judged):
    hidden = judged(script(training=0.1, excluded=0.8)).metrics["speedup"]
    assert abs(hidden["fsr"]) < 0.3  # it reports a sixth of the start's time, and took as long


def test_what_the_start_leaves_out_may_be_left_out(judged):
    honest = judged(script(training=0.3, excluded=0.31)).metrics["speedup"]
    assert honest["fsr"] == pytest.approx(1, abs=0.4)


def test_a_report_in_the_log_alone(judged):
    """As record 17's script does."""
    source = START.replace("import os\n", "import os\nos.makedirs('logs')\nlog = open('logs/one.txt', 'w')\n", 1)
    assert judged(source.replace('ms step_avg:1ms")', 'ms step_avg:1ms", file=log, flush=True)')).scorecard is not None


def test_a_log_elsewhere_is_not_read(judged, tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/one.txt").write_text("step:2/2 val_loss:1.0 train_time:1ms\n")
    verdict = judged(f"import os\nos.symlink({str(tmp_path / 'logs')!r}, 'logs')\n")
    assert (verdict.outcome, verdict.code) == (Outcome.FAILED, "no-report")


def test_a_log_that_was_handed_in_is_no_report(judged, tmp_path):
    """The fresh report comes first in the alphabet; the old one says a tenth of the time."""
    source = START.replace("import os\n", "import os\nos.makedirs('logs', exist_ok=True)\n", 1)
    (tmp_path / "submission/logs").mkdir(parents=True)
    (tmp_path / "submission/logs/old.txt").write_text("step:2/2 val_loss:3.0 train_time:60ms\n")
    metrics = judged(source).metrics["speedup"]
    assert abs(metrics["fsr"]) < 0.2
    assert metrics["loss"] == pytest.approx(3.2775)


def test_a_file_where_the_tokens_go_is_refused(judged, tmp_path):
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission/data").write_text("in the way")
    verdict = judged(START)
    assert (verdict.outcome, verdict.code) == (Outcome.INVALID, "data-place")


def test_a_log_that_links_to_itself_is_no_report(judged):
    verdict = judged("import os\nos.makedirs('logs')\nos.symlink('one.txt', 'logs/one.txt')\n")
    assert (verdict.outcome, verdict.code) == (Outcome.FAILED, "no-report")


def test_wrong_tokens_are_ours(task, tmp_path, sandbox):
    """When even the baseline is far from the target, it is not the submission's fault."""
    for folder in (task.start, task.solution("oracle")):
        (folder / "train.py").write_text(script(loss=4.1))
    with pytest.raises(VerdictError, match="are these the right tokens"):
        judge_reported(task, task.start, tier=Tier.FEEDBACK, place=tmp_path / "place", sandbox=sandbox)


def test_a_hopeless_script_does_not_cost_all_rounds(judged):
    verdict = judged(script(loss=9.9), Tier.FINAL)
    assert verdict.code == "target-missed"
    assert "after 1 round(s)" in verdict.detail


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (script(loss=3.29), "target-missed"),
        (script(loss="nan"), "no-report"),
        (START.replace("step:2/2", "step:1/2"), "no-report"),
        ("print('done')", "no-report"),
        ("raise SystemExit(3)", "crashed"),
    ],
)
def test_what_fails(judged, source, code):
    verdict = judged(source)
    assert (verdict.outcome, verdict.code, verdict.scorecard) == (Outcome.FAILED, code, None)


def test_a_miss_within_the_noise_of_faithful_runs_passes(judged):
    assert judged(script(loss=3.2830)).scorecard is not None  # 1.5 of the runs' standard deviations above target


def test_missing_tokens_are_told_before_anything_runs(task, monkeypatch):
    task.require_complete()
    monkeypatch.delenv(DATA_VARIABLE)
    with pytest.raises(TaskError, match=f"set {DATA_VARIABLE} to the folder"):
        task.require_complete()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('data = "data/tokens"', 'data = "../tokens"', "below the script's folder"),
        ('data = "data/tokens"', 'data = "/etc"', "below the script's folder"),
        ("loss_sd = 0.002", 'logs = "/etc/*.txt"', "below the script's folder"),
        ("TOKENS =", "task =", "no name of an environment variable"),
        ('clock = "reported"', 'clock = "cpu"', "need each other"),
    ],
)
def test_settings_that_lead_elsewhere_are_refused(task, old, new, why):
    toml = task.root / "task.toml"
    toml.write_text(toml.read_text().replace(old, new))
    with pytest.raises(TaskError, match=why):
        load(task.root)


@pytest.fixture
def with_gpu(task):
    toml = task.root / "task.toml"
    toml.write_text(toml.read_text().replace("gpus = 0", "gpus = 1"))
    return load(task.root)


def test_missing_gpus_are_ours(with_gpu, tmp_path, sandbox):
    (tmp_path / "dev").mkdir()
    with Judge(with_gpu, sandbox, place=tmp_path / "p", data=tmp_path / "d", hidden=dict.fromkeys(Tier, 1)) as judge:
        verdict = judge_solution(judge, with_gpu.start, tmp_path / "p/one", sandbox, Tier.FEEDBACK)
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert "needs 1 GPU(s)" in verdict.detail


@pytest.mark.skipif(os.geteuid() != 0, reason="making a device needs root")
def test_gpus_are_opened_inside(with_gpu, tmp_path, sandbox):
    """A stand-in that every kernel has: writing to the device numbers of /dev/full fails with ENOSPC."""
    dev = tmp_path / "dev"
    dev.mkdir()
    os.mknod(dev / "nvidia0", 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    (dev / "nvidia0").chmod(0o666)
    for name in ("nvidia1", "nvidiactl"):
        os.mknod(dev / name, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    uses = "import pathlib\nseen = sorted(p.name for p in pathlib.Path('/dev').glob('nvidia*'))\n"
    uses += "assert seen == ['nvidia0', 'nvidiactl'], seen\n"
    uses += "import errno, os\ntry:\n    os.write(os.open('/dev/nvidia0', os.O_RDWR), b'x')\n"
    uses += "except OSError as error:\n    assert error.errno == errno.ENOSPC, error\nelse:\n    raise SystemExit(1)\n"
    uses += "assert os.path.isdir('/sys/devices')\n"
    for folder in (with_gpu.start, with_gpu.solution("oracle")):
        (folder / "train.py").write_text(uses + (folder / "train.py").read_text())
    result = judge_reported(
        with_gpu, with_gpu.start, tier=Tier.FEEDBACK, place=tmp_path / "place", sandbox=sandbox, dev=dev
    )
    assert abs(result.fsr.mean) < 0.2


def test_an_imported_task_runs_under_torchrun(tmp_path, monkeypatch, sandbox):
    """Two processes that talk to each other, without GPUs."""
    pytest.importorskip("torch")
    from surpass.interop.nanogpt_records import RECORDS
    from tests.interop.checkouts import log_text, record_folder, write

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    checkout = tmp_path / "modded"
    for number in range(4, 22):
        seconds = 0.8 if number == 4 else 0.4
        text = log_text(TORCHRUN.replace("SECONDS", str(seconds)), ms=int(1000 * seconds))
        name = f"{RECORDS[number].log or 'aaaa'}-1.txt"
        write(record_folder(checkout / "records" / "track_1_short", number) / name, text)
    import_modded_nanogpt(checkout, gpus=2)
    (task,) = (each for each in Catalogue.installed().suite("modded-nanogpt") if each.id == "nanogpt-r04-optimise")
    toml = task.root / "task.toml"
    toml.write_text(toml.read_text().replace("\ngpus = 2", "\ngpus = 0").replace("{gpus}", "2"))
    (tmp_path / "tokens").mkdir()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "tokens"))
    task = load(task.root)
    result = judge_reported(
        task, task.solution("oracle"), tier=Tier.FEEDBACK, place=tmp_path / "place", sandbox=sandbox
    )
    (only,) = result.rounds  # a busy machine may stretch any of them, but none can be shorter than its pause
    assert only.seconds[BASELINE] >= 0.8
    assert only.seconds[CANDIDATE] >= 0.4


TORCHRUN = """
import os
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
assert os.path.isdir("data/fineweb10B")
total = torch.ones(1)
dist.all_reduce(total)
assert total.item() == dist.get_world_size() == 2
time.sleep(SECONDS)
if dist.get_rank() == 0:
    print("step:8/8 val_loss:3.2775 train_time:%dms step_avg:1ms" % (1000 * SECONDS))
dist.destroy_process_group()
"""
