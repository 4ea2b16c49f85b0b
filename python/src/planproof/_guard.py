"""Rules on the calls of a session, held while an agent works: a client of `planproof guard decide` (docs/guard.md)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Type, TypeVar, Union

from ._binary import find_binary
from ._lines import Written, line_of, ways_to_say
from ._naming import ArgumentsOf
from ._wrapped import deny_if_changed, made_with, wrapped

# Longest time of one answer, in seconds. A decision takes less than a millisecond; a guard that has not answered by
# then is taken for gone.
ANSWER_SECONDS = 30.0

# Longest line that the guard reads, in bytes.
_LINE_BYTES_MAX = 16 * 1024 * 1024

# Most characters of an error that are reported: one that is too long for a line would not be known to have happened.
_ERROR_CHARACTERS_MAX = 1024 * 1024

_SCHEMA = "planproof/decide/v1"

_Function = TypeVar("_Function", bound=Callable[..., Any])


class GuardError(Exception):
    """The guard cannot be started, or its rules or its log cannot be used."""


class CallDenied(Exception):
    """A call was rejected, and not made."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason)
        self.decision = decision


@dataclass(frozen=True)
class Decision:
    """What was decided on a call.

    `reason` is written for the agent: give it to the model instead of the tool's result. In shadow mode, of the guard or
    of the rules that object, it says why the call would have been rejected, and `approved` is true all the same.
    """

    approved: bool
    reason: Optional[str] = None
    # The rules that the call would violate: `id`, `rule` in words, and if known `why` and `missing`.
    rules: List[Dict[str, Any]] = field(default_factory=list)
    # Calls that the rules want first, as far as they say which: `tool` and `arguments`.
    right: List[Dict[str, Any]] = field(default_factory=list)
    # The decision as the log has it (decision v1). None if the guard was not there to decide.
    logged: Optional[Dict[str, Any]] = None
    # The number of the call in its session.
    number: Optional[int] = None

    def __bool__(self) -> bool:
        return self.approved

    def raise_if_denied(self) -> None:
        """Raises `CallDenied` unless the call is approved."""
        if not self.approved:
            raise CallDenied(self)


@dataclass(frozen=True)
class SessionEnd:
    """What is left when a session ends: rules that it does not satisfy, and calls whose results never came."""

    unsatisfied: List[Dict[str, Any]]
    pending: List[int]


