"""Whether an MCP server behind a guard whose rules allow everything is as without it, message for message.

    npm install @modelcontextprotocol/server-everything@2026.8.31
    python3 ci/transparent.py --planproof target/debug/planproof -- node node_modules/.bin/mcp-server-everything stdio

The same client speaks with the server twice, without and with a guard: it lists what there is, calls every tool with
arguments made from its schema, reads every resource, gets every prompt, and sends what no server knows. It answers the
server's own requests (roots, sampling, elicitation). All that it hears must be equal but for what differs between any
two runs (times, random bytes), which a third run, without a guard, shows. Both eras of the protocol are tried.
"""

import argparse
import json
import queue
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

# Seconds without a message after which a server is taken to have said everything.
SILENCE = 1.5
# Longest wait for an answer, in seconds.
ANSWER = 30.0

RULES = "schema: planproof/rules/v1\nrules:\n  - {id: any, never: {call: no_tool_of_this_name}}\n"
NEWER = "2026-07-28"

# What differs between any two runs of one server.
VARIES = [
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?"), "TIME"),
    (re.compile(r"\d{1,2}:\d\d:\d\d(\s?[AP]M)?"), "TIME"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
]


class Client:
    """A client that writes down all that it hears."""

    def __init__(self, words: list[str], is_newer: bool, environment: Path) -> None:
        self.child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=environment
        )
        self.is_newer = is_newer
        self.heard: list[str] = []
        self.lines: "queue.Queue[bytes]" = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.number = 0

    def _listen(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def say(self, message: dict[str, Any]) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.child.stdin.flush()

    def next(self, seconds: float) -> "dict[str, Any] | None":
        """The next message, which is answered if it is a request."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if not line:
            return None
        self.heard.append(line.decode())
        message = json.loads(line)
        if "method" in message and "id" in message:
            self.say({"id": message["id"], "result": answer_to(message["method"])})
        return message

    def ask(self, method: str, params: "dict[str, Any] | None" = None) -> "dict[str, Any]":
        self.number += 1
        number, params = self.number, dict(params or {})
        if self.is_newer:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": NEWER,
                "io.modelcontextprotocol/clientInfo": {"name": "transparent", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
                "progressToken": f"p{number}",
            }
        elif method == "tools/call":
            params["_meta"] = {"progressToken": f"p{number}"}
        self.say({"id": number, "method": method, "params": params})
        while (message := self.next(ANSWER)) is not None:
            if message.get("id") == number and "method" not in message:
                return message
        return {}

    def end(self) -> list[str]:
        while self.next(SILENCE) is not None:
            pass
        assert self.child.stdin is not None
        self.child.stdin.close()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
        return self.heard


def answer_to(method: str) -> dict[str, Any]:
    if method == "sampling/createMessage":
        return {"role": "assistant", "content": {"type": "text", "text": "Yes."}, "model": "m", "stopReason": "endTurn"}
    if method == "elicitation/create":
        return {"action": "decline"}
    if method == "roots/list":
        return {"roots": [{"uri": "file:///tmp", "name": "tmp"}]}
    return {}


def made(schema: dict[str, Any]) -> Any:
    """A value that fits a schema, more or less."""
    if "enum" in schema:
        return schema["enum"][0]
    if "default" in schema:
        return schema["default"]
    kind = schema.get("type")
    if kind == "object":
        return {name: made(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [made(schema.get("items", {}))]
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), 1)
    if kind == "boolean":
        return True
    return "text"


def visit(words: list[str], is_newer: bool, folder: Path) -> list[str]:
    client = Client(words, is_newer, folder)
    if is_newer:
        if "result" not in client.ask("server/discover"):
            client.end()
            return []
    else:
        capabilities = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}
        info = {"name": "transparent", "version": "1"}
        client.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info})
        client.say({"method": "notifications/initialized"})
        client.ask("ping")
    found = {kind: client.ask(f"{kind}/list").get("result", {}) for kind in ("tools", "resources", "prompts")}
    client.ask("resources/templates/list")
    for tool in found["tools"].get("tools", []):
        schema = tool["inputSchema"]
        client.ask("tools/call", {"name": tool["name"], "arguments": made({"type": "object", **schema})})
        client.ask("tools/call", {"name": tool["name"], "arguments": {}})
    for resource in found["resources"].get("resources", [])[:10]:
        client.ask("resources/read", {"uri": resource["uri"]})
    for prompt in found["prompts"].get("prompts", []):
        arguments = {argument["name"]: "text" for argument in prompt.get("arguments", [])}
        client.ask("prompts/get", {"name": prompt["name"], "arguments": arguments})
    client.ask("tools/call", {"name": "no such tool", "arguments": {"a": [1, {"b": None}]}})
    client.ask("logging/setLevel", {"level": "debug"})
    client.ask("vendor/unknown", {"x": [1.5, None, "é"]})
    return client.end()


def plain(heard: list[str]) -> list[str]:
    """What was heard, without what differs between any two runs. Notifications come whenever they like."""
    for pattern, word in VARIES:
        heard = [pattern.sub(word, line) for line in heard]
    return sorted(heard)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planproof", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("server", nargs="+")
    options = parser.parse_args()
    server = [str(Path(word).resolve()) if Path(word).exists() else word for word in options.server]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rules.yaml").write_text(RULES)
        guard = [str(options.planproof), "guard", "--rules", "rules.yaml", "--enforce", "--log", "log.jsonl", "--"]
        for era, is_newer in (("older", False), ("newer", True)):
            bare, again = (plain(visit(server, is_newer, folder)) for _ in range(2))
            if not bare:
                print(f"{era}: the server does not speak it")
                continue
            guarded = plain(visit([*guard, *server], is_newer, folder))
            # What the server itself does not repeat cannot be compared.
            steady = set(bare) & set(again)
            lost = [line for line in bare if line in steady and line not in guarded]
            added = [line for line in guarded if line not in bare and line not in again]
            unsteady = len(bare) - len([line for line in bare if line in steady])
            if lost or len(added) > unsteady or abs(len(guarded) - len(bare)) > abs(len(again) - len(bare)):
                failed += 1
                print(f"{era}: differs", *lost[:5], *added[:5], sep="\n  ")
            print(f"{era}: {len(bare)} messages, {len(guarded)} behind the guard, {unsteady} that no two runs share")
        decisions = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        calls = sum(line["kind"] == "decision" for line in decisions)
        refused = [line for line in decisions if line.get("action") == "blocked"]
        print(f"{calls} calls in the log, {len(refused)} refused")
        failed += len(refused)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
