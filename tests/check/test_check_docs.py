"""docs/reference/checks.md and the registry say the same."""

from __future__ import annotations

import re
from pathlib import Path

from surpass.check import CHECKS

PAGE = (Path(__file__).parents[2] / "docs/reference/checks.md").read_text("utf-8")


def test_the_tables_are_the_registry():
    rows = re.findall(r"^\| ([SD]\d\d) \| (\w+) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    assert rows == [(check.id, check.kind.value, check.title, check.why, check.fix) for check in CHECKS]


def test_ids_are_unique_and_counted():
    for letter, kind in (("S", "static"), ("D", "dynamic")):
        ids = [check.id for check in CHECKS if check.kind == kind]
        assert ids == [f"{letter}{number:02}" for number in range(1, len(ids) + 1)]


def test_all_36_checks_of_the_peer_are_mapped_to_ours():
    counts = {0: 5, 1: 9, 2: 6, 3: 7, 4: 9}
    mapped = dict(re.findall(r"^\| (C\d\.\d) \| .+? \| (.+?) \|$", PAGE, re.MULTILINE))
    assert list(mapped) == [f"C{group}.{number}" for group, count in counts.items() for number in range(1, count + 1)]
    known = {check.id for check in CHECKS}
    for there, here in mapped.items():
        assert set(re.findall(r"[SD]\d\d", here)) <= known
        assert re.search(r"[SD]\d\d|on loading|none: ", here), there
