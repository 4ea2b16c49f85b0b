"""A Haystack agent, as its documentation shows it."""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.tools.mcp import MCPToolset, StreamableHttpServerInfo


def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    generator = OpenAIChatGenerator(
        model=model["name"], api_base_url=model["base_url"], api_key=Secret.from_token(model["api_key"])
    )
    tools = MCPToolset(server_info=StreamableHttpServerInfo(url=mcp_url))
    try:
        agent = Agent(chat_generator=generator, tools=tools, max_agent_steps=60)
        return agent.run(messages=[ChatMessage.from_user(query)])["last_message"].text
    finally:
        tools.close()
