"""Starting, ending, and leaving nothing behind."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from surpass.sandbox import BubblewrapSandbox, Reason, SandboxUnavailable
from surpass.sandbox import _cgroup as cgroup
from surpass.sandbox._bwrap import find_bwrap

from .conftest import Box


def alive(mark: str) -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in file.read_bytes() and file.parent.name != str(os.getpid()):
                found.append(file.parent.name)
    return found


def groups() -> list[Path]:
    hierarchy = cgroup.detect()
    prefix = f"surpass-{Path('/proc/self/ns/pid').stat().st_ino}-{os.getpid()}-"
    return [g for p in (hierarchy.parents.values() if hierarchy else ()) for g in p.glob(f"{prefix}*")]


@pytest.fixture(params=["launcher", "bwrap"])
def any_init(request, sandbox, work):
    """With the launcher as process 1, and with bubblewrap's own reaper, as on machines other than x86-64."""
    if request.param == "launcher":
        return Box(sandbox, work)
    return Box(BubblewrapSandbox(find_bwrap(), use_launcher=False), work)


def test_exit_codes(any_init):
    assert any_init.run("true").ok
    for code in (1, 2, 125, 127, 255):
        done = any_init.sh(f"exit {code}")
        assert done.exit_code == code
        assert not done.ok


def test_an_exit_status_is_not_taken_for_a_signal(box):
    assert box.sh("exit 139").reason is Reason.EXITED


def test_signals(any_init):
    done = any_init.sh("kill -SEGV $$")
    assert (done.reason, done.exit_code) == (Reason.SIGNAL, 128 + signal.SIGSEGV)
    assert any_init.sh("kill -TERM $$").exit_code == 128 + signal.SIGTERM


def test_limits_hold_without_the_launcher(sandbox, work):
    for tier in (None, "rlimit"):
        plain = Box(BubblewrapSandbox(find_bwrap(), tier=tier, use_launcher=False), work)
        assert plain.sh("sleep 30", wall_s=0.2).reason is Reason.TIMEOUT
        assert plain.python("b = bytearray(b'x') * (200 << 20)", memory_bytes=50 << 20).reason is Reason.MEMORY
        assert plain.sh("head -c 9M /dev/zero > big", disk_bytes=1 << 20).reason is Reason.DISK
        assert plain.sandbox.capabilities.landlock_abi == 0


def test_command_not_found(box):
    for name in ("no-such-command", "./missing", "/mnt/work"):
        done = box.run(name)
        assert (done.reason, done.exit_code) == (Reason.EXITED, 127)
        assert b"not found" in done.stderr


def test_relative_commands_and_scripts(box):
    script = box.work / "go"
    script.write_text("#!/bin/sh\necho ran $1\n")
    script.chmod(0o755)
    assert box.run("./go", "x").stdout == b"ran x\n"
    assert box.run("go", env={"PATH": "/mnt/work:/usr/bin:/bin"}).stdout == b"ran\n"


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_stdin(any_init, size):
    data = os.urandom(size)
    assert any_init.run("cat", stdin=data, output_bytes=2 << 20).stdout == data


def test_stdin_that_nobody_reads_does_not_block(box):
    assert box.run("true", stdin=bytes(1 << 20)).ok
    assert box.sh("sleep 0.2", stdin=bytes(1 << 20)).ok


def test_orphans_are_gone(any_init):
    mark = "986537.125"
    script = f"for i in 1 2 3; do (trap '' TERM HUP INT; setsid sleep {mark} >/dev/null 2>&1 &) ; done; sleep 0.1"
    assert any_init.sh(script).ok
    assert alive(mark) == []


def test_background_children_that_hold_the_pipes_do_not_delay_the_end(any_init):
    begun = time.monotonic()
    done = any_init.sh("setsid sleep 20 & echo here")
    assert done.ok
    assert done.stdout == b"here\n"
    assert time.monotonic() - begun < 3
    done = any_init.sh("echo before; setsid sleep 20 & sleep 20", wall_s=0.3)
    assert done.reason is Reason.TIMEOUT
    assert done.stdout == b"before\n"
    assert time.monotonic() - begun < 5


def test_a_flood_of_output_does_not_postpone_the_timeout(box):
    begun = time.monotonic()
    done = box.sh("yes & yes >&2", wall_s=0.4, output_bytes=10)
    assert done.reason is Reason.TIMEOUT
    assert time.monotonic() - begun < 3


def descriptors() -> set[str]:
    listing = os.open("/proc/self/fd", os.O_RDONLY)
    try:
        return set(os.listdir(listing)) - {str(listing)}  # noqa: PTH208
    finally:
        os.close(listing)


def test_no_descriptor_or_group_or_child_is_left(any_init):
    any_init.run("true")
    before = descriptors()
    for _ in range(3):
        any_init.run("true")
        any_init.run("cat", stdin=b"x")
        any_init.sh("sleep 9", wall_s=0.05)
        any_init.run("nothing")
        with contextlib.suppress(Exception):
            any_init.run("true", env={"A": "\0"})
        with open(os.devnull, "r+b") as null:
            any_init.start("sleep", "9", stdin=null.fileno(), stdout=null.fileno()).kill()
    assert descriptors() == before
    assert groups() == []
    children = [file.read_text() for file in Path("/proc/self/task").glob("*/children")]
    assert not "".join(children)


def test_many_at_once(either):
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: either.sh(f"echo {n}; exit {n}"), range(24)))
    assert [(one.stdout, one.exit_code) for one in done] == [(b"%d\n" % n, n) for n in range(24)]


