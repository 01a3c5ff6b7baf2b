"""The conversation of a model with its tools, remembered message by message."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef, ToolParam, ToolParams
from inspect_ai.tool import ToolError as Answer
from inspect_ai.util import LimitExceededError
from pydantic import TypeAdapter

from surpass.agent._types import BudgetExhausted, Workbench
from surpass.agent.tools import Tool, ToolError

__all__ = ["Conversation", "conversing"]

_NUDGE = "Go on with a tool call, or call `{}` when you are finished."
_MOST_SILENCE = 3
"""Answers in a row without a tool call after which the model counts as finished."""
_MESSAGE: TypeAdapter[ChatMessage] = TypeAdapter(ChatMessage)


class Conversation:
    """Messages under a key of their own in the trial's memory; those of an interrupted run are there already.

    `end` is the tool whose call ends the conversation.
    """

    def __init__(
        self, bench: Workbench, tools: Sequence[Tool], *, key: str, system: str, prompt: str, end: Tool
    ) -> None:
        self.bench = bench
        self.key = key
        self.prompt = prompt
        self._end = end.name
        self._plain = {tool.name: tool for tool in (*tools, end)}
        self.tools = [_inspect_tool(tool, self) for tool in (*tools, end)]
        self.messages = _whole([_MESSAGE.validate_python(entry["message"]) for entry in self._remembered()])
        if not self.messages:
            self.add(ChatMessageSystem(content=system))
            self.add(ChatMessageUser(content=prompt))
        self.exhausted = False
        """True when the trial's budget is used up."""
        self.failure: str | None = None
        """What the provider said last when it could not be made to answer."""

    def add(self, message: ChatMessage, usage: Mapping[str, int] | None = None) -> None:
        """Append a message, remembered first."""
        document = message.model_dump(mode="json", exclude_none=True)
        self.bench.remember({"what": "message", "in": self.key, "message": document, "usage": dict(usage or {})})
        self.messages.append(message)

    def _remembered(self) -> list[Mapping[str, Any]]:
        return [entry for entry in self.bench.memory if entry.get("what") == "message" and entry.get("in") == self.key]

    def spent(self) -> dict[str, int]:
        """Answers and tokens so far, earlier runs of the trial included; each counted once."""
        used = [entry["usage"] for entry in self._remembered() if entry.get("usage")]
        return {
            "calls": len(used),
            "input": sum(each.get("input", 0) for each in used),
            "output": sum(each.get("output", 0) for each in used),
        }

    @property
    def over(self) -> bool:
        """True when the model is done, has fallen silent, or has nothing left to spend."""
        answers = [message for message in self.messages if isinstance(message, ChatMessageAssistant)]
        last = answers[-_MOST_SILENCE:]
        silent = len(last) == _MOST_SILENCE and not any(message.tool_calls for message in last)
        said_done = any(call.function == self._end for message in answers[-1:] for call in message.tool_calls or [])
        return self.exhausted or silent or (said_done and not self.pending)

    @property
    def pending(self) -> bool:
        """True when the last message calls tools that have not answered."""
        last = self.messages[-1]
        return isinstance(last, ChatMessageAssistant) and bool(last.tool_calls)

    async def redo(self, names: Collection[str]) -> None:
        """Make the answered calls of these tools again, in order: for effects that an interruption has undone."""
        answered = {message.tool_call_id for message in self.messages if isinstance(message, ChatMessageTool)}
        for message in self.messages:
            for call in message.tool_calls or [] if isinstance(message, ChatMessageAssistant) else []:
                if call.function in names and call.id in answered:
                    with contextlib.suppress(ToolError):
                        await self._plain[call.function].call(self.bench, call.arguments)

    async def ask(self) -> None:
        """Let the model say the next thing. What no longer fits its window is left out, the oldest first."""
        shown = list(self.messages)
        while True:
            try:
                output = await get_model().generate(shown, tools=self.tools)
            except LimitExceededError:
                raise
            except Exception as error:
                self.failure = f"{type(error).__name__}: {error}"
                raise
            if output.stop_reason != "model_length" or len(shown) <= 4:
                break
            shown = _shortened(shown)
        usage = output.usage
        self.add(
            output.message,
            {"input": usage.input_tokens, "output": usage.output_tokens} if usage else {"input": 0, "output": 0},
        )

    async def answer(self) -> None:
        """Run the tools that the last message calls."""
        executed = await execute_tools(self.messages, self.tools)
        for message in executed.messages:
            self.add(message)

    def nudge(self) -> None:
        """Ask a silent model to go on."""
        self.add(ChatMessageUser(content=_NUDGE.format(self._end)))


@solver
def conversing(conversation: Conversation) -> Solver:
    """The loop: ask, run tools, again."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        try:
            while not conversation.over:
                if conversation.pending:
                    await conversation.answer()
                elif isinstance(conversation.messages[-1], ChatMessageAssistant):
                    conversation.nudge()
                else:
                    await conversation.ask()
        finally:
            state.messages = list(conversation.messages)
        return state

    return solve


def _whole(remembered: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages up to the last one that is complete: calls that were only answered in part are made again."""
    messages: list[ChatMessage] = []
    for message in remembered:
        if isinstance(message, ChatMessageTool):
            same = [isinstance(m, ChatMessageTool) and m.tool_call_id == message.tool_call_id for m in messages]
            messages = [m for m, repeated in zip(messages, same, strict=True) if not repeated]
        messages.append(message)
    answered = {message.tool_call_id for message in messages if isinstance(message, ChatMessageTool)}
    for place in reversed(range(len(messages))):
        message = messages[place]
        if isinstance(message, ChatMessageAssistant):
            complete = all(call.id in answered for call in message.tool_calls or [])
            return messages if complete else messages[: place + 1]
    return messages


def _shortened(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Without the older half of what follows the task; a tool's answer is never parted from its call."""
    head, rest = messages[:2], messages[2:]
    kept = rest[len(rest) // 2 :]
    while kept and isinstance(kept[0], ChatMessageTool):
        kept = kept[1:]
    return [*head, ChatMessageUser(content="[Earlier messages are left out: they no longer fit.]"), *kept]


def _inspect_tool(tool: Tool, conversation: Conversation) -> ToolDef:
    async def call(**arguments: str) -> str:
        try:
            return await tool.call(conversation.bench, arguments)
        except ToolError as error:
            raise Answer(str(error)) from None
        except BudgetExhausted as error:
            conversation.exhausted = True
            raise Answer(f"{error}; the trial ends here") from None

    properties = {
        name.rstrip("?"): ToolParam(type="string", description=what) for name, what in tool.parameters.items()
    }
    required = [name for name in tool.parameters if not name.endswith("?")]
    return ToolDef(
        call, name=tool.name, description=tool.about, parameters=ToolParams(properties=properties, required=required)
    )
