"""Traces a LangGraph agent, whose model is a script, with OpenTelemetry's console exporter.

    python ci/guarded/traced_langgraph.py openinference crates/cli/tests/data/traces/langgraph-openinference.json
    python ci/guarded/traced_langgraph.py openllmetry crates/cli/tests/data/traces/langgraph-openllmetry.json

It needs langchain, langgraph, opentelemetry-sdk, and the instrumentation: openinference-instrumentation-langchain or
opentelemetry-instrumentation-langchain. The files there are of langgraph 1.2.22 with 0.1.80 of the former and 0.62.4 of
the latter.
"""

import json
import sys

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor


@tool
def get_order(order_id: int) -> str:
    """Looks an order up."""
    return json.dumps({"order_id": order_id, "status": "paid"})


@tool
def refund(order_id: int) -> str:
    """Refunds an order."""
    return "refunded"


class Script(GenericFakeChatModel):
    """A model that says what it was given, whatever tools it has."""

    def bind_tools(self, tools, **named):
        return self


def call(number: int, name: str) -> AIMessage:
    return AIMessage(content="", tool_calls=[{"name": name, "args": {"order_id": 17}, "id": f"c{number}"}])


def main() -> None:
    which, path = sys.argv[1:]
    if which == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor as Instrumentor
    else:
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor as Instrumentor
    with open(path, "w", encoding="utf-8") as out:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
        Instrumentor().instrument(tracer_provider=provider)
        names = ["get_order", "refund", "refund"]
        replies = [call(number, name) for number, name in enumerate(names)] + [AIMessage(content="Done.")]
        agent = create_agent(Script(messages=iter(replies)), [get_order, refund])
        query = {"messages": [{"role": "user", "content": "Refund order 17."}]}
        agent.invoke(query, {"configurable": {"thread_id": "t1"}})


if __name__ == "__main__":
    main()
