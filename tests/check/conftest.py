"""A finished package to break: the scaffold with its placeholders replaced."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from surpass.check.static.reading import PLACEHOLDER
from surpass.task import Task, load
from surpass.task.scaffold import scaffold
from tests.check.edits import Edit, swap

REPLACEMENTS = {
    "hints/method.md": {
        f"{PLACEHOLDER}: the core method in your own words, with its formulas.": "Resist, then average."
    },
    "hints/full.md": {
        f"{PLACEHOLDER}: parameters, pitfalls and checks that a reader of the whole paper would know.": "Numbers:"
    },
    "private/source.toml": {
        f"{PLACEHOLDER}: the licence of the paper and of every fact used here": "CC BY 4.0",
        f"{PLACEHOLDER}: the title of the paper": "Clipped Averages Estimate Reservoir Heights Robustly",
        f'["{PLACEHOLDER}"]': '["Quillfeather", "Ng"]',
        f'venue = "{PLACEHOLDER}"': 'venue = "Hydrology Letters"',
        f"10.0000/{PLACEHOLDER}": "10.1234/hydro.5678",
        f"{PLACEHOLDER}: names and words that would give the method away": "winsor",
        f"{PLACEHOLDER}: as printed": "6.83 +- 0.22e-3",
        f"{PLACEHOLDER}: table, figure or file": "Table 2",
        f"{PLACEHOLDER}: how the number in task.toml follows from it": "read off as printed",
    },
}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = scaffold("my-sensor", tmp_path_factory.mktemp("finished")).root
    for name, changes in REPLACEMENTS.items():
        for old, new in changes.items():
            swap(name, old, new)(root)
    return root


@pytest.fixture
def package(finished: Path, tmp_path: Path) -> Callable[..., Task]:
    """A copy of the finished package, changed."""

    def make(*edits: Edit, profile: str = "quick") -> Task:
        root = tmp_path / "packages" / "my-sensor"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(finished, root)
        for edit in edits:
            edit(root)
        return load(root, profile=profile)

    return make
