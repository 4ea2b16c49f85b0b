"""Holds the calls of an agent of the OpenAI Agents SDK to the rules of a guard.

    agent = Agent(name="Support", tools=guarded([get_order, refund], guard))
"""

import dataclasses
import json
from typing import Any, Sequence

import planproof
from agents import FunctionTool, Tool
from agents.tool_context import ToolContext


def guarded(tools: Sequence[Tool], session: planproof.GuardSession) -> list[Tool]:
    """The tools, each call of which is decided on before it is made.

    Tools that run at the model's provider, such as its web search, are not made here, so no guard can stand before
    them: they are refused.
    """
    others = [tool.name for tool in tools if not isinstance(tool, FunctionTool)]
    if others:
        raise TypeError(f"calls of {', '.join(others)} are not made by this program, and cannot be guarded")
    return [guarded_tool(tool, session) for tool in tools if isinstance(tool, FunctionTool)]


def guarded_tool(tool: FunctionTool, session: planproof.GuardSession) -> FunctionTool:
    """A tool like this one, held to the rules."""

    async def invoke(context: ToolContext[Any], written: str) -> Any:
        try:
            arguments = json.loads(written or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            # No decision is possible on what is not a call; the model reads what was wrong with it.
            return "The call is denied: its arguments are not a JSON object."
        decision = await session.abefore(tool.name, arguments, call=context.tool_call_id)
        if not decision:
            return decision.reason
        try:
            result = await tool.on_invoke_tool(context, written)
        except Exception as error:
            await session.aafter(decision, error=str(error))
            raise
        await session.aafter(decision, result)
        return result

    return dataclasses.replace(tool, on_invoke_tool=invoke)
