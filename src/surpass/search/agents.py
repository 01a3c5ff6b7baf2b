"""The searches as agents: `aide:proposer=patchbank,nodes=12`. Options are the policy's fields, or the model's."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from surpass.agent import AgentError
from surpass.search.llm import LlmProposer
from surpass.search.loop import SearchAgent
from surpass.search.patchbank import PatchBank, PatchError
from surpass.search.policies import POLICIES, Policy
from surpass.search.proposer import Proposer
from surpass.task import Task, nearest

__all__ = ["PROPOSERS", "aide", "decompose", "flat", "forest", "multi_aide", "tree"]

PROPOSERS = ("llm", "patchbank")
_OF_MODEL = ("model", "tools", "messages", "tokens")


def _search(policy: str, task: Task, *, proposer: str = "llm", nodes: int = 20, **options: Any) -> SearchAgent:
    of_model = {name: value for name in _OF_MODEL if (value := options.pop(name, None))}
    try:
        return SearchAgent(policy, _policy(policy, task, options), _proposer(proposer, task, of_model), nodes=nodes)
    except (PatchError, ValueError) as error:
        raise AgentError(str(error)) from None


def _proposer(name: str, task: Task, options: dict[str, Any]) -> Proposer:
    if name == "llm":
        return LlmProposer(task, **options)
    if name == "patchbank":
        if options:
            raise AgentError(f"the patchbank is no model and takes no '{next(iter(options))}'; leave it out")
        return PatchBank(task)
    raise AgentError(f"unknown proposer '{name}'{nearest(name, PROPOSERS)}; known: {', '.join(PROPOSERS)}")


def _policy(name: str, task: Task, options: dict[str, Any]) -> Policy:
    kind = POLICIES[name]
    if name == "decompose":
        options = {
            "steps": tuple(step.id for step in task.spec.step),
            "requires": {step.id: tuple(step.requires) for step in task.spec.step},
            **options,
        }
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise AgentError(
                f"{name} has no option '{option}'{nearest(option, known)}; it has proposer, nodes, model, tools, "
                + ", ".join(sorted(known))
            )
    return kind(**options)


def flat(task: Task, *, model: str = "", **options: Any) -> SearchAgent:
    """Search: best of N independent drafts."""
    return _search("flat", task, model=model, **options)


def tree(task: Task, *, model: str = "", **options: Any) -> SearchAgent:
    """Search: one tree, best first or depth first, several children an expansion."""
    return _search("tree", task, model=model, **options)


def forest(task: Task, *, model: str = "", **options: Any) -> SearchAgent:
    """Search: several trees side by side that borrow from the best of them."""
    return _search("forest", task, model=model, **options)


def aide(task: Task, *, model: str = "", **options: Any) -> SearchAgent:
    """Search: drafts, then repairs of what broke and improvements of the best (AIDE)."""
    return _search("aide", task, model=model, **options)


def multi_aide(task: Task, *, model: str = "", **options: Any) -> SearchAgent:
    """Search: AIDE with three improvements at a time."""
    return _search("multi_aide", task, model=model, **options)


def decompose(task: Task, *, model: str = "", **options: Any) -> SearchAgent:
    """Search: one step of the checklist after another, each verified, rolled back when it breaks."""
    return _search("decompose", task, model=model, **options)
