"""What a command inside can see and reach."""

import dataclasses
import json
import os
import sys
from pathlib import Path, PurePosixPath

import pytest

from surpass.sandbox import Mount, Reason, Role, SandboxError

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="dedicated users need root")


def test_environment_is_only_what_was_given(box, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    done = box.sh("env; cat /proc/*/environ; cat /proc/*/cmdline", env={"GIVEN": "yes"})
    assert b"GIVEN=yes" in done.stdout
    assert b"hunter2" not in done.stdout
    names = {line.partition("=")[0] for line in box.sh("env").stdout.decode().splitlines()}
    assert names == {"HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"}


def test_no_descriptor_of_the_harness_is_open_inside(box):
    with open(os.devnull) as extra:
        os.set_inheritable(extra.fileno(), True)
        done = box.python("import os; print(sorted(os.listdir('/proc/self/fd')))")
    assert json.loads(done.stdout.replace(b"'", b'"')) == ["0", "1", "2", "3"]  # 3 is the listing itself


def test_host_files_are_not_there(box, tmp_path):
    canary = tmp_path / "canary"
    canary.write_text("secret")
    (box.work / "link").symlink_to(canary)
    done = box.sh(f"cat {canary} link; cat /etc/shadow; ls /root /home /var/lib")
    assert b"secret" not in done.stdout
    visible = set(box.python("import os; print(*os.listdir('/'))").stdout.decode().split())
    assert visible <= {
        ".launcher", "bin", "dev", "etc", "lib", "lib32", "lib64", "mnt", "proc", "run", "sbin", "tmp", "usr", "var",
        *(Path(prefix).parts[1] for prefix in (sys.prefix, sys.base_prefix)),
    }  # fmt: skip
    etc = set(box.python("import os; print(*os.listdir('/etc'))").stdout.decode().split())
    assert etc <= {"alternatives", "group", "hosts", "ld.so.cache", "localtime", "nsswitch.conf", "passwd"}


def test_everything_but_mounts_and_tmp_is_read_only(box):
    places = ["/", "/usr", "/etc", "/dev", "/run", "/proc", "/var", "/mnt", sys.prefix, sys.base_prefix]
    script = """
import sys
for place in sys.argv[1:]:
    try: open(place + "/new", "w"); print("wrote", place)
    except OSError: pass
for place in ("/tmp", "/dev/shm", "/mnt/work"):
    open(place + "/new", "w").write("x")
"""
    # Below the private /tmp everything may be written: it is gone afterwards.
    done = box.python(script, *(place for place in places if not place.startswith("/tmp/")))
    assert done.ok, done.stderr
    assert done.stdout == b""
    assert (box.work / "new").read_text() == "x"


def test_device_nodes_can_be_used(box):
    assert box.sh("echo x > /dev/null; head -c 4 /dev/urandom | wc -c; echo y > /dev/stdout").stdout == b"4\ny\n"


def test_python_is_the_harness_environment(box):
    done = box.run("python", "-c", "import sys, numpy; print(sys.prefix)")
    assert done.stdout.decode().strip() == sys.prefix, done.stderr
    assert box.run("python3", "-c", "pass").ok


def test_surpass_cannot_be_imported_or_read(box):
    import surpass

    package = Path(surpass.__file__).parent
    done = box.run("python", "-c", "import surpass")
    assert b"No module named 'surpass'" in done.stderr
    assert not box.sh(f"cat {package}/__init__.py || ls {package}/*").ok
    assert box.sh(f"find {sys.prefix} -iname '*surpass*' -type f -size +0 -path '*-packages*'").stdout == b""


def test_siblings_of_an_environment_inside_a_checkout_are_hidden(box):
    parent = Path(sys.prefix).parent
    if parent == Path("/"):
        pytest.skip("the environment is not inside another directory")
    assert box.sh(f"ls -A {parent}").stdout.decode().split() == [Path(sys.prefix).name]


def test_a_prefix_with_other_things_in_it_is_shown_in_parts(tmp_path, monkeypatch):
    from surpass.sandbox._python import python_view

    for name in ("bin", "lib", "src", "secrets"):
        (tmp_path / name).mkdir()
    (tmp_path / "pyvenv.cfg").touch()
    (tmp_path / "lib64").symlink_to("lib")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    view = python_view()
    ours = {Path(path).name for path in view.binds if Path(path).is_relative_to(tmp_path)}
    assert ours == {"bin", "lib", "pyvenv.cfg"}
    assert (str(tmp_path / "lib64"), "lib") in view.links


def test_everything_of_surpass_in_site_packages_is_masked(tmp_path, monkeypatch):
    from surpass.sandbox._python import python_view

    site = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("surpass", "surpass-0.1.0.dist-info", "numpy", "unsurpassed"):
        (site / name).mkdir(parents=True)
    for name in ("_editable_impl_surpass.pth", "__editable___surpass_finder.py", "six.py"):
        (site / name).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    view = python_view()
    masked = {Path(p).name for p in (*view.masked_dirs, *view.masked_files) if Path(p).is_relative_to(tmp_path)}
    assert masked == {
        "surpass", "surpass-0.1.0.dist-info", "_editable_impl_surpass.pth", "__editable___surpass_finder.py"
    }  # fmt: skip


def test_read_only_mount(box, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "input").write_text("in")
    data.chmod(0o755)
    mounts = [Mount(data, PurePosixPath("/mnt/data"))]
    assert box.sh("cat /mnt/data/input", mounts=mounts).stdout == b"in"
    assert not box.sh("echo x > /mnt/data/input || rm /mnt/data/input", mounts=mounts).ok
    assert (data / "input").read_text() == "in"


def test_mounts_inside_mounts_and_single_files(box, tmp_path):
    (box.work / "sub").mkdir()
    (tmp_path / "inner").mkdir(mode=0o755)
    (tmp_path / "inner" / "f").write_text("inner")
    (tmp_path / "one").write_text("one")
    mounts = [
        Mount(tmp_path / "inner", PurePosixPath("/mnt/work/sub")),
        Mount(tmp_path / "one", PurePosixPath("/mnt/one")),
    ]
    assert box.sh("cat sub/f /mnt/one; echo x > sub/g", mounts=mounts).stdout == b"innerone"
    box.sandbox.adopt(tmp_path / "one")
    writable = [Mount(tmp_path / "one", PurePosixPath("/mnt/one"), writable=True)]
    assert box.sh("echo two > /mnt/one", mounts=writable).ok
    assert (tmp_path / "one").read_text() == "two\n"


def test_private_in_memory_mounts(box):
    mounts = [Mount(None, PurePosixPath("/mnt/rw"), writable=True), Mount(None, PurePosixPath("/mnt/ro"))]
    assert box.sh("echo x > /mnt/rw/f && cat /mnt/rw/f && ! touch /mnt/ro/f", mounts=mounts).stdout == b"x\n"
    assert box.sh("ls /mnt/rw", mounts=mounts).stdout == b""  # nothing stays


@pytest.mark.parametrize("target", ["/", "relative", "/mnt/../etc"])
def test_odd_targets_are_refused(box, target):
    with pytest.raises(SandboxError, match="no place to mount"):
        box.run("true", mounts=[Mount(None, PurePosixPath(target))])


def test_a_link_as_source_is_refused(box, tmp_path):
    (tmp_path / "planted").symlink_to("/")
    with pytest.raises(SandboxError, match="symbolic link"):
        box.run("true", mounts=[Mount(tmp_path / "planted", PurePosixPath("/mnt/out"))])
    with pytest.raises(SandboxError, match="No such file"):
        box.run("true", mounts=[Mount(tmp_path / "missing", PurePosixPath("/mnt/out"))])


def test_nul_in_an_argument_of_the_sandbox_is_refused(box):
    with pytest.raises(SandboxError, match="NUL"):
        box.run("true", env={"A": "b\0--bind\0/\0/host"})


def test_a_missing_working_directory_is_an_error_of_the_caller(box):
    with pytest.raises(SandboxError, match="chdir"):
        box.run("true", cwd=PurePosixPath("/nowhere"))


@root_only
def test_roles_are_different_users_and_cannot_touch_each_other(box, tmp_path):
    ids = {role: int(box.sh("id -u", role=role).stdout) for role in Role}
    assert len(set(ids.values())) == 2
    assert 0 not in ids.values()
    truth = tmp_path / "truth"
    truth.mkdir(mode=0o700)
    (truth / "answer").write_text("42")
    box.sandbox.adopt(truth, Role.EVALUATOR)
    mounts = [Mount(truth, PurePosixPath("/mnt/truth"), writable=True)]
    assert not box.sh("cat /mnt/truth/answer", mounts=mounts).ok
    assert box.sh("cat /mnt/truth/answer", mounts=mounts, cwd=PurePosixPath("/tmp"), role=Role.EVALUATOR).ok


@root_only
def test_adopt_follows_no_link_and_spares_shared_files(box, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("")
    shared = tmp_path / "shared"
    shared.write_text("")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "link").symlink_to(outside)
    (tree / "deep" / "file").touch()
    os.link(shared, tree / "hard")
    box.sandbox.adopt(tree)
    assert outside.stat().st_uid == 0
    assert shared.stat().st_uid == 0
    assert (tree / "deep" / "file").stat().st_uid == (tree / "deep" / "link").lstat().st_uid != 0
    (tmp_path / "top").symlink_to(outside)
    with pytest.raises(SandboxError):
        box.sandbox.adopt(tmp_path / "top")
    assert outside.stat().st_uid == 0


SECCOMP = """
import ctypes, errno, os, socket, fcntl, sys
libc = ctypes.CDLL(None, use_errno=True)
def code(result): return errno.errorcode.get(ctypes.get_errno(), "?") if result < 0 else "ALLOWED"
print("ptrace", code(libc.ptrace(0, 0, None, None)))
print("keyctl", code(libc.syscall(250, 0, 0, 0)))
print("bpf", code(libc.syscall(321, 0, None, 0)))
print("io_uring", code(libc.syscall(425, 1, None)))
print("userfaultfd", code(libc.syscall(323, 1)))
print("perf", code(libc.syscall(298, None, 0, -1, -1, 0)))
print("unshare", code(libc.unshare(0x10000000)))
print("clone", code(libc.syscall(56, 0x10000000 | 17, None, None, None, None)))
print("handle", code(libc.syscall(304, -100, None, 0)))
print("clone3", code(libc.syscall(435, None, 0)))
ioctl = libc.ioctl
ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
print("tiocsti", code(ioctl(0, 0x5412, b"x")))
print("tiocsti-high-bits", code(libc.syscall(16, ctypes.c_long(0), ctypes.c_ulong(0x100005412), b"x")))
for family in (16, 17, 38, 40):
    print(f"socket-{family}", code(libc.socket(family, 1, 0)))
    print(f"pair-{family}", code(libc.socketpair(family, 1, 0, None)))
for family in (1, 2, 10):
    print(f"good-{family}", code(libc.socket(family, 1, 0)))
"""


def test_system_call_filter(box):
    if not box.sandbox.capabilities.seccomp:
        pytest.skip("libseccomp is missing")
    done = box.python(SECCOMP)
    answers = dict(line.split() for line in done.stdout.decode().splitlines())
    assert done.ok, done.stderr
    assert answers.pop("clone3") == "ENOSYS"
    assert {name: answers.pop(name) for name in list(answers) if name.startswith("good")} == {
        "good-1": "ALLOWED", "good-2": "ALLOWED", "good-10": "ALLOWED"
    }  # fmt: skip
    assert set(answers.values()) == {"EPERM"}, answers


INTERFACES = """
import errno, socket
def code(protocol, family=socket.AF_NETLINK):
    try: socket.socket(family, socket.SOCK_RAW, protocol).close()
    except OSError as error: return errno.errorcode[error.errno]
    return "ALLOWED"
print(code(0), code(16), code(0, 17), code(0, 38), [name for _, name in socket.if_nameindex()])
"""


def test_interfaces_may_be_asked_for(box):
    """torch.distributed lists them; the families beside route netlink stay closed."""
    if not box.sandbox.capabilities.seccomp:
        pytest.skip("libseccomp is missing")
    done = box.python(INTERFACES, interfaces=True)
    assert done.stdout.decode().split(maxsplit=4) == ["ALLOWED", "EPERM", "EPERM", "EPERM", "['lo']\n"], done.stderr


def test_a_device_has_to_be_given(box):
    """/dev/full under another name: writing to it fails for lack of space, when it is a device there."""
    script = "import os; os.write(os.open('/dev/thing', os.O_RDWR), b'x')"
    device = Mount(Path("/dev/full"), PurePosixPath("/dev/thing"), device=True)
    assert b"No space left" in box.python(script, mounts=[device]).stderr
    assert b"Permission denied" in box.python(script, mounts=[dataclasses.replace(device, device=False)]).stderr
    with pytest.raises(SandboxError, match="below /dev"):
        box.python(script, mounts=[dataclasses.replace(device, target=PurePosixPath("/mnt/thing"))])


def test_calls_of_another_architecture_kill(box):
    if not box.sandbox.capabilities.seccomp or os.uname().machine != "x86_64":
        pytest.skip("needs the filter on x86-64")
    x32 = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39); print('alive')"
    done = box.python(x32)
    assert done.reason is Reason.SIGNAL
    assert b"alive" not in done.stdout


