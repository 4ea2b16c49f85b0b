"""An agent of Microsoft's Agent Framework, as its documentation shows it."""

from agent_framework import Agent, MCPStreamableHTTPTool
from agent_framework.openai import OpenAIChatCompletionClient


async def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    client = OpenAIChatCompletionClient(
        model=model["name"], base_url=model["base_url"], api_key=model["api_key"]
    )
    async with MCPStreamableHTTPTool(name="planproof", url=mcp_url) as tools:
        return (await Agent(client, tools=[tools]).run(query)).text
