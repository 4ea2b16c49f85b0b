"""Holds the calls of a Pydantic AI agent to the rules of a guard.

    agent = Agent(model, toolsets=[GuardedToolset(FunctionToolset([get_order, refund]), guard)])

Any toolset can be wrapped, also that of an MCP server.
"""

import copy
from dataclasses import dataclass
from typing import Any

import planproof
from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset


@dataclass
class GuardedToolset(WrapperToolset[Any]):
    """A toolset, each call of which is decided on before it is made. The model reads why one is denied."""

    session: planproof.GuardSession

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        # A copy, so that what is decided on is what is passed on.
        tool_args = copy.deepcopy(tool_args)
        decision = await self.session.abefore(name, tool_args, call=ctx.tool_call_id)
        if not decision:
            # As after a mistake of its own, the model may try something else, as often as `retries` allows.
            raise ModelRetry(decision.reason or "")
        try:
            result = await super().call_tool(name, tool_args, ctx, tool)
        except Exception as error:
            await self.session.aafter(decision, error=str(error))
            raise
        await self.session.aafter(decision, result)
        return result
