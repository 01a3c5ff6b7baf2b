"""Run commands side by side on one core and take the CPU time of each.

Compared runs start at the same moment, on the same core, in fresh processes. The kernel slices the core between them
every few milliseconds, so a busy neighbour, a hot cache or a slow clock reaches all of them alike: runs one after the
other scatter by 10 % and more on a shared machine, the difference of two such runs by a fraction of a percent.

Each command is expected to print `ready` when everything that is not to be timed is over, and to wait for a line. Its
clock starts when that line is sent, once all are ready, and stops when its whole process tree is gone.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal

from surpass.measure.progress import Progress
from surpass.sandbox import Completed, Limits, Mount, Running, Sandbox

__all__ = ["Command", "Timed", "run_together"]

_POLL_S = 0.05
_READY_S = 120.0
_LINE_BYTES = 4096
_MOST_LEFT = 64


@dataclass(frozen=True, slots=True)
class Command:
    """One command in its sandbox. `limits.wall_s` and `limits.cpu_s` include what happens before the hand-over."""

    argv: Sequence[str]
    mounts: Sequence[Mount]
    env: Mapping[str, str]
    cwd: PurePosixPath
    limits: Limits


@dataclass(frozen=True, slots=True)
class Timed:
    """How one command ended and what it took after the hand-over."""

    completed: Completed
    handed_over: bool
    """False when it ended before it was ready; the time is 0 then."""
    spent_s: float
    """Of the whole process tree, in the clock of the comparison."""
    progress: Progress
    stopped: str = ""
    """Why it was ended early; empty when it was not."""


Clock = Literal["cpu", "wall"]
Watch = Callable[[str, Progress, Mapping[str, "Timed"]], str]
"""(name, its progress, those that have ended) -> why to end it now, or nothing."""


@dataclass(slots=True)
class _Arm:
    running: Running
    feed: int
    output: int
    progress: Progress = field(default_factory=Progress)
    buffered: bytes = b""
    ready: bool = False
    handover_cpu_s: float = 0.0
    handover_at: float = 0.0
    stopped: str = ""


def run_together(
    sandbox: Sandbox,
    commands: Mapping[str, Command],
    *,
    core: int | None,
    clock: Clock = "cpu",
    watch: Watch = lambda *_: "",
    ended: Mapping[str, Timed] | None = None,
) -> dict[str, Timed]:
    """Run all commands at once, on `core` only when one is given, until each has ended or is ended by `watch`.

    `ended` are commands that ran before and that `watch` is to know of; they are not part of what is returned.

    Raises:
        SandboxError: a sandbox could not be started.
    """
    arms: dict[str, _Arm] = {}
    try:
        for name, command in commands.items():
            limits = command.limits if core is None else replace(command.limits, cores=(core,))
            arms[name] = _start(sandbox, replace(command, limits=limits))
        return _Race(arms, clock, watch, ended or {}).run()
    finally:
        for arm in arms.values():
            arm.running.kill()
            for descriptor in (arm.feed, arm.output):
                os.close(descriptor)


def _start(sandbox: Sandbox, command: Command) -> _Arm:
    theirs_in, feed = os.pipe()
    output, theirs_out = os.pipe()
    try:
        running = sandbox.start(
            command.argv, mounts=command.mounts, env=command.env, cwd=command.cwd, limits=command.limits,
            stdin=theirs_in, stdout=theirs_out,
        )  # fmt: skip
    except BaseException:
        os.close(feed)
        os.close(output)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    os.set_blocking(output, False)
    return _Arm(running, feed, output)


class _Race:
    def __init__(self, arms: Mapping[str, _Arm], clock: Clock, watch: Watch, before: Mapping[str, Timed]) -> None:
        self._arms = arms
        self._clock = clock
        self._watch = watch
        self._before = before
        self._ended: dict[str, Timed] = {}
        self._selector = selectors.DefaultSelector()
        self._started = False
        self._deadline = time.monotonic() + _READY_S

    def run(self) -> dict[str, Timed]:
        with self._selector:
            for name, arm in self._arms.items():
                self._selector.register(arm.output, selectors.EVENT_READ, name)
            while len(self._ended) < len(self._arms):
                self._step()
        return self._ended

    def _step(self) -> None:
        for key, _ in self._selector.select(_POLL_S):
            if not _pump(self._arms[key.data]):
                self._selector.unregister(key.fd)
        if not self._selector.get_map():
            time.sleep(_POLL_S)  # all have closed their output; their ends are near
        for name, arm in self._running():
            done = arm.running.wait(0)
            if done is not None:
                self._end(name, arm, done)
        if not self._started:
            self._let_go()
        else:
            self._look()

    def _running(self) -> Iterator[tuple[str, _Arm]]:
        return ((name, arm) for name, arm in list(self._arms.items()) if name not in self._ended)

    def _let_go(self) -> None:
        """Start all clocks at once, as soon as everybody that still lives is ready."""
        late = time.monotonic() > self._deadline
        waiting = [arm for _, arm in self._running() if not arm.ready]
        if late:
            for arm in waiting:
                arm.running.kill()
        if waiting:
            return
        self._started = True
        for _, arm in self._running():
            arm.handover_cpu_s, arm.handover_at = arm.running.cpu_s(), time.monotonic()
            with contextlib.suppress(BrokenPipeError):
                os.write(arm.feed, b"go\n")

    def _look(self) -> None:
        for name, arm in self._running():
            arm.progress.spent_s = self._spent(arm, arm.running.cpu_s())
            if reason := self._watch(name, arm.progress, {**self._before, **self._ended}):
                arm.stopped = reason
                self._end(name, arm, arm.running.kill())

    def _end(self, name: str, arm: _Arm, done: Completed) -> None:
        _drain(arm)
        arm.progress.spent_s = self._spent(arm, done.cpu_s)
        self._ended[name] = Timed(
            completed=done,
            handed_over=arm.handover_at > 0,
            spent_s=arm.progress.spent_s,
            progress=arm.progress,
            stopped=arm.stopped,
        )

    def _spent(self, arm: _Arm, cpu_s: float) -> float:
        if not arm.handover_at:
            return 0.0
        return cpu_s - arm.handover_cpu_s if self._clock == "cpu" else time.monotonic() - arm.handover_at


def _pump(arm: _Arm) -> bool:
    """Read what is there; False at the end of the output."""
    try:
        chunk = os.read(arm.output, 1 << 16)
    except BlockingIOError:
        return True
    *lines, rest = (arm.buffered + chunk).split(b"\n")
    arm.buffered = rest[-_LINE_BYTES:]
    for line in lines:
        if arm.ready:
            arm.progress.read(line)
        else:
            arm.ready = line == b"ready"
    return bool(chunk)


def _drain(arm: _Arm) -> None:
    """What the command had written before it ended."""
    for _ in range(_MOST_LEFT):
        before = len(arm.progress.points), arm.buffered
        if not _pump(arm) or (len(arm.progress.points), arm.buffered) == before:
            return
