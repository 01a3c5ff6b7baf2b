"""Each static check: the finished package passes it, a package with one defect fails it and, mostly, nothing else."""

from __future__ import annotations

import json

import pytest

from surpass.check import CHECKS, run_checks
from tests.check.edits import append, remove, swap, together, write

STATIC = [check.id for check in CHECKS if check.kind == "static"]

REDERIVED = together(
    swap("private/source.toml", "6.83 +- 0.22e-3", "8.1e-3"),
    swap("private/source.toml", "read off as printed", "the authors' code, run again, gives 6.83e-3"),
)

BREAKS = [
    ("S01", "private/evaluator.py", remove("private/evaluator.py")),
    ("S01", "public/start", remove("public/start")),
    ("S01", "generate.py", remove("private/generate.py")),
    ("S02", "'tanks'", swap("task.toml", "settings = { sensors = 100 }", "settings = { tanks = 100 }")),
    ("S03", "'tank'", swap("brief.md", "The instance `tank` is", "It is")),
    ("S03", "'rmse'", swap("brief.md", "`rmse`", "an error")),
    ("S03", "levels.npy", swap("brief.md", "outputs/final/levels.npy", "outputs/final/level.npy")),
    ("S04", "'rmse'", swap("private/evaluator.py", '"rmse"', '"error"')),
    ("S04", "'tank'", swap("private/evaluator.py", '"tank"', '"vat"')),
    ("S05", "lower is better", swap("brief.md", "Lower is better.", "")),
    ("S06", "no [[row]]", swap("private/source.toml", 'instance = "tank"', 'instance = "vat"')),
    ("S06", "'row.0.where' is missing", swap("private/source.toml", 'where = "Table 2"', "")),
    ("S06", "'checked'", swap("private/source.toml", 'checked = "read off as printed"', 'checked = " "')),
    ("S07", "0.00683", swap("private/source.toml", "6.83 +- 0.22e-3", "7.83 +- 0.22e-3")),
    ("S08", "hints/full.md", remove("hints/full.md")),
    ("S08", "too short", write("hints/method.md", "Try.")),
    ("S09", "no function evaluate", swap("private/evaluator.py", "def evaluate(", "def assess(")),
    ("S09", "generate()", swap("private/generate.py", "seed: int, inputs", "inputs, seed: int, _inputs")),
    ("S09", "without a default", swap("private/generate.py", "sensors: int = 400", "sensors: int")),
    ("S10", "public/start/", together(remove("public/start/solve.py"), write("public/start/notes.md", "x"))),
    ("S11", "nothing that the start does not", swap("solutions/oracle/solve.py", "", "")),
    ("S11", "agents can read it", write("public/reference.py", "")),
    ("S12", "solutions/oracle/solve.py", append("solutions/oracle/solve.py", "\ndef (:\n")),
    ("S13", "standard errors apart", swap("task.toml", "baseline_spread = 0.004", "baseline_spread = 0.8")),
    (
        "S13",
        "linear scale",
        together(
            swap("task.toml", 'scale = "log"', 'scale = "linear"'), swap("task.toml", "sota = 6.83e-3", "sota = 1e-4")
        ),
    ),
    (
        "S14",
        "averages estimate reservoir heights",
        append("hints/full.md", "\nSee Clipped averages: estimate\nreservoir heights\n"),
    ),
    ("S15", "'Quillfeather'", append("public/README.txt", "after quillfeather et al.")),
    ("S15", "'Ng'", append("hints/full.md", "\nAsk Ng for the rest.\n")),
    ("S15", "DOI", append("brief.md", "\nhttps://doi.org/10.1234/HYDRO.5678\n")),
    ("S15", "venue", append("brief.md", "\nAs in Hydrology Letters.\n")),
    ("S16", "'winsor'", append("public/notes/WINSORIZE.md", "x")),
    ("S17", "'evaluator'", append("brief.md", "\nThe evaluator reads it.\n")),
    ("S17", "'private/'", append("hints/full.md", "\nsee private/truth\n")),
    ("S18", "'resist'", swap("task.toml", "median|percentile|sort|clip", "winsor")),
    ("S19", "symbolic link", lambda root: (root / "public/data").symlink_to("/etc")),
    ("S20", "data.pkl", write("public/data.pkl", b"x")),
    ("S20", "weights.bin", write("public/weights.bin", b"\x80\x04\x95")),
    ("S21", "17 MiB", lambda root: (root / "public/big.bin").write_bytes(bytes(17 << 20))),
    ("S22", "not installed", swap("task.toml", '["numpy"]', '["numpy", "no-such-package-here"]')),
    ("S22", "installed", swap("task.toml", '["numpy"]', '["numpy>=99"]')),
    ("S23", "imports scipy", append("public/start/solve.py", "\nimport scipy\n")),
    ("S23", "imports surpass", append("public/start/solve.py", "\nimport surpass\n")),
    ("S24", "there are 2", remove("solutions/evil-nan")),
    ("S24", "evil.toml", remove("solutions/evil-nan/evil.toml")),
    ("S24", "'Not finite'", swap("solutions/evil-nan/evil.toml", "not-finite", "Not finite")),
    ("S25", "network is true", swap("task.toml", "network = false", "network = true")),
    ("S25", "imports urllib", append("public/start/solve.py", "\nimport urllib.request\n")),
    ("S26", "AWS", append("private/notes.md", "AKIA" + "ABCDEFGHIJKLMNOP")),
    ("S26", "private key", append("public/notes.md", "-----BEGIN RSA PRIVATE " + "KEY-----")),
    ("S27", "run_seconds", swap("task.toml", "run_seconds = 60", "run_seconds = 100000")),
    ("S27", "profile 'quick'", swap("task.toml", "solve_minutes = 2 }", "solve_minutes = 0.5 }")),
    ("S28", "hints/full.md:", append("hints/full.md", "\nREPLACE-ME\n")),
    ("S29", "no dtype", swap("brief.md", "float64", "number")),
    ("S29", "words", write("brief.md", "# Tank\n\nLower `rmse` of `tank`, outputs/final/levels.npy, float64 (S, 3)")),
    ("S30", "'/home/alice'", append("public/start/solve.py", "\n# see /home/" + "alice/data\n")),
    (
        "S31",
        "surpass.guard",
        write("private/evaluator.py", "def evaluate(outputs, truth):\n    return {'tank': {'rmse': 1}}\n"),
    ),
    ("S31", "allows pickles", swap("private/evaluator.py", "allow_pickle=False", "allow_pickle=True")),
    ("S31", "calls eval()", append("private/evaluator.py", "\nX = eval('1')\n")),
    ("S31", "imports pickle", append("private/evaluator.py", "\nimport pickle\n")),
    ("S32", "10 minutes", append("brief.md", "\nYou have 10 minutes.\n")),
    ("S33", "no licence", swap("private/source.toml", "CC BY 4.0", "")),
]


