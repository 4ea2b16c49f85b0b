"""A smolagents agent, as its documentation shows it."""

from smolagents import LogLevel, MCPClient, OpenAIModel, ToolCallingAgent


def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    client = OpenAIModel(model_id=model["name"], api_base=model["base_url"], api_key=model["api_key"])
    with MCPClient({"url": mcp_url, "transport": "streamable-http"}, structured_output=False) as tools:
        agent = ToolCallingAgent(tools=tools, model=client, max_steps=60, verbosity_level=LogLevel.OFF)
        return agent.run(query)
