"""`surpass run`: agents on tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surpass.cli._options import Database, Json, Profile, Suite, TaskFolders, Unsafe, catalogue

__all__ = ["run"]


def run(
    agent: Annotated[
        list[str],
        typer.Option(
            "--agent", "-a", help="nop, oracle, tuner, a search such as aide, or module:Class of your own; repeatable."
        ),
    ],
    suite: Suite = "",
    task: Annotated[list[str] | None, typer.Option("--task", "-t", help="One task; repeatable.")] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="For agents that use one: provider/name, or replay/RECORDING.")
    ] = "",
    profile: Profile = "",
    trials: Annotated[int, typer.Option("--trials", "-k", min=1, help="Trials of each agent on each task.")] = 1,
    concurrency: Annotated[int, typer.Option("--concurrency", "-n", min=0, help="Trials at once; 0: by cores.")] = 0,
    hints: Annotated[
        str,
        typer.Option(
            "--hints",
            help="How much agents are told: minimal, method, full; speedrun: none, or any of pseudocode,text,paper.",
        ),
    ] = "minimal",
    cumulative: Annotated[
        bool, typer.Option("--cumulative", help="Each task starts from what the agent made of the task before.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeat a run exactly: hidden data follow from it.", show_default=False)
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", help="Use the measurements of this experiment instead of new ones.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Experiment directory.", show_default="runs/<date>")
    ] = None,
    tasks: TaskFolders = None,
    database: Database = "",
    unsafe: Unsafe = False,
    json: Json = False,
) -> None:
    """Run agents on tasks and print the scoreboard. Everything is journalled; `surpass resume` goes on after a stop."""
    from surpass.agent import build
    from surpass.cli._session import carry_out
    from surpass.hints import check_level
    from surpass.task import rung_of
    from surpass.trial import check_replay, create, make_plan, without_password

    if not suite and not task:
        raise typer.BadParameter("name a suite with -s or tasks with -t; `surpass list` shows them")
    agents = _agents(agent, model)
    check_level(hints)
    selected = catalogue(tasks).select(suite=suite, tasks=task or [], profile=profile)
    if cumulative and not any(rung_of(each.id) for each in selected):
        raise typer.BadParameter("--cumulative needs the tasks of a ladder, such as those of the speedrun suite")
    plan = make_plan(
        selected,
        agents,
        trials=trials,
        seed=0 if seed is None else seed,
        hints=hints,
        database=without_password(database),
        unsafe=unsafe,
        reproducible=seed is not None,
        cumulative=cumulative,
        replay=str(replay.absolute()) if replay else "",
    )
    if replay:
        check_replay(replay, {each.name: each.digest for each in plan.task})
    for each in selected:
        each.require_complete()
        for name in agents:
            build(name, each)
    carry_out(
        lambda capabilities: create(
            output or Path("runs") / plan.id,
            plan,
            capabilities=capabilities,
            password_url=database,
        ),
        unsafe=unsafe,
        concurrency=concurrency,
        database=database,
        json=json,
    )


def _agents(names: list[str], model: str) -> list[str]:
    """The agents as planned: they exist, and those that take a model have it."""
    from surpass.agent import check_name, with_model

    for name in names:
        check_name(name)
    agents = [with_model(name, model) for name in names]
    if model and agents == names:
        raise typer.BadParameter("none of these agents takes a model; leave -m out")
    return agents
