"""A DSPy agent (ReAct), as its documentation shows it."""

import dspy
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def answer(query: str, mcp_url: str, model: dict) -> str:
    """Lets the agent work on the query; gives its final answer."""
    lm = dspy.LM(f"openai/{model['name']}", api_base=model["base_url"], api_key=model["api_key"], cache=False)
    async with streamablehttp_client(mcp_url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = [dspy.Tool.from_mcp_tool(session, tool) for tool in (await session.list_tools()).tools]
        with dspy.context(lm=lm):
            return (await dspy.ReAct("request -> answer", tools=tools, max_iters=60).acall(request=query)).answer
