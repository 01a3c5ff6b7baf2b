"""The attempts-over-time plot. Colours are the page's CSS variables, so one drawing serves light and dark."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from surpass.analysis import AttemptSeries

__all__ = ["COLOURS", "attempts_plot"]

COLOURS = 8
"""Agents beyond these share a colour with an earlier one; the tables tell them apart."""
_WIDTH, _HEIGHT = 400, 210


def attempts_plot(series: Sequence[AttemptSeries], colours: Mapping[str, int]) -> str:
    """An SVG element: best recovery so far, one line a trial, and a mark for each attempt; empty without attempts.

    Names never enter the drawing: `colours` gives each agent's number, and the legend is the page's business.
    """
    series = [one for one in series if one.points]
    if not series:
        return ""
    import altair as alt

    longest = max(one.minutes for one in series)
    # Quick profiles last seconds: ticks of 0.005 minutes would help nobody.
    unit, per_minute = ("minutes", 1.0) if longest >= 2 else ("seconds", 60.0)
    marks = _marks(series, colours, per_minute)
    lowest = min([0.0, *(mark["y"] for mark in marks if mark["scored"])])
    floor = lowest - 0.12
    highest = max([1.0, *(mark["y"] for mark in marks if mark["scored"])]) + 0.08
    for mark in marks:
        mark["y"] = mark["y"] if mark["scored"] else floor
    x = alt.X(
        "x:Q",
        title=f"solve time, {unit}",
        scale=alt.Scale(domain=[0, max(longest * per_minute, 1e-3)], nice=False),
        axis=alt.Axis(tickCount=5, grid=False),
    )
    y = alt.Y(
        "y:Q",
        title="recovery (feedback tier)",
        scale=alt.Scale(domain=[floor, highest], nice=False),
        axis=alt.Axis(tickCount=5, grid=False),
    )
    colour = alt.Color("colour:N", scale=_scale(alt), legend=None)
    lines = alt.Chart(alt.Data(values=_steps(series, colours, per_minute)))
    points = alt.Chart(alt.Data(values=marks))
    references = alt.Chart(alt.Data(values=[{"y": 0.0, "name": "start"}, {"y": 1.0, "name": "SOTA"}]))
    chart = alt.layer(
        references.mark_rule(color="var(--rule-strong)", strokeDash=[2, 3]).encode(y=y),
        references.mark_text(align="left", dx=5, color="var(--muted)", fontSize=13).encode(
            x=alt.value(_WIDTH), y=y, text="name:N"
        ),
        lines.mark_line(interpolate="step-after", strokeWidth=1.6).encode(
            x=x, y=y, color=colour, detail="trial:N", order="order:Q"
        ),
        points.transform_filter("datum.scored").mark_circle(size=22, opacity=1).encode(x=x, y=y, color=colour),
        points.transform_filter("!datum.scored")
        .mark_point(shape="M-1,-1L1,1M-1,1L1,-1", size=26, strokeWidth=1.6, opacity=1)
        .encode(x=x, y=y, stroke=alt.Stroke("colour:N", scale=_scale(alt), legend=None)),
    )
    return _svg(chart.properties(width=_WIDTH, height=_HEIGHT), alt)


def _marks(series: Sequence[AttemptSeries], colours: Mapping[str, int], per_minute: float) -> list[dict[str, Any]]:
    return [
        {
            "x": point.minutes * per_minute,
            "y": point.recovery if point.recovery is not None else 0.0,
            "scored": point.recovery is not None,
            "colour": str(colours[one.agent]),
        }
        for one in series
        for point in one.points
    ]


def _steps(series: Sequence[AttemptSeries], colours: Mapping[str, int], per_minute: float) -> list[dict[str, Any]]:
    """Best so far after each attempt, and once more at the end of the trial."""
    steps: list[dict[str, Any]] = []
    for number, one in enumerate(series):
        path = [(point.minutes, point.best) for point in one.points if point.best is not None]
        if path:
            path.append((one.minutes, path[-1][1]))
        steps += [
            {"x": x * per_minute, "y": y, "trial": number, "order": order, "colour": str(colours[one.agent])}
            for order, (x, y) in enumerate(path)
        ]
    return steps


def _scale(alt: Any) -> Any:
    names = [str(number) for number in range(COLOURS)]
    return alt.Scale(domain=names, range=[f"var(--c{name})" for name in names])


def _svg(chart: Any, alt: Any) -> str:
    chart = chart.configure(
        aria=False,
        background="transparent",
        padding=2,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            domainColor="var(--rule-strong)",
            tickColor="var(--rule-strong)",
            labelColor="var(--muted)",
            titleColor="var(--muted)",
            titleFontWeight="normal",
            labelFontSize=13,
            titleFontSize=13,
            labelFont="inherit",
            titleFont="inherit",
        ),
        text=alt.MarkConfig(font="inherit"),
    )
    file = io.StringIO()
    chart.save(file, format="svg")
    # Inside HTML the namespace is known, and a page without any URL is easier to check for foreign ones.
    return re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", file.getvalue())
