"""Carry a conversation out under Inspect: its providers, retries, limits, and a transcript as `.eval`."""

from __future__ import annotations

from dataclasses import dataclass

from inspect_ai import Task as Evaluation
from inspect_ai import eval_async
from inspect_ai.dataset import Sample
from inspect_ai.util._display import init_display_type  # no public way leads to a silent eval_async

from surpass.agent._types import ModelUnavailable
from surpass.agent.llm.conversation import Conversation, conversing
from surpass.agent.llm.provider import register

__all__ = ["ConversationLimits", "converse"]


@dataclass(frozen=True, slots=True)
class ConversationLimits:
    """Of one conversation; 0 is none. Cost needs prices that Inspect knows."""

    messages: int = 0
    tokens: int = 0
    dollars: float = 0.0


async def converse(conversation: Conversation, model: str, limits: ConversationLimits) -> None:
    """Go on until the model calls the last tool, falls silent, or a limit is reached; which one goes to the log.

    Raises:
        ModelUnavailable: the provider does not answer, however often it is asked.
    """
    register()
    init_display_type("none")
    bench = conversation.bench
    (log,) = await eval_async(
        Evaluation(
            dataset=[Sample(id=conversation.key, input=conversation.prompt)],
            solver=conversing(conversation),
            name=conversation.key,
        ),
        model=model,
        log_dir=str(bench.records),
        log_format="eval",
        log_realtime=False,
        time_limit=max(1, int(bench.seconds_left())),
        message_limit=limits.messages or None,
        token_limit=limits.tokens or None,
        cost_limit=limits.dollars or None,
    )
    spent = conversation.spent()
    bench.log(f"{spent['calls']} answers of {model}, {spent['input']} + {spent['output']} tokens")
    if conversation.failure is not None:
        raise ModelUnavailable(f"{model}: {conversation.failure}")
    if log.status == "error":
        raise RuntimeError(log.error.message if log.error else "the conversation failed")
    for sample in log.samples or []:
        if sample.limit is not None:
            bench.log(f"ended by its {sample.limit.type} limit ({sample.limit.limit:g})")
