"""`surpass show`: one task, a calibration, or the searches of an experiment."""

from __future__ import annotations

import contextlib
import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surpass.cli._options import Json, Profile, TaskFolders, catalogue
from surpass.cli._output import console, emit_json, notes
from surpass.cli.calibrate import FILE, print_calibration

if TYPE_CHECKING:
    from surpass.search import Tree
    from surpass.task import Task

__all__ = ["show"]


def show(
    task: Annotated[
        str, typer.Argument(help="A task's id, suite/id, or folder; or the folder of a calibration or an experiment.")
    ],
    hints: Annotated[str, typer.Option("--hints", help="Print the prompt at this hint level instead.")] = "",
    profile: Profile = "",
    tasks: TaskFolders = None,
    json: Json = False,
) -> None:
    """Show a task: instances with baseline and published SOTA, budget, source; or the prompt an agent gets.

    Of an experiment, the version trees of its searches.
    """
    from surpass.hints import build_prompt

    if (calibration := Path(task) / FILE).is_file():
        _show_calibration(calibration, json)
        return
    if (Path(task) / "experiment.toml").is_file():
        _show_searches(Path(task), json)
        return
    found = catalogue(tasks).task(task, profile=profile)
    if hints:
        prompt = build_prompt(found, hints)
        emit_json({"task": found.name, "hints": hints, "prompt": prompt}) if json else typer.echo(prompt)
    elif json:
        emit_json(_document(found))
    else:
        _print(found)


def _show_calibration(path: Path, json: bool) -> None:
    """What `surpass calibrate` measured, and its picture."""
    from surpass.task import TaskError
    from surpass.web import progression_svg

    try:
        document = json_module.loads(path.read_text("utf-8"))
        picture = progression_svg(document)
        emit_json(document) if json else print_calibration(document)
    except (ValueError, KeyError, TypeError, IndexError):
        raise TaskError(f"{path} is no calibration; write one with `surpass calibrate SUITE -o DIR`") from None
    with contextlib.suppress(PermissionError):  # an archive may be read where it lies
        path.with_name("progression.svg").write_text(picture, encoding="utf-8")
    notes.print(f"picture: {path.with_name('progression.svg')}", soft_wrap=True, markup=False)


def _show_searches(root: Path, json: bool) -> None:
    """The version tree of every trial whose agent searched."""
    from surpass.analysis import search_trees, tree_document
    from surpass.trial import open_experiment

    experiment = open_experiment(root, read_only=True)
    try:
        trees = search_trees(experiment)
    finally:
        experiment.journal.close()
    if json:
        emit_json({trial: tree_document(tree) for trial, tree in trees.items()})
        return
    for trial, tree in trees.items():
        _print_tree(trial, tree)
    if not trees:
        notes.print("no agent of this experiment searched; `surpass report` shows its results")


def _print_tree(title: str, tree: Tree) -> None:
    from rich.text import Text
    from rich.tree import Tree as Drawing

    drawing = Drawing(Text(f"{title}: {len(tree) - 1} nodes, best {tree.best.id}", style="bold"))
    drawn = {-1: drawing}
    for node in tree.nodes:
        score = f"{node.score:+.3f}" if node.score is not None else node.code or "failed"
        style = "bold green" if node.id == tree.best.id else "red" if node.score is None else ""
        what = f"{node.kind}: {node.change}" if node.id else "the start"
        drawn[node.id] = drawn[node.parent].add(Text(f"{node.id} {score} {what}", style=style))
    console.print(drawing)


def _document(task: Task) -> dict[str, Any]:
    spec = task.spec.model_dump(mode="json", by_alias=True)
    return spec | {
        "suite": task.suite,
        "profile": task.profile,
        "digest": task.digest,
        "source": task.source.model_dump(mode="json"),
        "evil": {name: evil.expect for name, evil in task.evil_solutions.items()},
    }


def _print(task: Task) -> None:
    from rich.table import Table

    spec, source = task.spec, task.source
    console.print(f"[bold]{task.name}[/bold] {spec.version}  {spec.title}")
    console.print(f"{spec.domain}, track {spec.track}, deliverable {spec.deliverable}, digest {task.digest[:12]}")
    budget = spec.budget
    console.print(
        f"budget: {budget.solve_minutes:g} min, {budget.attempts} attempts, {budget.run_seconds:g} s a run, "
        f"{budget.cpus} core(s), {budget.memory_mb} MB; profiles: {', '.join(spec.profiles) or 'none'}\n"
    )
    table = Table("instance", "metric", "better", "baseline", "SOTA", "unit", "scale", box=None, header_style="bold")
    for instance in spec.instance:
        table.add_row(
            instance.name,
            instance.metric,
            instance.direction,
            f"{instance.baseline:g} ± {instance.baseline_spread:g}",
            f"{instance.sota:g} ± {instance.sota_spread:g}",
            instance.unit,
            instance.scale,
        )
    console.print(table)
    paper = source.paper
    console.print(f"\nsource: {', '.join(paper.authors)}, {paper.title}, {paper.venue} {paper.year}, doi:{paper.doi}")
    console.print(f"must be rejected: {', '.join(task.evil_solutions) or 'no evil solution'}")
