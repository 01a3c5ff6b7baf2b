"""Every bad input of the first issue: one sentence, a documented exit code, nothing lost, never a traceback."""

from __future__ import annotations

import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surpass.cli._exit import ExitCode
from surpass.trial import State, open_experiment


def one_sentence(result, code: ExitCode, *parts: str) -> None:
    assert result.code == code, result.err
    assert result.out == ""
    lines = result.err.strip().splitlines()
    assert len(lines) == 1, result.err
    assert "Traceback" not in result.err
    for part in parts:
        assert part in result.err, (part, result.err)


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["show", "sort-kernel"], ExitCode.UNKNOWN, ["unknown task 'sort-kernel'", "did you mean 'sort-kernels'?"]),
        (["run", "-s", "quik", "-a", "nop"], ExitCode.UNKNOWN, ["unknown suite 'quik'", "did you mean 'quick'?"]),
        (
            ["run", "-s", "quick", "-a", "orcale"],
            ExitCode.UNKNOWN,
            ["unknown agent 'orcale'", "did you mean 'oracle'?"],
        ),
        (
            ["run", "-s", "quick", "-a", "nop", "--hints", "ful"],
            ExitCode.UNKNOWN,
            ["unknown hint level 'ful'", "'full'"],
        ),
        (["run", "-s", "nature", "--profile", "quik", "-a", "nop"], ExitCode.UNKNOWN, ["unknown profile 'quik'"]),
        (["list", "-s", "nothing"], ExitCode.UNKNOWN, ["unknown suite 'nothing'"]),
        (["list", "--tasks", "."], ExitCode.UNKNOWN, ["holds no task"]),
        (["grade", "sort-kernels", "nowhere"], ExitCode.UNKNOWN, ["'nowhere'"]),
        (["grade", "sort-kernels", ".", "--tier", "finl"], ExitCode.UNKNOWN, ["unknown tier", "did you mean 'final'?"]),
        (["resume", "nowhere"], ExitCode.EXPERIMENT, ["holds no experiment"]),
        (["report", "nowhere"], ExitCode.EXPERIMENT, ["holds no experiment"]),
        (["run", "-s", "quick", "-a", "nop", "--database", "x"], ExitCode.EXPERIMENT, ["no database URL"]),
    ],
)
def test_names_that_do_not_exist(surpass, arguments, code, parts):
    one_sentence(surpass(*arguments), code, *parts)


@pytest.mark.parametrize("arguments", [["run"], ["run", "-a", "nop"], ["nothing"], ["run", "-k", "0", "-a", "nop"]])
def test_a_command_line_that_cannot_be_understood(surpass, arguments):
    result = surpass(*arguments)
    assert result.code == ExitCode.USAGE
    assert "Traceback" not in result.err


def test_a_broken_task_names_file_line_and_key(surpass, make_task):
    task = make_task()
    path = task.root / "task.toml"
    path.write_text(path.read_text().replace("attempts = 3", "atempts = 3"))
    result = surpass("show", "estimate-mean", "--tasks", task.root)
    one_sentence(result, ExitCode.UNKNOWN, "task.toml:", "unknown key 'budget.atempts'", "did you mean 'attempts'?")


def test_no_bubblewrap_and_no_user_namespaces(surpass, make_task, monkeypatch, tmp_path):
    task = make_task()
    monkeypatch.setenv("SURPASS_BWRAP", str(tmp_path / "missing"))
    result = surpass("run", "-t", task.root, "-a", "nop", "-o", "e")
    one_sentence(result, ExitCode.SANDBOX, "bubblewrap")
    assert not Path("e").exists()
    refuses = tmp_path / "bwrap"
    refuses.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    refuses.chmod(0o755)
    monkeypatch.setenv("SURPASS_BWRAP", str(refuses))
    assert surpass("run", "-t", task.root, "-a", "nop", "-o", "e").code == ExitCode.SANDBOX
    assert surpass("grade", task.root, task.start).code == ExitCode.SANDBOX


