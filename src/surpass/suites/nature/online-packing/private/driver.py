"""Plays the streams to the program, one item at a time, and keeps the record of its choices.

The protocol, in lines of ASCII: `new CAPACITY` starts a stream and has no answer; a size has one answer, the free
space of the bin to use or -1 for a new one. Nothing tells how long a stream is or which comes next.
"""

from __future__ import annotations

import json
import os
import re
import select
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from surpass.guard import Malformed

_ANSWER = re.compile(rb"(-1|0|[1-9][0-9]{0,4})\n")
_LONGEST = 7  # bytes in a well-formed answer, its newline included


class Program:
    """The other end of the pipe. Reads the descriptor itself: a buffer would hide what arrived unasked."""

    def __init__(self, send: BinaryIO, receive: BinaryIO) -> None:
        self._send = send
        self._descriptor = receive.fileno()
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def tell(self, line: bytes) -> None:
        """Send one line, unless the program has already spoken or gone."""
        self.expect_silence()
        try:
            self._send.write(line)
            self._send.flush()
        except BrokenPipeError:
            raise Malformed("early-exit", f"gone before it could read {line!r}") from None

    def ask(self, item: int) -> int:
        """Send one item and return the answer, an integer that is not yet known to make sense."""
        self.tell(b"%d\n" % item)
        answer = b""
        while not answer.endswith(b"\n") and len(answer) <= _LONGEST:
            part = os.read(self._descriptor, 64)
            if not part:
                raise Malformed("early-exit", f"gone while it owed an answer, after {answer!r}")
            answer += part
        match = _ANSWER.fullmatch(answer)
        if match is None:
            raise Malformed("protocol", f"answered {answer!r}")
        return int(match[1])

    def expect_silence(self) -> None:
        """Refuse what was written before it was asked for: it cannot be an answer."""
        if self._poll.poll(0):
            early = os.read(self._descriptor, 64)
            if not early:
                raise Malformed("early-exit", "gone while nothing was asked")
            raise Malformed("protocol", f"spoke unasked: {early!r}")


def drive(inputs: Path, outputs: Path, send: BinaryIO, receive: BinaryIO) -> None:
    """Play all streams in the order of `order.npy` and write one array of answers for each family.

    Raises:
        Malformed: `protocol`, `no-such-bin`, `bin-overflow` or `early-exit`.
    """
    capacities: dict[str, int] = json.loads((inputs / "families.json").read_text())
    names = list(capacities)
    streams = {name: np.load(inputs / f"{name}.npy", allow_pickle=False) for name in names}
    choices = {name: np.empty_like(streams[name]) for name in names}
    program = Program(send, receive)
    for family, stream in np.load(inputs / "order.npy", allow_pickle=False).tolist():
        name = names[family]
        choices[name][stream] = play(program, streams[name][stream], capacities[name])
    program.expect_silence()
    for name in names:
        np.save(outputs / f"{name}.npy", choices[name])


def play(program: Program, items: NDArray[np.int16], capacity: int) -> list[int]:
    """One stream. Choices are checked as they come, so that a bad one ends the run where it happened."""
    program.tell(b"new %d\n" % capacity)
    bins = [0] * capacity  # how many open bins have that much free space
    choices = []
    for item in items.tolist():
        choice = program.ask(item)
        if choice == -1:
            rest = capacity - item
        else:
            if choice >= capacity or not bins[choice]:
                raise Malformed("no-such-bin", f"item {len(choices)}: no bin with {choice} free")
            rest = choice - item
            if rest < 0:
                raise Malformed("bin-overflow", f"item {len(choices)} of size {item} into a bin with {choice} free")
            bins[choice] -= 1
        if rest < capacity:
            bins[rest] += 1
        choices.append(choice)
    return choices
