"""The worker's side of the protocol, in a process of its own as planproof starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

import planproof

SOURCE = Path(planproof.__file__).resolve().parents[1]

AGENT = """
import asyncio, os, subprocess, sys
import planproof

@planproof.agent
def plain(query, tools):
    print("printed by Python")
    os.system("echo printed by a child; cat")
    if query == "fail":
        raise ValueError("no such thing")
    if query == "none":
        return None
    if query.startswith("long"):
        return f"{subprocess.run([sys.executable, '-c', '']).returncode} {os.environ.get('PLANPROOF_QUERY')}"
    if query == "environment":
        names = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL",
                 "GEMINI_API_KEY", "ANTHROPIC_MODEL", "PLANPROOF_MCP_URL", "PLANPROOF_QUERY")
        return " ".join(os.environ[name] for name in names) + f" {tools.url} {tools.model}"
    return f"{os.getpid()}: {query}"

@planproof.agent
def talking(query, tools, messages):
    return " / ".join([f"{message['role']}: {message['content']}" for message in messages] + [query])

loops = set()

@planproof.agent
async def waiting(query, tools):
    await asyncio.sleep(0)
    loops.add(asyncio.get_running_loop())
    return f"{len(loops)} {query}"

if __name__ == "__main__":
    plain.serve()
"""


@pytest.fixture
def agent_file(tmp_path: Path) -> Path:
    """A file with three agents."""
    path = tmp_path / "my_agent.py"
    path.write_text(AGENT, encoding="utf-8")
    return path


def ran(words: List[str], given: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """What a Python program writes that reads this."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **variables}
    return subprocess.run(
        [sys.executable, *words], input=given, capture_output=True, encoding="utf-8", env=environment, timeout=60
    )


