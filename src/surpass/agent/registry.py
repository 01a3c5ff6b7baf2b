"""From the name on the command line to an agent: `nop`, `tuner:trials=30`, `package.module:Class`.

Agents that are built on this floor are named here. Those that need what lies above, and those of other packages, are
entry points of the group `surpass.agents`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
from collections.abc import Callable
from typing import Any

from surpass.agent._types import Agent
from surpass.agent.controls import SolutionAgent
from surpass.agent.tuner import TunerAgent
from surpass.task import Task, nearest

__all__ = ["BUILT_IN", "AgentError", "about_agents", "build", "check_name", "known_agents", "with_model"]


def _nop(task: Task) -> Agent:
    """Control: hands in the unchanged start, which must score 0."""
    return SolutionAgent("nop", task, "null")


def _oracle(task: Task) -> Agent:
    """Control: hands in the reference, which must score 1."""
    return SolutionAgent("oracle", task, "oracle")


BUILT_IN: dict[str, Callable[..., Agent]] = {"nop": _nop, "oracle": _oracle, "tuner": TunerAgent}
GROUP = "surpass.agents"


class AgentError(Exception):
    """An agent that cannot be built."""


def known_agents() -> list[str]:
    """The names that can be given, import paths of one's own aside; sorted."""
    return sorted({*BUILT_IN, *(point.name for point in importlib.metadata.entry_points(group=GROUP))})


def about_agents() -> dict[str, str]:
    """Each known agent with what it does in a line: the first one of its docstring.

    Raises:
        AgentError: an entry point does not import.
    """
    found = {name: _parsed(name)[0] for name in known_agents()}
    return {name: (inspect.getdoc(factory) or "").partition("\n")[0] for name, factory in found.items()}


def build(spec: str, task: Task) -> Agent:
    """Build an agent for one task.

    `spec` is a built-in name with options (`tuner:trials=30,...`), or the import path of a class of one's own
    (`module:Class`), called with the options that its constructor names among `task` and what follows a second colon.

    Raises:
        AgentError: no such agent, it does not import, or it does not take these options.
    """
    factory, options = _parsed(spec)
    signature = inspect.signature(factory)
    given = options | ({"task": task} if "task" in signature.parameters else {})
    try:
        signature.bind(**given)
    except TypeError as error:
        raise AgentError(f"agent '{spec}' does not take these options: {error}") from None
    return factory(**given)


def with_model(spec: str, model: str) -> str:
    """The same agent with `model` among its options, if it takes one and has none yet.

    Raises:
        AgentError: as `build`.
    """
    factory, options = _parsed(spec)
    if not model or "model" in options or "model" not in inspect.signature(factory).parameters:
        return spec
    name, _, rest = spec.partition(":")
    separator = ":" if name in known_agents() and not rest else "," if options else ":"
    return f"{spec}{separator}model={model}"


def check_name(spec: str) -> None:
    """Fail before anything is run when an agent does not exist.

    Raises:
        AgentError: as `build`.
    """
    _parsed(spec)


def _parsed(spec: str) -> tuple[Callable[..., Agent], dict[str, Any]]:
    name, _, rest = spec.partition(":")
    if name in BUILT_IN:
        return BUILT_IN[name], _options(spec, rest)
    for point in importlib.metadata.entry_points(group=GROUP, name=name):
        return _imported(spec, point.load), _options(spec, rest)
    if not rest or "=" in rest.partition(":")[0]:
        raise AgentError(
            f"unknown agent '{name}'{nearest(name, known_agents())}; known: {', '.join(known_agents())}, "
            "or the import path of your own, module:Class"
        )
    class_name, _, options = rest.partition(":")
    factory = _imported(spec, lambda: getattr(importlib.import_module(name), class_name))
    return factory, _options(spec, options)


def _imported(spec: str, load: Callable[[], Callable[..., Agent]]) -> Callable[..., Agent]:
    try:
        return load()
    except Exception as error:  # noqa: BLE001 - importing runs foreign code, which may raise anything
        raise AgentError(f"agent '{spec}' cannot be imported: {type(error).__name__}: {error}") from None


def _options(spec: str, text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, separator, value = part.partition("=")
        if not separator:
            raise AgentError(f"agent '{spec}': option '{part}' must be written key=value")
        options[key.strip()] = _literal(value.strip())
    return options


def _literal(value: str) -> Any:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(value.lower(), value)
