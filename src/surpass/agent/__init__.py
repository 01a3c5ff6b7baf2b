"""Agents, and the workbench that is all they may touch."""

from surpass.agent._types import Agent, AttemptRecord, BudgetExhausted, Feedback, ModelUnavailable, Workbench
from surpass.agent.controls import SolutionFailed
from surpass.agent.registry import BUILT_IN, AgentError, about_agents, build, check_name, known_agents, with_model

__all__ = [
    "BUILT_IN",
    "Agent",
    "AgentError",
    "AttemptRecord",
    "BudgetExhausted",
    "Feedback",
    "ModelUnavailable",
    "SolutionFailed",
    "Workbench",
    "about_agents",
    "build",
    "check_name",
    "known_agents",
    "with_model",
]
