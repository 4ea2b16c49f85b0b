"""Runs an agent of Pydantic AI, whose model is a script, behind examples/pydantic-ai/guarded.py."""

import asyncio
import json
import sys

import planproof
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

import guarded

made = []


def get_order(order_id: int) -> dict:
    """Looks an order up."""
    made.append("get_order")
    return {"order_id": order_id, "status": "paid"}


def refund(order_id: int) -> str:
    """Refunds an order."""
    made.append("refund")
    return "refunded"


async def run() -> None:
    names = iter(["refund", "get_order", "refund", "refund"])
    read = []

    def model(messages, info) -> ModelResponse:
        for part in messages[-1].parts:
            if part.part_kind in ("tool-return", "retry-prompt"):
                read.append(str(part.content))
        name = next(names, None)
        if name is None:
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart(name, {"order_id": 17})])

    with planproof.Guard(sys.argv[1], mode="enforce", log=sys.argv[2]) as guard:
        tools = guarded.GuardedToolset(FunctionToolset([get_order, refund], max_retries=3), guard)
        agent = Agent(FunctionModel(model), toolsets=[tools])
        await agent.run("Refund order 17.")
    print(json.dumps({"made": made, "read": read}))


if __name__ == "__main__":
    asyncio.run(run())
