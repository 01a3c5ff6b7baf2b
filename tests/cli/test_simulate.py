"""`surpass simulate`: figures for programs, a table for people, a picture, and sentences for what cannot be."""

import xml.etree.ElementTree as ET

import pytest


def test_every_policy_has_a_curve_with_its_interval(surpass, tmp_path):
    done = surpass("simulate", "--searches", 50, "--nodes", 6, "--json", "-o", tmp_path / "c.svg")
    assert done.code == 0, done.err
    document = done.json()
    assert [curve["policy"] for curve in document["curves"]] == ["flat", "tree", "forest", "aide", "multi_aide"]
    for curve in document["curves"]:
        assert [point["nodes"] for point in curve["points"]] == list(range(7))
        assert all(point["low"] <= point["mean"] <= point["high"] for point in curve["points"])
    assert ET.fromstring((tmp_path / "c.svg").read_text()).tag.endswith("svg")


def test_a_table_for_people(surpass):
    done = surpass("simulate", "--policies", "flat,aide", "--searches", 20, "--world", "good=0.5,neutral=0.2,noise=0")
    assert done.code == 0, done.err
    assert "20 nodes" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policies", "flat,aied"), "did you mean 'aide'"),
        (("--policies", "decompose"), "unknown policy"),
        (("--world", "goood=1"), "did you mean 'good'"),
        (("--world", "good=much"), "must be a number"),
        (("--world", "good=0.9"), "sum to 1"),
    ],
)
def test_what_cannot_be_is_a_sentence(surpass, arguments, said):
    done = surpass("simulate", *arguments)
    assert done.code != 0
    assert said in done.err.replace("\n", " ").replace("│ ", "")
