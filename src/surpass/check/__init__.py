"""The task linter: does a package keep what docs/reference/task-package.md promises?"""

from surpass.check._registry import CHECKS
from surpass.check._run import run_checks, select_checks
from surpass.check._types import Check, Finding, Kind, Status

__all__ = ["CHECKS", "Check", "Finding", "Kind", "Status", "run_checks", "select_checks"]