def test_runs_do_not_share_limits(either):
    script = "import os, time\nfor _ in range(15):\n  if os.fork() == 0: time.sleep(0.5); os._exit(0)\ntime.sleep(0.6)"
    with ThreadPoolExecutor(4) as pool:
        assert all(one.ok for one in pool.map(lambda _: either.python(script, pids=20), range(4)))


def test_start_talks_through_the_given_descriptors(box):
    source, feed = os.pipe()
    output, sink = os.pipe()
    running = box.start("sh", "-c", "read line; echo got $line; echo oops >&2; read line", stdin=source, stdout=sink)
    os.close(source)
    os.close(sink)
    os.write(feed, b"hello\n")
    assert os.read(output, 100) == b"got hello\n"
    assert running.wait(0.05) is None
    os.close(feed)
    done = running.wait()
    assert (done.reason, done.exit_code, done.stdout, done.stderr) == (Reason.EXITED, 1, b"", b"oops\n")
    assert running.wait() == running.kill() == done
    assert os.read(output, 100) == b""
    os.close(output)


def test_start_limits_hold_while_nobody_waits(either):
    with open(os.devnull, "r+b") as null:
        running = either.start("sleep", "30", stdin=null.fileno(), stdout=null.fileno(), wall_s=0.2)
        time.sleep(0.6)
        begun = time.monotonic()
        assert running.wait().reason is Reason.TIMEOUT
    assert time.monotonic() - begun < 0.3


def test_kill(either):
    with open(os.devnull, "r+b") as null:
        running = either.start(
            "sh", "-c", "setsid sleep 31.4159 & sleep 31.4159", stdin=null.fileno(), stdout=null.fileno()
        )
        time.sleep(0.1)
        done = running.kill()
    assert (done.reason, done.exit_code) == (Reason.KILLED, 137)
    assert alive("31.4159") == []


def test_a_command_outlives_the_thread_that_started_it(box):
    started = []
    with open(os.devnull, "r+b") as null:
        thread = threading.Thread(
            target=lambda: started.append(box.start("sleep", "0.3", stdin=null.fileno(), stdout=null.fileno()))
        )
        thread.start()
        thread.join()
    assert started[0].wait().ok


HARNESS = """
import os, sys
from pathlib import PurePosixPath
from surpass.sandbox import Limits, open_sandbox
print(os.getpid(), flush=True)
open_sandbox().run(["sh", "-c", "setsid sleep 271.828 & sleep 271.828"], mounts=[], env={},
    cwd=PurePosixPath("/tmp"), limits=Limits(wall_s=60))
"""


def test_a_killed_harness_takes_its_sandboxes_along_and_the_next_one_cleans_up(sandbox):
    with subprocess.Popen([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE) as harness:
        deadline = time.monotonic() + 20
        while len(alive("sleep\x00271.828")) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(alive("sleep\x00271.828")) == 2
        harness.kill()
    deadline = time.monotonic() + 5
    while alive("sleep\x00271.828") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive("sleep\x00271.828") == []
    hierarchy = cgroup.detect()
    if hierarchy is not None:
        left = f"surpass-*-{harness.pid}-*"
        assert any(any(parent.glob(left)) for parent in hierarchy.parents.values())
        BubblewrapSandbox(find_bwrap())
        assert not any(any(parent.glob(left)) for parent in hierarchy.parents.values())


def test_an_interrupt_of_the_harness_ends_the_sandbox(sandbox):
    # A test run in the background ignores Ctrl-C, and children would inherit that.
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HARNESS], **streams, **heed) as harness:
        deadline = time.monotonic() + 20
        while len(alive("sleep\x00271.828")) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        harness.send_signal(signal.SIGINT)
        errors = harness.communicate(timeout=10)[1]
    assert b"KeyboardInterrupt" in errors
    assert alive("sleep\x00271.828") == []


def test_groups_of_a_living_owner_are_kept(sandbox, box):
    if cgroup.detect() is None:
        pytest.skip("needs control groups")
    with open(os.devnull, "r+b") as null:
        running = box.start("sleep", "0.5", stdin=null.fileno(), stdout=null.fileno())
        assert cgroup.remove_stale(cgroup.detect()) == 0
        assert groups()
        assert running.wait().ok
    assert groups() == []


def test_a_forked_harness_can_use_the_same_sandbox(box):
    box.run("true")
    script = """
import os, sys
from pathlib import PurePosixPath
from surpass.sandbox import Limits, open_sandbox
box = open_sandbox()
pid = os.fork()
done = box.run(["sh", "-c", "exit 5"], mounts=[], env={}, cwd=PurePosixPath("/tmp"), limits=Limits(wall_s=10))
if pid == 0: os._exit(done.exit_code)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), done.exit_code)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30, check=False)
    assert answer.stdout == b"5 5\n", answer.stderr


def test_host_processes_are_out_of_reach(box):
    with subprocess.Popen(["sleep", "30"]) as victim:
        script = "for p in $@; do kill -9 $p; done; kill -9 -1"
        box.run("sh", "-c", script, "sh", str(victim.pid), str(os.getpid()), "1")
        assert victim.poll() is None
        victim.kill()


def test_a_broken_bubblewrap_is_an_error_of_the_sandbox(tmp_path, monkeypatch):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\ncase $1 in --version) echo bubblewrap 0.11.0;; *) echo no luck >&2; exit 1;; esac\n")
    fake.chmod(0o755)
    monkeypatch.setenv("SURPASS_BWRAP", str(fake))
    from surpass.sandbox import open_sandbox

    with pytest.raises(SandboxUnavailable, match="no luck"):
        open_sandbox()
