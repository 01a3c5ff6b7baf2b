"""Writes the program that is process 1 in a sandbox: it waits at the gate, restricts itself, runs the command.

Landlock has to be applied inside, after bubblewrap has mounted everything, by code that then becomes the
command. A Python interpreter there would add some 10 ms to every start and its CPU time to every measurement;
a shell cannot make these system calls. The program needed is a straight list of system calls with constant
arguments, so it is written here as one: a static ELF file of about 1 kB for Linux on x86-64.

What it does, in order:

1. say `R` (ready) on the report pipe; everything is mounted by now
2. read one byte from the gate pipe, which the harness writes once this process is in its control groups
3. lower the resource limits (here, because another process may only do so with CAP_SYS_RESOURCE) and fork; the
   child applies the Landlock rules (saying `L` and stopping when the kernel refuses) and becomes the command;
   where that cannot be found it exits with status 127, as a shell does
4. the parent reaps every orphan, and when the command ends says `S` and its wait status, and exits with it;
   the kernel then kills whatever is left in the process namespace

Because the parent reaps everything, the resource usage of the whole tree reaches the harness through wait4.
The candidate cannot reach the report pipe: it is close-on-exec in the child, and the parent is not dumpable.
"""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["LAUNCHER_FAILED", "Rule", "landlock_rules", "launcher", "launcher_supported"]

LAUNCHER_FAILED = 125

_BASE = 0x400000
_HEADERS = 64 + 2 * 56
_REGISTERS = {
    "rax": 0, "rdx": 2, "rsp": 4, "rbp": 5, "rsi": 6, "rdi": 7, "r8": 8, "r10": 10, "r12": 12, "r13": 13, "r14": 14,
    "r15": 15,
}  # fmt: skip
_ARGUMENTS = ("rdi", "rsi", "rdx", "r10", "r8")
_SYSCALLS = {
    "read": 0, "write": 1, "close": 3, "fork": 57, "execve": 59, "wait4": 61, "fcntl": 72, "prctl": 157,
    "exit_group": 231, "openat": 257, "landlock_create_ruleset": 444, "landlock_add_rule": 445,
    "landlock_restrict_self": 446, "prlimit64": 302,
}  # fmt: skip
_AT_FDCWD = 0xFFFFFFFFFFFFFF9C
_O_PATH_CLOEXEC = 0o12000000
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38

# Landlock access rights, linux/landlock.h
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ABI1 = (1 << 13) - 1
_SCOPE_ABSTRACT_UNIX_SOCKET, _SCOPE_SIGNAL = 1, 2


@dataclass(frozen=True, slots=True)
class Rule:
    """Access granted to one path inside and everything below it."""

    path: str
    access: int


def launcher_supported() -> bool:
    """True where the program can run."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _handled(abi: int) -> int:
    extra = (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    return _ABI1 | extra


def landlock_rules(abi: int, writable_dirs: Sequence[str], writable_files: Sequence[str]) -> list[Rule]:
    """Read and execute everywhere, write only below the given directories, the given files and /dev's nodes."""
    handled = _handled(abi)
    file_rights = handled & (_EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV)
    rules = [Rule("/", _EXECUTE | _READ_FILE | _READ_DIR), Rule("/dev", file_rights | _READ_DIR)]
    rules += [Rule(path, handled) for path in writable_dirs]
    return rules + [Rule(path, file_rights) for path in writable_files]


