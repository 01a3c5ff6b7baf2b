"""`task.toml` as a typed, frozen, validated document (docs/reference/task-package.md)."""

from __future__ import annotations

import enum
import json
import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "Budget",
    "Claims",
    "Deliverable",
    "Environment",
    "Feedback",
    "Instance",
    "Profile",
    "Reported",
    "Spec",
    "Step",
    "Submission",
    "Tier",
    "Track",
    "Training",
]

_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_VERSION = r"^\d+\.\d+\.\d+$"

Name = Annotated[str, Field(pattern=_ID, max_length=64)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Spread = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Track(enum.StrEnum):
    """What kind of question a task asks."""

    IMPLEMENT = "implement"
    OPTIMISE = "optimise"
    INNOVATE = "innovate"
    INTEGRATE = "integrate"


class Deliverable(enum.StrEnum):
    """What a submission is, and therefore how the harness gets a result out of it."""

    OUTPUTS = "outputs"
    PROGRAM = "program"
    TRAINING = "training"
    KERNEL = "kernel"


class Tier(enum.StrEnum):
    """Which data: `dev` is open, `feedback` gives limited answers, `final` is used once, after sealing."""

    DEV = "dev"
    FEEDBACK = "feedback"
    FINAL = "final"


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Submission(_Document):
    """What a submission consists of and how it is run."""

    files: tuple[str, ...] = ()
    """Paths, relative to the submission, that must exist."""
    per_tier: bool = False
    """Outputs only: answers lie in `outputs/feedback` and `outputs/final` instead of `outputs`."""
    command: tuple[str, ...] = ()
    """Program only: what the harness executes, with the submission as working directory."""
    interactive: bool = False
    """Program only: stdin and stdout are connected to the task's driver, one step at a time."""


class Budget(_Document):
    """What an agent, a run and an evaluation may use."""

    solve_minutes: Positive = 30.0
    attempts: Annotated[int, Field(ge=1)] = 20
    run_seconds: Positive = 120.0
    evaluate_seconds: Positive = 60.0
    memory_mb: Annotated[int, Field(ge=64, le=1 << 24)] = 2048
    cpus: Annotated[int, Field(ge=1, le=4096)] = 1
    gpus: Annotated[int, Field(ge=0)] = 0
    disk_mb: Annotated[int, Field(ge=1, le=1 << 24)] = 256
    pids: Annotated[int, Field(ge=4, le=1 << 20)] = 64


class Reported(_Document):
    """How a script is run that times itself and says what it achieved."""

    launch: Annotated[tuple[str, ...], Field(min_length=1)]
    """The command, for instance torchrun; `{gpus}` is `budget.gpus`. Its folder holds the submission."""
    data: str = ""
    """Where, below that folder, the script finds what SURPASS_TRAINING_DATA names on the host; empty for no data."""
    variables: dict[str, str] = {}
    """Environment variables that the script reads."""
    logs: str = "logs/*.txt"
    """Files below that folder that may hold the last report, beside standard output."""
    loss_sd: Spread = 0.0
    """Standard deviation of the loss between equal runs, in nats a token."""

    @model_validator(mode="after")
    def _stays_below_its_folder(self) -> Self:
        for key, path in (("data", self.data), ("logs", self.logs)):
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise ValueError(f"training.reported.{key} must be a path below the script's folder, without '..'")
        for name in self.variables:
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"training.reported.variables: '{name}' is no name of an environment variable")
        return self


class Training(_Document):
    """Training only: how a submission is trained, timed and bounded."""

    script: str = "train.py"
    """Run as `SCRIPT DATA OUT SEED`; defines `load(out)`, which makes the exported model answer."""
    target: Finite
    """Highest mean loss on hidden tokens, in nats a token, that counts as trained."""
    clock: Literal["cpu", "wall", "reported"] = "cpu"
    """CPU seconds of the process tree, all arms side by side on one core; wall seconds, one arm after the other; or
    what the script itself prints, cross-checked against wall seconds (for imported scripts that time themselves)."""
    reported: Reported | None = None
    """Reported clock only."""
    libraries: tuple[str, ...] = ()
    """Modules that the harness imports before the clock starts."""
    source_kb: Annotated[int, Field(ge=1)] = 64
    """Most source that may be handed in: more could be weights."""
    export_kb: Annotated[int, Field(ge=1)] = 2048
    """Largest export: more could be the training text."""
    evaluation_ratio: Positive = 3.0
    """Most CPU time that answering may take, in multiples of what the baseline's model takes."""
    envelope: tuple[tuple[Finite, Finite], ...] = ()
    """(share of the steps, highest training loss): where a run is ended that cannot reach the target any more."""

    @model_validator(mode="after")
    def _clock_has_what_it_needs(self) -> Self:
        if (self.clock == "reported") != (self.reported is not None):
            raise ValueError("clock 'reported' and the table [training.reported] need each other")
        return self


class Environment(_Document):
    """What is installed inside the sandbox."""

    requirements: tuple[str, ...] = ()
    install: str = "install it beside surpass"
    """What to do when a requirement is missing, as the end of a sentence."""
    hidden: tuple[str, ...] = ()
    """Installed packages that candidates may not see, for instance because hidden text lies in them."""
    system: tuple[str, ...] = ()
    network: bool = False

    @property
    def distributions(self) -> tuple[str, ...]:
        """The names in `requirements`, without versions."""
        return tuple(re.split(r"[\s<>=!~;\[]", text, maxsplit=1)[0] for text in self.requirements)


