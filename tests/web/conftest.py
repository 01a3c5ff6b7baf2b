"""The same experiments as in tests/analysis."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))  # pytest's importlib mode leaves sys.path alone

from journalled import Book, with_second_instance


@pytest.fixture
def make_book(make_task, tmp_path: Path):
    """A planned experiment on two tasks whose trials are still to be written."""

    def build(agents=("one",), *, tasks=None, **options) -> Book:
        tasks = tasks or [make_task(), with_second_instance(make_task, "estimate-both")]
        return Book(tmp_path / "experiment", tasks, agents, **options)

    return build
