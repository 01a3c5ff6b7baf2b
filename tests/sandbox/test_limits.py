"""Every limit: a command that breaks it and one that stays just within, in both tiers."""

import os
import subprocess
import tempfile
import time
from pathlib import Path, PurePosixPath

import pytest

from surpass.sandbox import Limits, Reason
from surpass.sandbox._disk import usage

MB = 1 << 20


def test_tier_is_recorded(either):
    done = either.run("true")
    assert done.ok
    assert done.tier == either.sandbox.capabilities.tier


def test_wall(either):
    begun = time.monotonic()
    done = either.sh("sleep 30", wall_s=0.3)
    assert (done.reason, done.exit_code) == (Reason.TIMEOUT, 137)
    assert 0.3 <= done.wall_s < 1.0
    assert time.monotonic() - begun < 2.0
    assert either.sh("sleep 0.1", wall_s=5).ok


def test_memory_of_one_process(either):
    evil = "b = bytearray(200 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\nprint('done')"
    done = either.python(evil, memory_bytes=64 * MB)
    assert done.reason is Reason.MEMORY
    assert b"done" not in done.stdout
    honest = either.python(evil, memory_bytes=400 * MB)
    assert honest.ok
    assert 200 * MB <= honest.peak_memory_bytes < 300 * MB


def test_memory_of_a_tree(either):
    evil = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        b = bytearray(os.urandom(1 << 20)) * 30
        time.sleep(20); os._exit(0)
time.sleep(20)
"""
    assert either.python(evil, memory_bytes=100 * MB).reason is Reason.MEMORY


def test_forked_children_that_share_memory_are_not_counted_twice(either):
    honest = """
import os, time
b = bytearray(60 << 20)
for i in range(0, len(b), 4096): b[i] = 1
pids = []
for _ in range(5):
    pid = os.fork()
    if pid == 0: time.sleep(0.3); os._exit(0)
    pids.append(pid)
for pid in pids: os.waitpid(pid, 0)
"""
    assert either.python(honest, memory_bytes=200 * MB).ok


def test_private_tmp_counts_as_memory_under_control_groups(box):
    if box.sandbox.capabilities.tier == "rlimit":
        pytest.skip("needs control groups")
    done = box.sh("head -c 100M /dev/zero > /tmp/x; sleep 5", memory_bytes=32 * MB)
    assert done.reason is Reason.MEMORY


FORKS = """
import os, sys, time
try:
    for _ in range(int(sys.argv[1])):
        if os.fork() == 0: time.sleep(0.3); os._exit(0)
except OSError:
    time.sleep(0.5)  # tier rlimit sees the number of processes only when it looks
    raise
for _ in range(int(sys.argv[1])): os.wait()
"""


def test_process_count(either):
    done = either.python(FORKS, 40, pids=20)
    assert done.reason is Reason.PIDS
    assert either.python(FORKS, 18, pids=20).ok


def test_thread_count(either):
    threads = "import threading, time\nfor _ in range(40): threading.Thread(target=time.sleep, args=(0.3,)).start()"
    assert either.python(threads, pids=20).reason is Reason.PIDS
    assert either.python(threads, pids=60).ok


def test_fork_bomb_is_over_in_time(either):
    begun = time.monotonic()
    either.sh("b() { b | b & }; b; sleep 10", pids=30, wall_s=1)
    assert time.monotonic() - begun < 4


def test_cpu_seconds(either):
    done = either.python("while True: pass", cpu_s=0.3)
    assert done.reason is Reason.TIMEOUT
    assert 0.3 < done.cpu_s < 1.0
    assert either.python("pass", cpu_s=5).ok


BURN = """
import os, time
def burn(s):
    while time.process_time() < s: pass
"""


def test_cpu_time_covers_the_whole_tree(either):
    done = either.python(BURN + "if os.fork() == 0: burn(0.3); os._exit(0)\nos.wait(); burn(0.2)", cpus=2.0)
    assert done.ok
    assert 0.5 <= done.cpu_s < 0.65


def test_cpu_time_covers_orphans(either):
    orphan = BURN + "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: burn(0.3)\n  os._exit(0)\ntime.sleep(2)"
    done = either.python(orphan, cpus=2.0)
    assert done.ok
    assert 0.3 <= done.cpu_s < 0.5


def test_cpu_time_covers_children_whose_end_is_ignored(either):
    evil = (
        BURN
        + """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0: burn(0.3); os._exit(0)
try: os.wait()
except ChildProcessError: pass
"""
    )
    assert either.python(evil).cpu_s >= 0.25


def test_cpu_time_of_the_set_up_is_not_charged(either):
    assert either.run("true").cpu_s < 0.01


def test_cpu_quota(box):
    if box.sandbox.capabilities.tier == "rlimit":
        pytest.skip("needs control groups")
    done = box.python(BURN + "burn(0.4)", cpus=0.5)
    assert done.ok
    assert done.wall_s > 0.65


def test_disk_one_file(either):
    done = either.sh("head -c 20000000 /dev/zero > big", disk_bytes=4 * MB)
    assert done.reason is Reason.DISK
    assert (either.work / "big").stat().st_size <= 4 * MB
    assert either.sh("rm big; head -c 3000000 /dev/zero > small", disk_bytes=4 * MB).ok


MANY = """
import sys, time
for n in range(int(sys.argv[1])):
    open(f"{sys.argv[2]}/f{n}", "wb").write(bytes(1 << 20))
    time.sleep(0.02)
