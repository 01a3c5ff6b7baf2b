"""Experiments on the small task, and a journal on each database."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from surpass.trial import create, make_plan


def postgres_url() -> str:
    """A schema of its own on the server that continuous integration starts; skips without one."""
    url = os.environ.get("SURPASS_TEST_POSTGRES")
    if not url:
        pytest.skip("no PostgreSQL: set SURPASS_TEST_POSTGRES (the CI script starts a server)")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journal.db'}" if request.param == "sqlite" else postgres_url()


@pytest.fixture
def make_experiment(make_task, tmp_path):
    def build(agents=("oracle",), *, files=None, **options):
        plan = make_plan([make_task(files)], list(agents), reproducible=True, **options)
        return create(tmp_path / f"exp-{uuid.uuid4().hex[:6]}", plan)

    return build
