"""Holds the calls of LangGraph's tool node to the rules of a guard.

    node = ToolNode(tools, wrap_tool_call=wrapper(guard), awrap_tool_call=async_wrapper(guard))

The functions also make middleware of LangChain's `create_agent`, with `langchain.agents.middleware.wrap_tool_call`.
"""

import copy
from typing import Any, Awaitable, Callable

import planproof
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest


def wrapper(session: planproof.GuardSession) -> Callable[[ToolCallRequest, Callable[[ToolCallRequest], Any]], Any]:
    """What a tool node calls instead of a tool."""

    def call(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Any]) -> Any:
        # A copy, so that what is decided on is what is passed on.
        request = request.override(tool_call=copy.deepcopy(request.tool_call))
        asked = request.tool_call
        decision = session.before(asked["name"], asked["args"], call=asked["id"])
        if not decision:
            return denied(request, decision)
        try:
            result = execute(request)
        except Exception as error:
            session.after(decision, error=str(error))
            raise
        session.after(decision, **outcome(result))
        return result

    return call


def async_wrapper(
    session: planproof.GuardSession,
) -> Callable[[ToolCallRequest, Callable[[ToolCallRequest], Awaitable[Any]]], Awaitable[Any]]:
    """The same for a graph that runs asynchronously."""

    async def call(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        request = request.override(tool_call=copy.deepcopy(request.tool_call))
        asked = request.tool_call
        decision = await session.abefore(asked["name"], asked["args"], call=asked["id"])
        if not decision:
            return denied(request, decision)
        try:
            result = await execute(request)
        except Exception as error:
            await session.aafter(decision, error=str(error))
            raise
        await session.aafter(decision, **outcome(result))
        return result

    return call


def denied(request: ToolCallRequest, decision: planproof.Decision) -> ToolMessage:
    """What the model reads instead of a result."""
    asked = request.tool_call
    return ToolMessage(content=decision.reason, name=asked["name"], tool_call_id=asked["id"], status="error")


def outcome(result: Any) -> dict[str, Any]:
    """The result of a call, or its error, for `after`. A tool that returns a command has no result of its own."""
    if not isinstance(result, ToolMessage):
        return {"result": None}
    text = result.text if isinstance(result.content, list) else result.content
    return {"error": str(text)} if result.status == "error" else {"result": str(text)}