class Feedback(_Document):
    """What one attempt tells the agent."""

    detail: Literal["none", "pass", "score"] = "score"
    decimals: Annotated[int, Field(ge=0, le=6)] = 2


class Claims(_Document):
    """When a result counts as a tie with the published number."""

    tie_band: Annotated[float, Field(ge=0, lt=1)] = 0.05


class Instance(_Document):
    """One data set or configuration with one primary metric and its two anchors."""

    name: Name
    metric: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    direction: Literal["lower", "higher"]
    unit: str
    baseline: Finite
    baseline_spread: Spread = 0.0
    sota: Finite
    sota_spread: Spread = 0.0
    range: tuple[Finite, Finite]
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _anchors_make_sense(self) -> Self:
        low, high = self.range
        if not low < high:
            raise ValueError("range must be [lowest, highest] with lowest < highest")
        if not (low <= self.baseline <= high and low <= self.sota <= high):
            raise ValueError("baseline and sota must lie inside range")
        better = self.sota < self.baseline if self.direction == "lower" else self.sota > self.baseline
        if not better:
            raise ValueError(f"sota must be better than baseline (direction is '{self.direction}')")
        if self.scale == "log" and low <= 0:
            raise ValueError("a log scale needs a range above 0")
        return self


class Step(_Document):
    """One step of the method that a faithful implementation contains."""

    id: Name
    text: str
    requires: tuple[str, ...] = ()
    weight: Positive = 1.0
    evidence: str = ""

    @model_validator(mode="after")
    def _evidence_compiles(self) -> Self:
        try:
            re.compile(self.evidence)
        except re.error as error:
            raise ValueError(f"evidence is not a regular expression: {error}") from None
        return self


class Profile(_Document):
    """A smaller setting of the same task."""

    instances: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    budget: dict[str, Any] = {}
    training: dict[str, Any] = {}


class Spec(_Document):
    """The whole of `task.toml`."""

    schema_version: Annotated[Literal[1], Field(alias="schema")]
    id: Name
    version: Annotated[str, Field(pattern=_VERSION)]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    domain: Name
    track: Track
    deliverable: Deliverable
    submission: Submission = Submission()
    training: Training | None = None
    budget: Budget = Budget()
    environment: Environment = Environment()
    feedback: Feedback = Feedback()
    claims: Claims = Claims()
    fixed_data: bool = False
    """The generator ignores its seed: tasks and trials with the same generator and settings share one copy."""
    settings: dict[str, Any] = {}
    profiles: dict[Name, Profile] = {}
    instance: Annotated[tuple[Instance, ...], Field(min_length=1)]
    step: tuple[Step, ...] = ()

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        names = [instance.name for instance in self.instance]
        _refuse_twice("instance name", names)
        steps = [step.id for step in self.step]
        _refuse_twice("step id", steps)
        for step in self.step:
            for needed in step.requires:
                if needed not in steps:
                    raise ValueError(f"step '{step.id}' requires unknown step '{needed}'")
        for name, profile in self.profiles.items():
            if unknown := sorted(set(profile.instances) - set(names)):
                raise ValueError(f"profile '{name}' names unknown instance '{unknown[0]}'")
            self.with_profile(name)
        _require_plain(self.settings)
        for profile in self.profiles.values():
            _require_plain(profile.settings)
        return self

    @model_validator(mode="after")
    def _deliverable_has_what_it_needs(self) -> Self:
        submission = self.submission
        is_program = self.deliverable is Deliverable.PROGRAM
        if is_program and not submission.command:
            raise ValueError("deliverable 'program' needs submission.command")
        if not is_program and (submission.command or submission.interactive):
            raise ValueError("submission.command and submission.interactive belong to deliverable 'program'")
        if (self.deliverable is Deliverable.TRAINING) != (self.training is not None):
            raise ValueError("deliverable 'training' and the table [training] need each other")
        if self.training is not None and (len(self.instance) != 1 or self.instance[0].metric != "fsr"):
            raise ValueError("deliverable 'training' has one instance, with metric 'fsr'")
        if submission.per_tier and self.deliverable is not Deliverable.OUTPUTS:
            raise ValueError("submission.per_tier belongs to deliverable 'outputs'")
        return self

    def with_profile(self, name: str) -> Self:
        """The spec as the profile changes it; `name` must be one of `profiles`."""
        profile = self.profiles[name]
        keep = set(profile.instances)
        update = {
            "instance": tuple(i for i in self.instance if not keep or i.name in keep),
            "settings": self.settings | profile.settings,
            "budget": Budget.model_validate(self.budget.model_dump() | profile.budget),
        }
        if self.training is not None:
            update["training"] = Training.model_validate(self.training.model_dump() | profile.training)
        elif profile.training:
            raise ValueError(f"profile '{name}' changes [training], which the task does not have")
        return self.model_copy(update=update)


def _require_plain(settings: dict[str, Any]) -> None:
    try:
        json.dumps(settings, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings take numbers, strings, booleans, lists and tables only ({error})") from None


def _refuse_twice(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{kind} '{name}' appears twice")
        seen.add(name)