def _fails(task, check):
    return [finding for finding in run_checks(task, static_only=True, only=[check]) if finding.status == "fail"]


def test_the_finished_package_passes_every_static_check(package):
    findings = run_checks(package(), static_only=True)
    assert [finding for finding in findings if finding.status != "pass"] == []
    assert [finding.id for finding in findings] == STATIC


def test_every_static_check_has_a_package_that_fails_it():
    assert {check for check, _, _ in BREAKS} == set(STATIC)


@pytest.mark.parametrize(("check", "says", "edit"), BREAKS, ids=[f"{c}-{i}" for i, (c, _, _) in enumerate(BREAKS)])
def test_a_defect_is_found(package, check, says, edit):
    def same_as_start(root):
        (root / "solutions/oracle/solve.py").write_bytes((root / "public/start/solve.py").read_bytes())

    def same_as_oracle(root):
        (root / "public/reference.py").write_bytes((root / "solutions/oracle/solve.py").read_bytes())

    extra = {"nothing that the start does not": same_as_start, "agents can read it": same_as_oracle}.get(says)
    task = package(edit, *([extra] if extra else []))
    fails = _fails(task, check)
    assert any(says in finding.reason for finding in fails), fails
    assert all(finding.fix and finding.task == "local/my-sensor@quick" for finding in fails)
    json.dumps([finding.to_dict() for finding in fails])


@pytest.mark.parametrize(
    ("check", "edit"),
    [
        ("S03", swap("brief.md", "outputs/feedback/levels.npy", "outputs/<tier>/levels.npy")),
        ("S04", swap("private/evaluator.py", '{"tank":', '{f"ta{chr(110)}k":')),
        ("S07", REDERIVED),
        ("S14", append("brief.md", "\nAverages of heights, robustly: an estimate.\n")),
        ("S15", append("brief.md", "\nA fast way; hydrology; letters; doing; ngl.\n")),
        ("S16", append("brief.md", "\nPreswinsor.\n")),
        ("S17", append("brief.md", "\nIn private, we evaluate.\n")),
        ("S20", write("public/data.txt", "\x80 is not a pickle")),
        ("S26", append("brief.md", "\ntask-sk-and-other-words, https://example.org/a:b\n")),
        ("S30", append("brief.md", "\nThe folder home/alice lies below /data.\n")),
        ("S32", append("brief.md", "\nA tank fills in 2 minutes.\n")),
    ],
)
def test_a_near_miss_passes(package, check, edit):
    assert _fails(package(edit), check) == []


def test_what_another_check_reports_is_a_skip(package):
    findings = {f.id: f for f in run_checks(package(remove("private/source.toml")), static_only=True)}
    assert findings["S01"].status == findings["S06"].status == "fail"
    assert {findings[name].status for name in ("S07", "S14", "S15", "S16", "S33")} == {"skip"}
    assert "S06" in findings["S14"].reason


def test_several_problems_are_several_findings(package):
    task = package(append("brief.md", "\nThe evaluator in private/ of Quillfeather.\n"))
    assert len([f for f in run_checks(task, static_only=True) if f.status == "fail"]) == 3
