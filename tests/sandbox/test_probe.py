"""The probe: passes on the real sandbox, and finds the hole in each of a few broken ones."""

import pytest

from surpass.sandbox import BubblewrapSandbox, SandboxUnavailable, open_sandbox, probe, require_safe
from surpass.sandbox._bwrap import find_bwrap

ATTACKS = {
    "remount", "environment", "host-files", "orphan", "fork-bomb", "memory", "disk", "file-count", "file-count-tmp",
    "namespaces", "network", "ptrace", "kill", "private-files",
}  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class Holed(BubblewrapSandbox):
    """The real one with some arguments taken away and others added."""

    def __init__(self, without=(), extra=()):
        super().__init__(find_bwrap())
        self._without, self._extra = without, extra

    def _prepare(self, role):
        machine = super()._prepare(role)
        machine.fixed.words = [word for word in machine.fixed.words if word not in self._without]
        machine.fixed.words += self._extra
        return machine


@pytest.mark.parametrize("tier", [None, "rlimit"])
def test_the_sandbox_withstands_every_attack(sandbox, tier):
    results = probe(BubblewrapSandbox(find_bwrap(), tier=tier), fresh=True)
    assert {result.id for result in results} == ATTACKS
    assert [result for result in results if not result.passed] == []


@pytest.mark.parametrize(
    ("hole", "found"),
    [
        ({"without": ("--unshare-net",)}, "network"),
        ({"extra": ("--bind", "/tmp", "/host", "--ro-bind", "/", "/")}, "host-files"),
        ({"extra": ("--setenv", "A", "b", "--tmpfs", "/usr/share")}, None),
    ],
)
def test_a_hole_is_found(sandbox, hole, found):
    holed = Holed(**hole)
    failed = {result.id for result in probe(holed, fresh=True) if not result.passed}
    assert (found in failed) if found else not failed
    if found:
        with pytest.raises(SandboxUnavailable, match=found):
            require_safe(holed)


def test_a_sandbox_that_shows_surpass_is_found(sandbox):
    from pathlib import Path

    import surpass

    source = str(Path(surpass.__file__).resolve().parent)
    if source.startswith("/tmp/"):
        pytest.skip("the private /tmp covers this checkout whatever else is mounted")
    failed = {result.id: result for result in probe(Holed(extra=("--ro-bind", source, source)), fresh=True)}
    assert not failed["private-files"].passed
    assert failed["private-files"].remedy


def test_a_success_is_remembered_and_a_failure_is_not(sandbox, tmp_path):
    files = lambda: list((tmp_path / "cache").rglob("probe-*.json"))  # noqa: E731
    probe(Holed(without=("--unshare-net",)))
    assert files() == []
    require_safe(sandbox)
    (kept,) = files()
    stamp = kept.stat().st_mtime_ns
    assert all(result.passed for result in probe(sandbox))
    assert kept.stat().st_mtime_ns == stamp
    kept.write_text("not json")
    require_safe(sandbox)
    assert len(files()) == 1


def test_nothing_is_tried_without_a_sandbox():
    (result,) = probe(open_sandbox(unsafe=True), fresh=True)
    assert not result.passed
    with pytest.raises(SandboxUnavailable, match="no sandbox"):
        require_safe(open_sandbox(unsafe=True))
