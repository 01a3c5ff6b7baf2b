"""Connects policy.py in the working directory to the pipe. Run as `python -I /task/runner.py`.

Lines in: `new CAPACITY` starts a stream with a fresh Policy, a number is the size of the next item. Line out, one for
each item: what `choose` returned. Whatever else the policy prints goes to stderr.
"""

import operator
import os
import sys
from pathlib import Path

import numpy as np


def wire(choice: object) -> str:
    """The answer as sent. What is not an integer goes out as it is, for the other side to refuse."""
    try:
        return str(operator.index(choice))
    except TypeError:
        return repr(choice)[:32]


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.path.insert(0, str(Path.cwd()))  # -I leaves it out
    from policy import Policy

    capacity = 0
    for line in iter(sys.stdin.buffer.readline, b""):
        if line.startswith(b"new "):
            capacity = int(line[4:])
            policy = Policy(capacity)
            counts = np.zeros(capacity + 1, dtype=np.int64)
            shown = counts.view()
            shown.flags.writeable = False
            continue
        item = int(line)
        choice = wire(policy.choose(item, shown))
        answers.write(f"{choice}\n".encode())
        level = int(choice) if choice.removeprefix("-").isdecimal() else capacity
        if 0 <= level < capacity:
            counts[level] -= 1
        if (rest := (capacity if level == -1 else level) - item) >= 0:
            counts[rest] += 1


main()
