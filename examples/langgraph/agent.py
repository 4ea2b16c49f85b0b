"""A LangGraph agent (LangChain's `create_agent`), as its documentation shows it, made ready for `planproof test`."""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI

MAX_TURNS = 60


async def run(query: str) -> str:
    """Lets the agent work on the query with the tools of the MCP server; returns its final answer."""
    client = MultiServerMCPClient({"planproof": {"transport": "http", "url": os.environ["PLANPROOF_MCP_URL"]}})
    model = ChatOpenAI(
        model=os.environ.get("OPENAI_MODEL", "sim/perfect"),
        base_url=os.environ.get("OPENAI_BASE_URL"),
    )
    agent = create_agent(model, await client.get_tools(), system_prompt="Use the tools to carry out the task.")
    # A turn is two steps of the graph: the model, then its tools.
    config = {"recursion_limit": 2 * MAX_TURNS + 1}
    state = await agent.ainvoke({"messages": [{"role": "user", "content": query}]}, config)
    return state["messages"][-1].text


def main() -> None:
    """Reads the query, runs the agent, prints the answer."""
    os.environ["LANGSMITH_TRACING"] = "false"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    print(asyncio.run(run(os.environ.get("PLANPROOF_QUERY") or sys.stdin.read())))


if __name__ == "__main__":
    main()
