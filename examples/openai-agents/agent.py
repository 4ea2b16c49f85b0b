"""An agent of the OpenAI Agents SDK, as its documentation shows it, made ready for `planproof test`."""

import asyncio
import os
import sys

from agents import Agent, OpenAIProvider, RunConfig, Runner
from agents.mcp import MCPServerStreamableHttp

MAX_TURNS = 60


async def run(query: str) -> str:
    """Lets the agent work on the query with the tools of the MCP server; returns its final answer."""
    # A plain provider, because the default one takes the part before "/" in a model's name for a provider's name.
    use_responses = os.environ.get("OPENAI_API", "responses") == "responses"
    config = RunConfig(model_provider=OpenAIProvider(use_responses=use_responses))
    async with MCPServerStreamableHttp(params={"url": os.environ["PLANPROOF_MCP_URL"]}) as server:
        agent = Agent(
            name="Assistant",
            instructions="Use the tools to carry out the task.",
            model=os.environ.get("OPENAI_MODEL", "sim/perfect"),
            mcp_servers=[server],
        )
        result = await Runner.run(agent, query, run_config=config, max_turns=MAX_TURNS)
    return str(result.final_output)


def main() -> None:
    """Reads the query, runs the agent, prints the answer."""
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    print(asyncio.run(run(os.environ.get("PLANPROOF_QUERY") or sys.stdin.read())))


if __name__ == "__main__":
    main()
