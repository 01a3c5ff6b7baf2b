"""`surpass simulate`: searches in a made-up world, thousands a minute, to see which policy wins where."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surpass.cli._options import Json
from surpass.cli._output import console, emit_json, notes

if TYPE_CHECKING:
    from surpass.search import Curve, World

__all__ = ["simulate"]

_DEFAULT = "flat,tree,forest,aide,multi_aide"


def simulate(
    policies: Annotated[str, typer.Option("--policies", help="Names, joined by commas.")] = _DEFAULT,
    nodes: Annotated[int, typer.Option("--nodes", min=1, help="Versions a search.")] = 20,
    searches: Annotated[int, typer.Option("--searches", min=2, help="Searches of each policy.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Of the first search.")] = 0,
    world: Annotated[
        str, typer.Option("--world", help="Parameters, for example good=0.2,neutral=0.5,breaking=0.3,noise=0.1.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the picture there, as SVG.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Expected true recovery of what each policy would hand in, against its budget, with 95 % intervals."""
    from surpass.search import POLICIES
    from surpass.search import simulate as run_searches
    from surpass.task import UnknownNameError
    from surpass.web import search_curves_svg

    names = [name.strip() for name in policies.split(",") if name.strip()]
    playable = [name for name in POLICIES if name != "decompose"]  # a made-up world has no checklist
    for name in names:
        if name not in playable:
            raise UnknownNameError("policy", name, playable)
    made = _world(world)
    curves = run_searches({name: POLICIES[name]() for name in names}, made, nodes=nodes, searches=searches, seed=seed)
    document = {"world": dataclasses.asdict(made), "nodes": nodes, "searches": searches, "seed": seed}
    document["curves"] = [dataclasses.asdict(curve) for curve in curves]
    if output:
        output.write_text(search_curves_svg(curves), encoding="utf-8")
        notes.print(f"picture: {output}", soft_wrap=True, markup=False)
    emit_json(document) if json else _print(curves, nodes)


def _world(text: str) -> World:
    from surpass.search import World
    from surpass.task import UnknownNameError

    known = {field.name for field in dataclasses.fields(World)}
    values: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise UnknownNameError("parameter of a world", name, sorted(known))
        try:
            values[name] = int(value) if name == "ideas" else float(value)
        except ValueError:
            raise typer.BadParameter(f"{name} must be a number, not '{value}'") from None
    try:
        return World(**values)  # type: ignore[arg-type]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _print(curves: list[Curve], nodes: int) -> None:
    from rich.table import Table

    shown = sorted({n for n in (1, 2, 5, 10, 20, 50, 100, nodes) if n <= nodes})
    table = Table("policy", *(f"{n} nodes" for n in shown), "cost", box=None, header_style="bold")
    for curve in curves:
        points = [curve.points[n] for n in shown]
        cells = [f"{point.mean:.3f} ± {point.high - point.mean:.3f}" for point in points]
        table.add_row(curve.policy, *cells, f"{points[-1].cost:.1f}")
    console.print(table)
