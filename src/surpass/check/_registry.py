"""Every check there is, in the order in which it runs; docs/reference/checks.md lists the same."""

from __future__ import annotations

from surpass.check._types import Check, DynamicRun, Kind, StaticRun
from surpass.check.dynamic import arms, data, evaluator, malformed, program
from surpass.check.static import agreement, files, leaks, limits, scripts

__all__ = ["CHECKS"]


def _static(id: str, title: str, run: StaticRun, why: str, fix: str) -> Check:
    return Check(id, title, Kind.STATIC, why, fix, static=run)


def _dynamic(id: str, title: str, run: DynamicRun, why: str, fix: str) -> Check:
    return Check(id, title, Kind.DYNAMIC, why, fix, dynamic=run)


_STATIC = (
    _static(
        "S01",
        "required files",
        files.has_required_files,
        "Without them the task cannot be shown, run or judged.",
        "add the file (docs/reference/task-package.md says what it holds)",
    ),
    _static(
        "S02",
        "profiles",
        agreement.profiles_are_valid,
        "A profile that cannot be loaded or generated is found out only by whoever runs it.",
        "make the profile's settings keyword arguments of generate(), and its budget valid",
    ),
    _static(
        "S03",
        "names in the brief",
        agreement.brief_names_everything,
        "An agent cannot aim at an instance, metric or file that it was not told of.",
        "name it in brief.md, spelled as in task.toml",
    ),
    _static(
        "S04",
        "names in the scripts",
        agreement.evaluator_names_everything,
        "An answer under another name counts as missing, for every submission.",
        "use the name of task.toml in evaluator.py",
    ),
    _static(
        "S05",
        "directions in the brief",
        agreement.brief_states_directions,
        "An agent that improves the wrong way is measured on a misunderstanding.",
        "say in brief.md whether lower or higher is better",
    ),
    _static(
        "S06",
        "a source for each instance",
        agreement.rows_cover_instances,
        "A SOTA without table or figure cannot be checked by a reader.",
        "add a [[row]] with instance, sota, where and checked to private/source.toml",
    ),
    _static(
        "S07",
        "SOTA follows from its row",
        agreement.sota_follows_from_row,
        "A mistyped anchor shifts every score of the task.",
        "correct the number, or give it in 'checked' and say how it follows from the printed one",
    ),
    _static(
        "S08",
        "hints for each level",
        files.has_hints,
        "Hint levels that say the same cannot be compared.",
        "write hints/method.md (the method) and hints/full.md (its details)",
    ),
    _static(
        "S09",
        "entry points",
        scripts.entry_points_fit,
        "The harness calls evaluate, generate and drive with fixed arguments.",
        "give the function this signature (docs/reference/task-package.md)",
    ),
    _static(
        "S10",
        "a start that can be handed in",
        files.start_is_runnable,
        "The start is the null solution: it must be a submission as it stands.",
        "complete public/start/",
    ),
    _static(
        "S11",
        "an oracle of its own",
        files.oracle_is_complete,
        "The oracle proves that the SOTA can be reached; where agents can read it, it proves nothing about them.",
        "put the reference into solutions/oracle/ and nowhere else",
    ),
    _static(
        "S12",
        "scripts parse",
        scripts.scripts_parse,
        "A script that does not parse fails every trial.",
        "mend the syntax",
    ),
    _static(
        "S13",
        "anchors apart",
        agreement.anchors_are_apart,
        "Recovery divides by the distance between baseline and SOTA; its error must be small beside it.",
        "measure the anchors better or choose another scale",
    ),
    _static(
        "S14",
        "no paper title",
        leaks.hides_title,
        "An agent that recognises the paper recalls instead of solving.",
        "say it in other words",
    ),
    _static(
        "S15",
        "no authors, DOI, venue",
        leaks.hides_authors_and_venue,
        "An agent that recognises the paper recalls instead of solving.",
        "leave the name out",
    ),
    _static(
        "S16",
        "no hidden words",
        leaks.hides_hidden_words,
        "At the lowest hint level the method must not be told.",
        "rewrite the sentence without the word, or move it to hints/",
    ),
    _static(
        "S17",
        "nothing about the judge",
        leaks.hides_judgement,
        "How a task is judged inside is an invitation to work on the judge.",
        "describe the metric, not the script that computes it",
    ),
    _static(
        "S18",
        "evidence fits the oracle",
        scripts.evidence_matches_oracle,
        "A pattern that misses the reference misses faithful submissions too.",
        "widen the step's evidence, or leave it empty",
    ),
    _static(
        "S19",
        "no links, no special files",
        files.has_no_special_files,
        "A link in a package shows whatever it points to on the machine at hand.",
        "replace it by a regular file; an evil solution can make its link when it runs",
    ),
    _static(
        "S20",
        "no pickles",
        files.has_no_pickles,
        "Reading a pickle runs code.",
        "store arrays as .npy without objects, or data as text",
    ),
    _static(
        "S21",
        "size",
        files.is_small,
        "A package is hashed and mounted for each trial.",
        "generate data in generate.py instead of shipping them",
    ),
    _static(
        "S22",
        "requirements installed",
        scripts.requirements_are_installed,
        "What is missing fails as a crash of the submission.",
        "install it in this environment, or drop the requirement",
    ),
    _static(
        "S23",
        "imports declared",
        scripts.imports_are_declared,
        "What happens to be installed here may be missing elsewhere.",
        "add the package to environment.requirements",
    ),
    _static(
        "S24",
        "evil solutions",
        scripts.evil_solutions_are_declared,
        "A defence that is never attacked is not known to work.",
        "add solutions/evil-*/ with an evil.toml (why, expect)",
    ),
    _static(
        "S25",
        "no network",
        scripts.uses_no_network,
        "There is none in the sandbox, and results must not depend on one.",
        "remove the import",
    ),
    _static(
        "S26",
        "no secrets",
        leaks.holds_no_secrets,
        "A package is published.",
        "remove the key and revoke it",
    ),
    _static(
        "S27",
        "budget",
        limits.budget_is_sane,
        "A limit that nothing can reach, or nobody can keep, is no limit.",
        "change [budget] or the profile",
    ),
    _static(
        "S28",
        "no placeholders",
        files.has_no_placeholders,
        "A scaffold's text tells an agent nothing.",
        "write the real text",
    ),
    _static(
        "S29",
        "outputs specified",
        agreement.brief_specifies_outputs,
        "A submission that fails on a detail nobody told it of measures nothing.",
        "give file, shape, dtype and unit of every output in brief.md",
    ),
    _static(
        "S30",
        "no paths of one machine",
        leaks.holds_no_host_paths,
        "It works for the author alone, and names them.",
        "use SURPASS_DATA and paths relative to the workspace",
    ),
    _static(
        "S31",
        "hostile files read safely",
        scripts.reads_candidates_safely,
        "The evaluator opens what a candidate wrote.",
        "read with surpass.guard; never unpickle, evaluate or start anything",
    ),
    _static(
        "S32",
        "limits stated once",
        limits.brief_repeats_no_variable_limit,
        "The prompt states the limits in force; a brief that states others contradicts it.",
        "leave solve time and attempts out of brief.md",
    ),
    _static(
        "S33",
        "licence",
        limits.has_licence,
        "Facts without a licence cannot be passed on.",
        "state it under 'licence' in private/source.toml",
    ),
)

