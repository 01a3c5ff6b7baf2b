"""What runs first in a training candidate's sandbox. Started by path; imports nothing of surpass.

    runner.py train LIBRARIES SCRIPT DATA OUT SEED     imports the libraries, says `ready`, waits, runs the script
    runner.py answer LIBRARIES SCRIPT OUT              imports the libraries, loads the exported model, answers

Until `ready` no line of the candidate has run: importing a library of the harness's own environment is the same work
for everybody and is not timed. Everything after it is.

Answering: a request is two 4-byte unsigned integers B and T and then B * T 8-byte integers, the tokens; the answer is
three such integers B, T and V and B * T * V 4-byte floats, the logits. All little-endian. B = 0 ends the exchange.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

_HEADER = struct.Struct("<II")
_SHAPE = struct.Struct("<III")


def _import(libraries: str) -> None:
    for name in filter(None, libraries.split(",")):
        importlib.import_module(name)


def _train(libraries: str, script: str, data: str, out: str, seed: str) -> None:
    _import(libraries)
    os.write(1, b"ready\n")
    if not sys.stdin.readline():
        return  # the harness has gone
    sys.argv = [script, data, out, seed]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    # Taking the interpreter and a large library apart costs 0.4 s of CPU time, trains nothing and is the same for all.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _answer(libraries: str, script: str, out: str) -> None:
    # The streams belong to the exchange; whatever the candidate prints goes to the log instead.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _import(libraries)
    model = _loaded(script)(Path(out))
    while header := requests.read(_HEADER.size):
        rows, length = _HEADER.unpack(header)
        if rows == 0:
            return
        _reply(model, _read(requests, rows * length * 8), rows, length, answers)


def _loaded(script: str) -> Any:
    sys.path.insert(0, str(Path(script).parent))
    spec = importlib.util.spec_from_file_location("submission", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module  # dataclasses look their own module up while it is being executed
    spec.loader.exec_module(module)
    return module.load


def _reply(model: Any, content: bytes, rows: int, length: int, answers: BinaryIO) -> None:
    import numpy as np

    tokens = np.frombuffer(content, dtype="<i8").reshape(rows, length).copy()
    logits = np.ascontiguousarray(model(tokens), dtype="<f4")
    answers.write(_SHAPE.pack(*(*logits.shape, 0, 0, 0)[:3]))
    answers.write(logits.tobytes())
    answers.flush()


def _read(source: BinaryIO, count: int) -> bytes:
    content = source.read(count)
    if len(content) != count:
        raise EOFError("the request ends in its middle")
    return content


if __name__ == "__main__":
    verbs: dict[str, Callable[..., None]] = {"train": _train, "answer": _answer}
    verbs[sys.argv[1]](*sys.argv[2:])
