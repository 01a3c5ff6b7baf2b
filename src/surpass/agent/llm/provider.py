"""`replay/NAME`: a model provider that answers from a recording, offline: for tests, and to run a trajectory again.

NAME is a recording that ships with surpass, the path of one (JSON), or an Inspect log (`.eval`), whose answers are
given again. Which answer comes next follows from the conversation alone, so a resumed trial gets the right one.

A recording has `turns`, or, where a trial has several conversations, `conversations`: a list of `{contains, turns}`, of
which the first counts whose text occurs in the conversation's first request. A turn has `text`, `calls` (`tool`,
`arguments`, or `malformed`: what was wrong with them), `tokens` (in, out), `window` (most messages that fit), and
`fail` (`rate-limit`, `server-error`, or anything else for good) with `times`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

__all__ = ["RECORDINGS", "RecordingError", "RecordingFailure", "register"]

_CALL = re.compile(r"call-(\d+)-\d+$")
RECORDINGS = Path(__file__).with_name("recordings")


_Turns = Sequence[Mapping[str, Any]]


class RecordingError(Exception):
    """A recording that cannot be read."""


class RecordingFailure(Exception):
    """A failure that the recording asks for, as a provider would raise it."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.passes = kind in ("rate-limit", "server-error")


def register() -> None:
    """Make the provider known to Inspect. Doing it again changes nothing."""
    modelapi(name="replay")(_Replay)


class _Replay(ModelAPI):
    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self._conversations = _conversations(model_name)
        self._failed: dict[int, int] = {}

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """The recorded answer to a conversation with that many answers so far; an empty one after the last."""
        number = _answers(input)
        turns = self._turns(next((message.text for message in input if message.role == "user"), ""))
        turn = turns[number] if number < len(turns) else {}
        self._fail(number, turn)
        return _output(self.model_name, number, turn, overflows=len(input) > turn.get("window", len(input)))

    def _turns(self, request: str) -> _Turns:
        return next((turns for contains, turns in self._conversations if contains in request), [])

    def _fail(self, number: int, turn: Mapping[str, Any]) -> None:
        wanted = turn.get("fail")
        if wanted and self._failed.get(number, 0) < turn.get("times", 1):
            self._failed[number] = self._failed.get(number, 0) + 1
            raise RecordingFailure(wanted)

    def should_retry(self, ex: Exception) -> bool:
        """As a provider does: rate limits and server errors pass."""
        return isinstance(ex, RecordingFailure) and ex.passes

    async def count_text_tokens(self, text: str) -> int:
        """Without the tokenizer that Inspect would download."""
        return len(text) // 4 + 1


def _answers(messages: Sequence[ChatMessage]) -> int:
    """How many answers the conversation has had, those that are left out of what is shown included."""
    count = 0
    for message in messages:
        if isinstance(message, ChatMessageAssistant):
            count += 1
            for call in message.tool_calls or []:
                if found := _CALL.match(call.id):
                    count = int(found[1]) + 1
    return count


def _conversations(name: str) -> list[tuple[str, _Turns]]:
    """Each with the text that its first request contains."""
    path = RECORDINGS / f"{name}.json"
    path = path if path.is_file() else Path(name)
    if path.suffix == ".eval":
        return [("", _turns_of_log(path))]
    try:
        document = json.loads(path.read_text("utf-8"))
        if "turns" in document:
            return [("", list(document["turns"]))]
        return [(str(each["contains"]), list(each["turns"])) for each in document["conversations"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        known = ", ".join(sorted(each.stem for each in RECORDINGS.glob("*.json")))
        raise RecordingError(f"'{name}' is no recording ({error}); shipped ones: {known}; or give a path") from None


def _turns_of_log(path: Path) -> _Turns:
    try:
        samples = read_eval_log(str(path)).samples or []
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} is no Inspect log: {error}") from None
    answers = (
        [message for message in samples[0].messages if isinstance(message, ChatMessageAssistant)] if samples else []
    )
    return [
        {
            "text": message.text,
            "calls": [{"tool": call.function, "arguments": call.arguments} for call in message.tool_calls or []],
        }
        for message in answers
    ]


def _output(model: str, number: int, turn: Mapping[str, Any], *, overflows: bool) -> ModelOutput:
    if overflows:
        output = ModelOutput.from_content(model, "", stop_reason="model_length")
    else:
        output = ModelOutput.from_content(model, turn.get("text", ""))
        calls = [
            ToolCall(
                id=f"call-{number}-{place}",
                function=call["tool"],
                arguments=call.get("arguments", {}),
                parse_error=call.get("malformed"),
            )
            for place, call in enumerate(turn.get("calls", []))
        ]
        output.choices[0].message.tool_calls = calls or None
    tokens = turn.get("tokens", [0, 0])
    output.usage = ModelUsage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
    return output
