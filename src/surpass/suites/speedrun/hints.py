"""Writes a transition's hints: pseudocode, text and paper, all from one description and the measured numbers.

Everything that a hint says about a change stands once, in `transitions/rNN.toml`: what is wrong before, what is done
about it, and how. The three formats differ in what they show of it. Numbers come from `calibration/*.json`, as
`surpass calibrate` wrote it; none is written by hand.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Modification", "Transition", "hints", "read_transition", "title_of"]


@dataclass(frozen=True)
class Modification:
    """One thing that changes from a record to the next."""

    id: str
    problem: str
    solution: str
    pseudocode: str
    evidence: str
    """A regular expression that the source of a faithful implementation matches; empty where none can tell."""
    keep: bool = False
    """The start does so already, and it has to stay."""


@dataclass(frozen=True)
class Transition:
    """What leads from a record to the next."""

    summary: str
    discussion: str
    needs: Mapping[str, str]
    """What this change rests on: the record that brought it, and why it matters here."""
    modifications: tuple[Modification, ...]


def read_transition(path: Path) -> Transition:
    """Read `transitions/rNN.toml`."""
    document = tomllib.loads(path.read_text())
    return Transition(
        summary=_joined(document["summary"]),
        discussion=_joined(document["discussion"]),
        needs=document.get("needs", {}),
        modifications=tuple(
            Modification(**{**each, "pseudocode": each["pseudocode"].strip("\n")}) for each in document["modification"]
        ),
    )


def title_of(record: Path) -> str:
    """What the record is, from the first line of its docstring: `Record 7: Muon.`"""
    first = (ast.get_docstring(ast.parse(record.read_text())) or record.stem).splitlines()[0]
    return first.partition(": ")[2].rstrip(".") or first


def hints(
    transition: Transition, before: Path, after: Path, calibration: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """The text of each format. `calibration` is what was measured, by profile; empty where nothing was."""
    title = _capital(title_of(after))
    parts = {
        "pseudocode": [f"# Pseudocode: {title}", *_pseudocode(transition)],
        "text": [f"# What to change: {title}", transition.summary, *_pairs(transition)],
        "paper": [f"# {title}", "## Abstract", _abstract(transition, before, after, calibration), "## Method"],
    }
    parts["paper"] += [_paragraph(each) for each in transition.modifications]
    parts["paper"] += ["## Results", *_results(before, after, calibration), "## Discussion", transition.discussion]
    for name in parts:
        parts[name] += [*_needs(transition, before), *_steps(before, after)]
    return {name: "\n\n".join(text) + "\n" for name, text in parts.items()}


def _joined(text: str) -> str:
    return " ".join(text.split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _words(identifier: str) -> str:
    return _capital(identifier.replace("-", " "))


def _pseudocode(transition: Transition) -> list[str]:
    return [
        f"## {number}. {_words(each.id)}\n\n```text\n{each.pseudocode}\n```"
        for number, each in enumerate(transition.modifications, 1)
    ]


def _pairs(transition: Transition) -> list[str]:
    return [
        f"{number}. **Problem.** {each.problem} **Solution.** {each.solution}"
        for number, each in enumerate(transition.modifications, 1)
    ]


def _paragraph(modification: Modification) -> str:
    return f"**{_words(modification.id)}.** {modification.problem} {modification.solution}"


def _needs(transition: Transition, before: Path) -> list[str]:
    if not transition.needs:
        return ["## What it rests on", "Nothing but the start script itself."]
    known = [
        f"- {_title_beside(before, name)} (record {int(name[1:])}): {why}" for name, why in transition.needs.items()
    ]
    return ["## What it rests on", "The start script has all of this already.", "\n".join(known)]


def _title_beside(before: Path, name: str) -> str:
    return _capital(title_of(before.with_name(f"{name}.py")))


def _steps(before: Path, after: Path) -> list[str]:
    """The number that has to change in nearly every transition, because a better step means fewer of them."""
    lines = [
        f"- profile {profile}: {_steps_in(before)[profile]} before, {_steps_in(after)[profile]} in the reference"
        for profile in ("full", "micro")
    ]
    return ["## Steps", "A better step means fewer of them, a cheaper one may mean more:", "\n".join(lines)]


def _steps_in(record: Path) -> dict[str, str]:
    return dict(re.findall(r'"(full|micro)": \{[^}]*"steps": (\d+)', record.read_text()))


def _abstract(transition: Transition, before: Path, after: Path, calibration: Mapping[str, Mapping[str, Any]]) -> str:
    saved = [
        f"{step['saving']:.1%} (standard error {step['saving_se']:.1%}) on the {profile} profile"
        for profile, found in calibration.items()
        for step in found.get("transitions", ())
        if step["after"] == after.stem
    ]
    if not saved:
        return transition.summary
    return (
        f"{transition.summary} Trained side by side with record {int(before.stem[1:])}, it saves {' and '.join(saved)}."
    )


def _results(before: Path, after: Path, calibration: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = []
    for profile, found in calibration.items():
        records = {record["record"]: record for record in found.get("records", ())}
        for path in (before, after):
            if path.stem in records:
                record = records[path.stem]
                rows.append(
                    f"| {profile} | {path.stem} | {record['steps']} | {record['loss']:.4f} | {record['loss_sd']:.4f} "
                    f"| {record['seconds']:.2f} | {record['runs']} |"
                )
    if not rows:
        return ["Nothing has been measured on this machine's kind yet; `surpass calibrate speedrun` does."]
    targets = ", ".join(f"{found['target']:g} ({profile})" for profile, found in calibration.items() if found)
    dates = sorted({found["date"] for found in calibration.values() if found})
    head = "| profile | record | steps | loss | sd of the loss | CPU seconds | runs |\n|-|-|-|-|-|-|-|\n"
    return [
        f"Targets in nats a token: {targets}. CPU seconds of runs that shared a core with the record beside them, "
        f"measured {' and '.join(dates)}; only their ratio carries over to another machine.",
        head + "\n".join(rows),
    ]
