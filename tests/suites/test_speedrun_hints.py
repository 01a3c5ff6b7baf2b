"""Hints of the speedrun suite: three formats of one description, with measured numbers only."""

import json
import re
from itertools import pairwise

import pytest

from surpass.suites.speedrun.hints import hints, read_transition, title_of
from tests.suites.test_speedrun_records import RECORDS, SUITE

PAIRS = list(pairwise(RECORDS))
MEASURED = {
    "micro": {
        "target": 3.0,
        "date": "2026-12-01",
        "records": [
            {"record": record.stem, "steps": 10, "loss": 2.9, "loss_sd": 0.01, "seconds": 1.5, "runs": 4}
            for record in RECORDS
        ],
        "transitions": [{"after": record.stem, "saving": 0.25, "saving_se": 0.004} for record in RECORDS[1:]],
    },
    "full": {},
}


def of(before, after, found=MEASURED):
    transition = read_transition(SUITE / "transitions" / f"{before.stem}.toml")
    return transition, hints(transition, before, after, found)


def test_every_transition_is_described():
    assert sorted(path.stem for path in (SUITE / "transitions").glob("*.toml")) == [before.stem for before, _ in PAIRS]


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=lambda record: record.stem)
def test_three_to_five_modifications_each_with_its_trace_in_the_reference(before, after):
    transition, texts = of(before, after)
    assert 3 <= len(transition.modifications) <= 5
    assert len({each.id for each in transition.modifications}) == len(transition.modifications)
    traced = [each.evidence for each in transition.modifications if each.evidence]
    assert traced
    assert all(re.search(pattern, after.read_text(), re.MULTILINE) for pattern in traced)
    for each in transition.modifications:  # or the list would credit whoever changes nothing
        if each.evidence:
            assert bool(re.search(each.evidence, before.read_text(), re.MULTILINE)) == each.keep, each.id
    assert set(texts) == {"pseudocode", "text", "paper"}
    for each in transition.modifications:
        assert each.problem in texts["text"] and each.solution in texts["text"]
        assert each.pseudocode in texts["pseudocode"] and f"```text\n{each.pseudocode}" not in texts["paper"]
        assert each.problem not in texts["pseudocode"]


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=lambda record: record.stem)
def test_what_a_change_rests_on_is_there_already(before, after):
    transition, texts = of(before, after)
    for name in transition.needs:
        assert "r01" < name <= before.stem
        title = title_of(SUITE / "records" / f"{name}.py")
        assert all(title[1:] in text for text in texts.values())


def test_a_paper_quotes_what_was_measured_and_nothing_else():
    _, texts = of(*PAIRS[3])
    assert "saves 25.0% (standard error 0.4%) on the micro profile" in texts["paper"]
    assert "| micro | r04 | 10 | 2.9000 | 0.0100 | 1.50 | 4 |" in texts["paper"]
    assert "2026-12-01" in texts["paper"]
    _, bare = of(*PAIRS[3], {"full": {}, "micro": {}})
    assert "it saves" not in bare["paper"]
    assert "Nothing has been measured" in bare["paper"]


def test_sections_of_a_paper():
    _, texts = of(*PAIRS[0])
    sections = re.findall(r"^## (.*)$", texts["paper"], re.MULTILINE)
    assert sections == ["Abstract", "Method", "Results", "Discussion", "What it rests on", "Steps"]


def test_what_is_committed_was_measured_on_these_records():
    """Steps in calibration/*.json are those of the scripts: after a change it has to be measured again."""
    files = sorted((SUITE / "calibration").glob("*.json"))
    assert [file.stem for file in files] == ["full", "micro"]
    for file in files:
        document = json.loads(file.read_text())
        assert document["holds"]
        assert document["target"] == json.loads((SUITE / "targets.json").read_text())[file.stem]
        for record in document["records"]:
            text = (SUITE / "records" / f"{record['record']}.py").read_text()
            (steps,) = re.findall(rf'"{file.stem}": {{.*"steps": (\d+)', text)
            assert record["steps"] == int(steps)
