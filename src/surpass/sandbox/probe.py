"""The start-up self-test: a list of attacks is tried in the sandbox, and none may get through."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ._adopt import ROLE_UIDS
from ._attacks import ATTACKS, Attack
from ._types import Completed, Limits, Mount, Role, Sandbox, SandboxError, SandboxUnavailable

__all__ = ["ProbeResult", "probe", "require_safe"]

_AT_ONCE = 4
_LIMITS = Limits(wall_s=20, memory_bytes=256 << 20, pids=32, disk_bytes=64 << 20)
_CANARY = "SURPASS_PROBE_CANARY"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What became of one attack."""

    id: str
    passed: bool
    """True when the sandbox withstood it."""
    detail: str
    remedy: str = ""


def probe(sandbox: Sandbox, *, fresh: bool = False) -> list[ProbeResult]:
    """Try every attack. A success is remembered until this machine's kernel, boot or this package changes.

    Nothing is tried on the unsafe sandbox: the attacks are real.
    """
    if sandbox.name == "none":
        return [ProbeResult("isolation", False, "this is no sandbox", "do without --unsafe-no-sandbox")]
    remembered = _cache_file(sandbox)
    if not fresh and remembered is not None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return [ProbeResult(**entry) for entry in json.loads(remembered.read_text())]
    with _bait() as facts, ThreadPoolExecutor(_AT_ONCE) as pool:
        facts["seccomp"] = str(sandbox.capabilities.seccomp)
        results = list(pool.map(lambda attack: _attempt(sandbox, attack, facts), ATTACKS))
    if remembered is not None and all(result.passed for result in results):
        _remember(remembered, results)
    return results


def require_safe(sandbox: Sandbox, *, fresh: bool = False) -> None:
    """Refuse a sandbox that an attack got out of.

    Raises:
        SandboxUnavailable: names what got through and what to do.
    """
    failed = [result for result in probe(sandbox, fresh=fresh) if not result.passed]
    if failed:
        by_detail: dict[str, list[str]] = {}
        for result in failed:
            by_detail.setdefault(result.detail, []).append(result.id)
        found = "; ".join(f"{', '.join(ids)} ({detail})" for detail, ids in by_detail.items())
        remedies = "; ".join(dict.fromkeys(result.remedy for result in failed))
        raise SandboxUnavailable(f"The sandbox did not withstand {found}; {remedies}.")


def _attempt(sandbox: Sandbox, attack: Attack, facts: Mapping[str, str]) -> ProbeResult:
    work = Path(tempfile.mkdtemp(prefix="work-", dir=facts["directory"]))
    work.chmod(0o755)
    (work / "link").symlink_to(facts["canary"])
    nonce = secrets.token_hex(16)
    arguments = [argument.format(**facts, nonce=nonce) for argument in attack.arguments]
    try:
        sandbox.adopt(work)
        done = sandbox.run(
            ["python", "-I", "-S", "-c", attack.script, *arguments],
            mounts=[Mount(work, PurePosixPath("/mnt/work"), writable=True)],
            env={},
            cwd=PurePosixPath("/tmp"),
            limits=dataclasses.replace(_LIMITS, **attack.limits),
        )
    except SandboxError as error:
        return ProbeResult(attack.id, False, str(error), attack.remedy)
    problem = _judge(attack, done, nonce, facts)
    return ProbeResult(attack.id, problem is None, problem or "withstood", attack.remedy if problem else "")


def _judge(attack: Attack, done: Completed, nonce: str, facts: Mapping[str, str]) -> str | None:
    """What got through, or None."""
    escapes = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("ESCAPED")]
    if escapes:
        return ", ".join(line.removeprefix("ESCAPED ") for line in escapes)
    if facts["secret"].encode() in done.stdout + done.stderr:
        return "a secret of the host was printed"
    if attack.id == "orphan" and _alive(nonce):
        return "a process outlived the sandbox"
    if done.reason is not attack.stopped_by or (attack.stopped_by.value == "exited" and done.exit_code != 0):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"ended unexpectedly: {done.reason}, exit code {done.exit_code} {' '.join(last)}".rstrip()
    return None


def _alive(nonce: str) -> bool:
    for command_line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if nonce.encode() in command_line.read_bytes():
                return True
    return False


@contextlib.contextmanager
def _bait() -> Iterator[dict[str, str]]:
    """What the attacks are after: a secret file and variable, listening sockets, a process of the same user."""
    secret, abstract = secrets.token_hex(16), f"surpass-probe-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="surpass-probe-"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)  # so that it is the sandbox, not the permission, that keeps the canary
        canary = directory / "canary"
        canary.write_text(secret)
        os.environ[_CANARY] = secret
        stack.callback(os.environ.pop, _CANARY, None)
        inet = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(b"\0" + abstract.encode())
        unix.listen()
        user = {"user": ROLE_UIDS[Role.CANDIDATE]} if os.geteuid() == 0 else {}
        sentinel = stack.enter_context(subprocess.Popen(["sleep", "60"], env={"PATH": "/usr/bin:/bin"}, **user))  # type: ignore[call-overload]
        stack.callback(sentinel.kill)
        package = Path(__file__).resolve().parent.parent
        yield {
            "secret": secret,
            "canary": str(canary),
            "directory": str(directory),
            "port": str(inet.getsockname()[1]),
            "abstract": abstract,
            "harness": str(os.getpid()),
            "sentinel": str(sentinel.pid),
            "package": str(package),
            "site": f"{sysconfig.get_path('purelib')}:{package.parent}",
        }


def _cache_file(sandbox: Sandbox) -> Path | None:
    """Where the result for exactly this machine state is kept; None when the state cannot be told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        bwrap = Path(sandbox.capabilities.bwrap_path).stat().st_mtime_ns
        sources = [(path.name, path.stat().st_mtime_ns) for path in sorted(Path(__file__).parent.glob("*.py"))]
    except OSError:
        return None
    state = (boot, os.uname(), os.geteuid(), sys.prefix, sandbox.capabilities, bwrap, sources)
    digest = hashlib.sha256(repr(state).encode()).hexdigest()[:32]
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        return None
    return home / "surpass" / f"probe-{digest}.json"


def _remember(file: Path, results: list[ProbeResult]) -> None:
    text = json.dumps([dataclasses.asdict(result) for result in results])
    with contextlib.suppress(OSError):  # a read-only home costs a probe each time, nothing else
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in file.parent.glob("probe-*.json"):
            old.unlink(missing_ok=True)
        partial = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        partial.write_text(text)
        partial.replace(file)
