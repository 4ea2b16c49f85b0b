"""Calls a tool that fails again and again with the official Python client of the Model Context Protocol.

Prints one JSON line: `{"calls": [[KIND, TEXT], ...], "tools": [NAME, ...], "notified": [METHOD, ...]}`. The kind is `result`, `error` (a result
with `isError`) or `exception` (what the client makes of an error of the protocol, or of no answer). The tools are those
that are listed after the calls.

    python ci/mcp_failures.py URL TOOL [--calls N]
"""

import argparse
import asyncio
import json
import sys
from typing import Any

from mcp_client import IS_MCP_2, TIMEOUT_SECONDS, connect


async def visit(url: str, tool: str, calls: int) -> dict[str, Any]:
    """Calls the tool so many times, and lists the tools after that."""
    seen, notified = [], []

    async def on_message(message: Any) -> None:
        if method := getattr(getattr(message, "root", None), "method", None):
            notified.append(method)

    async with asyncio.timeout(TIMEOUT_SECONDS), connect(url, on_message) as (_, client):
        for _ in range(calls):
            try:
                result = await client.call_tool(tool, {})
            except Exception as error:
                seen.append(["exception", str(error)])
                continue
            is_error = result.is_error if IS_MCP_2 else result.isError
            seen.append(["error" if is_error else "result", result.content[0].text])
        tools = [listed.name for listed in (await client.list_tools()).tools]
    return {"calls": seen, "tools": tools, "notified": notified}


def main() -> int:
    """Returns 0 when the server could be talked to to the end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("tool")
    parser.add_argument("--calls", type=int, default=3)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(visit(options.url, options.tool, options.calls))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
