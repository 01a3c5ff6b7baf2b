"""Hidden data: generated once per task, seed and tier, outside every place that a candidate can reach."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from surpass.sandbox import Mount, Role, Sandbox
from surpass.task import Task, Tier
from surpass.verdict import trusted
from surpass.verdict.errors import PreparationError

__all__ = ["TierData", "hidden_seed", "prepare"]

_GENERATE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class TierData:
    """Where one tier's data lie on the host."""

    inputs: Path
    truth: Path


def hidden_seed(secret: bytes, task: Task, tier: Tier, seed: int) -> int:
    """The generator's seed: unknown to a candidate that knows everything but the experiment's secret."""
    message = f"{task.name}|{task.digest}|{tier.value}|{seed}".encode()
    return int.from_bytes(hmac.new(secret, message, hashlib.sha256).digest()[:7], "big")


def prepare(task: Task, tier: Tier, seed: int, root: Path, sandbox: Sandbox) -> TierData:
    """Generate one tier below `root`, or find it there. Safe when two processes or threads do it at once.

    Raises:
        PreparationError: the task's generator failed.
        SandboxError: it could not be started.
    """
    data = TierData(root / tier.value / "inputs", root / tier.value / "truth")
    if data.truth.is_dir():
        return data
    root.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=root, prefix=f".{tier.value}.", suffix=".part"))
    part.chmod(0o755)
    for name in ("inputs", "truth"):
        (part / name).mkdir(parents=True)
    if (task.private / "generate.py").is_file():
        _generate(task, tier, seed, part, sandbox)
    elif (task.private / "truth").is_dir():
        shutil.copytree(task.private / "truth", part / "truth", dirs_exist_ok=True)
    _publish(part, root / tier.value)
    return data


def _generate(task: Task, tier: Tier, seed: int, part: Path, sandbox: Sandbox) -> None:
    inputs, truth = PurePosixPath("/inputs"), PurePosixPath("/truth")
    sandbox.adopt(part, Role.EVALUATOR)
    done = sandbox.run(
        trusted.command("generate", tier.value, str(seed), json.dumps(task.spec.settings)),
        mounts=[*trusted.mounts(task), Mount(part / "inputs", inputs, True), Mount(part / "truth", truth, True)],
        env=trusted.environment(sandbox, task.spec.budget.cpus, inputs=inputs, truth=truth),
        cwd=trusted.WORKING_DIRECTORY,
        limits=trusted.limits(task, _GENERATE_SECONDS),
        role=Role.EVALUATOR,
    )
    if not done.ok:
        detail = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [done.reason.value]
        raise PreparationError(f"{task.name}: generate.py failed at tier '{tier.value}': {detail[0]}")


def _publish(part: Path, target: Path) -> None:
    try:
        part.rename(target)
    except OSError:
        # Another process was first; equal arguments make equal bytes, so its copy serves.
        if not target.is_dir():
            raise
        shutil.rmtree(part, ignore_errors=True)