def served(words: List[str], tasks: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """What a worker answers to these tasks; its first line has been looked at."""
    lines = "".join(json.dumps({"mcp_url": "http://127.0.0.1:9/x", **task}) + "\n" for task in tasks)
    done = ran(words, lines, PLANPROOF_WORKER="1")
    assert done.returncode == 0, done.stderr
    ready, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready["ready"] is True
    return answers


def test_an_agent_that_takes_messages_carries_conversations(agent_file: Path) -> None:
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    lines = "".join(
        json.dumps({"id": number, "query": "c", "mcp_url": "http://127.0.0.1:9/x", **more}) + "\n"
        for number, more in enumerate([{}, {"messages": said}])
    )
    done = ran(["-m", "planproof.worker", f"{agent_file}:talking"], lines, PLANPROOF_WORKER="1")
    ready, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready == {"ready": True, "conversations": True}
    assert [answer["answer"] for answer in answers] == ["c", "user: a / assistant: b / c"]
    # The others do not say that they do.
    done = ran(["-m", "planproof.worker", f"{agent_file}:plain"], "", PLANPROOF_WORKER="1")
    assert json.loads(done.stdout) == {"ready": True}


def test_one_process_answers_all_tasks(agent_file: Path) -> None:
    tasks = [{"id": number, "query": f"Grüße {number}\n"} for number in (1, 2, 3)]
    answers = served([str(agent_file)], tasks)
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert len({answer["answer"].split(":")[0] for answer in answers}) == 1
    assert answers[2]["answer"].endswith(": Grüße 3\n")


def test_what_it_raises_is_an_error_and_the_next_task_comes(agent_file: Path) -> None:
    queries = ["fail", "none", "fine"]
    fail, none, fine = served([str(agent_file)], [{"id": n, "query": query} for n, query in enumerate(queries)])
    assert fail == {"id": 0, "error": "ValueError: no such thing"}
    assert none == {"id": 1, "error": "TypeError: plain returned NoneType, not str"}
    assert fine["answer"].endswith(": fine")


def test_the_environment_of_a_task_is_that_of_a_command(agent_file: Path) -> None:
    model = {"base_url": "http://127.0.0.1:9/v1", "api_key": "key-1", "name": "sim/x"}
    (answer,) = served([str(agent_file)], [{"id": 1, "query": "environment", "model": model}])
    others = "http://127.0.0.1:9 http://127.0.0.1:9 key-1 sim/x"
    tools = "http://127.0.0.1:9/x environment http://127.0.0.1:9/x"
    expected = f"http://127.0.0.1:9/v1 key-1 sim/x {others} {tools} Model("
    assert answer["answer"].startswith(expected)


def test_a_query_that_fits_into_no_variable_is_in_none(agent_file: Path) -> None:
    queries = ["short", "long " + 200_000 * "x", "long \0"]
    _, *others = served([str(agent_file)], [{"id": n, "query": query} for n, query in enumerate(queries)])
    # And programs can be started meanwhile.
    assert others == [{"id": 1, "answer": "0 None"}, {"id": 2, "answer": "0 None"}]


def test_an_asynchronous_agent_keeps_its_loop(agent_file: Path) -> None:
    words = ["-m", "planproof.worker", f"{agent_file}:waiting"]
    answers = served(words, [{"id": 1, "query": "a"}, {"id": 2, "query": "b"}])
    assert [answer["answer"] for answer in answers] == ["1 a", "1 b"]


def test_the_same_file_serves_a_command(agent_file: Path) -> None:
    done = ran([str(agent_file)], "From stdin.", PLANPROOF_MCP_URL="http://127.0.0.1:9/x")
    assert done.stdout.endswith(": From stdin.\n") and done.stdout.count("\n") == 1
    assert "printed by Python" in done.stderr and "printed by a child" in done.stderr


def test_an_agent_that_cannot_be_found_is_said(agent_file: Path) -> None:
    for where, words in [
        (str(agent_file), "has 3 agents"),
        (f"{agent_file}:nobody", "has no agent nobody"),
        ("no/such/file.py", "there is no file"),
    ]:
        done = ran(["-m", "planproof.worker", where], "")
        assert done.returncode == 1 and words in done.stderr, done.stderr
    assert ran(["-m", "planproof.worker"], "").stderr.startswith("usage: ")


class Server(BaseHTTPRequestHandler):
    """A server of tools in little."""

    def do_POST(self) -> None:  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["method"] == "tools/list":
            schema = {"type": "object"}
            result: Any = {"tools": [{"name": "wash", "description": "Washes.", "inputSchema": schema}]}
        elif asked["params"]["name"] == "wash":
            text = json.dumps(asked["params"]["arguments"])
            result = {"content": [{"type": "text", "text": text}, {"type": "image"}], "isError": "bad" in text}
        else:
            result = None
        body = {"jsonrpc": "2.0", "id": asked["id"]}
        body.update({"result": result} if result else {"error": {"code": -1, "message": "no such tool"}})
        as_events = self.path == "/events"
        text = json.dumps(body)
        reply = (f"data: \n\nevent: message\ndata: {text}\n\n" if as_events else text).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if as_events else "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """The address of such a server."""
    running = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.mark.parametrize("path", ["/json", "/events"])
def test_tools_are_listed_and_called(server: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    tools = planproof.Tools(server + path)
    (tool,) = tools.list()
    assert (tool.name, tool.description, tool.openai()["function"]["parameters"]) == ("wash", "Washes.", {"type": "object"})
    assert tools.call("wash", {"what": "car"}) == planproof.ToolResult(
        '{"what": "car"}', content=[{"type": "text", "text": '{"what": "car"}'}, {"type": "image"}]
    )
    assert tools.call("wash", {"bad": 1}).is_error
    with pytest.raises(planproof.ToolError, match="tools/call: no such tool"):
        tools.call("bake")


def test_tools_can_be_awaited(server: str) -> None:
    import asyncio

    async def both() -> str:
        tools = planproof.Tools(server)
        (tool,) = await tools.alist()
        return str(await tools.acall(tool.name))

    assert asyncio.run(both()) == "{}"


def test_a_server_that_is_not_there_is_an_error_of_tools() -> None:
    with pytest.raises(planproof.ToolError, match="tools/list: "):
        planproof.Tools("http://127.0.0.1:9/x").list()


def test_the_command_of_an_agent_names_its_file() -> None:
    command = probe.command()
    assert command.startswith("worker:") and command.endswith("test_worker.py:probe")


@planproof.agent
def probe(query: str, tools: planproof.Tools) -> str:
    """An agent in this file."""
    return query
