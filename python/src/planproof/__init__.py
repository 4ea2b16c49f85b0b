"""Lets planproof test an agent that is a Python function, without starting Python again for each case.

    import planproof

    @planproof.agent
    def my_agent(query: str, tools: planproof.Tools) -> str:
        for tool in tools.list():
            tools.call(tool.name, {})
        return "Done."

    if __name__ == "__main__":
        my_agent.serve()

`planproof test "worker:python my_agent.py"` starts this once for a whole campaign.

`planproof.Guard` holds the calls of an agent that is at work to a file of rules.
"""

from ._agent import Agent, agent
from ._guard import CallDenied, Decision, Guard, GuardError, GuardSession, SessionEnd
from ._tools import Model, Tool, ToolError, ToolResult, Tools

__all__ = [
    "Agent",
    "CallDenied",
    "Decision",
    "Guard",
    "GuardError",
    "GuardSession",
    "Model",
    "SessionEnd",
    "Tool",
    "ToolError",
    "ToolResult",
    "Tools",
    "agent",
]
