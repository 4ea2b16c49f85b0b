"""Serves an agent's module to `planproof test url:...`: service.py FILE, whose port is printed.

The module has a function `answer(query, mcp_url, model)`, plain or async, where `model` has `base_url`, `api_key` and
`name`. One process answers all cases, each in a thread, so that a framework is imported once.
"""

import asyncio
import importlib.util
import inspect
import json
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def load(path: str):
    """The module's `answer`."""
    spec = importlib.util.spec_from_file_location("agent", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.answer


class Handler(BaseHTTPRequestHandler):
    """Answers a question with the agent's answer."""

    answer = None

    def do_POST(self) -> None:
        """One case."""
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            answer = Handler.answer(question["query"], question["mcp_url"], question["model"])
            if inspect.iscoroutine(answer):
                answer = asyncio.run(answer)
            status, body = 200, {"answer": str(answer)}
        except Exception as error:
            traceback.print_exc()
            status, body = 500, {"error": f"{type(error).__name__}: {error}"}
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        """Says nothing."""


class Server(ThreadingHTTPServer):
    """Ends with its process, whatever its threads do."""

    daemon_threads = True
    request_queue_size = 64


def main() -> None:
    """Loads the agent and serves it until the process is ended."""
    Handler.answer = staticmethod(load(sys.argv[1]))
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
