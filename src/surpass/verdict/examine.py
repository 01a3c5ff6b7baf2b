"""Ask an exported model about hidden tokens: the model in a candidate's sandbox, the questions in the evaluator's."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from surpass.guard.removal import remove_tree
from surpass.sandbox import Mount, Role, Running, Sandbox
from surpass.task import Task
from surpass.verdict import trusted
from surpass.verdict.arms import OUT, START_RUNNER, SUBMISSION, runner_mount
from surpass.verdict.candidate import candidate_environment, candidate_limits, candidate_mounts
from surpass.verdict.converse import GRACE_SECONDS, converse
from surpass.verdict.data import TierData
from surpass.verdict.errors import VerdictError
from surpass.verdict.records import Outcome, Rejection
from surpass.verdict.seal import Caps, seal

__all__ = ["Examination", "examine"]

_INPUTS, _OUTPUTS = PurePosixPath("/inputs"), PurePosixPath("/outputs")
_EXPORT_FILES = 64
_ANSWER_BYTES = 1 << 16
_COPIES = 2


@dataclass(frozen=True, slots=True)
class Examination:
    """What one exported model achieved."""

    loss: float
    """Mean negative log-likelihood of the hidden tokens, in nats a token, computed by the evaluator."""
    tokens: int
    cpu_s: float
    """CPU seconds that answering took."""
    allowed_cpu_s: float
    """Most that it might have taken; infinite for the baseline's own model."""
    ratio: float
    """To the baseline's; 0 for the baseline's own."""


def examine(
    task: Task, source: Path, written: Path, data: TierData, sandbox: Sandbox, *, allowed_cpu_s: float = float("inf")
) -> Examination:
    """Seal what a training run wrote into `written` and examine it.

    Two copies of the model are asked, in sandboxes that share nothing: what one was asked the other cannot know. The
    driver (the task's `driver.py`) is called once for each; it sees the hidden tokens as `inputs/truth`, the
    training split as `inputs/train` and the sealed export as `inputs/export`, keeps in `outputs` what it needs for the
    second call, and then leaves `outputs/result.json` with `loss` and `tokens`.

    Raises:
        Rejection: the export breaks a cap, answers wrongly, or takes too much time for it.
        VerdictError: the driver itself failed.
    """
    training = task.spec.training
    assert training is not None
    export, outputs = (written.with_name(f"{written.name}.{what}") for what in ("export", "result"))
    sealed = seal(written, export, Caps(total_bytes=training.export_kb << 10, files=_EXPORT_FILES))
    if sealed.files == 0:
        raise Rejection(Outcome.FAILED, "no-export", "the run ended well and wrote nothing")
    remove_tree(outputs)
    outputs.mkdir()
    sandbox.adopt(outputs, Role.EVALUATOR)

    def program(stdin: int, stdout: int) -> Running:
        script = SUBMISSION / training.script
        return sandbox.start(
            [*START_RUNNER, "answer", ",".join(training.libraries), str(script), str(OUT)],
            mounts=[Mount(source, SUBMISSION), Mount(export, OUT), runner_mount(), *candidate_mounts(task)],
            env=candidate_environment(task),
            cwd=SUBMISSION,
            limits=candidate_limits(task, task.spec.budget.evaluate_seconds),
            stdin=stdin,
            stdout=stdout,
        )

    def driver(stdin: int, stdout: int) -> Running:
        return sandbox.start(
            trusted.command("drive"),
            mounts=[
                *trusted.mounts(task),
                Mount(data.truth, _INPUTS / "truth"),
                Mount(data.inputs, _INPUTS / "train"),
                Mount(export, _INPUTS / "export"),
                Mount(outputs, _OUTPUTS, writable=True),
            ],
            env=trusted.environment(sandbox, task.spec.budget.cpus, inputs=_INPUTS, outputs=_OUTPUTS),
            cwd=trusted.WORKING_DIRECTORY,
            limits=trusted.limits(task, task.spec.budget.evaluate_seconds + 2 * GRACE_SECONDS),
            stdin=stdin,
            stdout=stdout,
            role=Role.EVALUATOR,
        )

    cpu_s = math.fsum(converse(task, program, driver).cpu_s for _ in range(_COPIES))
    if cpu_s > allowed_cpu_s:
        raise Rejection(
            Outcome.INVALID, "evaluation-compute", f"answering took {cpu_s:.1f} CPU s, at most {allowed_cpu_s:.1f}"
        )
    loss, tokens = _result(task, outputs)
    baseline = allowed_cpu_s / training.evaluation_ratio
    return Examination(loss, tokens, cpu_s, allowed_cpu_s, cpu_s / baseline)


def _result(task: Task, outputs: Path) -> tuple[float, int]:
    """What the driver wrote; it is the task's own code, so anything wrong with it is ours."""
    try:
        document = json.loads((outputs / "result.json").read_bytes()[:_ANSWER_BYTES])
        return float(document["loss"]), int(document["tokens"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VerdictError(f"{task.name}: driver.py left no usable result.json: {error}") from None
