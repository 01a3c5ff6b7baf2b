"""The prompt: how much an agent is told is a variable of the experiment."""

from surpass.hints.prompt import LEVELS, HintError, build_prompt, check_level

__all__ = ["LEVELS", "HintError", "build_prompt", "check_level"]
