"""What the sandbox costs: time to start a command in it against a bare process, and CPU time once it runs."""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from _table import arguments, print_rows, spread

from surpass.sandbox import BubblewrapSandbox, Limits, Sandbox, open_sandbox
from surpass.sandbox._bwrap import find_bwrap

TRUE = ["/bin/true"]
PYTHON = ["python", "-c", "pass"]
# Prints the CPU time of a fixed amount of work, measured where it is done.
HASH = """
import hashlib, time
begun = time.process_time()
block = bytes(1 << 16)
for _ in range(3000): hashlib.sha256(block).digest()
print(time.process_time() - begun)
"""


def bare(command: list[str]) -> bytes:
    """The same command as an ordinary process."""
    if command[0] == "python":
        command = [sys.executable, *command[1:]]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout


def boxed(sandbox: Sandbox, command: list[str]) -> bytes:
    """The command in a sandbox with nothing mounted."""
    limits = Limits(wall_s=60, cpus=float(os.cpu_count() or 1))
    done = sandbox.run(command, mounts=[], env={}, cwd=PurePosixPath("/tmp"), limits=limits)
    if not done.ok:
        raise SystemExit(f"{command}: {done.reason} {done.stderr.decode()}")
    return done.stdout


def interleaved(calls: dict[str, Callable[[], float]], runs: int) -> dict[str, list[float]]:
    """Values of each call; each round starts with another one, so that no one always follows the same."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(runs + 2):
        names = list(itertools.islice(itertools.cycle(calls), turn % len(calls), turn % len(calls) + len(calls)))
        for name in names:
            value = calls[name]()
            if turn >= 2:  # the first rounds fill caches
                found[name].append(value)
    return found


def milliseconds(call: Callable[[], object]) -> Callable[[], float]:
    """Time one call takes."""

    def timed() -> float:
        begun = time.perf_counter()
        call()
        return (time.perf_counter() - begun) * 1e3

    return timed


def cpu_milliseconds(run: Callable[[list[str]], bytes]) -> Callable[[], float]:
    """CPU time that the fixed work says it took."""
    return lambda: float(run(["python", "-c", HASH])) * 1e3


def compare(what: str, unit: str, found: dict[str, list[float]]) -> list[dict[str, Any]]:
    """A row for each way, with what it adds to the bare process."""
    base = statistics.median(found["bare"])
    return [
        {
            "what": what,
            "way": way,
            "unit": unit,
            **spread(values),
            "min": round(min(values), 3),
            "added": round(statistics.median(values) - base, 3),
            "ratio": round(statistics.median(values) / base, 3),
        }
        for way, values in found.items()
    ]


def main() -> None:
    """Print the table."""
    options = arguments(__doc__ or "", runs=100, hashes=15)
    best = open_sandbox()
    polled = BubblewrapSandbox(find_bwrap(), tier="rlimit")
    ways: dict[str, Callable[[list[str]], bytes]] = {
        "bare": bare,
        best.capabilities.tier: partial(boxed, best),
        "rlimit": partial(boxed, polled),
    }
    rows = []
    for label, command in (("start true", TRUE), ("start python", PYTHON)):
        timed = {way: milliseconds(partial(run, command)) for way, run in ways.items()}
        rows += compare(label, "ms", interleaved(timed, options.runs))
    hashed = {way: cpu_milliseconds(run) for way, run in ways.items()}
    rows += compare("SHA-256 loop", "CPU ms", interleaved(hashed, options.hashes))
    print_rows("Sandbox against bare process", rows, as_json=options.json)


if __name__ == "__main__":
    main()