class GuardSession:
    """One conversation with an agent, or one run of it. Rules hold within a session.

    All methods may be called from any thread; `abefore`, `aafter` and `aend` are for asynchronous code.
    """

    def __init__(self, guard: Guard, name: Optional[str]) -> None:
        self._guard = guard
        self._name = name

    def before(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        call: Optional[str] = None,
        server: Optional[str] = None,
    ) -> Decision:
        """Decides on a call before it is made. An approved call counts as made: report what comes of it with `after`.

        `call` is the agent's name for it, for the log; `server` the MCP server whose tool it is, if rules name it.
        Never raises because of the guard: when it is gone, calls are rejected, or in shadow mode approved.
        """
        return self._decide(tool, Written({} if arguments is None else arguments), call, server)

    async def abefore(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        call: Optional[str] = None,
        server: Optional[str] = None,
    ) -> Decision:
        """`before` for asynchronous code."""
        return await self._adecide(tool, Written({} if arguments is None else arguments), call, server)

    def _decide(
        self, tool: str, arguments: Written, call: Optional[str] = None, server: Optional[str] = None
    ) -> Decision:
        return self._guard._decided(self._question(tool, arguments, call, server))

    async def _adecide(
        self, tool: str, arguments: Written, call: Optional[str] = None, server: Optional[str] = None
    ) -> Decision:
        return await self._guard._adecided(self._question(tool, arguments, call, server))

    def _question(self, tool: str, arguments: Written, call: Optional[str], server: Optional[str]) -> Dict[str, Any]:
        asked = {"do": "before", "session": self._name, "tool": tool, "arguments": arguments}
        asked.update({key: value for key, value in (("call", call), ("server", server)) if value is not None})
        return asked

    def after(self, decision: Decision, result: Any = None, *, error: Optional[str] = None) -> bool:
        """Reports what came of an approved call: its result, or the text of its error.

        A result is a text, or what JSON can say; of dataclasses, models of Pydantic and decimal numbers JSON says what
        is in them, and anything else counts as its text. Gives whether it was counted: a
        second result of a call, or one of a call that was not made, is not. Nor is one that is too long, and then the
        guard approves no further call of the session.
        """
        asked = self._outcome(decision, result, error)
        return asked is not None and self._guard._counted(asked)

    async def aafter(self, decision: Decision, result: Any = None, *, error: Optional[str] = None) -> bool:
        """`after` for asynchronous code."""
        asked = self._outcome(decision, result, error)
        return asked is not None and await self._guard._acounted(asked)

    def _outcome(self, decision: Decision, result: Any, error: Optional[str]) -> Optional[Dict[str, Any]]:
        if not decision.approved or decision.number is None:
            return None
        outcome = {"result": result} if error is None else {"error": error[:_ERROR_CHARACTERS_MAX]}
        return {"do": "after", "session": self._name, "number": decision.number, **outcome}

    def end(self) -> SessionEnd:
        """Ends the session. Raises `GuardError` if the guard is gone, because then nothing is known of it."""
        return _ended(self._guard._answer({"do": "end", "session": self._name}))

    async def aend(self) -> SessionEnd:
        """`end` for asynchronous code."""
        return _ended(await self._guard._aanswer({"do": "end", "session": self._name}))

    def run(self, tool: str, arguments: Mapping[str, Any], function: Callable[..., Any]) -> Any:
        """Calls a function if the call of this tool is approved, and reports what comes of it.

        The function gets the arguments by name. Raises `CallDenied` if the call is rejected, or if its arguments have
        changed by the time the function begins. Rules see these arguments, and not what the function gets by default.
        """
        given = dict(arguments)
        written = Written(given)
        decision = self._decide(tool, written)
        decision.raise_if_denied()
        return made_with(
            self, decision, lambda: function(**given), lambda: deny_if_changed(self, tool, written, given)
        )

    def wrap(
        self, function: _Function, tool: Optional[str] = None, *, arguments: Optional[ArgumentsOf] = None
    ) -> _Function:
        """A function like this one, asynchronous or not, of which each call is decided on first, and reported after.

        It raises `CallDenied` instead of calling the function. The tool is called like the function, unless named.
        Rules see the arguments by the names of the parameters in the function's code, with those of `**kwargs` and of
        `functools.partial` among them, and what it gets by default; a call with arguments in `*args`, which have no
        names, is denied. So are calls of what does not certainly enter a known function in Python: builtins, classes
        with a `__new__` of their own, caches with another `__wrapped__`. `arguments` names arguments otherwise: it is
        called like the function, and gives them by name. Of a decorated function rules see what the decorator gets,
        whose parameters are mostly `*args` and `**kwargs`: pass arguments by name, or wrap the function and decorate
        what `wrap` gives. Arguments that have changed by the time the function begins are denied.

        What the function only promises is reported when it has come: the result of a coroutine or a future, and the
        list of all that a generator yields, which is kept until its end. One that does not come to its end stays
        pending.
        """
        name = tool or getattr(function, "__name__", None)
        if not name:
            raise ValueError("the function has no name: say which tool it is")
        return wrapped(self, function, name, arguments)  # type: ignore[return-value]

    def _deny_unless_watching(self, why: str) -> None:
        if self._guard.mode != "shadow":
            raise CallDenied(self._guard._undecided(GuardError(why)))


