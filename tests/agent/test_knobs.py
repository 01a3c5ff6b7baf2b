"""Knobs: found, applied, and refused with the line when they cannot be read."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.agent.knobs import Knob, KnobError, apply, find

SOURCE = """
RIDGE = 1e-3  # knob: log 1e-9 1.0
TAPS: int = 2  # knob: int 1 8
RULE = "best"  # knob: choice best worst
OTHER = 4  # a comment
    INDENTED = 1  # knob: int 0 2
"""


def test_every_declared_knob_is_found():
    assert find(SOURCE) == [
        Knob("RIDGE", "log", 1e-3, 1e-9, 1.0),
        Knob("TAPS", "int", 2, 1.0, 8.0),
        Knob("RULE", "choice", "best", choices=("best", "worst")),
    ]


@given(st.floats(1e-9, 1.0), st.integers(1, 8), st.sampled_from(["best", "worst"]))
def test_applying_changes_the_values_and_nothing_else(ridge, taps, rule):
    values = {"RIDGE": ridge, "TAPS": taps, "RULE": rule}
    changed = apply(SOURCE, values)
    assert {knob.name: knob.default for knob in find(changed)} == values
    assert (
        apply(changed, {"RIDGE": 1e-3, "TAPS": 2, "RULE": "best"}).replace("0.001", "1e-3").replace("'", '"') == SOURCE
    )
    assert "OTHER = 4  # a comment" in changed


@pytest.mark.parametrize(
    "line",
    [
        "A = 1  # knob: int 2 3",
        "A = 0.5  # knob: log 0 1",
        "A = 1  # knob: integer 0 3",
        "A = 1  # knob: int 0",
        'A = "x"  # knob: choice y z',
        "A = f()  # knob: int 0 3",
    ],
)
def test_a_bad_knob_names_its_line(line):
    with pytest.raises(KnobError, match="line 2"):
        find(f"# first\n{line}\n")


def test_values_are_written_as_literals():
    text = apply("A = 1.0  # knob: float 0 2\n", {"A": 1 / 3})
    assert ast.literal_eval(text.split("=")[1].split("#")[0].strip()) == 1 / 3
