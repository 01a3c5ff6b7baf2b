"""Where a task stands on a ladder, by its id alone."""

import pytest

from surpass.task import Rung, rung_of


@pytest.mark.parametrize(
    ("name", "rung"),
    [
        ("r03-reproduce", Rung(3, "-reproduce")),
        ("speedrun/r21-optimise@micro", Rung(21, "-optimise")),
        ("nanogpt-r07-reproduce", Rung(7, "nanogpt-reproduce")),
        ("llmsr-r07-reproduce", Rung(7, "llmsr-reproduce")),
        ("r1", Rung(1, "")),
    ],
)
def test_rungs(name, rung):
    assert rung_of(name) == rung


@pytest.mark.parametrize("name", ["chaos-forecast", "nature/sort-kernels", "record-3", "rx2-a", "r2d2", ""])
def test_other_tasks_stand_on_none(name):
    assert rung_of(name) is None
