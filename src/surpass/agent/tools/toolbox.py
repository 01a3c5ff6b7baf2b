"""The tools of an agent: each takes arguments, works through the workbench, and answers with a short text.

The same tools serve every kind of agent: a model calls them by name, a CLI agent runs them as commands.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from surpass.agent._types import Workbench
from surpass.agent.tools.curves import read_curve, summarise_curve
from surpass.agent.tools.diagnostics import summarise_compiler
from surpass.agent.tools.disassembly import summarise_disassembly
from surpass.guard import Malformed
from surpass.sandbox import Completed

__all__ = ["TOOLS", "Tool", "ToolError", "tools_named"]

_MOST_OUTPUT = 12_000


class ToolError(Exception):
    """A call that a tool cannot answer; the message is for the agent."""


Run = Callable[[Workbench, Mapping[str, str]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    about: str
    """For the agent: what it does and when it helps."""
    parameters: Mapping[str, str]
    """Name -> what it is. All are text; those that end in `?` may be left out."""
    run: Run

    async def call(self, bench: Workbench, arguments: Mapping[str, str]) -> str:
        """Answer a call.

        Raises:
            ToolError: wrong arguments, or a file that is not there.
            BudgetExhausted: no attempt or no time is left.
        """
        known = {name.rstrip("?") for name in self.parameters}
        wanted = {name for name in self.parameters if not name.endswith("?")}
        if unknown := sorted(set(arguments) - known):
            raise ToolError(f"{self.name} has no parameter '{unknown[0]}'; it has {', '.join(sorted(known))}")
        if missing := sorted(wanted - set(arguments)):
            raise ToolError(f"{self.name} needs '{missing[0]}': {self.parameters[missing[0]]}")
        try:
            return _clipped(await self.run(bench, {name: str(value) for name, value in arguments.items()}))
        except FileNotFoundError as error:
            name = str(error.filename or error).rpartition("/")[2]
            raise ToolError(f"there is no file '{name}' in the workspace") from None
        except (Malformed, KeyError, UnicodeDecodeError) as error:
            raise ToolError(str(error)) from None


async def _shell(bench: Workbench, arguments: Mapping[str, str]) -> str:
    done = await bench.exec(["bash", "-c", arguments["command"]], timeout_s=_seconds(arguments))
    return _told(done)


async def _view(bench: Workbench, arguments: Mapping[str, str]) -> str:
    return (await bench.read(arguments["path"])).decode()


async def _edit(bench: Workbench, arguments: Mapping[str, str]) -> str:
    path, old, new = arguments["path"], arguments.get("old", ""), arguments["new"]
    if not old:
        await bench.write(path, new.encode())
        return f"wrote {path}"
    text = (await bench.read(path)).decode()
    count = text.count(old)
    if count != 1:
        raise ToolError(f"'old' occurs {count} times in {path}; give a stretch that occurs once")
    await bench.write(path, text.replace(old, new).encode())
    return f"replaced in {path}"


async def _attempt(bench: Workbench, arguments: Mapping[str, str]) -> str:
    feedback = await bench.attempt(arguments.get("note", ""))
    if feedback.accepted is None:
        return f"attempt {feedback.attempt} was taken"
    if not feedback.accepted:
        return f"attempt {feedback.attempt} did not score: {feedback.code}"
    score = "valid" if feedback.score is None else f"score {feedback.score:g}"
    return f"attempt {feedback.attempt}: {score}; {bench.attempts_left()} attempts left"


async def _budget(bench: Workbench, arguments: Mapping[str, str]) -> str:
    return f"{bench.seconds_left() / 60:.1f} minutes and {bench.attempts_left()} attempts left"


async def _compile(bench: Workbench, arguments: Mapping[str, str]) -> str:
    command = shlex.split(arguments["command"])
    done = await bench.exec(command, timeout_s=_seconds(arguments))
    said = summarise_compiler((done.stderr + b"\n" + done.stdout).decode("utf-8", "replace"))
    return f"exit status {done.exit_code}; {said}"


async def _profile(bench: Workbench, arguments: Mapping[str, str]) -> str:
    kind = arguments.get("kind", "python")
    if kind not in ("python", "torch"):
        raise ToolError(f"kind must be python or torch, not '{kind}'")
    command = [*([] if kind == "python" else ["--torch"]), *shlex.split(arguments["script"])]
    return await _inside(bench, "inside_profile.py", command, _seconds(arguments))


async def _disassemble(bench: Workbench, arguments: Mapping[str, str]) -> str:
    done = await bench.exec(["objdump", "-d", "--no-show-raw-insn", "-M", "intel", arguments["file"]])
    if not done.ok:
        raise ToolError(_told(done))
    listing = done.stdout.decode("utf-8", "replace")
    if wanted := arguments.get("function", ""):
        parts = listing.split("\n\n")
        listing = "\n\n".join(part for part in parts if f"<{wanted}" in part.lstrip().partition("\n")[0])
    return summarise_disassembly(listing)


async def _symbolic(bench: Workbench, arguments: Mapping[str, str]) -> str:
    extra = [arguments[name] for name in ("symbol", "value") if arguments.get(name)]
    command = [arguments["operation"], "--", arguments["expression"], *extra]
    return await _inside(bench, "inside_symbolic.py", command, 60.0)


async def _diff(bench: Workbench, arguments: Mapping[str, str]) -> str:
    """Against another file of the workspace: an agent keeps its own copies, the harness keeps the attempts."""
    old, new = arguments["old"], arguments["new"]
    before, after = [(await bench.read(path)).decode().splitlines(keepends=True) for path in (old, new)]
    return "".join(difflib.unified_diff(before, after, old, new)) or "no difference"


async def _curves(bench: Workbench, arguments: Mapping[str, str]) -> str:
    curves = read_curve((await bench.read(arguments["log"])).decode("utf-8", "replace"))
    return "\n".join(map(summarise_curve, curves)) or "no lines of the form 'step DONE/STEPS train_loss VALUE'"


async def _inside(bench: Workbench, script: str, arguments: Sequence[str], seconds: float | None) -> str:
    """Run one of our own scripts in the sandbox. It comes as an argument, so that it never lies in the submission."""
    source = Path(__file__).with_name(script).read_text("utf-8")
    return _told(await bench.exec(["python", "-c", source, *arguments], timeout_s=seconds))


def _told(done: Completed) -> str:
    parts = [part.decode("utf-8", "replace").strip() for part in (done.stdout, done.stderr)]
    said = "\n".join(part for part in parts if part)
    ended = "" if done.ok else f"\n[{done.reason}, exit status {done.exit_code}, after {done.wall_s:.1f} s]"
    return (said + ended).strip() or "[no output]"


def _seconds(arguments: Mapping[str, str]) -> float | None:
    if not arguments.get("timeout"):
        return None
    try:
        seconds = float(arguments["timeout"])
    except ValueError:
        raise ToolError(f"timeout must be a number of seconds, not '{arguments['timeout']}'") from None
    if not 0 < seconds < float("inf"):
        raise ToolError("timeout must be a positive number of seconds")
    return seconds


def _clipped(text: str) -> str:
    """The beginning and the end of what is too long: errors stand at the end."""
    if len(text) <= _MOST_OUTPUT:
        return text
    half = _MOST_OUTPUT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


_TIMEOUT = {"timeout?": "seconds after which it is ended"}
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("shell", "Run a bash command in the workspace.", {"command": "the command", **_TIMEOUT}, _shell),
        Tool("view", "Read a file of the workspace.", {"path": "the file"}, _view),
        Tool(
            "edit",
            "Replace a stretch of a file that occurs once, or, without 'old', write the whole file.",
            {"path": "the file", "old?": "the stretch to replace", "new": "what to put there"},
            _edit,
        ),
        Tool(
            "attempt",
            "Hand in the workspace as it is and learn what the task lets you know. Attempts are limited.",
            {"note?": "what you changed, in a line"},
            _attempt,
        ),
        Tool("budget", "How much time and how many attempts are left.", {}, _budget),
        Tool(
            "compile",
            "Run a compiler (gcc, clang, nvcc) and get its messages ranked, with registers and spills of kernels.",
            {"command": "the whole command line", **_TIMEOUT},
            _compile,
        ),
        Tool(
            "profile",
            "Run a Python script under a profiler and get the functions, or torch operators, where the time goes.",
            {"script": "script and arguments", "kind?": "python (the default) or torch", **_TIMEOUT},
            _profile,
        ),
        Tool(
            "disassemble",
            "The innermost loops of a compiled file: vector width, scalar arithmetic, spills, calls.",
            {"file": "object file, library or program", "function?": "the beginning of a function's name"},
            _disassemble,
        ),
        Tool(
            "symbolic",
            "Ask sympy: simplify, diff, integrate, solve, series, limit, latex, code.",
            {
                "operation": "one of these words",
                "expression": "in sympy's notation",
                "symbol?": "x unless given",
                "value?": "the point of a series or limit, 0 unless given",
            },
            _symbolic,
        ),
        Tool("diff", "The difference of two files of the workspace.", {"old": "a file", "new": "a file"}, _diff),
        Tool(
            "curves",
            "Training dynamics from a log of lines 'step DONE/STEPS train_loss VALUE'.",
            {"log": "the log file"},
            _curves,
        ),
    )
}
"""By name. An ablation of tools is a list of names."""


def tools_named(names: str) -> list[Tool]:
    """The tools of a comma-separated list; all of them for `all`.

    Raises:
        ToolError: one of them does not exist.
    """
    if names == "all":
        return list(TOOLS.values())
    found = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in TOOLS:
            raise ToolError(f"unknown tool '{name}'; known: {', '.join(TOOLS)}")
        found.append(TOOLS[name])
    return found
