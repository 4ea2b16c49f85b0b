"""A tool server made with the official Python SDK of the Model Context Protocol, to test clients with.

With `mcp` 1.x installed it speaks as far as 2025-11-25, with `mcp` 2.x both that and 2026-07-28. Over HTTP it prints its
URL on a line of its own when it listens.

    python ci/mcp_server.py [--http] [--json] [--stateless]
"""

import argparse
import asyncio
import os
import socket
import sys
from importlib.metadata import version
from typing import Any

import uvicorn
from pydantic import BaseModel

IS_MCP_2 = version("mcp").startswith("2.")
if IS_MCP_2:
    from mcp.server.mcpserver import Context, Image
    from mcp.server.mcpserver import MCPServer as Server
    from mcp.server.mcpserver.exceptions import ToolError
else:
    from mcp.server.fastmcp import Context, Image
    from mcp.server.fastmcp import FastMCP as Server
    from mcp.server.fastmcp.exceptions import ToolError


class Point(BaseModel):
    """A place in the plane."""

    x: int
    y: int


class Consent(BaseModel):
    """What a person is asked."""

    agreed: bool


def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


def mirror(point: Point) -> Point:
    """Turns a point around the origin."""
    return Point(x=-point.x, y=-point.y)


def picture() -> list[Any]:
    """A picture with its title."""
    return ["A picture:", Image(data=b"12345", format="png")]


def refuse(reason: str) -> str:
    """Fails for that reason."""
    raise ToolError(reason)


async def wait(seconds: float) -> str:
    """Answers after so many seconds."""
    await asyncio.sleep(seconds)
    return "done"


def variable(name: str) -> str:
    """The value of an environment variable of the server."""
    return os.environ.get(name, "not set")


async def ask(context: Context) -> str:
    """Asks a person for consent."""
    answer = await context.elicit("Do you agree?", Consent)
    return answer.action


def leave() -> str:
    """Ends the server at once."""
    print("leaving", file=sys.stderr, flush=True)
    os._exit(7)


TOOLS = [add, mirror, picture, refuse, wait, variable, ask, leave]


def make_server(options: dict[str, bool]) -> Any:
    """The server with all tools. The options are those of its HTTP side."""
    server = Server("ci", log_level="WARNING", **({} if IS_MCP_2 else options))
    for tool in TOOLS:
        # A list of mixed content has no schema that describes it.
        structured = False if tool is picture else None
        server.add_tool(tool, name=tool.__name__, description=tool.__doc__, structured_output=structured)
    return server


async def serve_http(server: Any, options: dict[str, bool]) -> None:
    """Serves on a free port of the loopback interface, until the process is ended."""
    app = server.streamable_http_app(**(options if IS_MCP_2 else {}))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve(sockets=[listener])


def main() -> None:
    """Serves over stdin and stdout, or over HTTP."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--http", action="store_true", help="over HTTP instead of stdin and stdout")
    parser.add_argument("--json", action="store_true", help="answer in JSON instead of events")
    parser.add_argument("--stateless", action="store_true", help="keep no sessions")
    arguments = parser.parse_args()
    options = {"json_response": arguments.json, "stateless_http": arguments.stateless}
    server = make_server(options)
    if arguments.http:
        asyncio.run(serve_http(server, options))
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
