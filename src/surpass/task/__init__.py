"""What a task is: its description, its folder, its identity, and where tasks are found."""

from surpass.task.catalogue import Catalogue
from surpass.task.digest import CACHE_NAMES, digest_of, package_files
from surpass.task.errors import TaskError, UnknownNameError, nearest
from surpass.task.load import DATA_VARIABLE, SOLVER, EvilSolution, Task, load, read_document
from surpass.task.rung import Rung, rung_of
from surpass.task.spec import Budget, Deliverable, Feedback, Instance, Reported, Spec, Step, Tier, Track, Training

__all__ = [
    "CACHE_NAMES",
    "DATA_VARIABLE",
    "SOLVER",
    "Budget",
    "Catalogue",
    "Deliverable",
    "EvilSolution",
    "Feedback",
    "Instance",
    "Reported",
    "Rung",
    "Spec",
    "Step",
    "Task",
    "TaskError",
    "Tier",
    "Track",
    "Training",
    "UnknownNameError",
    "digest_of",
    "load",
    "nearest",
    "package_files",
    "read_document",
    "rung_of",
]
