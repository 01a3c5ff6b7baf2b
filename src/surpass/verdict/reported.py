"""Judge a script that times itself, on the user's GPUs: the published speedrun, with what can be checked checked.

Nobody examines the model and the script's word is taken for loss and training time, so such results are worth less
than those of tasks that surpass clocks. Three things are repaired nevertheless. Baseline, submission and reference run
in the same session, in turn, with nothing else measured on the machine. Time that a script leaves out of its own clock
(warm-up, compilation, validation) counts as training as far as it exceeds what the baseline leaves out. And the target
is compared with the mean over the rounds, within its standard error, because a faithful script misses it by chance in
a good part of single runs.
"""

from __future__ import annotations

import contextlib
import math
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from statistics import fmean

from surpass.guard import Malformed
from surpass.guard.files import read_bytes
from surpass.guard.removal import remove_tree
from surpass.guard.source import check_source
from surpass.measure import Report, last_report, lease_machine
from surpass.sandbox import Mount, Role, Sandbox
from surpass.task import Reported, Task, TaskError, Tier, Training
from surpass.verdict.arms import BASELINE, CANDIDATE, HUMAN, SUBMISSION
from surpass.verdict.candidate import candidate_environment, candidate_limits, candidate_mounts, rejection_of, tail_of
from surpass.verdict.errors import VerdictError
from surpass.verdict.records import Outcome, Rejection
from surpass.verdict.rounds import REPEATS, Round, TrainingResult, fsr_of

__all__ = ["judge_reported"]

SLACK = 1.05
"""Times the baseline's excluded seconds that a submission may exclude: starting and compiling take varying time."""
MISS_ERRORS = 2.0
"""Standard errors above the target from which the mean loss is a miss."""

_LOG_BYTES = 64 << 20
_MOST_LOGS = 64
_DEVICES = ("nvidia*", "nvidia-caps/*", "kfd", "dri/*")
"""Below /dev: what the CUDA and ROCm libraries open."""


def judge_reported(
    task: Task, sealed: Path, *, tier: Tier, place: Path, sandbox: Sandbox, dev: Path = Path("/dev")
) -> TrainingResult:
    """Run a sealed script beside baseline and reference and take their reports. `place` is a folder for passing files.

    Raises:
        Rejection: it broke a rule, failed, or missed the target.
        VerdictError: the data or the GPUs are missing, or baseline or reference do not run on this machine.
    """
    training = task.spec.training
    assert training is not None and training.reported is not None  # the spec has both where the clock is `reported`
    try:
        check_source(sealed, training.source_kb << 10)
    except Malformed as refused:
        raise Rejection(Outcome.INVALID, refused.code, refused.detail) from None
    machine = [*_gpus(task, dev), *_data(task, training.reported)]
    return _Judgement(task, training, training.reported, sealed, tier, place, sandbox, machine).run()


def _gpus(task: Task, dev: Path) -> list[Mount]:
    """The nodes of all GPUs and of their driver; and /sys, where the libraries look for how they are connected."""
    if not task.spec.budget.gpus:
        return []
    nodes = sorted({node for pattern in _DEVICES for node in dev.glob(pattern) if node.is_char_device()})
    if not nodes:
        raise VerdictError(f"{task.name} needs {task.spec.budget.gpus} GPU(s), and this machine shows none below {dev}")
    inside = [PurePosixPath("/dev") / node.relative_to(dev) for node in nodes]
    mounts = [Mount(node, target, device=True) for node, target in zip(nodes, inside, strict=True)]
    return [*mounts, Mount(Path("/sys"), PurePosixPath("/sys"))]


def _data(task: Task, reported: Reported) -> list[Mount]:
    if not reported.data:
        return []
    try:
        folder = task.training_data()
    except TaskError as error:
        raise VerdictError(str(error)) from None
    return [Mount(folder, SUBMISSION / reported.data)]


@dataclass(frozen=True, slots=True)
class _Arm:
    report: Report
    wall_s: float

    @property
    def excluded_s(self) -> float:
        return self.wall_s - self.report.seconds


