"""Expected recovery against budget for several policies, as a standalone SVG."""

from __future__ import annotations

import io
from collections.abc import Sequence

from surpass.search import Curve

__all__ = ["search_curves_svg"]

_WIDTH, _HEIGHT = 560, 320


def search_curves_svg(curves: Sequence[Curve]) -> str:
    """A line a policy over the nodes spent, with its 95 % interval as a band."""
    import altair as alt

    rows = [
        {"policy": curve.policy, "nodes": point.nodes, "mean": point.mean, "low": point.low, "high": point.high}
        for curve in curves
        for point in curve.points
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("nodes:Q", title="versions tried"),
        color=alt.Color("policy:N", sort=[curve.policy for curve in curves]),
    )
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", title="true recovery of the chosen version"), y2="high:Q"
    )
    chart = alt.layer(band, base.mark_line().encode(y="mean:Q")).properties(width=_WIDTH, height=_HEIGHT)
    file = io.StringIO()
    chart.configure(background="white", view=alt.ViewConfig(stroke=None)).save(file, format="svg")
    return file.getvalue()
