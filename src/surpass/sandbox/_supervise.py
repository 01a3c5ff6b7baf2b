"""Watching one started command: its output, its limits, its end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import struct
import threading
import time

from ._job import Started, Stream
from ._types import Completed, Reason, SandboxError

__all__ = ["Supervisor", "Watched"]

_CHUNK = 1 << 16
_PATIENCE_S = 5.0
_CHECK_S = {"cgroup2": 0.05, "cgroup1": 0.05, "rlimit": 0.01}


class Supervisor:
    """Sees one command through to its end."""

    def __init__(self, started: Started) -> None:
        self._job = started
        self._selector = selectors.DefaultSelector()
        self._stop: Reason | None = None
        self._ended_at = 0.0
        self._status: int | None = None
        self._report = bytearray()
        self._report_over = False
        self._input = memoryview(started.stdin)
        cap = started.limits.output_bytes
        self._streams = {fd: Stream(fd, cap) for fd in (started.stdout_fd, started.stderr_fd) if fd is not None}
        self._owned = [fd for fd in (started.stdin_fd, started.report_fd, *self._streams) if fd is not None]
        self._pidfd: int | None = None
        try:
            self._wake_r, self._wake_w = os.pipe()
            self._owned += [self._wake_r, self._wake_w]
            if hasattr(os, "pidfd_open"):
                self._pidfd = os.pidfd_open(started.process.pid)
        except BaseException:
            self._abandon()
            raise

    def interrupt(self) -> None:
        """Ask for the end of the command, from any thread, while `run` is under way."""
        with contextlib.suppress(OSError):  # it has just ended by itself
            os.write(self._wake_w, b"k")

    def cpu_s(self) -> float:
        """CPU seconds of the tree until now."""
        return self._job.meter.cpu_s()

    def run(self) -> Completed:
        """Watch until the whole tree has ended."""
        try:
            self._register()
            while not self._step():
                pass
            return self._conclude()
        except BaseException:
            self._abandon()
            raise
        finally:
            self._close()

    def _abandon(self) -> None:
        self._job.kill()
        self._reap(block=True)
        self._close()

    def _register(self) -> None:
        job = self._job
        readers = [self._wake_r, *self._streams]
        for fd in (job.report_fd, self._pidfd):
            if fd is not None:
                readers.append(fd)
        for fd in readers:
            self._selector.register(fd, selectors.EVENT_READ)
        if job.stdin_fd is not None:
            os.set_blocking(job.stdin_fd, False)
            self._selector.register(job.stdin_fd, selectors.EVENT_WRITE)

    def _step(self) -> bool:
        """Wait for something to happen and handle it; True when everything has ended."""
        job = self._job
        interval = _CHECK_S[job.meter.tier]
        left = job.started + job.limits.wall_s - time.monotonic()
        for key, _ in self._selector.select(max(0.0, min(interval, left)) if self._stop is None else interval):
            self._handle(key.fd)
        if self._reap(block=False):
            return True
        now = time.monotonic()
        if self._stop is not None or self._status is not None:
            if now - self._ended_at > _PATIENCE_S:  # never seen: the kernel kills what is left, at once
                job.process.kill()
        else:
            reason = Reason.TIMEOUT if now >= job.started + job.limits.wall_s else self._breach()
            if reason is not None:
                self._end(reason)
        return False

    def _breach(self) -> Reason | None:
        job = self._job
        reason = job.meter.breach() or job.disk.breach()
        limit = job.limits.cpu_s
        if reason is None and limit is not None and job.meter.cpu_s() > limit:
            return Reason.TIMEOUT
        return reason

    def _end(self, reason: Reason) -> None:
        self._stop = reason
        self._ended_at = time.monotonic()
        self._job.kill()

    def _handle(self, fd: int) -> None:
        if fd in self._streams:
            with contextlib.suppress(BlockingIOError):
                if not self._streams[fd].pump():
                    self._selector.unregister(fd)
        elif fd == self._job.stdin_fd:
            self._feed(fd)
        elif fd == self._job.report_fd:
            self._read_report(fd)
        elif fd == self._wake_r:
            self._selector.unregister(fd)
            if self._stop is None:
                self._end(Reason.KILLED)

    def _feed(self, fd: int) -> None:
        try:
            self._input = self._input[os.write(fd, self._input[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the command does not want it
            self._input = memoryview(b"")
        if not self._input:
            self._selector.unregister(fd)
            self._owned.remove(fd)
            os.close(fd)

    def _read_report(self, fd: int) -> None:
        chunk = os.read(fd, 64)
        if not chunk:
            self._report_over = True
            self._selector.unregister(fd)
            return
        self._report += chunk
        if self._report[:1] == b"S" and len(self._report) >= 5 and self._status is None:
            self._status = struct.unpack("<i", self._report[1:5])[0]
            self._ended_at = self._ended_at or time.monotonic()

    def _reap(self, *, block: bool) -> bool:
        process = self._job.process
        if process.returncode is not None:
            return True
        pid, status, usage = os.wait4(process.pid, 0 if block else os.WNOHANG)
        if pid == 0:
            return False
        process.returncode = os.waitstatus_to_exitcode(status)
        self._ended_at = self._ended_at or time.monotonic()
        self._job.meter.ended(usage.ru_utime + usage.ru_stime)
        return True

    def _conclude(self) -> Completed:
        job = self._job
        if job.report_fd is not None and not self._report_over:
            with contextlib.suppress(BlockingIOError):
                os.set_blocking(job.report_fd, False)
                self._read_report(job.report_fd)
        if self._report[:1] == b"L":
            raise SandboxError("the kernel refused the Landlock rules inside the sandbox")
        wall_s = self._ended_at - job.started
        exit_code, signalled = self._exit()
        reason = self._stop or self._explain(exit_code, signalled)
        kept = {fd: stream.finish() for fd, stream in self._streams.items()}

        def output(fd: int | None) -> tuple[bytes, bool]:
            return (kept[fd], self._streams[fd].truncated) if fd is not None else (b"", False)

        stdout, stderr = output(job.stdout_fd), output(job.stderr_fd)
        return Completed(
            exit_code=128 + signal.SIGKILL if self._stop else exit_code,
            reason=reason,
            wall_s=wall_s,
            cpu_s=job.meter.cpu_s(),
            peak_memory_bytes=job.meter.peak_memory_bytes(),
            stdout=stdout[0],
            stderr=stderr[0],
            stdout_truncated=stdout[1],
            stderr_truncated=stderr[1],
            tier=job.meter.tier,
        )

    def _exit(self) -> tuple[int, bool]:
        """Exit code, and whether a signal ended the command."""
        code = os.waitstatus_to_exitcode(self._status) if self._status is not None else self._job.process.returncode
        if code < 0:
            return 128 - code, True
        return code, self._status is None and self._job.encodes_signals and code > 128

    def _explain(self, exit_code: int, signalled: bool) -> Reason:
        job = self._job
        reason = job.meter.afterwards(exit_code) or job.disk.afterwards(exit_code)
        if reason is not None:
            return reason
        if signalled and exit_code == 128 + signal.SIGXFSZ:
            return Reason.DISK
        if exit_code != 0 and job.limits.cpu_s is not None and job.meter.cpu_s() > job.limits.cpu_s:
            return Reason.TIMEOUT
        if job.report_fd is not None and self._status is None:
            return Reason.KILLED  # somebody outside killed the launcher
        return Reason.SIGNAL if signalled else Reason.EXITED

    def _close(self) -> None:
        self._selector.close()
        actions, self._job.after = self._job.after, []
        for fd in (*self._owned, *([self._pidfd] if self._pidfd is not None else [])):
            os.close(fd)
        self._owned, self._pidfd = [], None
        self._job.disk.close()
        self._job.meter.close()
        for action in actions:
            action()


class Watched:
    """A command under the eyes of a thread of its own, so that its limits hold whether or not anybody waits."""

    def __init__(self, started: Started) -> None:
        self._supervisor = Supervisor(started)
        self._result: Completed | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._watch, name="surpass-sandbox", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        try:
            self._result = self._supervisor.run()
        except BaseException as error:  # noqa: BLE001  handed to whoever waits
            self._error = error

    def wait(self, timeout_s: float | None = None) -> Completed | None:
        """Wait for the end; None when `timeout_s` seconds passed first."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        return self._result

    def kill(self) -> Completed:
        """Kill the whole tree now and say what it had used."""
        if self._thread.is_alive():
            self._supervisor.interrupt()
        result = self.wait()
        assert result is not None  # without a timeout it has ended
        return result

    def cpu_s(self) -> float:
        """CPU seconds of the whole tree until now, or until its end."""
        try:
            return self._supervisor.cpu_s()
        except OSError:  # it has just ended, and its accounts are closed
            result = self.wait()
            assert result is not None  # without a timeout it has ended
            return result.cpu_s
