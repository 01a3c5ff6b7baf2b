"""What compilers say, as records: gcc and clang, nvcc, and what ptxas reports of a kernel's registers and spills."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["Diagnostic", "KernelUse", "parse_diagnostics", "parse_kernels", "summarise_compiler"]

Severity = Literal["error", "warning", "note"]
_ORDER: dict[str, int] = {"error": 0, "warning": 1, "note": 2}
_GNU = re.compile(
    r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)?\s*(?P<severity>fatal error|error|warning|note):\s*"
    r"(?P<text>.*?)(?:\s*\[(?P<flag>-W[^\]]+|-f[^\]]+)\])?$"
)
_NVCC = re.compile(
    r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\):\s*(?P<severity>error|warning|remark)\s*(?P<flag>#[\w-]+)?:\s*(?P<text>.*)$"
)
_LINKER = re.compile(
    r"^(?:/\S+/)?(?:ld|collect2)(?:\.\w+)?: (?:error: )?(?P<text>.+)$|^.*: (?P<undefined>undefined reference to .+)$"
)
_KERNEL = re.compile(r"ptxas info\s*: Compiling entry function '(?P<name>\S+)' for '(?P<arch>\S+)'")
_USED = re.compile(r"ptxas info\s*: Used (?P<registers>\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_SPILL = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of a compiler or linker."""

    severity: Severity
    file: str
    line: int
    """0 where the message names none."""
    text: str
    flag: str = ""
    """The option that controls it, `-Wunused-variable`, or the number, `#177-D`."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """What ptxas (`-Xptxas -v`) says that a CUDA kernel uses."""

    name: str
    architecture: str
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int


def parse_diagnostics(output: str) -> list[Diagnostic]:
    """The messages in a compiler's output, errors first, each once, otherwise in the order in which they came."""
    found: dict[Diagnostic, None] = {}
    for line in output.splitlines():
        diagnostic = _diagnostic(line.rstrip())
        if diagnostic is not None:
            found.setdefault(diagnostic)
    return sorted(found, key=lambda each: _ORDER[each.severity])


def _diagnostic(line: str) -> Diagnostic | None:
    if match := _GNU.match(line) or _NVCC.match(line):
        severity = match["severity"].removeprefix("fatal ").replace("remark", "note")
        return Diagnostic(severity, match["file"], int(match["line"]), match["text"].strip(), match["flag"] or "")  # type: ignore[arg-type]
    if match := _LINKER.match(line):
        return Diagnostic("error", "", 0, (match["text"] or match["undefined"]).strip())
    return None


def parse_kernels(output: str) -> list[KernelUse]:
    """What ptxas reports of each kernel, in order."""
    kernels: list[KernelUse] = []
    name, architecture, spills = "", "", (0, 0, 0)
    for line in output.splitlines():
        if match := _KERNEL.search(line):
            name, architecture, spills = match["name"], match["arch"], (0, 0, 0)
        elif match := _SPILL.search(line):
            spills = (int(match["stack"]), int(match["stores"]), int(match["loads"]))
        elif name and (match := _USED.search(line)):
            shared = _SHARED.search(line)
            kernels.append(
                KernelUse(name, architecture, int(match["registers"]), int(shared[1]) if shared else 0, *spills)
            )
            name = ""
    return kernels


def summarise_compiler(output: str, *, most: int = 20) -> str:
    """The messages as a list that fits a prompt: how many of each, the first `most`, and what kernels use."""
    diagnostics, kernels = parse_diagnostics(output), parse_kernels(output)
    counts = {severity: sum(each.severity == severity for each in diagnostics) for severity in _ORDER}
    lines = [", ".join(f"{count} {severity}{'' if count == 1 else 's'}" for severity, count in counts.items() if count)]
    lines[0] = lines[0] or "no messages"
    lines += [_line(each) for each in diagnostics[:most]]
    if len(diagnostics) > most:
        lines.append(f"... and {len(diagnostics) - most} more")
    lines += [_kernel_line(each) for each in kernels]
    return "\n".join(lines)


def _line(each: Diagnostic) -> str:
    where = f"{each.file}:{each.line}: " if each.file else ""
    return f"{each.severity}: {where}{each.text}" + (f" [{each.flag}]" if each.flag else "")


def _kernel_line(kernel: KernelUse) -> str:
    spilled = kernel.spill_store_bytes + kernel.spill_load_bytes
    tail = f", SPILLS {spilled} bytes" if spilled else ", no spills"
    return f"kernel {kernel.name}: {kernel.registers} registers, {kernel.shared_bytes} bytes shared{tail}"