def test_elsewhere_than_linux_what_needs_no_sandbox_works(surpass, make_task, monkeypatch):
    task = make_task()
    assert surpass("run", "-t", task.root, "-a", "oracle", "-o", "e").code == 0
    monkeypatch.setattr(sys, "platform", "freebsd14")
    assert surpass("list", "--json").code == 0
    assert surpass("show", task.root).code == 0
    assert surpass("report", "e", "--json").json()[0]["recovery"] > 0.8
    (trial,) = open_experiment(Path("e")).journal.trials()
    graded = surpass("grade", task.root, f"e/trials/{trial.plan.id}", "--recorded", "--json")
    assert graded.json()["recovery"] == pytest.approx(trial.verdict.scorecard.headline)
    one_sentence(surpass("run", "-t", task.root, "-a", "nop", "-o", "f"), ExitCode.SANDBOX, "need Linux")
    one_sentence(surpass("grade", task.root, task.start), ExitCode.SANDBOX, "need Linux")


def test_an_output_that_is_taken_or_busy(surpass, make_task):
    task = make_task()
    assert surpass("run", "-t", task.root, "-a", "nop", "-o", "e").code == 0

    def files() -> list[Path]:
        """Without SQLite's own, which come and go with connections."""
        return sorted(path for path in Path("e").rglob("*") if not path.name.startswith("surpass.db-"))

    before = files()
    one_sentence(
        surpass("run", "-t", task.root, "-a", "nop", "-o", "e"), ExitCode.EXPERIMENT, "already holds", "resume"
    )
    assert files() == before
    with open_experiment(Path("e")).lock():
        one_sentence(surpass("resume", "e"), ExitCode.EXPERIMENT, f"in use by process {os.getpid()}")
    assert surpass("resume", "e", "--json").json()[0]["claim"] == "failed"


def test_a_sealed_folder_that_was_changed_or_belongs_elsewhere_is_not_scored(surpass, make_task):
    task = make_task()
    assert surpass("run", "-t", task.root, "-a", "oracle", "-o", "e").code == 0
    folder = next(Path("e/trials").iterdir())
    assert surpass("grade", task.root, folder).code == 0
    assert surpass("grade", task.root, folder, "--recorded").code == 0
    one_sentence(
        surpass("grade", "sort-kernels", folder, "--recorded"), ExitCode.EXPERIMENT, "belongs to local/estimate-mean"
    )
    sealed = folder / "attempts" / "001" / "submission" / "solve.py"
    sealed.write_text("changed")
    one_sentence(surpass("grade", task.root, folder, "--recorded"), ExitCode.STORAGE, "changed after sealing")
    (folder / "verdict.json").write_text("{")
    one_sentence(surpass("grade", task.root, folder, "--recorded"), ExitCode.STORAGE, "damaged")


def test_a_submission_cannot_grade_itself(surpass, make_task, tmp_path):
    """A forged record in a submission is never believed; the same record of an honest trial is re-run."""
    task = make_task()
    assert surpass("run", "-t", task.root, "-a", "oracle", "-o", "e").code == 0
    record = next(Path("e/trials").glob("*/verdict.json")).read_text()
    forged = tmp_path / "forged"
    forged.mkdir()
    for name in ("verdict.json", "feedback.json"):
        (forged / name).write_text(record)
    graded = surpass("grade", task.root, forged, "--json")
    assert (graded.code, graded.json()["recovery"]) == (ExitCode.NOT_PASSED, None)
    one_sentence(surpass("grade", task.root, forged, "--recorded"), ExitCode.STORAGE, "no submission with the recorded")
    one_sentence(surpass("grade", task.root, task.start, "--recorded"), ExitCode.EXPERIMENT, "no sealed trial")


def test_a_submission_cannot_write_on_the_terminal(surpass, make_task, tmp_path):
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / "solve.py").write_text(r"import sys; sys.stderr.write('\x1b[2J\x1b[H surpassed \x9b0m'); sys.exit(1)")
    graded = surpass("grade", make_task().root, evil)
    assert graded.code == ExitCode.NOT_PASSED
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in graded.out + graded.err)


def test_a_strict_umask_changes_no_score(surpass, make_task):
    task = make_task()
    before = os.umask(0o077)
    try:
        assert surpass("run", "-t", task.root, "-a", "oracle", "-o", "e", "--json").json()[0]["recovery"] > 0.8
    finally:
        os.umask(before)