"""


def test_disk_many_files(either):
    assert either.python(MANY, 100, "/mnt/work", disk_bytes=4 * MB).reason is Reason.DISK


def test_disk_within_the_limit(either):
    assert either.python(MANY, 3, "/mnt/work", disk_bytes=4 * MB).ok


def test_disk_sparse_files_count_as_a_copy_would(either):
    script = "for n in range(9): open(f's{n}', 'wb').truncate(1 << 20)"
    assert either.python(script, disk_bytes=4 * MB).reason is Reason.DISK


def test_disk_removed_files_that_stay_open(either):
    evil = """
import os, time
held = []
for n in range(20):
    f = open("f", "wb"); f.write(os.urandom(1 << 20)); f.flush(); os.unlink("f"); held.append(f)
time.sleep(15)
"""
    assert either.python(evil, disk_bytes=4 * MB).reason is Reason.DISK


def test_disk_usage_is_measured_when_the_command_was_quick(either):
    assert either.sh("for i in 1 2 3 4 5; do head -c 1000000 /dev/zero > f$i; done", disk_bytes=3 * MB).reason is (
        Reason.DISK
    )


def test_private_tmp_is_bounded(either):
    done = either.sh("head -c 20000000 /dev/zero > /tmp/a; wc -c < /tmp/a; exit 1", disk_bytes=4 * MB)
    assert int(done.stdout) <= 4 * MB
    assert done.reason is Reason.DISK


FILES = """
import sys, time
for n in range(int(sys.argv[1])):
    open(f"{sys.argv[2]}/{n}", "w").close()
    if n % 100 == 0: time.sleep(0.02)
"""


@pytest.mark.parametrize("place", ["/mnt/work", "/tmp", "/dev/shm"])
def test_file_count(either, place):
    assert either.python(FILES, 3000, place, files=300).reason is Reason.DISK
    if place != "/mnt/work":  # there, the files of the first run remain
        assert either.python(FILES, 250, place, files=300).ok


def test_deep_directories_do_not_stop_the_scan(either):
    deep = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    try:
        assert either.python(deep).reason is Reason.DISK
    finally:  # pytest's own clean-up would recurse 3000 levels
        subprocess.run(["rm", "-rf", str(either.work / "d")], check=True)


@pytest.mark.parametrize("mode", [0, 0o400, 0o600])
def test_a_directory_that_may_not_be_looked_into_counts_as_exceeding(mode):
    """Root may look into everything, so an ordinary user measures."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        child = os.fork()
        if child == 0:
            os._exit(_measure_as_an_ordinary_user(Path(place), mode))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        (Path(place) / "a").chmod(0o700)
        assert status == 0


def _measure_as_an_ordinary_user(place: Path, mode: int) -> int:
    try:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        (place / "a" / "b").mkdir(parents=True)
        directory = os.open(place, os.O_RDONLY)
        readable = usage(directory, MB, 100)[1]
        (place / "a").chmod(mode)
        return 0 if readable == 2 and usage(directory, MB, 100)[1] > 100 else 3
    except BaseException:  # noqa: BLE001  a child that goes on would run the rest of the tests
        return 4


def test_output_is_bounded_and_the_rest_is_drained(either):
    done = either.sh("head -c 9000000 /dev/zero; echo end >&2; exit 7", output_bytes=1000)
    assert (len(done.stdout), done.stdout_truncated) == (1000, True)
    assert (done.stderr, done.stderr_truncated) == (b"end\n", False)
    assert (done.reason, done.exit_code) == (Reason.EXITED, 7)


def test_output_of_exactly_the_limit_is_not_truncated(either):
    done = either.sh("head -c 1000 /dev/zero", output_bytes=1000)
    assert (len(done.stdout), done.stdout_truncated) == (1000, False)


SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def test_a_tree_stays_on_its_cores(box):
    """Asking for another core fails, and children inherit the confinement."""
    script = (
        "import os, subprocess, sys\ntry: os.sched_setaffinity(0, range(64)); print('moved')\nexcept OSError: pass\n"
    )
    script += "print(sorted(os.sched_getaffinity(0)), flush=True)\n"
    script += "subprocess.run([sys.executable, '-c', 'import os; print(sorted(os.sched_getaffinity(0)))'])"
    core = max(os.sched_getaffinity(0))
    done = box.python(script, cores=(core,))
    lines = done.stdout.decode().splitlines()
    if "moved" in lines and not box.sandbox.capabilities.seccomp:
        pytest.skip("without libseccomp nothing keeps a tree on its cores")
    assert lines == [f"[{core}]", f"[{core}]"]


def test_without_cores_all_are_allowed(box):
    done = box.python("import os; print(len(os.sched_getaffinity(0)))")
    assert int(done.stdout) == len(os.sched_getaffinity(0))


def test_cpu_time_can_be_read_while_it_runs(either):
    """Children count, and the last reading is what the end reports."""
    either.sandbox.adopt(either.work)
    read, write = os.pipe()
    ours_read, theirs_write = os.pipe()
    child = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', " + repr(SPIN.format(0.3)) + "])\n"
    script = child + "print('spent', flush=True)\ninput()\n" + SPIN.format(0.3)
    running = either.sandbox.start(
        ["python", "-I", "-S", "-c", script],
        mounts=[], env={}, cwd=PurePosixPath("/tmp"), limits=Limits(wall_s=20.0), stdin=read, stdout=theirs_write,
    )  # fmt: skip
    os.close(read)
    os.close(theirs_write)
    assert os.read(ours_read, 6) == b"spent\n"
    first = running.cpu_s()
    os.write(write, b"\n")
    done = running.wait()
    os.close(write)
    os.close(ours_read)
    assert done.ok
    assert 0.3 <= first < 1
    assert done.cpu_s >= first + 0.25
    assert running.cpu_s() == done.cpu_s
