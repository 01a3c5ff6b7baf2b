"""Suites and results of other projects: read from the user's own checkout, written into the user's own data folder."""

from surpass.interop.errors import InteropError
from surpass.interop.llm_speedrunner import baselines, import_llm_speedrunner, record_seconds
from surpass.interop.llm_speedrunner_rules import Node, Run, Scores, our_fsr, score_runs, their_fsr
from surpass.interop.llm_speedrunner_runs import Ignored, read_runs
from surpass.interop.modded_nanogpt import Imported, import_modded_nanogpt
from surpass.interop.training_log import TrainingLog, read_log

__all__ = [
    "Ignored",
    "Imported",
    "InteropError",
    "Node",
    "Run",
    "Scores",
    "TrainingLog",
    "baselines",
    "import_llm_speedrunner",
    "import_modded_nanogpt",
    "our_fsr",
    "read_log",
    "read_runs",
    "record_seconds",
    "score_runs",
    "their_fsr",
]
