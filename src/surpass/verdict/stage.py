"""Turn a folder of files into a submission exactly as an agent's workspace becomes one."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from surpass.sandbox import Completed, Mount, Sandbox
from surpass.task import SOLVER, Deliverable, Tier
from surpass.verdict.candidate import candidate_environment, candidate_limits, candidate_mounts, rejection_of
from surpass.verdict.judge import Judge
from surpass.verdict.records import Rejection, Verdict

__all__ = ["DATA", "WORKSPACE", "judge_solution", "stage_solution", "workspace_mounts"]

WORKSPACE = PurePosixPath("/workspace")
DATA = PurePosixPath("/data")


def workspace_mounts(judge: Judge, workspace: Path) -> list[Mount]:
    """Workspace, public files, open data, and the inputs of the hidden tiers where answers are asked for them."""
    task = judge.task
    mounts = [Mount(workspace, WORKSPACE, writable=True), *candidate_mounts(task)]
    dev = judge.data(Tier.DEV)
    mounts += [Mount(dev.inputs, DATA / "dev" / "inputs"), Mount(dev.truth, DATA / "dev" / "truth")]
    if task.spec.deliverable is Deliverable.OUTPUTS and task.spec.submission.per_tier:
        mounts += [Mount(judge.data(tier).inputs, DATA / tier.value / "inputs") for tier in (Tier.FEEDBACK, Tier.FINAL)]
    return mounts


def stage_solution(judge: Judge, folder: Path, workspace: Path, sandbox: Sandbox) -> Completed | None:
    """Make `workspace`, which must not exist: the task's start, `folder` laid over it, and what its `solve.py` writes.

    The script runs only where outputs are handed in, with the mounts and limits that an agent's commands have.
    Nothing of `folder` is followed or executed on the host.

    Returns:
        How the script ended; None when there was none to run.

    Raises:
        Rejection: the folder may not be sealed, or its `solve.py` failed.
        PreparationError: the task's generator failed.
        SandboxError: the sandbox could not be started.
    """
    task = judge.task
    shutil.copytree(task.start, workspace, ignore=shutil.ignore_patterns("__pycache__"))
    # Sealed first: a plain copy on the host would follow whatever links the folder holds.
    frozen = workspace.with_name(f"{workspace.name}.folder")
    try:
        judge.seal(folder, frozen)
        has_solver = (frozen / SOLVER).is_file()
        _overlay(frozen, workspace)
    finally:
        shutil.rmtree(frozen, ignore_errors=True)
    if task.spec.deliverable is not Deliverable.OUTPUTS or not has_solver:
        return None
    sandbox.adopt(workspace)
    done = sandbox.run(
        ["python", SOLVER],
        mounts=workspace_mounts(judge, workspace),
        env=candidate_environment(task, SURPASS_DATA=str(DATA)),
        cwd=WORKSPACE,
        limits=candidate_limits(task, task.spec.budget.run_seconds),
    )
    if rejection := rejection_of(done):
        raise rejection
    return done


def judge_solution(judge: Judge, folder: Path, place: Path, sandbox: Sandbox, tier: Tier = Tier.FINAL) -> Verdict:
    """Stage, seal and judge a folder. `place` is a new folder below the judge's; it gets `workspace`, `submission`.

    Raises:
        PreparationError, SandboxError: as `stage_solution`.
    """
    place.mkdir(parents=True)
    try:
        stage_solution(judge, folder, place / "workspace", sandbox)
        sealed = judge.seal(place / "workspace", place / "submission")
    except Rejection as rejection:
        return judge.rejected(rejection, tier)
    return judge.judge(sealed.path, sealed.digest, tier)


def _overlay(source: Path, target: Path) -> None:
    """Move everything in `source` over `target`; a file replaces a folder of its name and the other way round."""
    target.mkdir(exist_ok=True)
    for entry in source.iterdir():
        place = target / entry.name
        if entry.is_dir() and place.is_dir():
            _overlay(entry, place)
            continue
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        entry.rename(place)