class _Assembler:
    """Just enough x86-64 for a list of system calls. Data comes first in the file, so addresses are known."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.code = bytearray()
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []

    def address(self, content: bytes) -> int:
        """Store bytes and return where they will be in memory."""
        at = _BASE + _HEADERS + len(self.data)
        self.data += content
        return at

    def raw(self, code: str) -> None:
        self.code += bytes.fromhex(code)

    def load(self, register: str, value: int | str) -> None:
        """register = value, a 64-bit constant or another register."""
        to = _REGISTERS[register]
        if isinstance(value, int):
            self.code += bytes([0x48 | (to >> 3), 0xB8 | (to & 7)]) + struct.pack("<Q", value)
        else:
            source = _REGISTERS[value]
            rex, modrm = 0x48 | (source >> 3) << 2 | (to >> 3), 0xC0 | (source & 7) << 3 | (to & 7)
            self.code += bytes([rex, 0x89, modrm])

    def call(self, name: str, *arguments: int | str) -> None:
        """A system call; its result is in rax."""
        for register, value in zip(_ARGUMENTS, arguments, strict=False):
            self.load(register, value)
        self.load("rax", _SYSCALLS[name])
        self.raw("0f05")

    def label(self, name: str) -> None:
        self._labels[name] = len(self.code)

    def jump(self, opcode: str, label: str) -> None:
        self.raw(opcode)
        self._jumps.append((len(self.code), label))
        self.code += b"\0\0\0\0"

    def or_else(self, label: str) -> None:
        """Jump when the last system call failed."""
        self.raw("4885c0")  # test rax, rax
        self.jump("0f88", label)  # js

    def link(self) -> bytes:
        """The ELF file: one read-execute segment and a stack that is not executable."""
        for at, label in self._jumps:
            self.code[at : at + 4] = struct.pack("<i", self._labels[label] - at - 4)
        size = _HEADERS + len(self.data) + len(self.code)
        entry = _BASE + _HEADERS + len(self.data)
        ident = b"\x7fELF\x02\x01\x01" + bytes(9)
        header = ident + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, entry, 64, 0, 0, 64, 56, 2, 0, 0, 0)
        text = struct.pack("<IIQQQQQQ", 1, 5, 0, _BASE, _BASE, size, size, 0x1000)
        stack = struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16)
        return header + text + stack + bytes(self.data) + bytes(self.code)


def launcher(
    candidates: Sequence[str],
    *,
    gate: int,
    report: int,
    rlimits: Mapping[int, int],
    abi: int,
    rules: Sequence[Rule],
) -> bytes:
    """The program for one run.

    `candidates` are the absolute paths to try as the command, in order; `rlimits` has a value, soft and hard, by
    resource number. It expects the command and its
    arguments as argv[1:], reads file descriptor `gate` and writes file descriptor `report`.
    """
    asm = _Assembler()
    asm.raw("488b1c24")  # mov rbx, [rsp]              argc
    asm.raw("4c8d642410")  # lea r12, [rsp + 16]       argv + 1
    asm.raw("4c8d6cdc10")  # lea r13, [rsp + 8 rbx + 16]   environment
    asm.raw("4883ec10")  # sub rsp, 16                 16 bytes to write to
    asm.call("fcntl", report, 2, 1)  # F_SETFD, FD_CLOEXEC
    asm.or_else("failed")
    asm.call("write", report, asm.address(b"R"), 1)
    asm.call("read", gate, "rsp", 1)
    asm.raw("4883f801")  # cmp rax, 1
    asm.jump("0f85", "failed")  # jne: the harness is gone
    asm.call("close", gate)
    for which, value in rlimits.items():
        asm.call("prlimit64", 0, which, asm.address(struct.pack("<QQ", value, value)), 0)
        asm.or_else("failed")
    asm.call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)  # keeps everybody from this process's descriptors and memory
    asm.call("fork")
    asm.or_else("failed")
    asm.jump("0f84", "child")  # jz
    _reap(asm, report)
    asm.label("child")
    if abi:
        _restrict(asm, abi, rules)
    for path in candidates:
        asm.call("execve", asm.address(path.encode() + b"\0"), "r12", "r13")
    message = b"surpass: cannot run this command: not found inside the sandbox, or not executable\n"
    asm.call("write", 2, asm.address(message), len(message))
    asm.call("exit_group", 127)
    asm.label("failed")
    asm.call("write", report, asm.address(b"L"), 1)
    asm.call("exit_group", LAUNCHER_FAILED)
    return asm.link()


def _reap(asm: _Assembler, report: int) -> None:
    asm.load("r14", "rax")  # the command's process id
    asm.label("wait")
    asm.call("wait4", 0xFFFFFFFFFFFFFFFF, "rsp", 0, 0)
    asm.raw("4c39f0")  # cmp rax, r14
    asm.jump("0f85", "wait")  # jne: an orphan, or interrupted
    asm.call("write", report, asm.address(b"S"), 1)
    asm.call("write", report, "rsp", 4)
    asm.raw("8b3c24")  # mov edi, [rsp]
    asm.raw("83e77f")  # and edi, 127              the signal that ended it
    asm.jump("0f85", "signalled")  # jnz
    asm.raw("0fb67c2401")  # movzx edi, byte [rsp + 1]   the exit status
    asm.jump("e9", "exit")
    asm.label("signalled")
    asm.raw("81c780000000")  # add edi, 128
    asm.label("exit")
    asm.load("rax", _SYSCALLS["exit_group"])
    asm.raw("0f05")


def _restrict(asm: _Assembler, abi: int, rules: Sequence[Rule]) -> None:
    scope = _SCOPE_ABSTRACT_UNIX_SOCKET | _SCOPE_SIGNAL if abi >= 6 else 0
    attributes = struct.pack("<QQQ", _handled(abi), 0, scope)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    asm.call("landlock_create_ruleset", asm.address(attributes), len(attributes), 0)
    asm.or_else("failed")
    asm.load("r15", "rax")
    for rule in rules:
        asm.call("openat", _AT_FDCWD, asm.address(rule.path.encode() + b"\0"), _O_PATH_CLOEXEC, 0)
        asm.or_else("failed")
        asm.load("rbp", "rax")
        asm.raw("89442408")  # mov [rsp + 8], eax      landlock_path_beneath_attr.parent_fd
        asm.load("rax", rule.access)
        asm.raw("48890424")  # mov [rsp], rax          landlock_path_beneath_attr.allowed_access
        asm.call("landlock_add_rule", "r15", 1, "rsp", 0)
        asm.or_else("failed")
        asm.call("close", "rbp")
    asm.call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    asm.or_else("failed")
    asm.call("landlock_restrict_self", "r15", 0)
    asm.or_else("failed")
    asm.call("close", "r15")
