"""Do brief, task.toml, evaluator and source speak of the same things?"""

from __future__ import annotations

import ast
import math
import re

from surpass.check._types import Problem, Remark, Report, Skip
from surpass.check.static.reading import brief_of, is_placeholder, name_patterns, numbers_in, parse, source_of
from surpass.score import parse_sota
from surpass.task import Instance, Task, TaskError
from surpass.task.spec import Spec

__all__ = [
    "anchors_are_apart",
    "brief_names_everything",
    "brief_specifies_outputs",
    "brief_states_directions",
    "evaluator_names_everything",
    "profiles_are_valid",
    "rows_cover_instances",
    "sota_follows_from_row",
]

_TOLERANCE = 0.005
"""Published numbers have two or three digits: half a percent is their rounding."""


def profiles_are_valid(task: Task) -> Report:
    """S02: each profile is a smaller setting of this task."""
    for name in task.spec.profiles:
        try:
            spec = task.spec.with_profile(name)
        except ValueError as error:
            yield Problem(f"profile '{name}': {error}")
            continue
        if unknown := sorted(set(spec.settings) - _settings(task)):
            yield Problem(f"profile '{name}' sets '{unknown[0]}', which generate() does not take")
        yield from _still_asks_for_files(task, name, spec)
    if unknown := sorted(set(task.spec.settings) - _settings(task)):
        yield Problem(f"[settings] has '{unknown[0]}', which generate() does not take")
    yield Remark(f"profiles: {', '.join(task.spec.profiles) or 'none'}")


def _settings(task: Task) -> set[str]:
    """The keyword arguments that `generate` takes beyond the four of the contract; everything if it takes any."""
    path = task.private / "generate.py"
    if not path.is_file():
        return set()
    for node in parse(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == "generate":
            if node.args.kwarg is not None:
                return set(task.spec.settings) | {k for p in task.spec.profiles.values() for k in p.settings}
            return {a.arg for a in (*node.args.args[4:], *node.args.kwonlyargs)}
    return set()


def _still_asks_for_files(task: Task, name: str, spec: Spec) -> Report:
    """A file that only a dropped instance needs must not fail a submission to the profile."""
    dropped = {i.name for i in task.spec.instance} - {i.name for i in spec.instance}
    for file in spec.submission.files:
        if file.rpartition("/")[2].partition(".")[0] in dropped:
            yield Problem(
                f"profile '{name}' drops the instance that {file} belongs to, yet the file must exist",
                "list only the files that every profile needs in submission.files",
            )


def brief_names_everything(task: Task) -> Report:
    """S03: an agent learns every name that it is judged by."""
    brief = brief_of(task)
    for instance in task.spec.instance:
        if not _mentions(brief, instance.name):
            yield Problem(f"brief.md does not name the instance '{instance.name}'")
    for metric in sorted({instance.metric for instance in task.spec.instance}):
        if not _mentions(brief, metric):
            yield Problem(f"brief.md does not name the metric '{metric}'")
    for file in task.spec.submission.files:
        per_tier = re.sub(r"^outputs/(feedback|final)/", "outputs/<tier>/", file)
        if file not in brief and per_tier not in brief:
            yield Problem(f"brief.md does not name the file {per_tier}")


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-]*[A-Za-z0-9_])", text) is not None


def evaluator_names_everything(task: Task) -> Report:
    """S04: the evaluator answers with the names of task.toml."""
    if task.spec.training is not None:
        raise Skip("a training is timed and named by the harness")
    patterns = name_patterns(parse(task.private / "evaluator.py"))
    for metric in sorted({instance.metric for instance in task.spec.instance}):
        if not any(pattern.fullmatch(metric) for pattern in patterns):
            yield Problem(f"private/evaluator.py never says the metric's name, '{metric}'")
    # Names may reach the evaluator through the truth, so the scripts that write it count too.
    for name in ("generate.py", "driver.py"):
        if (task.private / name).is_file():
            patterns += name_patterns(parse(task.private / name))
    for instance in task.spec.instance:
        if not any(pattern.fullmatch(instance.name) for pattern in patterns):
            yield Problem(f"no script in private/ says the instance's name, '{instance.name}'")


def brief_states_directions(task: Task) -> Report:
    """S05: an agent learns which way is better."""
    brief = brief_of(task).lower()
    words = {
        "lower": ("lower", "smaller", "fewer", "less ", "minimi", "smallest", "lowest", "fewest", "shorter"),
        "higher": ("higher", "larger", "greater", "more ", "maximi", "largest", "highest", "bigger"),
    }
    for direction in sorted({instance.direction for instance in task.spec.instance}):
        if not any(word in brief for word in words[direction]):
            yield Problem(f"brief.md does not say that {direction} is better")