class Guard(GuardSession):
    """Holds calls to the rules of a file: a process that decides, which this object starts and asks.

    It is a session itself; `session` begins further ones, for a program with several conversations. `mode`,
    `"enforce"` or `"shadow"`, is that of all rules; without it each rule is in its own mode, which is to enforce unless
    the file says otherwise. `log` is a file that gets each decision (decision v1). Raises `GuardError` if the rules or
    the log cannot be used.

    The attribute `mode` says what becomes of calls once the guard is gone: in `"enforce"` they are rejected.

        with planproof.Guard("rules.yaml") as guard:
            decision = guard.before("refund", {"order_id": 17})
            if decision:
                guard.after(decision, refund(order_id=17))
            else:
                tell_the_model(decision.reason)
    """

    def __init__(
        self,
        rules: Union[str, "os.PathLike[str]"],
        *,
        mode: Optional[str] = None,
        log: Union[str, "os.PathLike[str]", None] = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        super().__init__(self, None)
        if mode not in ("enforce", "shadow", None):
            raise ValueError(f'mode is "enforce", "shadow" or None, not {mode!r}')
        # Until the guard has said what its rules are.
        self.mode = mode or "enforce"
        self._answer_seconds = answer_seconds
        self._lock = threading.Lock()
        self._waiting: Dict[int, "Future[Dict[str, Any]]"] = {}
        self._asked = 0
        self._failure: Optional[str] = None
        # A process that was forked off must not talk to the guard of another.
        self._process_id = os.getpid()
        words = [find_binary(), "guard", "decide", "--rules", os.fspath(Path(rules).absolute())]
        if mode is not None:
            words.append(f"--{mode}")
        if log is not None:
            words += ["--log", os.fspath(Path(log).absolute())]
        try:
            # An interrupt at the terminal is for the program, and ends the guard with it.
            self._child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise GuardError(f"the guard cannot be started: {error}") from None
        self._said: List[str] = []
        self._listeners = [
            threading.Thread(target=self._listen_to_errors, name="planproof-guard-errors", daemon=True),
            threading.Thread(target=self._listen, name="planproof-guard", daemon=True),
        ]
        greeting: "Future[Dict[str, Any]]" = Future()
        self._waiting[0] = greeting
        for listener in self._listeners:
            listener.start()
        try:
            greeted = greeting.result(self._answer_seconds)
        except (GuardError, FutureTimeoutError):
            self.close()
            raise GuardError(self._because("the guard has not begun")) from None
        if greeted.get("schema") != _SCHEMA or "fault" in greeted:
            self.close()
            raise GuardError(self._because(greeted.get("fault") or "the program is of another version"))
        if greeted.get("mode") == "shadow":
            self.mode = "shadow"

    def session(self, name: str) -> GuardSession:
        """Begins a session of this name. Raises `GuardError` if there is one, or the guard is gone."""
        self._answer({"do": "begin", "session": name})
        return GuardSession(self, name)

    @property
    def failure(self) -> Optional[str]:
        """Why nothing is decided any more; None while the guard is at work."""
        return self._failure

    def close(self) -> None:
        """Ends all sessions and the process. From then on, calls are rejected, or in shadow mode approved."""
        if os.getpid() != self._process_id:
            return
        with self._lock:
            self._fail("the guard is closed")
            if self._child.stdin is not None:
                try:
                    self._child.stdin.close()
                except OSError:
                    pass
        try:
            self._child.wait(self._answer_seconds)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        for listener in self._listeners:
            if listener is not threading.current_thread() and listener.ident is not None:
                listener.join(self._answer_seconds)
        for stream in (self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> "Guard":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _fail(self, why: str) -> None:
        """Nothing is decided from now on. Called with the lock."""
        if self._failure is None:
            self._failure = why
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(GuardError(self._failure))

    def _because(self, what: str) -> str:
        said = " ".join(line for line in self._said if line)
        return f"{what}: {said}" if said else what

    def _listen(self) -> None:
        assert self._child.stdout is not None
        try:
            for line in self._child.stdout:
                answer = json.loads(line)
                number = answer.get("id", 0) if isinstance(answer, dict) else None
                with self._lock:
                    future = self._waiting.pop(number, None) if isinstance(number, int) else None
                    if future is None:
                        # An answer to nothing that was asked: it is not known any more what was decided.
                        self._fail("the guard has answered something else")
                    elif not future.cancelled():
                        future.set_result(answer)
        except (OSError, ValueError):
            pass
        with self._lock:
            self._fail("the guard has ended")

    def _listen_to_errors(self) -> None:
        assert self._child.stderr is not None
        try:
            for line in self._child.stderr:
                # The last ones explain an end.
                self._said = [*self._said[-9:], line.decode(errors="replace").strip()]
        except (OSError, ValueError):
            pass

    def _ask(self, question: Dict[str, Any]) -> "Future[Dict[str, Any]]":
        """The answer to come. Questions are decided on in the order in which they are asked, whichever thread asks."""
        future: "Future[Dict[str, Any]]" = Future()
        # A cancelled task does not take back what it asked.
        future.set_running_or_notify_cancel()
        asked = {key: value for key, value in question.items() if key != "session" or value is not None}
        try:
            line = line_of(asked)
        except Exception as error:
            # Also what the code of an argument raises, such as that of a model of Pydantic.
            future.set_exception(GuardError(f"the call cannot be written as JSON: {error}"))
            return future
        if len(line) + 32 > _LINE_BYTES_MAX:
            future.set_exception(GuardError(f"the call has more than {_LINE_BYTES_MAX} bytes"))
            return future
        if os.getpid() != self._process_id:
            future.set_exception(GuardError("the guard belongs to the process that this one was forked from"))
            return future
        with self._lock:
            if self._failure is not None:
                future.set_exception(GuardError(self._failure))
                return future
            self._asked += 1
            self._waiting[self._asked] = future
            try:
                assert self._child.stdin is not None
                self._child.stdin.write(b'{"id": %d, %b\n' % (self._asked, line[1:]))
                self._child.stdin.flush()
            except (OSError, ValueError):
                self._fail("the guard has ended")
        return future

    def _late(self) -> GuardError:
        with self._lock:
            self._fail(f"the guard has not answered within {self._answer_seconds} seconds")
        return GuardError(self._failure or "")

    def _answer(self, question: Dict[str, Any]) -> Dict[str, Any]:
        try:
            return _checked(self._ask(question).result(self._answer_seconds))
        except FutureTimeoutError:
            raise self._late() from None

    async def _aanswer(self, question: Dict[str, Any]) -> Dict[str, Any]:
        # Shielded: the guard answers also if nobody waits any more.
        answer = asyncio.shield(asyncio.wrap_future(self._ask(question)))
        try:
            return _checked(await asyncio.wait_for(answer, self._answer_seconds))
        except (asyncio.TimeoutError, FutureTimeoutError):
            raise self._late() from None

    def _decided(self, question: Dict[str, Any]) -> Decision:
        try:
            return _decision(self._answer(question))
        except GuardError as error:
            return self._undecided(error)

    async def _adecided(self, question: Dict[str, Any]) -> Decision:
        try:
            return _decision(await self._aanswer(question))
        except GuardError as error:
            return self._undecided(error)

    def _undecided(self, error: GuardError) -> Decision:
        reason = f"The call is denied: {self._because(str(error)) if self._failure else error}."
        return Decision(approved=self.mode == "shadow", reason=reason)

    def _counted(self, question: Dict[str, Any]) -> bool:
        for said in ways_to_say(question):
            try:
                return bool(self._answer(said).get("counted", False))
            except GuardError:
                # What came of the call is not known to the guard, unless it can be said otherwise.
                continue
        return False

    async def _acounted(self, question: Dict[str, Any]) -> bool:
        for said in ways_to_say(question):
            try:
                return bool((await self._aanswer(said)).get("counted", False))
            except GuardError:
                continue
        return False


def _checked(answer: Dict[str, Any]) -> Dict[str, Any]:
    if "fault" in answer:
        raise GuardError(str(answer["fault"]))
    return answer


def _decision(answer: Dict[str, Any]) -> Decision:
    return Decision(
        # Only this word approves.
        approved=answer.get("verdict") == "approve",
        reason=answer.get("reason"),
        rules=answer.get("rules", []),
        right=answer.get("right", []),
        logged=answer.get("decision"),
        number=answer.get("number"),
    )


def _ended(answer: Dict[str, Any]) -> SessionEnd:
    return SessionEnd(unsatisfied=answer["unsatisfied"], pending=answer["pending"])
