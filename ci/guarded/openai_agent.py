"""Runs an agent of the OpenAI Agents SDK, whose model is a script, behind examples/openai-agents/guarded.py."""

import asyncio
import json
import sys

import planproof
from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import guarded

made = []


@function_tool
def get_order(order_id: int) -> str:
    """Looks an order up."""
    made.append("get_order")
    return json.dumps({"order_id": order_id, "status": "paid"})


@function_tool
def refund(order_id: int) -> str:
    """Refunds an order."""
    made.append("refund")
    return "refunded"


class Script(Model):
    """A model that makes these calls, one a reply, and then answers."""

    def __init__(self, names: list) -> None:
        self.names = names
        self.turn = 0

    async def get_response(self, *given, **named) -> ModelResponse:
        place, self.turn = self.turn, self.turn + 1
        if place < len(self.names):
            output = ResponseFunctionToolCall(
                type="function_call", call_id=f"c{place}", name=self.names[place], arguments='{"order_id": 17}'
            )
        else:
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            output = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *given, **named):
        raise NotImplementedError


async def run() -> None:
    with planproof.Guard(sys.argv[1], mode="enforce", log=sys.argv[2]) as guard:
        tools = guarded.guarded([get_order, refund], guard)
        script = Script(["refund", "get_order", "refund", "refund"])
        agent = Agent(name="Support", tools=tools, model=script)
        result = await Runner.run(agent, "Refund order 17.", run_config=RunConfig(tracing_disabled=True))
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    print(json.dumps({"made": made, "read": outputs}))


if __name__ == "__main__":
    asyncio.run(run())
