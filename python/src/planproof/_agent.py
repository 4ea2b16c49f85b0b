"""The decorator around an agent, and the protocol in which planproof gives it tasks (docs/workers.md)."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Awaitable, Callable, Dict, Iterator, List, Optional, TextIO, Tuple, Union

from ._tools import Model, Tools

# An agent's function: of the query and the tools, and if it carries conversations of what was said before.
Function = Callable[..., Union[str, Awaitable[str]]]

# What was said before: `{"role": "user" or "assistant", "content": ...}`, the oldest message first.
Messages = List[Dict[str, str]]


class Agent:
    """An agent that planproof can test: a function of the query and the tools that returns the answer.

    A function with a third parameter, `messages`, carries conversations: it gets what was said before.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "agent")
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.carries_conversations = "messages" in inspect.signature(function).parameters
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    def __call__(self, query: str, tools: Tools, messages: Optional[Messages] = None) -> Union[str, Awaitable[str]]:
        """Calls the function itself."""
        if self.carries_conversations:
            return self.function(query, tools, messages=messages or [])
        return self.function(query, tools)

    def command(self) -> str:
        """The agent as `planproof test` takes it: a worker with this interpreter."""
        file = inspect.getsourcefile(self.function)
        if file is None:
            raise ValueError(f"{self.__name__} is in no file, so no other process can import it")
        words = [sys.executable, "-m", "planproof.worker", f"{Path(file).resolve()}:{self.__name__}"]
        return "worker:" + " ".join(_quoted(word) for word in words)

    def serve(self) -> None:
        """Serves tasks until there are none left, as `worker:` wants it; or just one, as `command:` does.

        What is printed meanwhile goes to stderr, because stdout belongs to the protocol.
        """
        with _own_streams() as (tasks, replies):
            if os.environ.get("PLANPROOF_WORKER"):
                self._serve_tasks(tasks, replies)
            else:
                # A query too long for a variable comes on stdin alone.
                query = os.environ.get("PLANPROOF_QUERY") or tasks.read()
                tools = Tools(os.environ["PLANPROOF_MCP_URL"], _model_of_environment())
                replies.write(self.run(query, tools) + "\n")

    def run(self, query: str, tools: Tools, messages: Optional[Messages] = None) -> str:
        """The answer of the function, asynchronous or not. All tasks share one event loop, and so may share clients."""
        answer = self(query, tools, messages)
        if inspect.isawaitable(answer):
            # Not `asyncio.run`, which closes its loop, and with it the connections that a client keeps for the next
            # task.
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                asyncio.set_event_loop(self._loop)
            answer = self._loop.run_until_complete(answer)
        if not isinstance(answer, str):
            raise TypeError(f"{self.__name__} returned {type(answer).__name__}, not str")
        return answer

    def _serve_tasks(self, tasks: TextIO, replies: TextIO) -> None:
        # The agent's module has been imported by now. A failure before this line does not count against the agent.
        _write(replies, {"ready": True, **({"conversations": True} if self.carries_conversations else {})})
        for line in tasks:
            task = json.loads(line)
            model = Model(**task["model"]) if task.get("model") else None
            _show_to_environment(task, model)
            try:
                reply = {"answer": self.run(task["query"], Tools(task["mcp_url"], model), task.get("messages"))}
            # An exit or an interrupt is no fault of one task: it ends the worker.
            except Exception as error:
                traceback.print_exc()
                reply = {"error": "".join(traceback.format_exception_only(type(error), error)).strip()}
            _write(replies, {"id": task["id"], **reply})


def agent(function: Function) -> Agent:
    """Makes an agent of a function `(query, tools) -> str`, or `(query, tools, messages) -> str`, which may be
    asynchronous."""
    return Agent(function)


@contextmanager
def _own_streams() -> Iterator[Tuple[TextIO, TextIO]]:
    """Keeps stdin and stdout for the protocol: whatever else reads, in Python or below, or in a program that the agent
    starts, reads nothing, and whatever else writes to stdout writes to stderr instead."""
    # What was printed so far belongs to stdout; below, descriptor 1 becomes stderr.
    sys.stdout.flush()
    # The copies keep the protocol's streams, whatever the descriptors 0 and 1 lead to afterwards.
    tasks = os.fdopen(os.dup(0), encoding="utf-8", errors="surrogateescape")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    nothing = os.open(os.devnull, os.O_RDONLY)
    # On the descriptor itself and not only `sys.stdin`, so that it holds for programs that the agent starts.
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        yield tasks, replies
    finally:
        sys.stdout = stdout
        replies.close()


def _write(replies: TextIO, message: Any) -> None:
    # Escapes alone: no encoding of a terminal can break the line.
    replies.write(json.dumps(message) + "\n")
    replies.flush()


# Longest query that is also put into a variable, in bytes, as for `command:`. The system takes 128 KiB, and starts no
# program at all while a variable is longer.
_QUERY_VARIABLE_BYTES_MAX = 100 * 1024

# What the clients of the protocols read in which planproof serves a model: its address, its key, its name.
_SERVED_VARIABLES = (
    ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"),
    ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"),
    ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "GEMINI_MODEL"),
)


def _show_to_environment(task: Any, model: Optional[Model]) -> None:
    """Sets the variables that `command:` would have set, for code that reads them."""
    os.environ["PLANPROOF_MCP_URL"] = task["mcp_url"]
    query = task["query"]
    # A query that fits into no variable, as with a NUL in it, is an argument of the function alone.
    if len(query.encode()) <= _QUERY_VARIABLE_BYTES_MAX and "\0" not in query:
        os.environ["PLANPROOF_QUERY"] = query
    else:
        os.environ.pop("PLANPROOF_QUERY", None)
    if model is not None:
        # Only OpenAI's clients have the version in their base URL.
        root = model.base_url[: -len("/v1")] if model.base_url.endswith("/v1") else model.base_url
        for (base_url, key, name), url in zip(_SERVED_VARIABLES, (model.base_url, root, root)):
            os.environ.update({base_url: url, key: model.api_key, name: model.name})


def _model_of_environment() -> Optional[Model]:
    # `Model` is about OpenAI's protocols, so their variables are the ones to read.
    names = _SERVED_VARIABLES[0]
    if not all(name in os.environ for name in names):
        return None
    return Model(*(os.environ[name] for name in names))


def _quoted(word: str) -> str:
    """A word of a command line as planproof splits it."""
    if word and not set(word) - set("-_./:\\@%+=") - set(_PLAIN):
        return word
    # Nothing is special between single quotes, so one of them has to stand between double quotes.
    return "'" + word.replace("'", "'\"'\"'") + "'"


_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