@dataclass(slots=True)
class _Judgement:
    task: Task
    training: Training
    reported: Reported
    sealed: Path
    tier: Tier
    place: Path
    sandbox: Sandbox
    machine: list[Mount]
    rounds: list[Round] = field(default_factory=list)

    def run(self) -> TrainingResult:
        repeats = REPEATS[self.tier]
        estimate = None
        while estimate is None or not repeats.enough(len(self.rounds), estimate.interval):
            self.rounds.append(self._round())
            estimate = fsr_of(self.task, self.rounds, repeats)
        self._require_target()
        return TrainingResult(tuple(self.rounds), estimate)

    def _round(self) -> Round:
        number = len(self.rounds)
        sources = {BASELINE: self.task.start, CANDIDATE: self.sealed, HUMAN: self.task.solution("oracle")}
        names = list(sources) if number % 2 == 0 else list(sources)[::-1]
        arms: dict[str, _Arm] = {}
        with lease_machine():
            for name in names:
                arms[name] = self._arm(name, sources[name], self.place / f"round-{number}-{name}")
        return Round(
            seconds={name: counted(arm.report.seconds, arm.excluded_s, arms[BASELINE].excluded_s, name)
                     for name, arm in arms.items()},
            steps={name: arm.report.steps for name, arm in arms.items()},
            loss=arms[CANDIDATE].report.loss,
        )  # fmt: skip

    def _arm(self, name: str, source: Path, folder: Path) -> _Arm:
        """Run one script in a copy of its folder, where it may write its log."""
        remove_tree(folder)
        try:
            shutil.copytree(source, folder)
            if self.reported.data:
                (folder / self.reported.data).mkdir(parents=True, exist_ok=True)
            self.sandbox.adopt(folder, Role.CANDIDATE)
            return self._run(name, folder)
        finally:
            remove_tree(folder)

    def _run(self, name: str, folder: Path) -> _Arm:
        budget = self.task.spec.budget
        limits = replace(candidate_limits(self.task, budget.run_seconds), output_bytes=_LOG_BYTES, interfaces=True)
        done = self.sandbox.run(
            [word.replace("{gpus}", str(budget.gpus)) for word in self.reported.launch],
            mounts=[Mount(folder, SUBMISSION, writable=True), *self.machine, *candidate_mounts(self.task)],
            env=candidate_environment(self.task, **self.reported.variables),
            cwd=SUBMISSION,
            limits=limits,
        )
        rejection = rejection_of(done)
        report = last_report(_said(done.stdout, folder, self.reported.logs))
        if rejection is None and (report is None or not report.complete):
            rejection = Rejection(Outcome.FAILED, "no-report", f"no line of a last step; {tail_of(done)}")
        if rejection is None:
            assert report is not None
            return _Arm(report, done.wall_s)
        if name == CANDIDATE:
            raise rejection
        raise VerdictError(f"{self.task.name}: the {name} run failed on this machine: {rejection}")

    def _require_target(self) -> None:
        loss = fmean(each.loss for each in self.rounds)
        allowed = self.training.target + MISS_ERRORS * self.reported.loss_sd / math.sqrt(len(self.rounds))
        if loss > allowed:
            detail = f"mean loss {loss:.4f} in {len(self.rounds)} round(s), target {self.training.target:g}"
            raise Rejection(Outcome.FAILED, "target-missed", detail)


def counted(seconds: float, excluded_s: float, baseline_excluded_s: float, arm: str) -> float:
    """The time that a run is charged with: what it reports, and for a submission what it hid from its clock as well."""
    if arm != CANDIDATE:
        return seconds
    return seconds + max(0.0, excluded_s - SLACK * max(0.0, baseline_excluded_s))


def _said(stdout: bytes, folder: Path, pattern: str) -> str:
    """Standard output, and the logs that the script wrote: some records report there only."""
    parts = [stdout]
    for log in sorted(folder.glob(pattern))[:_MOST_LOGS] if pattern else ():
        if log.resolve().is_relative_to(folder.resolve()):  # not through a linked directory
            with contextlib.suppress(Malformed):  # a link, a pipe, or too large: nothing to read in it
                parts.append(read_bytes(log, max_bytes=_LOG_BYTES))
    return "\n".join(part.decode("utf-8", "replace") for part in parts)
