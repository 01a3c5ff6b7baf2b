"""Where a compiled function spends its instructions: its loops, the width of its vectors, and what it spills.

From the text that `objdump -d --no-show-raw-insn -M intel` prints: binutils are all that the sandbox needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Loop", "find_loops", "summarise_disassembly"]

_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
_INSTRUCTION = re.compile(r"^\s*(?P<address>[0-9a-f]+):\s+(?P<mnemonic>\S+)\s*(?P<operands>.*)$")
_TARGET = re.compile(r"^(?P<address>[0-9a-f]+)\b")
_REGISTERS = (("zmm", 512), ("ymm", 256), ("xmm", 128))
_PACKED = re.compile(
    r"^v?(?!mov|cvt)\w*(?:p[sd]|p[sd]h|pbf16)$|^vfn?m(?:add|sub)\w*p[sdh]$|^v?p(?:add|sub|mul|max|min|and|or|xor|sll|srl|sra|cmp|abs|madd|avg)\w*$"
)
_SCALAR_FLOAT = re.compile(r"^v?(?:add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\d*)s[sd]$")
_STACK = re.compile(r"\[r(?:sp|bp)(?:[+-]0x[0-9a-f]+)?\]")
_MOVES = re.compile(r"^v?mov")


@dataclass(frozen=True, slots=True)
class Loop:
    """An innermost loop: the instructions between a backward jump and its target."""

    function: str
    start: int
    """Address of its first instruction."""
    instructions: int
    vector_bits: int
    """Widest register that it computes with packed; 0 when it computes on scalars."""
    packed: int
    """Arithmetic instructions on whole vectors."""
    scalar_float: int
    """Floating-point arithmetic on single numbers."""
    spills: int
    """Moves between a register and the stack."""
    calls: int


@dataclass(frozen=True, slots=True)
class _Instruction:
    address: int
    mnemonic: str
    operands: str


def find_loops(listing: str) -> list[Loop]:
    """The innermost loops of every function, those with most arithmetic first."""
    loops: list[Loop] = []
    for name, body in _functions(listing).items():
        spans = _backward_jumps(body)
        inner = [span for span in spans if not any(o != span and span[0] <= o[0] and o[1] <= span[1] for o in spans)]
        loops += [_loop(name, body[start : end + 1]) for start, end in inner]
    return sorted(loops, key=lambda loop: (-(loop.packed + loop.scalar_float), loop.start))


def _functions(listing: str) -> dict[str, list[_Instruction]]:
    functions: dict[str, list[_Instruction]] = {}
    body: list[_Instruction] = []
    for line in listing.splitlines():
        if match := _FUNCTION.match(line.strip()):
            body = functions.setdefault(match["name"], [])
        elif match := _INSTRUCTION.match(line):
            body.append(_Instruction(int(match["address"], 16), match["mnemonic"], match["operands"].strip()))
    return functions


def _backward_jumps(body: list[_Instruction]) -> list[tuple[int, int]]:
    """(index of the target, index of the jump) of every jump back within the function.

    One over a return is no loop: it comes from a rare case that the compiler has moved behind the function's end.
    """
    places = {instruction.address: index for index, instruction in enumerate(body)}
    spans: list[tuple[int, int]] = []
    for index, instruction in enumerate(body):
        if instruction.mnemonic.startswith("j") and (match := _TARGET.match(instruction.operands)):
            target = places.get(int(match["address"], 16))
            if target is not None and target <= index and not _returns(body[target:index]):
                spans.append((target, index))
    return spans


def _returns(body: list[_Instruction]) -> bool:
    return any(each.mnemonic == "ret" for each in body)


def _loop(function: str, body: list[_Instruction]) -> Loop:
    packed = [each for each in body if _PACKED.match(each.mnemonic) and _width(each)]
    return Loop(
        function=function,
        start=body[0].address,
        instructions=len(body),
        vector_bits=max((_width(each) for each in packed), default=0),
        packed=len(packed),
        scalar_float=sum(bool(_SCALAR_FLOAT.match(each.mnemonic)) for each in body),
        spills=sum(bool(_MOVES.match(each.mnemonic) and _STACK.search(each.operands)) for each in body),
        calls=sum(each.mnemonic == "call" for each in body),
    )


def _width(instruction: _Instruction) -> int:
    return next((bits for name, bits in _REGISTERS if name in instruction.operands), 0)


def summarise_disassembly(listing: str, *, most: int = 5) -> str:
    """The loops that matter, in a few lines."""
    loops = find_loops(listing)
    if not loops:
        return "no loops found"
    lines = []
    for loop in loops[:most]:
        width = f"{loop.vector_bits}-bit vectors" if loop.vector_bits else "NOT VECTORISED"
        parts = [
            f"{loop.instructions} instructions",
            width,
            f"{loop.packed} packed",
            f"{loop.scalar_float} scalar float",
        ]
        if loop.spills:
            parts.append(f"{loop.spills} SPILLS")
        if loop.calls:
            parts.append(f"{loop.calls} calls")
        lines.append(f"{loop.function} at {loop.start:#x}: {', '.join(parts)}")
    if len(loops) > most:
        lines.append(f"... and {len(loops) - most} more loops")
    return "\n".join(lines)
