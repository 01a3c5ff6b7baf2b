"""Experiments without a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode leaves sys.path alone

from journalled import Book, with_second_instance


@pytest.fixture
def two_instances(make_task):
    """The small task with a second instance, on a log scale."""
    return with_second_instance(make_task, "estimate-both")


@pytest.fixture
def make_book(make_task, tmp_path: Path):
    """A planned experiment whose trials are still to be written."""

    def build(agents=("one",), *, tasks=None, **options) -> Book:
        return Book(tmp_path / "experiment", tasks or [make_task()], agents, **options)

    return build
