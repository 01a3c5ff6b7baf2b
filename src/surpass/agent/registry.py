"""From the name on the command line to an agent: `nop`, `tuner:trials=30`, `package.module:Class`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from surpass.agent._types import Agent
from surpass.agent.controls import SolutionAgent
from surpass.agent.tuner import TunerAgent
from surpass.task import Task, nearest

__all__ = ["BUILT_IN", "AgentError", "build", "check_name"]

BUILT_IN: dict[str, Callable[..., Agent]] = {
    "nop": lambda task: SolutionAgent("nop", task, "null"),
    "oracle": lambda task: SolutionAgent("oracle", task, "oracle"),
    "tuner": TunerAgent,
}


class AgentError(Exception):
    """An agent that cannot be built."""


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
    if not rest or "=" in rest.partition(":")[0]:
        raise AgentError(
            f"unknown agent '{name}'{nearest(name, BUILT_IN)}; known: {', '.join(sorted(BUILT_IN))}, "
            "or the import path of your own, module:Class"
        )
    class_name, _, options = rest.partition(":")
    try:
        factory = getattr(importlib.import_module(name), class_name)
    except Exception as error:  # noqa: BLE001 - importing runs foreign code, which may raise anything
        raise AgentError(f"agent '{spec}' cannot be imported: {type(error).__name__}: {error}") from None
    return factory, _options(spec, options)


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
