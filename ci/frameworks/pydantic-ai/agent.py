"""A Pydantic AI agent, as its documentation shows it."""

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    provider = OpenAIProvider(base_url=model["base_url"], api_key=model["api_key"])
    agent = Agent(OpenAIChatModel(model["name"], provider=provider), toolsets=[MCPToolset(mcp_url)])
    async with agent:
        result = await agent.run(query, usage_limits=UsageLimits(request_limit=60))
    return result.output
