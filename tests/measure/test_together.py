"""Commands side by side on one core: clocks, early ends, trees."""

import os
from pathlib import PurePosixPath

import pytest

from surpass.measure import Command, run_together
from surpass.sandbox import Limits, Reason

READY = "import os, sys, time\nos.write(1, b'ready\\n')\nsys.stdin.readline()\n"
SPIN = "def spin(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"


def command(script, **limits):
    return Command(
        argv=["python", "-I", "-S", "-c", script], mounts=[], env={}, cwd=PurePosixPath("/tmp"),
        limits=Limits(**{"wall_s": 30.0, **limits}),
    )  # fmt: skip


@pytest.fixture
def core():
    return max(os.sched_getaffinity(0))


def test_what_comes_before_the_hand_over_is_free(sandbox, core):
    burn = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n"
    timed = run_together(sandbox, {"a": command(burn + READY + SPIN + "spin(0.2)")}, core=core)
    assert timed["a"].completed.ok
    assert timed["a"].handed_over
    assert 0.15 <= timed["a"].spent_s < 0.4


def test_children_count_and_equal_work_takes_equal_time(sandbox, core):
    twice = READY + SPIN + "base = time.process_time()\npid = os.fork()\nspin(base + 0.3 - (base if pid else 0))\n"
    twice += "os.waitpid(pid, 0) if pid else os._exit(0)\n"
    once = READY + "def work():\n    return sum(i * i for i in range(6_000_000))\nwork()\n"
    timed = run_together(sandbox, {"a": command(once), "b": command(once), "c": command(twice)}, core=core)
    assert all(each.completed.ok for each in timed.values())
    assert timed["a"].spent_s / timed["b"].spent_s == pytest.approx(1, abs=0.1)
    assert timed["c"].spent_s > 0.55


def test_a_watch_ends_one_and_knows_who_has_ended(sandbox, core):
    seen = []

    def watch(name, progress, ended):
        seen.append((name, tuple(ended)))
        return "late" if name == "endless" and "short" in ended else ""

    arms = {"endless": command(READY + "while True: pass"), "short": command(READY + SPIN + "spin(0.3)")}
    timed = run_together(sandbox, arms, core=core, watch=watch)
    assert timed["endless"].stopped == "late"
    assert timed["endless"].completed.reason is Reason.KILLED
    assert 0.2 < timed["endless"].spent_s < 2
    assert timed["short"].stopped == ""
    assert ("endless", ("short",)) in seen


def test_one_that_dies_before_it_is_ready_does_not_hold_the_others_up(sandbox, core):
    timed = run_together(sandbox, {"dead": command("raise SystemExit(3)"), "live": command(READY)}, core=core)
    assert (timed["dead"].handed_over, timed["dead"].completed.exit_code) == (False, 3)
    assert timed["live"].completed.ok


def test_progress_is_read_to_the_last_line(sandbox, core):
    say = READY + "for i in range(1, 401): print(f'step {i}/400 train_loss {i}')\nsys.stdout.flush()\nos._exit(0)"
    timed = run_together(sandbox, {"a": command(say)}, core=core)
    assert len(timed["a"].progress.points) == 400
    assert timed["a"].progress.share == 1


def test_a_line_without_end_is_no_memory_leak(sandbox, core):
    timed = run_together(sandbox, {"a": command(READY + "os.write(1, b'x' * 5_000_000)")}, core=core)
    assert timed["a"].completed.ok
    assert timed["a"].progress.points == []
