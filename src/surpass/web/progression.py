"""The record progression curve of a calibrated ladder: training time against record, as a standalone SVG."""

from __future__ import annotations

import io
from typing import Any

__all__ = ["progression_svg"]

_WIDTH, _HEIGHT = 640, 320
_INK, _GOOD, _BAD = "#333333", "#1f6f4a", "#b3261e"


def progression_svg(calibration: dict[str, Any]) -> str:
    """Draw what `surpass calibrate` wrote.

    The height of a record is the first record's mean time multiplied by the paired ratios since: absolute times
    move with the load of the machine, the ratios do not. Red marks a record that breaks a rule of the ladder.
    """
    import altair as alt

    data = alt.Data(values=_points(calibration))
    x = alt.X("record:N", sort=None, title="record", axis=alt.Axis(labelAngle=0))
    y = alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="training time, s (log scale)")
    colour = alt.condition("datum.holds", alt.value(_GOOD), alt.value(_BAD))
    base = alt.Chart(data).encode(x=x, y=y)
    chart = alt.layer(
        base.mark_line(interpolate="step-after", color=_INK, strokeWidth=1),
        base.mark_point(size=40, filled=False, strokeWidth=2).encode(color=colour),
        base.mark_text(dy=-12, fontSize=10, color=_INK).encode(text="label:N"),
    ).properties(width=_WIDTH, height=_HEIGHT, title=_title(calibration))
    file = io.StringIO()
    chart.configure(background="white", view=alt.ViewConfig(stroke=None)).save(file, format="svg")
    return file.getvalue()


def _points(calibration: dict[str, Any]) -> list[dict[str, Any]]:
    steps = {step["after"]: step for step in calibration["transitions"]}
    first = calibration["records"][0]["seconds"]
    points = []
    for record in calibration["records"]:
        step = steps.get(record["record"])
        points.append(
            {
                "record": record["record"],
                "seconds": first * record["relative"],
                "label": f"-{step['saving']:.0%}" if step else f"{first:.0f} s",
                "holds": record["holds"] and (step is None or step["holds"]),
            }
        )
    return points


def _title(calibration: dict[str, Any]) -> str:
    name = f"{calibration['suite']}, profile {calibration['profile']}, loss {calibration['target']:g} nats a token"
    return f"{name}, measured {calibration['date']}"
