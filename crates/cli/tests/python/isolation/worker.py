"""A worker that takes more memory than it may in the second of its tasks, unless another worker did so before it.

The file `tasks` gets a line for each task: the worker's number.
"""

import json
import os
import sys
import urllib.request

FIRST = not os.path.exists("tasks")
NUMBER = 1 if FIRST else 2


def say(message):
    print(json.dumps(message), flush=True)


def connect(url):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30).read()


say({"ready": True})
for place, line in enumerate(sys.stdin):
    task = json.loads(line)
    with open("tasks", "a") as tasks:
        tasks.write(f"{NUMBER}\n")
    connect(task["mcp_url"])
    kept = []
    while FIRST and place == 1 and len(kept) < 600:
        kept.append(b"x" * 2**20 + bytes([len(kept) % 256]))
    say({"id": task["id"], "answer": "Done."})