_DYNAMIC = (
    _dynamic(
        "D01",
        "generator repeatable",
        data.generates_the_same_twice,
        "Otherwise a verdict cannot be repeated on another machine.",
        "draw every random number from numpy.random.default_rng([seed, tier]); write no times",
    ),
    _dynamic(
        "D02",
        "tiers and seeds differ",
        data.tiers_and_seeds_differ,
        "Equal data would let an agent submit what it has seen.",
        "let tier and seed both enter the random generator",
    ),
    _dynamic(
        "D03",
        "evaluator starts",
        arms.evaluator_starts,
        "An evaluator that does not import judges nobody.",
        "import the standard library, the requirements and surpass.guard alone",
    ),
    _dynamic(
        "D04",
        "null is zero",
        arms.null_is_zero,
        "If the unchanged start scores, everyone scores.",
        "set baseline (and baseline_spread) to what the start gets over many seeds",
    ),
    _dynamic(
        "D05",
        "oracle is one",
        arms.oracle_is_one,
        "If the reference falls short, the anchor is out of reach and 1 means nothing.",
        "mend the oracle, or take the number that its method reaches here and say so in source.toml",
    ),
    _dynamic(
        "D06",
        "truth is best",
        arms.truth_is_near_perfect,
        "If the truth itself does not win, the metric measures something else.",
        "look for a wrong axis, unit or order in evaluator.py",
    ),
    _dynamic(
        "D07",
        "malformed outputs",
        malformed.malformed_outputs_never_score,
        "What is scored in spite of a defect can be gamed with it.",
        "read with surpass.guard with exact shape and dtype, and validate what the file holds",
    ),
    _dynamic(
        "D08",
        "misaligned outputs",
        malformed.misaligned_outputs_score_worse,
        "A metric that does not see the order of answers can be met without knowing which is which.",
        "compare answer by answer, in the order of the inputs",
    ),
    _dynamic(
        "D09",
        "broken programs",
        program.broken_programs_never_score,
        "A program that does nothing must not inherit a score.",
        "let the driver or the evaluator refuse what is missing or of the wrong type",
    ),
    _dynamic(
        "D10",
        "evil rejected",
        arms.evil_is_rejected,
        "An attack that works once works for everyone.",
        "mend the evaluator, or the expected code in evil.toml",
    ),
    _dynamic(
        "D11",
        "evaluator repeatable",
        evaluator.evaluator_is_repeatable,
        "A score that changes from one evaluation to the next can be drawn until it suits.",
        "seed every random number in evaluator.py, and sum in a fixed order",
    ),
    _dynamic(
        "D12",
        "evaluator in time",
        evaluator.evaluator_is_within_budget,
        "On a busier machine a good submission would run out of time.",
        "raise evaluate_seconds or make the evaluator faster",
    ),
    _dynamic(
        "D13",
        "agents are told codes",
        evaluator.agents_are_told_codes,
        "A path or a value in a message is a way out of the sandbox for the truth.",
        "raise Malformed with a fixed lower-case code; put values into its detail",
    ),
)

CHECKS: tuple[Check, ...] = (*_STATIC, *_DYNAMIC)