def brief_specifies_outputs(task: Task) -> Report:
    """S29: file, shape and dtype of every array; the metric; enough text to work from."""
    brief = brief_of(task)
    if (count := len(brief.split())) < 60:
        yield Problem(f"brief.md has {count} words: too few for problem, inputs, outputs, metric and limits")
    if not re.search(r"^#{1,3} ", brief, re.MULTILINE):
        yield Problem("brief.md has no headings")
    if any(file.endswith((".npy", ".npz")) for file in task.spec.submission.files):
        if not re.search(r"\b(u?int|float|complex)(8|16|32|64|128)\b|\bbool", brief):
            yield Problem("brief.md names no dtype, but arrays are handed in")
        if not re.search(r"\([A-Za-z0-9_, ]+,[A-Za-z0-9_, ]*\)", brief):
            yield Problem("brief.md gives no shape such as `(S, 3)`, but arrays are handed in")


def anchors_are_apart(task: Task) -> Report:
    """S13: start and SOTA differ by more than they are uncertain, on a scale that shows it."""
    for instance in task.spec.instance:
        distance, error = _distance(instance)
        if error and distance < 2 * error:
            yield Problem(
                f"{instance.name}: baseline and SOTA are {distance / error:.1f} standard errors apart",
                "measure both anchors better, or choose a start or a metric that tells them apart",
            )
        low, high = sorted((abs(instance.sota), abs(instance.baseline)))
        same_sign = instance.sota * instance.baseline > 0
        if instance.scale == "linear" and instance.direction == "lower" and same_sign and high > 1000 * low:
            yield Problem(
                f"{instance.name}: the SOTA is {high / low:.0f} times below the baseline on a linear scale",
                'set scale = "log": on a linear one anything small scores 1',
            )


def _distance(instance: Instance) -> tuple[float, float]:
    baseline, sota = instance.baseline, instance.sota
    if instance.scale == "log":
        errors = (instance.baseline_spread / baseline, instance.sota_spread / sota)
        return abs(math.log(baseline / sota)), math.hypot(*errors)
    return abs(baseline - sota), math.hypot(instance.baseline_spread, instance.sota_spread)


def rows_cover_instances(task: Task) -> Report:
    """S06: source.toml can be read and documents each instance, and no other."""
    try:
        source = task.source
    except TaskError as error:
        fix = "mend source.toml (docs/reference/task-package.md)"
        yield from (Problem(line, fix) for line in str(error).splitlines())
        return
    known = {instance.name for instance in _all_instances(task)}
    documented = {row.instance for row in source.row}
    for name in sorted(known - documented):
        yield Problem(f"source.toml has no [[row]] for the instance '{name}'")
    for name in sorted(documented - known):
        yield Problem(f"source.toml has a [[row]] for '{name}', which is no instance")
    for row in source.row:
        for key, value in (("where", row.where), ("checked", row.checked)):
            if not value.strip() or re.fullmatch(r"@\w+@", value.strip()):
                yield Problem(f"source.toml: the row of '{row.instance}' says nothing under '{key}'")


def sota_follows_from_row(task: Task) -> Report:
    """S07: the number in task.toml is the printed one, or the row gives it and says how it follows."""
    rows = {row.instance: row for row in source_of(task).row}
    for instance in task.spec.instance:
        row = rows.get(instance.name)
        if row is None:
            raise Skip(f"'{instance.name}' has no row (S06)")
        if is_placeholder(row.sota):
            continue
        printed = numbers_in(row.sota)
        best = parse_sota(row.sota, instance.direction == "higher")
        candidates = printed if best is None else [best, *printed]
        if not any(_close(instance.sota, number) for number in (*candidates, *numbers_in(row.checked))):
            yield Problem(
                f"{instance.name}: task.toml says {instance.sota:g}, the row prints '{row.sota}', "
                "and 'checked' does not lead from one to the other"
            )


def _close(value: float, number: float) -> bool:
    return math.isclose(value, number, rel_tol=_TOLERANCE, abs_tol=1e-300)


def _all_instances(task: Task) -> tuple[Instance, ...]:
    """The instances of the full task: a profile may have dropped some, whose rows are not wrong."""
    if not task.profile:
        return task.spec.instance
    from surpass.task import load

    return load(task.root, suite=task.suite).spec.instance
