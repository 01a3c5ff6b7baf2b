"""NatureBench's g, rule by rule (reference/naturebench.md, section 2)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.score import MISSING, Table, TableRow, UndefinedGap, build_table, find_value, gap, instance_gap, parse_sota

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9)
DECIMALS = st.decimals(-1000, 1000, places=3).map(str)
NAN = math.nan


PROBED = [
    ("0.939 ± 0.002", 0.939),
    ("95.5%", 95.5),
    ("1,234", 1.0),
    (".95", None),
    ("AUC 0.9", None),
    ("\u22120.5", None),
    ("≈0.8", None),
    ("(0.8)", None),
    ("[0.8,0.9]", None),
    ("1e-3-2e-3", 0.001),
    ("0.5/0.6", 0.5),
    ("0.80 -- 0.90", 0.8),
    ("nan", None),
    ("inf", None),
    ({}, None),
    ({"method": "ours"}, None),
]
STEPS = [
    (None, None),
    (True, None),
    (False, None),
    (3, 3.0),
    (0.25, 0.25),
    (10**400, None),
    ("", None),
    ("   ", None),
    ("best of 3, Mean = 1.5e-3 here", 1.5e-3),
    ("0.7 (mean=0.9)", 0.9),
    ("geomean = 3", None),
    ("0.8 (n = 5)", 0.8),
    ("~0.8", 0.8),
    (" ~ 0.8 ", 0.8),
    ("~~0.8", 0.8),
    ("~ ~0.8", None),
    ("~ ~0.8 ± 0.1", 0.8),
    ("< 0.05", 0.05),
    ("<=1e-4", 1e-4),
    ("> 7 x", 7.0),
    (">=-2", -2.0),
    ("≤ 3", None),
    ("± 0.2", None),
    ("0.8±0.1", 0.8),
    ("+5", 5.0),
    ("-1.5E2 units", -150.0),
    ("5.", 5.0),
    ("0.8-0.9%", 0.8),
]
RANGES = [
    ("-5-3", -5.0, 3.0),
    ("0.7 to 0.9", 0.7, 0.9),
    ("0.7-0.9", 0.7, 0.9),
    ("0.7–0.9", 0.7, 0.9),  # noqa: RUF001
    ("0.7—0.9", 0.7, 0.9),
    ("~0.7 - ~0.9", 0.7, 0.9),
    ("0.9-0.7", 0.9, 0.7),
    ("0.7 to 0.9 (sd)", 0.7, 0.9),
]


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize(("text", "expected"), PROBED + STEPS)
def test_sota_text(text, expected, higher):
    assert parse_sota(text, higher) == expected


@pytest.mark.parametrize(("text", "first", "second"), RANGES)
def test_a_range_is_read_by_position(text, first, second):
    assert (parse_sota(text, False), parse_sota(text, True)) == (first, second)


def test_a_bare_nan_stays_nan():
    assert math.isnan(parse_sota(NAN, True))


@given(st.text(alphabet="0123456789.-+eE~<>=±()%– toMmean", max_size=20), st.booleans())  # noqa: RUF001
def test_any_text_gives_a_number_or_nothing(text, higher):
    parsed = parse_sota(text, higher)
    assert parsed is None or isinstance(parsed, float)


@given(DECIMALS, st.sampled_from(["", "%", " units", " ± 0.1", " (sd 0.2)", "±3"]), st.booleans())
def test_decoration_does_not_change_the_number(number, after, higher):
    assert parse_sota(f"~ {number}{after}", higher) == float(number)


@given(DECIMALS, DECIMALS, st.sampled_from([" to ", "-", " – ", "—"]))  # noqa: RUF001
def test_every_range_is_read_by_position(a, b, dash):
    assert parse_sota(f"{a}{dash}{b}", False) == float(a)
    assert parse_sota(f"{a}{dash}{b}", True) == float(b)


def entry(name="a", metric="acc", direction="higher_is_better", sota="0.8", **more):
    primary = {"name": metric, "is_primary": True, "metric_direction": direction, "sota_score": sota}
    return {"dataset_name": name, "metrics": [primary], **more}


def table_of(*entries):
    return build_table({"performance_entries": list(entries)})


@pytest.mark.parametrize(
    ("field", "high", "low"),
    [
        ([{"value": "0.8", "method": "x"}, {"value": "0.9 ± 0.1", "method": "y"}], 0.9, 0.8),
        ([{"value": None}, "n/a", 0.7, {"method": "z"}], 0.7, 0.7),
        ({"value": "~3"}, 3.0, 3.0),
        ("2 to 4", 4.0, 2.0),
        (5, 5.0, 5.0),
    ],
)
def test_the_best_candidate_counts(field, high, low):
    assert table_of(entry(sota=field)).rows["a"] == TableRow("acc", "higher", high)
    assert table_of(entry(sota=field, direction="lower_is_better")).rows["a"] == TableRow("acc", "lower", low)


@pytest.mark.parametrize("direction", ["lower_is_better", "Higher_is_better", "higher", "", None])
def test_any_other_direction_means_lower(direction):
    assert table_of(entry(direction=direction)).rows["a"].direction == "lower"


def test_the_first_primary_metric_counts():
    metrics = [
        {"name": "no", "is_primary": False, "sota_score": 1},
        {"name": "yes", "is_primary": 1, "metric_direction": "higher_is_better", "sota_score": 2},
        {"name": "late", "is_primary": True, "sota_score": 3},
    ]
    assert table_of({"instance_name": "i", "metrics": metrics}).rows == {"i": TableRow("yes", "higher", 2.0)}


@pytest.mark.parametrize(
    "bad",
    [
        "text",
        entry(name=""),
        {"dataset_name": "b"},
        {"dataset_name": "b", "metrics": None},
        {"dataset_name": "b", "metrics": [{"name": "acc", "sota_score": 1}]},
        entry(metric=None),
        entry(sota="n/a"),
        entry(sota=None),
        entry(sota=[]),
        entry(sota="0"),
        entry(sota=0.0),
    ],
)
def test_an_unusable_entry_is_dropped_with_a_warning(bad):
    table = table_of(entry("kept"), bad)
    assert list(table.rows) == ["kept"]
    assert len(table.warnings) == 1 and "entry 2" in table.warnings[0]


def test_the_last_of_one_name_wins_unless_it_is_dropped():
    assert table_of(entry(sota=1), entry(sota=2)).rows["a"].sota == 2
    assert table_of(entry(sota=1), entry(sota=0)).rows["a"].sota == 1


@pytest.mark.parametrize("metadata", [{}, {"performance_entries": None}, {"performance_entries": []}])
def test_metadata_without_entries_gives_an_empty_table(metadata):
    table = build_table(metadata)
    assert table.rows == {} and table.warnings
    assert gap({"a": {"acc": 1}}, table).aggregate is None


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"acc": 1}, 1),
        ({"A_c-C ": 0.5}, 0.5),
        ({"acc%": 1}, None),
        ({"acc (test)": 1}, None),
        ({"acc": True}, None),
        ({"acc": "0.5"}, None),
        ({"acc": None}, None),
        ({"acc": [0.5]}, None),
        ({"x": {"y": {"acc": 2}}}, 2),
        ({"x": [{"acc": 2}]}, None),
        ({"x": {"acc": 2}, "Acc": 1}, 1),
        ({"acc": {"acc": 3}}, 3),
        ({"acc": None, "ACC": 4}, 4),
        ({}, None),
        (0.5, None),
        (None, None),
        ([{"acc": 1}], None),
    ],
)
def test_where_a_value_is_found(scores, expected):
    assert find_value(scores, "acc") == expected


def test_blanks_and_case_of_the_wanted_name_are_ignored_too():
    assert find_value({"top1": 0.9}, "Top-1") == 0.9
    assert find_value({"f 1_score": 0.9}, "F1-Score") == 0.9


@pytest.mark.parametrize(
    ("value", "sota", "direction", "expected"),
    [
        (0.88, 0.8, "higher", 0.1),
        (0.88, 0.8, "lower", -0.1),
        (-3.0, -4.0, "higher", 0.25),
        (300.0, 1.0, "lower", -299.0),
        (None, 0.8, "higher", -1.0),
        (math.nan, 0.8, "higher", -1.0),
        (math.inf, 0.8, "higher", -1.0),
        (-math.inf, 0.8, "lower", -1.0),
        (10**400, 0.8, "higher", -1.0),
    ],
)
def test_the_gap_of_one_instance(value, sota, direction, expected):
    assert instance_gap(value, sota, direction) == pytest.approx(expected)


def test_no_gap_to_zero():
    with pytest.raises(UndefinedGap):
        instance_gap(1.0, 0.0, "lower")


TABLE = Table({"a": TableRow("acc", "higher", 0.8), "b": TableRow("rmse", "lower", 2.0)})


@pytest.mark.parametrize(
    ("raw", "a", "b"),
    [
        ({"a": {"acc": 0.8}, "b": {"rmse": 1.0}}, 0.0, 0.5),
        ({"a": {"acc": 0.8}}, 0.0, -1.0),
        ({"a": {"acc": 0.8}, "b": {"acc": 1.0}}, 0.0, -1.0),
        ({"acc": 0.9, "rmse": 1.0}, -1.0, -1.0),
        ({"A": {"acc": 0.9}, "b": 1.0}, -1.0, -1.0),
        ({"a": {"acc": NAN}, "b": {"rmse": 2002.0}}, -1.0, -1000.0),
        ({}, -1.0, -1.0),
    ],
)
def test_the_aggregate_is_the_mean_over_the_whole_table(raw, a, b):
    result = gap(raw, TABLE)
    assert result.per_instance == pytest.approx({"a": a, "b": b})
    assert result.aggregate == pytest.approx((a + b) / 2)


def test_a_nan_sota_poisons_the_mean_only_where_there_is_a_value():
    table = table_of(entry(sota=NAN), entry("b"))
    assert math.isnan(gap({"a": {"acc": 1}, "b": {"acc": 1}}, table).aggregate)
    assert gap({"b": {"acc": 0.8}}, table).aggregate == -0.5


@given(NUMBERS, NUMBERS.filter(lambda x: abs(x) > 1e-9), st.floats(0.01, 100))
def test_g_does_not_depend_on_the_unit_and_flips_with_direction(value, sota, unit):
    g = instance_gap(value, sota, "higher")
    assert instance_gap(value, sota, "lower") == -g
    if abs(g) < 1e6:
        assert instance_gap(value * unit, sota * unit, "higher") == pytest.approx(g, abs=1e-6)
    assert instance_gap(sota, sota, "lower") == 0


@given(st.dictionaries(st.text(max_size=3), st.tuples(NUMBERS.filter(lambda x: abs(x) > 1e-3), NUMBERS), max_size=6))
def test_every_instance_of_the_table_counts_once(cells):
    table = Table({name: TableRow("m", "lower", sota) for name, (sota, _) in cells.items()})
    full = gap({name: {"M": value} for name, (_, value) in cells.items()}, table)
    assert list(full.per_instance) == list(cells)
    empty = gap({}, table)
    assert empty.aggregate == (MISSING if cells else None)
    if cells:
        assert full.aggregate == pytest.approx(math.fsum(full.per_instance.values()) / len(cells))
    else:
        assert full.aggregate is None
