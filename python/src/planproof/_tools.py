"""The tools of one task: a small client of the Model Context Protocol over HTTP."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional

# Longest time of one call, in seconds. A call waits for the tool, and at times for others that were made at once.
TIMEOUT_SECONDS = 120.0

# The tools are at a loopback address, which no proxy reaches.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ToolError(Exception):
    """The server of the tools refused a request, or could not be reached."""


@dataclass(frozen=True)
class Tool:
    """A tool as the model is to be shown it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]

    def openai(self) -> dict[str, Any]:
        """The tool in the form that OpenAI's chat completions take."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.input_schema)}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered. A mistake in a call is a result, too, with `is_error`: the model is to read it."""

    text: str
    is_error: bool = False
    content: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Model:
    """The model that planproof serves to the agent (`--serve-model`), in OpenAI's protocols, for one task."""

    base_url: str
    api_key: str
    name: str


class Tools:
    """The tools of one task. What is called here is what the agent is judged by.

    `url` is a server of the Model Context Protocol (streamable HTTP): give it to a framework that has a client of its
    own. `model` is the model to ask, or None where the agent brings its own.
    """

    def __init__(self, url: str, model: Optional[Model] = None) -> None:
        self.url = url
        self.model = model
        self._requests = 0

    def list(self) -> List[Tool]:
        """All tools that the task offers."""
        listed = self._ask("tools/list", {})["tools"]
        return [Tool(tool["name"], tool.get("description", ""), tool.get("inputSchema", {})) for tool in listed]

    def call(self, name: str, arguments: Optional[Mapping[str, Any]] = None) -> ToolResult:
        """Calls a tool. Raises `ToolError` if there is none of that name, or the run is over."""
        result = self._ask("tools/call", {"name": name, "arguments": dict(arguments or {})})
        content = result.get("content", [])
        text = "\n".join(part["text"] for part in content if part.get("type") == "text")
        return ToolResult(text, bool(result.get("isError", False)), content)

    async def alist(self) -> List[Tool]:
        """`list` for asynchronous agents."""
        # The client blocks, so it runs in a thread, and other tasks of the loop continue.
        return await asyncio.get_running_loop().run_in_executor(None, self.list)

    async def acall(self, name: str, arguments: Optional[Mapping[str, Any]] = None) -> ToolResult:
        """`call` for asynchronous agents."""
        return await asyncio.get_running_loop().run_in_executor(None, self.call, name, arguments)

    def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._requests += 1
        body = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        try:
            with _opener.open(request, timeout=TIMEOUT_SECONDS) as reply:
                text = reply.read().decode()
        # First, because it is an OSError as well, and its body says what the server refused.
        except urllib.error.HTTPError as error:
            raise ToolError(f"{method}: {error.code} {error.read().decode(errors='replace')}") from None
        except OSError as error:
            raise ToolError(f"{method}: {error}") from None
        reply_body = _message(text)
        if "error" in reply_body:
            raise ToolError(f"{method}: {reply_body['error'].get('message', reply_body['error'])}")
        return reply_body["result"]


def _message(text: str) -> Any:
    """The JSON-RPC response of a reply, which is JSON or a stream of events of which the last is the response."""
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text)
        # Notifications may come before the response, and empty events are possible.
        data = [line[len("data:") :] for line in text.splitlines() if line.startswith("data:")]
        return json.loads([line for line in data if line.strip()][-1])
    except (ValueError, IndexError):
        raise ToolError(f"the reply is no message of the protocol: {text[:200]}") from None
