"""Agents that are language models, on Inspect. Needs `surpass[agents]`; nothing else of surpass imports Inspect."""

from surpass.agent.llm.agent import ReactAgent, chosen_tools, react, require_model

__all__ = ["ReactAgent", "chosen_tools", "react", "require_model"]
