"""A proposer that is a language model: it reads the parent and the search so far, edits, and says what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from surpass.agent import Workbench
from surpass.agent.llm import chosen_tools, require_model
from surpass.agent.tools import Tool
from surpass.search.proposer import NoProposal, Proposal, Request
from surpass.search.tree import Kind, Node, Tree
from surpass.task import Task

__all__ = ["LlmProposer", "change_log", "request_text"]

_SYSTEM = (
    "You improve one version of a program. Read its files, edit them, and then call `propose` once: with what you "
    "changed in a line, and why it should help. You do not run anything: every proposal is run and scored after you."
)
_TOOLS = "view+edit+diff+symbolic"
_MOST_SIBLINGS = 8


class LlmProposer:
    """One short conversation a node. Only what it writes with `edit` becomes the proposal."""

    def __init__(
        self, task: Task, *, model: str = "", tools: str = _TOOLS, messages: int = 40, tokens: int = 0
    ) -> None:
        require_model("llm", model)
        self._model = model
        self._tools = chosen_tools(tools)
        self._messages, self._tokens = messages, tokens
        self._files = sorted(
            path.relative_to(task.start).as_posix() for path in task.start.rglob("*") if path.is_file()
        )

    async def propose(self, request: Request) -> Proposal:
        """Let the model edit the parent's files.

        Raises:
            NoProposal: it changed nothing, or never said that it was finished.
            ModelUnavailable: as `converse`.
        """
        from surpass.agent.llm.conversation import Conversation
        from surpass.agent.llm.converse import ConversationLimits, converse

        desk = _Desk(request.bench)
        said: dict[str, str] = {}

        async def propose(bench: Workbench, arguments: Mapping[str, str]) -> str:
            said.update(arguments)
            return "It will be run and scored."

        end = Tool(
            "propose",
            "Hand in your edits.",
            {"change": "what you changed, in a line", "rationale": "why it should help"},
            propose,
        )
        conversation = Conversation(
            cast("Workbench", desk), self._tools, key=f"node-{len(request.tree)}", system=_SYSTEM,
            prompt=request_text(request, self._files), end=end,
        )  # fmt: skip
        await conversation.redo(("edit", end.name))
        await converse(conversation, self._model, ConversationLimits(messages=self._messages, tokens=self._tokens))
        if not said:
            raise NoProposal("the model proposed nothing")
        if not desk.written:
            raise NoProposal("the model changed no file")
        return Proposal(desk.written, said["change"], said["rationale"])


def request_text(request: Request, files: Sequence[str]) -> str:
    """What the model is told: the task, what is asked for, the log of changes, and what its siblings were."""
    tree, expansion = request.tree, request.expansion
    parent = tree.nodes[expansion.parent]
    parts = [request.bench.prompt.rstrip(), f"## What to do now\n\n{_wanted(tree, parent, request)}"]
    parts.append(f"Files of this version: {', '.join(files)}.")
    if log := change_log(tree, parent.id):
        parts.append(f"## How this version came about\n\n{log}")
    siblings = [tree.nodes[child] for child in tree.children(parent.id)][-_MOST_SIBLINGS:]
    if siblings:
        tried = "\n".join(f"- {node.change or 'nothing'}: {_outcome(node)}" for node in siblings)
        parts.append(f"## What was tried from here already\n\n{tried}\n\nTry something else.")
    return "\n\n".join(parts) + "\n"


def change_log(tree: Tree, node: int) -> str:
    """The changes that led to a node, oldest first, each with what it came to."""
    lines: list[str] = []
    before = 0.0
    for number, each in enumerate(tree.lineage(node)[1:], 1):
        gain = "" if each.score is None else f" ({each.score - before:+.3f})"
        before = before if each.score is None else each.score
        lines.append(f"{number}. {each.change or 'nothing'}: {_outcome(each)}{gain}")
        if each.rationale:
            lines.append(f"   Reason given: {each.rationale}")
    return "\n".join(lines)


def _wanted(tree: Tree, parent: Node, request: Request) -> str:
    expansion = request.expansion
    if expansion.kind is Kind.DEBUG:
        why = f"it ended with '{parent.code}'" + (f": {parent.summary}" if parent.summary else "")
        return f"This version did not score: {why}. Find the cause and repair it; keep what it was meant to do."
    if expansion.kind is Kind.TRANSFER and expansion.borrow is not None:
        log = change_log(tree, expansion.borrow)
        return f"Another line of work scored higher. Bring what made it so into this version:\n\n{log}"
    if expansion.kind is Kind.STEP:
        return f"Carry out one step, '{expansion.step}', and nothing else."
    if expansion.kind is Kind.DRAFT:
        return "Write a first improved version of the start. One coherent idea."
    return f"Improve this version; it scores {parent.score:.3f}. One coherent idea beyond what is there."


def _outcome(node: Node) -> str:
    return f"did not score ({node.code})" if node.score is None else f"score {node.score:.3f}"


class _Desk:
    """The trial's workbench, noting what is written."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.written: dict[str, str] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._bench, name)

    async def write(self, path: str, content: bytes) -> None:
        await self._bench.write(path, content)
        self.written[path] = content.decode()
