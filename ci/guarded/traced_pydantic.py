"""Traces a Pydantic AI agent, whose model is a script, with OpenTelemetry's console exporter.

    python ci/guarded/traced_pydantic.py crates/cli/tests/data/traces/pydantic-ai.json

It needs pydantic-ai-slim and opentelemetry-sdk. The file there is of pydantic-ai-slim 2.68.0.
"""

import sys

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from pydantic_ai import Agent, InstrumentationSettings
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def main() -> None:
    names = iter(["get_order", "refund", "refund"])

    def model(messages, info) -> ModelResponse:
        name = next(names, None)
        return ModelResponse(parts=[TextPart("Done.") if name is None else ToolCallPart(name, {"order_id": 17})])

    with open(sys.argv[1], "w", encoding="utf-8") as out:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
        Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
        agent = Agent(FunctionModel(model))

        @agent.tool_plain
        def get_order(order_id: int) -> dict:
            """Looks an order up."""
            return {"order_id": order_id, "status": "paid"}

        @agent.tool_plain
        def refund(order_id: int) -> str:
            """Refunds an order."""
            return "refunded"

        agent.run_sync("Refund order 17.")


if __name__ == "__main__":
    main()
