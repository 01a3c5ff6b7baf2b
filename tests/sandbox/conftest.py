"""Real sandboxes for the tests; where a machine has none, the tests say so and are skipped."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from surpass.sandbox import BubblewrapSandbox, Limits, Mount, SandboxUnavailable, open_sandbox
from surpass.sandbox._bwrap import find_bwrap

WORK = PurePosixPath("/mnt/work")


class Box:
    """A sandbox with one writable directory, and short ways to run things in it."""

    def __init__(self, sandbox, work: Path):
        self.sandbox = sandbox
        self.work = work

    def run(self, *command, mounts=None, env=None, cwd=WORK, stdin=b"", limits=None, **changes):
        self.sandbox.adopt(self.work)
        changes = {"wall_s": 20.0, **changes}
        role = {"role": changes.pop("role")} if "role" in changes else {}
        return self.sandbox.run(
            command,
            mounts=[Mount(self.work, WORK, writable=True), *(mounts or [])],
            env=env or {},
            cwd=cwd,
            limits=limits or Limits(**changes),
            stdin=stdin,
            **role,
        )

    def python(self, script, *arguments, **options):
        return self.run("python", "-I", "-S", "-c", script, *map(str, arguments), **options)

    def sh(self, script, **options):
        return self.run("sh", "-c", script, **options)

    def start(self, *command, stdin, stdout, **limits):
        self.sandbox.adopt(self.work)
        return self.sandbox.start(
            command,
            mounts=[Mount(self.work, WORK, writable=True)],
            env={},
            cwd=WORK,
            limits=Limits(**{"wall_s": 20.0, **limits}),
            stdin=stdin,
            stdout=stdout,
        )


@pytest.fixture(scope="session")
def sandbox():
    try:
        return open_sandbox()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def rlimit_sandbox(sandbox):
    return BubblewrapSandbox(find_bwrap(), tier="rlimit")


@pytest.fixture
def work(tmp_path):
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


@pytest.fixture
def box(sandbox, work):
    return Box(sandbox, work)


@pytest.fixture(params=["best", "rlimit"])
def either(request, sandbox, rlimit_sandbox, work):
    """A box in the best tier of this machine, then one in the tier that every machine has."""
    return Box(sandbox if request.param == "best" else rlimit_sandbox, work)
