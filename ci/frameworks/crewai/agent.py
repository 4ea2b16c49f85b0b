"""A CrewAI agent, as its documentation shows it."""

import os
import tempfile

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}
# It writes below these.
os.environ["HOME"] = os.environ["CREWAI_STORAGE_DIR"] = tempfile.mkdtemp(prefix="crewai-")

from crewai import LLM, Agent
from crewai.mcp import MCPServerHTTP


def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    agent = Agent(
        role="Assistant",
        goal="Carry out the task with the tools.",
        backstory="You are careful.",
        llm=LLM(model=f"openai/{model['name']}", base_url=model["base_url"], api_key=model["api_key"]),
        mcps=[MCPServerHTTP(url=mcp_url)],
        max_iter=60,
        verbose=False,
    )
    return agent.kickoff(query).raw
