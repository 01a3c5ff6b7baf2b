"""Each core is held by one measurement at a time, across processes."""

import os
import subprocess
import sys
import threading

from surpass.measure import lease_core, lease_machine

HOLD = "import sys; from pathlib import Path; from surpass.measure import lease_core\n"
HOLD += "with lease_core(Path(sys.argv[1])) as core: print(core, flush=True); input()"


def hold(folder):
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_core_is_held_until_its_process_ends_however_it_ends(tmp_path):
    cores = len(os.sched_getaffinity(0))
    holders = [hold(tmp_path) for _ in range(cores)]
    held = [int(holder.stdout.readline()) for holder in holders]
    assert sorted(held) == sorted(os.sched_getaffinity(0))
    got = []

    def wait():
        with lease_core(tmp_path) as core:
            got.append(core)

    waiter = threading.Thread(target=wait)
    waiter.start()
    waiter.join(0.5)
    assert not got
    holders[-1].kill()
    waiter.join(10)
    assert got == [held[-1]]
    for holder in holders:
        holder.kill()
        holder.communicate()


def test_a_lease_can_be_taken_again(tmp_path):
    for _ in range(3):
        with lease_core(tmp_path) as core:
            assert core in os.sched_getaffinity(0)


def test_a_planted_link_is_not_followed(tmp_path):
    """In a folder that all users share, somebody may put a link in the place of a lock."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "cores"
    folder.mkdir()
    for core in os.sched_getaffinity(0):
        (folder / f"{core}.lock").symlink_to(victim)
    try:
        with lease_core(folder):
            raise AssertionError("a link was followed")
    except OSError:
        assert victim.read_text() == "precious"


def test_the_machine_is_leased_only_when_nobody_measures(tmp_path):
    holder = hold(tmp_path)
    holder.stdout.readline()
    got = threading.Event()

    def wait():
        with lease_machine(tmp_path):
            got.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not got.wait(0.5)
    holder.kill()
    assert got.wait(10)
    waiter.join()
    holder.communicate()
    with lease_core(tmp_path):  # and it is free again
        pass


def test_whoever_waits_for_the_machine_is_not_overtaken(tmp_path):
    """Runs that need one core could otherwise take turns for ever."""
    holders = [hold(tmp_path) for _ in os.sched_getaffinity(0)]
    for holder in holders:
        holder.stdout.readline()
    order = []

    def machine():
        with lease_machine(tmp_path):
            order.append("machine")

    def core():
        with lease_core(tmp_path):
            order.append("core")

    threads = [threading.Thread(target=machine), threading.Thread(target=core)]
    threads[0].start()
    threads[0].join(0.5)
    threads[1].start()
    holders[0].kill()
    threads[1].join(1)
    assert order == []  # a core is free, and left to the one that needs them all
    for holder in holders[1:]:
        holder.kill()
    for thread in threads:
        thread.join(10)
    assert order == ["machine", "core"]
    for holder in holders:
        holder.communicate()
