"""Runs LangGraph's tool node with the wrappers of examples/langgraph/guarded.py; prints what the model would read."""

import asyncio
import json
import sys

import planproof
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import guarded

made = []


@tool
def get_order(order_id: int) -> str:
    """Looks an order up."""
    made.append("get_order")
    return json.dumps({"order_id": order_id, "status": "paid"})


@tool
def refund(order_id: int) -> str:
    """Refunds an order."""
    made.append("refund")
    return "refunded"


def asked(*names: str) -> dict:
    calls = [{"name": name, "args": {"order_id": 17}, "id": f"c{place}"} for place, name in enumerate(names)]
    return {"messages": [AIMessage(content="", tool_calls=calls)]}


def graph_of(node: ToolNode):
    graph = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile()


def main() -> None:
    read = []
    with planproof.Guard(sys.argv[1], mode="enforce", log=sys.argv[2]) as guard:
        node = ToolNode(
            [get_order, refund],
            wrap_tool_call=guarded.wrapper(guard),
            awrap_tool_call=guarded.async_wrapper(guard),
        )
        graph = graph_of(node)
        for names in (["refund"], ["get_order"], ["refund"]):
            read.append(graph.invoke(asked(*names))["messages"][-1])
        # Several calls of one reply run at once.
        state = asyncio.run(graph.ainvoke(asked("refund", "get_order", "refund")))
        read += state["messages"][1:]
    print(json.dumps({"made": made, "read": [[message.status, message.content] for message in read]}))


if __name__ == "__main__":
    main()
