"""The unsafe stand-in: same calls, same limits by polling, no isolation."""

import os
import time
from pathlib import Path, PurePosixPath

import pytest

from surpass.sandbox import DirectSandbox, Mount, Reason

from .conftest import Box
from .test_lifecycle import alive, descriptors


@pytest.fixture
def direct(work):
    return Box(DirectSandbox(), work)


def test_paths_of_mounts_are_replaced(direct, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "f").write_text("data")
    mounts = [
        Mount(tmp_path / "data", PurePosixPath("/mnt/data")),
        Mount(None, PurePosixPath("/mnt/private"), writable=True),
    ]
    script = (
        "pwd; cat /mnt/data/f; echo x > /mnt/private/y; echo out > out; echo $HOME; echo t > /tmp/t; echo /mnt/database"
    )
    done = direct.sh(script, mounts=mounts)
    lines = done.stdout.decode().splitlines()
    assert done.ok, done.stderr
    assert lines[0] == str(direct.work)
    assert lines[1].startswith("data")
    assert lines[-1] == "/mnt/database"
    assert (direct.work / "out").read_text() == "out\n"
    assert not Path(lines[1].removeprefix("data")).exists()  # the private home is gone
    assert not Path("/tmp/t").exists()


def test_environment_and_python(direct, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    assert b"hunter2" not in direct.sh("env").stdout
    assert direct.run("python", "-c", "import numpy").ok


def test_results(direct):
    assert direct.sh("exit 200").reason is Reason.EXITED
    assert direct.sh("kill -SEGV $$").reason is Reason.SIGNAL
    assert direct.run("no-such-command").exit_code == 127
    assert direct.run("cat", stdin=b"x" * 300_000).stdout == b"x" * 300_000
    assert direct.run("true").tier == "rlimit"


def test_limits(direct):
    assert direct.sh("sleep 30", wall_s=0.2).reason is Reason.TIMEOUT
    assert direct.python("b = bytearray(b'x') * (200 << 20)\nwhile 1: pass", memory_bytes=50 << 20).reason is (
        Reason.MEMORY
    )
    assert direct.python("while 1: pass", cpu_s=0.2).reason is Reason.TIMEOUT
    forks = "import os, time\nfor _ in range(30):\n  if os.fork() == 0: time.sleep(9)\ntime.sleep(9)"
    assert direct.python(forks, pids=10).reason is Reason.PIDS
    assert direct.sh("head -c 9M /dev/zero > big", disk_bytes=1 << 20).reason is Reason.DISK
    done = direct.sh("head -c 9000000 /dev/zero", output_bytes=10)
    assert (done.stdout_truncated, len(done.stdout)) == (True, 10)


def test_processes_that_leave_the_group_are_found(direct):
    assert direct.sh("setsid sleep 161.803 >/dev/null 2>&1 & sleep 0.1").ok
    deadline = time.monotonic() + 2
    while alive("161.803") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive("161.803") == []


def test_start_and_no_leak(direct):
    direct.run("true")
    before = descriptors()
    with open(os.devnull, "r+b") as null:
        running = direct.start("sleep", "9", stdin=null.fileno(), stdout=null.fileno())
        assert running.wait(0.05) is None
        assert running.kill().reason is Reason.KILLED
    direct.sh("sleep 9", wall_s=0.05)
    assert descriptors() == before
