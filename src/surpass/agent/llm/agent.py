"""`react`: a model with tools in a loop, over any provider that Inspect knows."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence

from surpass.agent._types import Workbench
from surpass.agent.registry import AgentError
from surpass.agent.tools import Tool, ToolError, tools_named
from surpass.task import Task

__all__ = ["ReactAgent", "chosen_tools", "react", "require_model"]

_SYSTEM = (
    "You work on a programming task through tools. Nobody answers questions. Files and commands live in one workspace; "
    "what you hand in with `attempt` is scored, and the best attempt counts. Call `done` when you are finished."
)


def react(
    task: Task, *, model: str = "", tools: str = "all", messages: int = 0, tokens: int = 0, cost: float = 0.0
) -> ReactAgent:
    """A language model with tools: `react:model=provider/name`, on any provider of Inspect."""
    require_model("react", model)
    return ReactAgent(model, chosen_tools(tools), messages=messages, tokens=tokens, cost=cost)


def require_model(agent: str, model: str) -> None:
    """Fail early where an agent's model, or Inspect, is missing.

    Raises:
        AgentError: which of them, and what to do.
    """
    if importlib.util.find_spec("inspect_ai") is None:
        raise AgentError(f"agent '{agent}' needs Inspect; run: pip install 'surpass[agents]'")
    if not model:
        raise AgentError(f"agent '{agent}' needs a model; write -m provider/name, or {agent}:model=provider/name")


def chosen_tools(names: str) -> list[Tool]:
    """Tools of an agent's option, whose names are joined by plus signs.

    Raises:
        AgentError: one of them does not exist.
    """
    try:
        return tools_named(names.replace("+", ","))
    except ToolError as error:
        raise AgentError(str(error)) from None


class ReactAgent:
    """Talks to the model until it calls `done`, falls silent, or a limit is reached. Limits of 0 are none.

    The conversation is remembered message by message, so an interrupted trial goes on with the next message and pays
    for none twice; each process leaves its transcript among the trial's records, as `.eval`.
    """

    def __init__(self, model: str, tools: Sequence[Tool], *, messages: int, tokens: int, cost: float) -> None:
        self.name = "react"
        self._model = model
        self._tools = tools
        self._limits = messages, tokens, cost

    async def solve(self, bench: Workbench) -> None:
        """One conversation.

        Raises:
            ModelUnavailable: as `converse`.
        """
        from surpass.agent.llm.conversation import Conversation
        from surpass.agent.llm.converse import ConversationLimits, converse

        conversation = Conversation(bench, self._tools, key="trial", system=_SYSTEM, prompt=bench.prompt, end=_DONE)
        await converse(conversation, self._model, ConversationLimits(*self._limits))


async def _done(bench: Workbench, arguments: Mapping[str, str]) -> str:
    return "The trial ends here."


_DONE = Tool("done", "End the trial. The best attempt so far is what counts.", {}, _done)