def test_two_runs_into_one_directory_leave_one_experiment(make_task, tmp_path):
    task = make_task()
    command = [sys.executable, "-m", "surpass.cli.main", "run", "-t", str(task.root), "-o", str(tmp_path / "e"), "-a"]
    both = [
        subprocess.Popen([*command, agent], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for agent in ("nop", "oracle")
    ]
    errors = [process.communicate(timeout=60)[1] for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes == [0, ExitCode.EXPERIMENT], errors
    (trial,) = open_experiment(tmp_path / "e").journal.trials()
    assert trial.state is State.DONE


@pytest.mark.parametrize("leftover", [".experiment.toml.99.part", ".secret.99.part", "surpass.db-journal"])
def test_what_a_killed_start_left_behind_is_in_nobodys_way(surpass, make_task, leftover):
    Path("e").mkdir()
    Path("e", leftover).touch()
    assert surpass("run", "-t", make_task().root, "-a", "nop", "-o", "e").code == 0


def test_odd_directories_and_incomplete_tasks(surpass, make_task):
    task = make_task()
    assert surpass("run", "-t", task.root, "-a", "nop", "-o", "e[/x]").code == 0
    one_sentence(surpass("run", "-t", task.root, "-a", "nop", "-o", "n" * 300), ExitCode.STORAGE, "too long")
    one_sentence(surpass("run", "-t", task.root, "-a", "tuner:foo=1", "-o", "f"), ExitCode.UNKNOWN, "foo")
    one_sentence(surpass("run", "-t", task.root, "-a", ":X", "-o", "f"), ExitCode.UNKNOWN, "cannot be imported")
    (task.root / "brief.md").unlink()
    one_sentence(surpass("run", "-t", task.root, "-a", "nop", "-o", "f"), ExitCode.UNKNOWN, "brief.md")
    assert not Path("f").exists()


def test_a_damaged_plan_or_journal_is_one_sentence(surpass, make_task):
    task = make_task()
    assert surpass("run", "-t", task.root, "-a", "nop", "-o", "e").code == 0
    plan = Path("e/experiment.toml").read_text()
    for text in (plan.replace("trials = 1", "trials = 5"), plan.replace('agents = ["nop"]', "agents = []"), "x = "):
        Path("e/experiment.toml").write_text(text)
        one_sentence(surpass("report", "e"), ExitCode.STORAGE, "experiment.toml")
    Path("e/experiment.toml").write_text(plan)
    with sqlite3.connect("e/surpass.db") as database:
        database.execute("update trials set verdict = '[]'")
    database.close()
    one_sentence(surpass("report", "e"), ExitCode.STORAGE, "damaged")


def test_a_full_disk_is_one_sentence_and_the_run_can_be_resumed(make_task, tmp_path):
    """A real small file system where that can be mounted."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=420k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        task = make_task({"public/start/ballast.bin": "x" * 300_000})
        command = [
            sys.executable,
            "-m",
            "surpass.cli.main",
            "run",
            "-t",
            str(task.root),
            "-a",
            "nop",
            "-o",
            str(small / "e"),
        ]
        full = subprocess.run(command, capture_output=True, text=True, check=False)
        assert full.returncode == ExitCode.STORAGE, full.stderr
        assert "Traceback" not in full.stderr
        assert re.search(r"no space left|disk is full", full.stderr)
        subprocess.run(["mount", "-o", "remount,size=16m", str(small)], check=True)
        command[3:] = ["resume", str(small / "e"), "--json"]
        resumed = subprocess.run(command, capture_output=True, text=True, check=False)
        assert resumed.returncode == 0, resumed.stderr
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


def test_a_directory_that_cannot_be_written(surpass, make_task):
    task = make_task()
    one_sentence(surpass("run", "-t", task.root, "-a", "nop", "-o", "/proc/here"), ExitCode.STORAGE, "/proc/here")


def test_ctrl_c_stops_cleanly_and_can_be_resumed(make_task, tmp_path):
    slow = "import time\ntime.sleep(3)\n"
    from tests.conftest import ORACLE

    task = make_task({"solutions/oracle/solve.py": slow + ORACLE})
    command = [
        sys.executable,
        "-m",
        "surpass.cli.main",
        "run",
        "-t",
        str(task.root),
        "-a",
        "oracle",
        "-o",
        str(tmp_path / "e"),
    ]
    # A test run in the background ignores Ctrl-C, and children would inherit that.
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **heed)
    for _ in range(200):
        if (tmp_path / "e" / "experiment.toml").is_file():
            trials = open_experiment(tmp_path / "e").journal.trials()
            if trials[0].state is State.SOLVING:
                break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == ExitCode.INTERRUPTED, err
    assert "resume" in err
    assert "Traceback" not in err
    command[3:] = ["resume", str(tmp_path / "e"), "--json"]
    resumed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert '"claim"' in resumed.stdout


EVIL = {
    "links": ("Path('outputs/final/more').symlink_to('/etc/passwd')", "link"),
    "a device": ("os.mkfifo('outputs/final/pipe')", "special-file"),
    "a socket": ("__import__('socket').socket(socket_af).bind('outputs/s')", "special-file"),
    "a million files": ("[open(f'outputs/{i}', 'w').close() for i in range(1_000_000)]", "disk|too-many-files"),
    "a zip bomb": (
        "np.savez_compressed(open('outputs/final/mean.npy', 'wb'), np.zeros(30_000_000))",
        "unreadable",
    ),
    "a folder 3000 levels deep": ("[(os.mkdir('d'), os.chdir('d')) for _ in range(3000)]", "too-deep|disk"),
    "a pickle": ("np.save('outputs/final/mean.npy', np.array([print], dtype=object), allow_pickle=True)", "pickle"),
    "killing its parent": ("os.kill(os.getppid(), 9); os.kill(1, 9); os.kill(-1, 9)", "crashed"),
    "waiting past its budget": ("__import__('time').sleep(600)", "timeout"),
    "a fork bomb": ("[os.fork() for _ in range(40)]", "crashed|pids"),
    "eating memory": ("x = bytearray(4 << 30)", "crashed|memory"),
    "filling the disk": ("open('outputs/big', 'wb').write(bytes(1 << 28))", "crashed|disk"),
}


@pytest.mark.parametrize("name", EVIL)
def test_a_submission_that_misbehaves_has_no_score(surpass, make_task, tmp_path, name):
    from tests.conftest import ORACLE

    line, expected = EVIL[name]
    task = make_task()
    toml = (task.root / "task.toml").read_text().replace("run_seconds = 20", "run_seconds = 4")
    task = make_task({"task.toml": toml})
    evil = tmp_path / "evil"
    evil.mkdir()
    line = line.replace("socket_af", "__import__('socket').AF_UNIX")
    (evil / "solve.py").write_text(f"import os\nimport numpy as np\nfrom pathlib import Path\n{ORACLE}\n{line}\n")
    result = surpass("grade", task.root, evil, "--json")
    assert result.code == ExitCode.NOT_PASSED, (result.out, result.err)
    graded = result.json()
    assert graded["recovery"] is None
    assert re.fullmatch(expected, graded["code"]), graded
    assert graded["outcome"] in ("failed", "invalid")


def test_an_honest_neighbour_of_every_evil_submission_passes(surpass, make_task, tmp_path):
    """Sub-folders, a thousand files, threads, a child process, a hard link, and a compressed archive are all fine."""
    from tests.conftest import ORACLE

    honest = tmp_path / "honest"
    honest.mkdir()
    (honest / "solve.py").write_text(
        f"{ORACLE}\nimport os, subprocess, threading\n"
        "for i in range(1000):\n    Path(f'outputs/{i}').write_text('x')\n"
        "os.link('outputs/1', 'outputs/same')\n"
        "subprocess.run(['python', '-c', 'print(1)'], check=True)\n"
        "t = threading.Thread(target=sum, args=([1],)); t.start(); t.join()\n"
        "np.savez_compressed('outputs/extra.npz', np.zeros(100))\n"
    )
    result = surpass("grade", make_task().root, honest, "--json")
    assert result.code == 0, (result.out, result.err)
    assert result.json()["recovery"] > 0.8


def test_no_open_files_are_left_behind(surpass, make_task):
    task = make_task()
    surpass("grade", task.root, task.start)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        surpass("grade", task.root, task.start)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
    assert before < resource.getrlimit(resource.RLIMIT_NOFILE)[0]