def test_threads_processes_and_shared_memory_work(box):
    script = """
import multiprocessing, threading, subprocess, socket, tempfile
from multiprocessing import shared_memory
def work(n): return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(work, [1, 2]) == [1, 4]
    thread = threading.Thread(target=work, args=(1,)); thread.start(); thread.join()
    memory = shared_memory.SharedMemory(create=True, size=1 << 16); memory.close(); memory.unlink()
    assert subprocess.run(["echo", "x"], capture_output=True).stdout == b"x\\n"
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(server.getsockname()).close()
    tempfile.NamedTemporaryFile().close()
    print("fine")
"""
    done = box.run("python", "-c", script)
    assert done.stdout == b"fine\n", done.stderr


def test_landlock_is_applied_inside(box):
    if not box.sandbox.capabilities.landlock_abi:
        pytest.skip("this kernel has no Landlock")
    # A place that mounts and permissions would let us write to: only Landlock forbids it.
    assert not box.sh("echo 5 > /proc/self/oom_score_adj").ok
    assert not box.sh("cat /proc/1/environ").ok
    assert box.sh("mkdir a b && touch a/x && mv a/x b/ && truncate -s 5 b/x && ls b").stdout == b"x\n"


def test_capabilities_are_dropped_for_good(box):
    status = box.sh("cat /proc/self/status").stdout.decode()
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {found[f"Cap{which}"] for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
    assert found["NoNewPrivs"] == "1"
    assert found["Seccomp"] == ("2" if box.sandbox.capabilities.seccomp else "0")
