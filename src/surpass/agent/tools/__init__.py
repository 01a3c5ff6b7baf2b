"""Tools for agents: shell, editor, attempts, compiler, profiler, disassembler, symbolic mathematics, curves."""

from surpass.agent.tools.toolbox import TOOLS, Tool, ToolError, tools_named

__all__ = ["TOOLS", "Tool", "ToolError", "tools_named"]
