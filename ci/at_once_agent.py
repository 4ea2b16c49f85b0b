"""An agent that makes all calls of a reply at once, as most frameworks do, only worse: in any order, and with the results
in the order in which they come. Its model is the one that planproof serves. Standard library alone."""

import json
import os
import random
import sys
import threading
import time
import urllib.request

MAX_TURNS = 60


def post(url: str, body: dict, **headers: str) -> dict:
    """Sends JSON and gives the JSON that comes back."""
    headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def tools(method: str, params: dict) -> dict:
    """Asks the tool server."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return post(os.environ["PLANPROOF_MCP_URL"], body)["result"]


def call(entry: dict, messages: list[dict]) -> None:
    """Makes one call, a little later, and adds its result."""
    time.sleep(random.random() / 50)
    function = entry["function"]
    name = function["name"].removeprefix("mcp_")
    result = tools("tools/call", {"name": name, "arguments": json.loads(function["arguments"])})
    text = result["content"][0]["text"]
    messages.append({"role": "tool", "tool_call_id": entry["id"], "content": text})


def main() -> None:
    """Reads the query, works on it, prints the answer."""
    url, key = os.environ["OPENAI_BASE_URL"] + "/chat/completions", os.environ["OPENAI_API_KEY"]
    # Names as some frameworks show them.
    offered = [
        {
            "type": "function",
            "function": {
                "name": f"mcp_{tool['name']}",
                "description": tool["description"],
                "parameters": tool["inputSchema"],
            },
        }
        for tool in tools("tools/list", {})["tools"]
    ]
    messages = [{"role": "user", "content": sys.stdin.read()}]
    for _ in range(MAX_TURNS):
        body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": offered}
        message = post(url, body, Authorization=f"Bearer {key}")["choices"][0]["message"]
        messages.append(message)
        entries = message.get("tool_calls") or []
        if not entries:
            print(message["content"])
            return
        threads = [threading.Thread(target=call, args=(entry, messages)) for entry in entries]
        random.shuffle(threads)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


main()
