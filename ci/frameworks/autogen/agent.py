"""An AutoGen agent (AgentChat), as its documentation shows it."""

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools

MODEL_INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}


async def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    tools = await mcp_server_tools(StreamableHttpServerParams(url=mcp_url))
    client = OpenAIChatCompletionClient(
        model=model["name"], base_url=model["base_url"], api_key=model["api_key"], model_info=MODEL_INFO
    )
    agent = AssistantAgent("assistant", client, tools=tools, max_tool_iterations=60)
    result = await agent.run(task=query)
    return result.messages[-1].to_text()
