"""Talks to a tool server with the official Python client of the Model Context Protocol.

Lists the tools, calls each once without arguments and prints one JSON line:
`{"era": PROTOCOL_VERSION, "tools": [NAME, ...], "results": [{"tool", "text", "is_error"}, ...]}`.
With `mcp` 1.x installed it speaks as far as 2025-11-25, with `mcp` 2.x 2026-07-28 where the server does.

    python ci/mcp_client.py URL [--era VERSION]
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

TIMEOUT_SECONDS = 30

IS_MCP_2 = version("mcp").startswith("2.")
if IS_MCP_2:
    from mcp import Client
else:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def connect(url: str, on_message: Callable[[Any], Awaitable[None]] | None = None) -> AsyncIterator[tuple[str, Any]]:
    """Gives the protocol version agreed on and the client to call. `on_message` gets notifications, with `mcp` 1.x."""
    if IS_MCP_2:
        async with Client(url) as client:
            yield client.protocol_version, client
    else:
        async with streamable_http_client(url) as (read, write, _), ClientSession(
            read, write, message_handler=on_message
        ) as session:
            agreed = await session.initialize()
            yield agreed.protocolVersion, session


async def visit(url: str) -> dict[str, Any]:
    """Lists all tools of the server and calls each once."""
    async with asyncio.timeout(TIMEOUT_SECONDS), connect(url) as (era, client):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        results = []
        for tool in tools:
            result = await client.call_tool(tool, {})
            results.append(
                {
                    "tool": tool,
                    "text": "\n".join(block.text for block in result.content if block.type == "text"),
                    "is_error": result.is_error if IS_MCP_2 else result.isError,
                }
            )
    return {"era": str(era), "tools": tools, "results": results}


def first_cause(error: BaseException) -> BaseException:
    """The error inside of the groups that the client's background tasks wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def main() -> int:
    """Returns 0 when every call worked, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--era", help="the protocol version that must be agreed on")
    options = parser.parse_args()
    try:
        report = asyncio.run(visit(options.url))
    except Exception as error:
        cause = first_cause(error)
        print(f"mcp_client: {options.url}: {type(cause).__name__}: {cause}", file=sys.stderr)
        return 1
    print(json.dumps(report))
    if options.era not in (None, report["era"]):
        print(f"mcp_client: agreed on {report['era']}, wanted {options.era}", file=sys.stderr)
        return 1
    if not report["tools"]:
        print("mcp_client: the server lists no tools", file=sys.stderr)
        return 1
    refused = [result["tool"] for result in report["results"] if result["is_error"]]
    if refused:
        print(f"mcp_client: calls answered with an error: {', '.join(refused)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
