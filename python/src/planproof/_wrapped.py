"""Functions of which each call is decided on first, and reported after."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, AsyncGenerator, Awaitable, Callable, Dict, List, Mapping, Optional, Tuple

from ._lines import Written
from ._naming import ArgumentsOf, NamedCall, UnnamedArguments, entered, named_call

if TYPE_CHECKING:
    from ._guard import Decision, GuardSession


def wrapped(
    session: GuardSession, function: Callable[..., Any], name: str, arguments: Optional[ArgumentsOf]
) -> Callable[..., Any]:
    """A function like this one, which decides on each call of the tool `name`."""

    @functools.wraps(function)
    async def awaited(*given: Any, **named: Any) -> Any:
        call = _Call(session, function, name, arguments, given, named)

        async def made() -> Any:
            return await call.make()

        decision = await session._adecide(name, call.written)
        decision.raise_if_denied()
        return await _awaited(session, decision, made(), call.check)

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        call = _Call(session, function, name, arguments, given, named)
        decision = session._decide(name, call.written)
        decision.raise_if_denied()
        return made_with(session, decision, call.make, call.check)

    return awaited if inspect.iscoroutinefunction(entered(function)) else called


class _Call:
    """A call of a wrapped function. Its arguments may change while it is decided on."""

    def __init__(
        self,
        session: GuardSession,
        function: Callable[..., Any],
        tool: str,
        arguments: Optional[ArgumentsOf],
        given: Tuple[Any, ...],
        named: Dict[str, Any],
    ) -> None:
        self._session = session
        self._function = function
        self._tool = tool
        self._arguments = arguments
        self._given = given
        self._named = named
        self._read = self._named_call()
        # What is decided on.
        self.written = Written(self._read.arguments)

    def _named_call(self) -> NamedCall:
        if self._arguments is None:
            try:
                return named_call(self._function, self._tool, self._given, self._named)
            except UnnamedArguments as unnamed:
                # Otherwise the rules only watch, and see what is known of the call.
                self._session._deny_unless_watching(str(unnamed))
                asked: Mapping[str, Any] = unnamed.arguments
        else:
            asked = self._arguments(*self._given, **self._named)
        return NamedCall(asked, functools.partial(self._function, *self._given, **self._named))

    def check(self) -> None:
        """Reads the call again, and denies it if it is not the one that was decided on."""
        self._read = self._named_call()
        deny_if_changed(self._session, self._tool, self.written, self._read.arguments)

    def make(self) -> Any:
        """Makes the call with the arguments that were read last."""
        return self._read.make()


def deny_if_changed(session: GuardSession, tool: str, decided: Written, arguments: Mapping[str, Any]) -> None:
    """Raises `CallDenied` if arguments are not those that were decided on, unless the rules only watch."""
    if not decided.says(Written(arguments)):
        session._deny_unless_watching(f"the arguments of {tool} have changed since the call was decided on")


def made_with(
    session: GuardSession, decision: Decision, make: Callable[[], Any], check: Callable[[], None]
) -> Any:
    """Makes a call that is approved, and reports what comes of it, at once or when it has come.

    `check` raises an exception if the call must not be made after all. It is asked whenever the function begins to
    work, which can be later.
    """
    try:
        check()
        result = make()
    except Exception as error:
        session.after(decision, error=text_of(error))
        raise
    return _handed_on(session, decision, result, check)


def text_of(error: BaseException) -> str:
    """What is reported of an exception."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def _is_to_come(result: Any) -> bool:
    """Whether a function has only promised its result."""
    is_future = isinstance(result, Future) or asyncio.isfuture(result)
    return is_future or inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result)


def _handed_on(session: GuardSession, decision: Decision, result: Any, check: Callable[[], None]) -> Any:
    """The result of a call, or what stands for it until it has come; it is reported first, or then."""
    if isinstance(result, Future):
        return _Executed(session, decision, result)
    if asyncio.isfuture(result):
        _when_done(session, decision, result)
        return result
    if inspect.isawaitable(result):
        return _awaited(session, decision, result, check)
    if inspect.isgenerator(result):
        return _streamed(session, decision, result, check)
    if inspect.isasyncgen(result):
        return _astreamed(session, decision, result, check)
    session.after(decision, result)
    return result


async def _awaited(
    session: GuardSession, decision: Decision, promised: Awaitable[Any], check: Callable[[], None]
) -> Any:
    try:
        try:
            check()
        except Exception:
            # Nobody waits for it then.
            getattr(promised, "close", lambda: None)()
            raise
        result = await promised
    except Exception as error:
        await session.aafter(decision, error=text_of(error))
        raise
    if _is_to_come(result):
        return _handed_on(session, decision, result, check)
    await session.aafter(decision, result)
    return result


def _report(session: GuardSession, decision: Decision, future: Any) -> None:
    # One that was cancelled has no outcome: its call stays pending.
    if future.cancelled():
        return
    error = future.exception()
    if error is None:
        session.after(decision, future.result())
    elif isinstance(error, Exception):
        session.after(decision, error=text_of(error))


def _when_done(session: GuardSession, decision: Decision, future: asyncio.Future[Any]) -> None:
    # Before whoever waits for it is woken: those were not there yet.
    if future.done():
        _report(session, decision, future)
    else:
        future.add_done_callback(functools.partial(_report, session, decision))


class _Executed(Future[Any]):
    """A future of an executor, which is done when what came of it is reported."""

    def __init__(self, session: GuardSession, decision: Decision, inner: Future[Any]) -> None:
        super().__init__()
        self._inner = inner
        self._outcome_to = (session, decision)
        inner.add_done_callback(self._end)

    def cancel(self) -> bool:
        return self._inner.cancel()

    def running(self) -> bool:
        return not self.done() and not self._inner.cancelled() and (self._inner.running() or self._inner.done())

    def _end(self, inner: Future[Any]) -> None:
        if inner.cancelled():
            super().cancel()
            self.set_running_or_notify_cancel()
            return
        _report(*self._outcome_to, inner)
        error = inner.exception()
        if error is None:
            self.set_result(inner.result())
        else:
            self.set_exception(error)


class _Recorded(Generator[Any, Any, Any]):
    """A generator, with a list of what it has yielded."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.items: List[Any] = []

    def send(self, value: Any) -> Any:
        self.items.append(self._inner.send(value))
        return self.items[-1]

    def throw(self, *error: Any) -> Any:
        self.items.append(self._inner.throw(*error))
        return self.items[-1]

    def close(self) -> None:
        self._inner.close()


def _streamed(session: GuardSession, decision: Decision, inner: Any, check: Callable[[], None]) -> Any:
    recorded = _Recorded(inner)
    try:
        check()
        returned = yield from recorded
    except Exception as error:
        session.after(decision, error=text_of(error))
        raise
    session.after(decision, recorded.items)
    return returned


async def _astreamed(
    session: GuardSession, decision: Decision, inner: Any, check: Callable[[], None]
) -> AsyncGenerator[Any, Any]:
    items = []
    try:
        check()
        step = inner.asend(None)
        while True:
            try:
                item = await step
            except StopAsyncIteration:
                break
            items.append(item)
            try:
                sent = yield item
            except GeneratorExit:
                await inner.aclose()
                raise
            except BaseException as error:
                step = inner.athrow(error)
            else:
                step = inner.asend(sent)
    except Exception as error:
        await session.aafter(decision, error=text_of(error))
        raise
    await session.aafter(decision, items)
