"""What a start-up probe tries inside. Each script prints `ESCAPED <what>` for anything that got through.

They are run with `python -I -S -c`, so they may use the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._types import Reason

__all__ = ["ATTACKS", "Attack"]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attempt. `{canary}`, `{secret}`, `{port}`, ... in the arguments are filled in by the probe."""

    id: str
    script: str
    arguments: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    stopped_by: Reason = Reason.EXITED
    """How the run has to end for the attack to count as stopped."""
    remedy: str = "update bubblewrap and the kernel, and report this as a bug of surpass"


_PRELUDE = """
import ctypes, errno, os, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def escaped(what): print("ESCAPED", what, flush=True)
def tries(what, call, *expected):
    try: call()
    except OSError: return
    escaped(what)
"""

_REMOUNT = """
libc.mount(b"none", b"/usr", None, ctypes.c_ulong(32 | 4096), None) == 0 and escaped("mount remount,rw")
libc.mount(b"/usr", b"/tmp", None, ctypes.c_ulong(4096), None) == 0 and escaped("mount bind")
libc.umount2(b"/usr", 2) == 0 and escaped("umount")
for place in ("/usr", "/usr/bin", "/etc", "/", "/dev", sys.prefix, sys.base_prefix):
    tries("write to " + place, lambda: open(place + "/surpass-probe", "w"))
"""

_ENVIRONMENT = """
for name in filter(str.isdigit, os.listdir("/proc")):
    try: data = open(f"/proc/{name}/environ", "rb").read()
    except OSError: continue
    if sys.argv[1].encode() in data: escaped(f"/proc/{name}/environ")
if sys.argv[1] in os.environ.values(): escaped("environment")
"""

_HOST_FILES = """
places = [sys.argv[1], "/mnt/work/link", "/proc/1/root" + sys.argv[1], "/proc/self/cwd/.." + sys.argv[1]]
for place in places + ["/etc/shadow", "/root/.ssh", "/dev/kmsg", "/dev/mem", "/sys/kernel"]:
    tries("open " + place, lambda: os.close(os.open(place, os.O_RDONLY)))
"""

_ORPHAN = """
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 64):
                try: signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError): pass
            os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", sys.argv[1]])
        os._exit(0)
time.sleep(0.05)
"""

_FORK_BOMB = """
alive = 0
try:
    while alive < 200:
        if os.fork() == 0:
            time.sleep(60)
        alive += 1
except OSError:
    pass
if alive > 16: escaped(f"{alive} processes")
"""

_MEMORY = """
hoard = []
for _ in range(64):
    hoard.append(bytearray(os.urandom(1 << 12)) * 1024)
escaped("256 MB")
"""

_DISK = """
for number in range(500):  # the limit is reached at once; then it goes on until it is stopped
    with open(f"/mnt/work/{number}", "wb") as out:
        out.write(bytes(1 << 20))
    time.sleep(0.02)
escaped("500 MB")
"""

_FILE_COUNT = """
for number in range(20000):
    open(f"{sys.argv[1]}/{number}", "w").close()
    if number % 50 == 0: time.sleep(0.02)
escaped("20000 files")
"""

_NAMESPACE = """
clone = 56 if os.uname().machine == "x86_64" else 220
for flag in (0x10000000, 0x20000000, 0x00020000, 0x40000000):
    libc.unshare(flag) == 0 and escaped(f"unshare {flag:#x}")
    pid = libc.syscall(clone, flag | 17, None, None, None, None)
    if pid == 0: os._exit(0)
    if pid > 0: escaped(f"clone {flag:#x}")
    pid = libc.syscall(435, (ctypes.c_uint64 * 8)(flag, 0, 0, 0, 17), 64)
    if pid == 0: os._exit(0)
    if pid > 0: escaped(f"clone3 {flag:#x}")
"""

_NETWORK = """
for host in ("127.0.0.1", "192.0.2.1"):
    with socket.socket() as client:
        client.settimeout(1)
        tries("connect to " + host, lambda: client.connect((host, int(sys.argv[1]))))
with socket.socket(socket.AF_UNIX) as client:
    tries("connect to an abstract socket of the host", lambda: client.connect(b"\\0" + sys.argv[2].encode()))
for line in open("/proc/net/dev").readlines()[2:]:
    if line.split(":")[0].strip() != "lo": escaped("interface " + line.split(":")[0].strip())
"""

_PTRACE = """
pid = os.fork()
if pid == 0:
    time.sleep(60)
sibling = [pid] if sys.argv[2] == "True" else []  # our own child: nothing but the call filter forbids that
buffer = ctypes.create_string_buffer(8)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
for target in [int(sys.argv[1])] + sibling:
    libc.ptrace(16, target, None, None) == 0 and escaped("ptrace attach")
    libc.process_vm_readv(target, vector, 1, vector, 1, 0) > 0 and escaped("process_vm_readv")
"""

_KILL = """
host, sentinel = map(int, sys.argv[1:3])
if host > 100: tries("signal the harness", lambda: os.kill(host, 0))
if sentinel > 100: tries("kill a process of the host", lambda: os.kill(sentinel, 9))
try: os.kill(os.getppid(), 9)
except OSError: pass
time.sleep(0.02)  # process 1 still being there, this still runs
"""

_PRIVATE = """
import importlib.util
sys.path.extend(sys.argv[2].split(":"))
if importlib.util.find_spec("surpass"): escaped("import surpass")
for place in (sys.argv[1], sys.argv[1] + "/suites"):
    try: names = os.listdir(place)
    except OSError: continue
    if names: escaped("list " + place)
try: open(sys.argv[1] + "/__init__.py").close()
except OSError: pass
else: escaped("read the package")
"""

_LIMITS_REMEDY = "run where control groups can be written, or as a user who may have resource limits set"

ATTACKS = (
    Attack("remount", _PRELUDE + _REMOUNT),
    Attack("environment", _PRELUDE + _ENVIRONMENT, ("{secret}",)),
    Attack("host-files", _PRELUDE + _HOST_FILES, ("{canary}",)),
    Attack("orphan", _PRELUDE + _ORPHAN, ("{nonce}",)),
    Attack("fork-bomb", _PRELUDE + _FORK_BOMB, limits={"pids": 16}, remedy=_LIMITS_REMEDY),
    Attack("memory", _PRELUDE + _MEMORY, (), {"memory_bytes": 64 << 20}, Reason.MEMORY, _LIMITS_REMEDY),
    Attack("disk", _PRELUDE + _DISK, (), {"disk_bytes": 8 << 20}, Reason.DISK, _LIMITS_REMEDY),
    Attack("file-count", _PRELUDE + _FILE_COUNT, ("/mnt/work",), {"files": 200}, Reason.DISK, _LIMITS_REMEDY),
    Attack("file-count-tmp", _PRELUDE + _FILE_COUNT, ("/tmp",), {"files": 200}, Reason.DISK, _LIMITS_REMEDY),
    Attack("namespaces", _PRELUDE + _NAMESPACE),
    Attack("network", _PRELUDE + _NETWORK, ("{port}", "{abstract}")),
    Attack("ptrace", _PRELUDE + _PTRACE, ("{sentinel}", "{seccomp}")),
    Attack("kill", _PRELUDE + _KILL, ("{harness}", "{sentinel}")),
    Attack("private-files", _PRELUDE + _PRIVATE, ("{package}", "{site}")),
)
