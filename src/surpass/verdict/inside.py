"""What runs inside the evaluator's sandbox. Started by path; imports the standard library and the guard only.

    inside.py generate TIER SEED SETTINGS     private/generate.py writes /inputs and /truth
    inside.py drive                           private/driver.py talks to a program over stdin and stdout
    inside.py serve                           private/evaluator.py, imported once, forked per request

Paths come from the environment: SURPASS_PRIVATE, SURPASS_INPUTS, SURPASS_OUTPUTS, SURPASS_TRUTH, SURPASS_JUDGED.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

_ANSWER_BYTES = 4 << 20


def _path(name: str) -> Path:
    return Path(os.environ[f"SURPASS_{name}"])


def _load(name: str) -> ModuleType:
    sys.path.insert(0, str(_path("PRIVATE")))
    spec = importlib.util.spec_from_file_location(name, _path("PRIVATE") / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their own module up while it is being executed
    spec.loader.exec_module(module)
    return module


def _generate(tier: str, seed: str, settings: str) -> int:
    _load("generate").generate(tier, int(seed), _path("INPUTS"), _path("TRUTH"), **json.loads(settings))
    return 0


def _drive() -> int:
    """The last line on stderr is the result: the program holds the other two streams."""
    from surpass.guard import Malformed

    send, receive = os.fdopen(os.dup(1), "wb", buffering=0), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # a stray print of the driver must not reach the program
    try:
        _load("driver").drive(_path("INPUTS"), _path("OUTPUTS"), send, receive)
        result = {}
    except Malformed as failure:
        result = {"code": failure.code, "detail": failure.detail}
    except BrokenPipeError:
        result = {"code": "early-exit", "detail": "the program closed its input"}
    sys.stderr.write(json.dumps(result) + "\n")
    sys.stderr.flush()
    os._exit(0)  # never wait for a program that does not read what is still buffered


def _serve() -> int:
    module = _load("evaluator")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = _forked(module, request, answers.fileno())
        print(json.dumps({"nonce": request["nonce"], **answer}), file=answers, flush=True)
    return 0


def _forked(module: ModuleType, request: dict[str, Any], answers: int) -> dict[str, Any]:
    """Evaluate in a child, so that nothing a hostile file does to the interpreter outlives the request."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reader)
        os.close(answers)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _answer(module, request, writer)
        os._exit(0)
    os.close(writer)
    try:
        content = _read_until(reader, time.monotonic() + request["seconds"])
    finally:
        os.close(reader)
        _kill_tree(child)
        _, status = os.waitpid(child, 0)
    if content is None:
        return {"code": "evaluator-timeout", "detail": f"no answer in {request['seconds']:g} s"}
    try:
        return dict(json.loads(content))
    except ValueError:
        return {"code": "evaluator-error", "detail": f"no answer; wait status {status}"}


def _answer(module: ModuleType, request: dict[str, Any], writer: int) -> None:
    from surpass.guard import Malformed

    started = time.perf_counter()
    answer: dict[str, Any]
    try:
        result = module.evaluate(_path("JUDGED") / request["outputs"], _path("TRUTH") / request["truth"])
        answer = {"instances": {name: _plain(value) for name, value in result.items()}}
    except Malformed as failure:
        answer = {"code": failure.code, "detail": failure.detail}
    except BaseException:  # noqa: BLE001 - the boundary between the task's code and the harness
        answer = {"code": "evaluator-error", "detail": traceback.format_exc()}
    answer["work_s"] = time.perf_counter() - started
    with os.fdopen(writer, "w") as pipe:
        pipe.write(json.dumps(answer) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {"metrics": {str(name): float(number) for name, number in value.items()}}
    return {"code": value.code, "detail": value.detail}


def _read_until(reader: int, deadline: float) -> bytes | None:
    """One line, or what came before the end of file; None when the deadline passes or the answer is too long.

    The line's end is what counts: a process that the evaluation left behind may keep the pipe open.
    """
    content = b""
    while len(content) <= _ANSWER_BYTES:
        if content.endswith(b"\n"):
            return content
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return content
        content += chunk
    return None


def _kill_tree(child: int) -> None:
    """Whatever the evaluation forked dies with it."""
    _kill(os.killpg, child)
    if os.environ.get("SURPASS_OWN_NAMESPACE") != "1":
        return
    # A process that left the group with setsid: in a namespace of our own everybody but us and init is one.
    keep = {1, os.getpid(), os.getppid()}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names only, no Path objects on the hot path
        if entry.isdigit() and int(entry) not in keep:
            _kill(os.kill, int(entry))


def _kill(function: Callable[[int, int], None], target: int) -> None:
    try:
        function(target, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    verbs: dict[str, Callable[..., int]] = {"generate": _generate, "drive": _drive, "serve": _serve}
    sys.exit(verbs[sys.argv[1]](*sys.argv[2:]))
