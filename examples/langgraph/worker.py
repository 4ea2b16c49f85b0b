"""The agent of `agent.py` as a worker, which imports LangGraph once for a whole campaign."""

import os

import planproof

import agent

os.environ["LANGSMITH_TRACING"] = "false"
os.environ.setdefault("OPENAI_API_KEY", "none")


@planproof.agent
async def langgraph_agent(query: str, tools: planproof.Tools) -> str:
    """Where the tools and the model are, `agent.py` reads from the environment, which is that of the task."""
    return await agent.run(query)


if __name__ == "__main__":
    langgraph_agent.serve()
