"""Judge a script that times itself, on the user's GPUs: the published speedrun, with what can be checked checked.

Nobody examines the model and the script's word is taken for loss and training time, so such results carry no claim
and are marked as self-reported. Three things are repaired nevertheless. Baseline, submission and reference run in the
same session, in an order that turns, with nothing else timed on the machine. Time that a script leaves out of its own
clock (warm-up, compilation, validation) counts as training as far as it exceeds what the baseline leaves out. And the
target is compared with the mean over the rounds, within its standard error, because a faithful script misses it by
chance in a good part of single runs.
"""

from __future__ import annotations

import contextlib
import math
import re
import shutil
from collections.abc import Mapping
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
STRANGE_ERRORS = 10.0
"""Standard errors above the target from which not even the baseline can have read the right tokens."""

_LOG_BYTES = 16 << 20
_MOST_LOGS = 4
_NODE = re.compile(r"(?:nvidia|renderD)(\d+)")
"""One GPU's own device; those beside it belong to the driver."""
_DEVICES = ("nvidia*", "nvidia-caps/*", "kfd", "dri/renderD*")
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
    """As many GPUs as the budget allows, what belongs to their driver, and /sys, which says how they are connected."""
    wanted = task.spec.budget.gpus
    if not wanted:
        return []
    nodes = sorted({node for pattern in _DEVICES for node in dev.glob(pattern) if node.is_char_device()})
    numbered = {node: found for node in nodes if (found := _NODE.fullmatch(node.name))}
    kinds: dict[str, list[Path]] = {}
    for node in sorted(numbered, key=lambda node: int(numbered[node][1])):
        kinds.setdefault(node.name.rstrip("0123456789"), []).append(node)
    if max((len(kind) for kind in kinds.values()), default=0) < wanted:
        raise VerdictError(f"{task.name} needs {wanted} GPU(s), and this machine does not show as many below {dev}")
    shown = [node for node in nodes if node not in numbered] + [n for kind in kinds.values() for n in kind[:wanted]]
    inside = [PurePosixPath("/dev") / node.relative_to(dev) for node in shown]
    mounts = [Mount(node, target, device=True) for node, target in zip(shown, inside, strict=True)]
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
    ran: list[Mapping[str, _Arm]] = field(default_factory=list)

    def run(self) -> TrainingResult:
        repeats = REPEATS[self.tier]
        while True:
            self.ran.append(self._round())
            self._require_target()
            rounds = self._rounds()
            estimate = fsr_of(self.task, rounds, repeats)
            if repeats.enough(len(rounds), estimate.interval):
                return TrainingResult(tuple(rounds), estimate)

    def _rounds(self) -> list[Round]:
        """What each round is charged with, by the least that the baseline has excluded: its first start reads cold."""
        least = min(arms[BASELINE].excluded_s for arms in self.ran)
        return [
            Round(
                seconds={
                    name: counted(arm.report.seconds, arm.excluded_s, least)
                    if name == CANDIDATE
                    else arm.report.seconds
                    for name, arm in arms.items()
                },
                steps={name: arm.report.steps for name, arm in arms.items()},
                loss=arms[CANDIDATE].report.loss,
                excluded={name: arm.excluded_s for name, arm in arms.items()},
            )
            for arms in self.ran
        ]

    def _round(self) -> Mapping[str, _Arm]:
        number = len(self.ran)
        sources = {BASELINE: self.task.start, CANDIDATE: self.sealed, HUMAN: self.task.solution("oracle")}
        names = list(sources)
        first = number % len(names)
        with lease_machine():
            return {
                name: self._arm(name, sources[name], self.place / f"round-{number}-{name}")
                for name in names[first:] + names[:first]
            }

    def _arm(self, name: str, source: Path, folder: Path) -> _Arm:
        """Run one script in a copy of its folder, where it may write its log; a log that came with it is no report."""
        remove_tree(folder)
        try:
            shutil.copytree(source, folder)
            for log in folder.glob(self.reported.logs):
                remove_tree(log) if log.is_dir() and not log.is_symlink() else log.unlink()
            if self.reported.data:
                self._make_room(name, folder / self.reported.data)
            self.sandbox.adopt(folder, Role.CANDIDATE)
            return self._run(name, folder)
        finally:
            remove_tree(folder)

    def _make_room(self, name: str, place: Path) -> None:
        """The folder over which the tokens are mounted."""
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if name == CANDIDATE:
                detail = f"{self.reported.data} is where the tokens go, and something else is there"
                raise Rejection(Outcome.INVALID, "data-place", detail) from None
            raise VerdictError(f"{self.task.name}: the tokens cannot be shown to the {name} run: {error}") from None

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
        """After each round, so that a hopeless script does not cost the others."""
        means = {name: fmean(arms[name].report.loss for arms in self.ran) for name in (BASELINE, CANDIDATE)}
        error = self.reported.loss_sd / math.sqrt(len(self.ran))
        target = self.training.target
        if error and means[BASELINE] > target + STRANGE_ERRORS * error:
            detail = f"the baseline reports a loss of {means[BASELINE]:.4f}; target {target:g}"
            raise VerdictError(f"{self.task.name}: {detail}; are these the right tokens?")
        if means[CANDIDATE] > target + MISS_ERRORS * error:
            detail = f"mean loss {means[CANDIDATE]:.4f} after {len(self.ran)} round(s), target {target:g}"
            raise Rejection(Outcome.FAILED, "target-missed", detail)


def counted(seconds: float, excluded_s: float, baseline_excluded_s: float) -> float:
    """The time that a submission is charged with: what it reports, and what it left out beyond the baseline's."""
    return seconds + max(0.0, excluded_s - SLACK * max(0.0, baseline_excluded_s))


def _said(stdout: bytes, folder: Path, pattern: str) -> str:
    """Standard output, and the logs that the script wrote: some records report there only."""
    parts = [stdout]
    for log in sorted(folder.glob(pattern))[:_MOST_LOGS] if pattern else ():
        # A link, a loop of links, a pipe, or too large: nothing to read in it.
        with contextlib.suppress(Malformed, OSError, RuntimeError):
            if log.resolve().is_relative_to(folder.resolve()):  # not through a linked directory
                parts.append(read_bytes(log, max_bytes=_LOG_BYTES))
    return "\n".join(part.decode("utf-8", "replace") for part in parts)
