"""Runs inside the sandbox: profile a script and print a ranked summary. Needs no library, except torch where asked.

python inside_profile.py [--torch] [--most N] SCRIPT [ARGUMENT ...]
"""

import argparse
import cProfile
import pstats
import runpy
import sys
import time
from collections.abc import Callable


def main() -> int:
    """Profile the script and print the functions in which the time goes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--torch", action="store_true", help="operators of torch instead of Python functions")
    parser.add_argument("--most", type=int, default=15)
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    sys.argv = [options.script, *options.arguments]
    began = time.process_time()
    status = (_torch if options.torch else _python)(options.script, options.most)
    print(f"CPU time in all: {time.process_time() - began:.3f} s")
    return status


def _python(script: str, most: int) -> int:
    profile = cProfile.Profile()
    status = _run(profile.enable, profile.disable, script)
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values()) or 1.0
    print("share  own s   with callees s  calls  function")
    ranked = sorted(stats.items(), key=lambda item: -item[1][2])
    for (file, line, name), (_, calls, own, cumulative, _) in ranked[:most]:
        where = f"{file.rpartition('/')[2]}:{line} {name}" if line else name
        print(f"{own / total:5.1%}  {own:6.3f}  {cumulative:14.3f}  {calls:5d}  {where}")
    return status


def _torch(script: str, most: int) -> int:
    from torch.profiler import ProfilerActivity, profile

    recorder = profile(activities=[ProfilerActivity.CPU])
    status = _run(recorder.start, recorder.stop, script)
    events = sorted(recorder.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events) or 1.0
    print("share  own s   calls  operator")
    for event in events[:most]:
        own = event.self_cpu_time_total
        print(f"{own / total:5.1%}  {own / 1e6:6.3f}  {event.count:5d}  {event.key}")
    return status


def _run(start: Callable[[], object], stop: Callable[[], object], script: str) -> int:
    """The script's exit status; what it raises is told and does not cost the profile."""
    start()
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0) if isinstance(ended.code, (int, type(None))) else 1
    except BaseException as error:  # noqa: BLE001 - whatever the profiled script raises
        print(f"the script failed: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    finally:
        stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
