"""Functions of which each call is decided on first, and reported after."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, AsyncGenerator, Awaitable, Callable, Dict, List, Mapping, Optional, Tuple

if TYPE_CHECKING:
    from ._guard import Decision, GuardSession

# How a function gives the arguments of a call by name, for rules to see.
ArgumentsOf = Callable[..., Mapping[str, Any]]


def wrapped(
    session: GuardSession, function: Callable[..., Any], name: str, arguments: Optional[ArgumentsOf]
) -> Callable[..., Any]:
    """A function like this one, which decides on each call of the tool `name`."""
    named_by = arguments or _naming(function, name)

    @functools.wraps(function)
    async def awaited(*given: Any, **named: Any) -> Any:
        async def made() -> Any:
            return await function(*given, **named)

        try:
            asked = named_by(*given, **named)
        except UnnamedArguments as unnamed:
            asked = unnamed.asked_by(session)
        decision = await session.abefore(name, asked)
        decision.raise_if_denied()
        return await _awaited(session, decision, made())

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            asked = named_by(*given, **named)
        except UnnamedArguments as unnamed:
            asked = unnamed.asked_by(session)
        decision = session.before(name, asked)
        decision.raise_if_denied()
        return made_with(session, decision, lambda: function(*given, **named))

    is_asynchronous = any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))
    return awaited if is_asynchronous else called


def made_with(session: GuardSession, decision: Decision, make: Callable[[], Any]) -> Any:
    """Makes a call that is approved, and reports what comes of it, at once or when it has come."""
    try:
        result = make()
    except Exception as error:
        session.after(decision, error=text_of(error))
        raise
    return _handed_on(session, decision, result)


def text_of(error: BaseException) -> str:
    """What is reported of an exception."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


class UnnamedArguments(Exception):
    """The arguments of a call are not known by name, so rules might not see what they are about."""

    def __init__(self, why: str, arguments: Dict[str, Any]) -> None:
        super().__init__(why)
        self.arguments = arguments

    def asked_by(self, session: GuardSession) -> Dict[str, Any]:
        """The arguments as far as they are known, where rules only watch. Otherwise the call is denied."""
        session._deny_unless_watching(str(self))
        return self.arguments


def _naming(function: Callable[..., Any], tool: str) -> ArgumentsOf:
    """What gives the arguments of a call of this function by the names of its parameters."""
    inner, preset = _without_presets(function)
    signature = inspect.signature(inner)

    def arguments_of(*given: Any, **named: Any) -> Dict[str, Any]:
        for fill in preset:
            given, named = fill(given, named)
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        arguments: Dict[str, Any] = {}
        unnamed: Dict[str, Any] = {}
        further: Mapping[str, Any] = {}
        for name, parameter in signature.parameters.items():
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_KEYWORD:
                further = value
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                arguments[name] = value
            elif value:
                unnamed[name] = value
        twice = arguments.keys() & further.keys()
        arguments = {**further, **arguments}
        how = "pass them by name, or say what they are called with `arguments` of `wrap`"
        if twice:
            raise UnnamedArguments(f"two arguments of {tool} are called {min(twice)}; {how}", arguments)
        if unnamed:
            (name, values), *_ = unnamed.items()
            raise UnnamedArguments(
                f"{len(values)} arguments of {tool} have no names (`*{name}`); {how}", {**unnamed, **arguments}
            )
        return arguments

    return arguments_of


# Arguments by place, and by name.
_Given = Tuple[Tuple[Any, ...], Dict[str, Any]]


def _without_presets(function: Callable[..., Any]) -> Tuple[Callable[..., Any], List[Callable[..., _Given]]]:
    """The function that has the parameters, and what adds the arguments that were given in advance (`partial`)."""
    preset: List[Callable[..., _Given]] = []
    while True:
        # Of a method, `signature` knows more.
        if not inspect.ismethod(function):
            function = inspect.unwrap(function, stop=lambda it: hasattr(it, "__signature__"))
        if not isinstance(function, functools.partial):
            return function, preset
        preset.append(functools.partial(_filled, function))
        function = function.func


def _filled(preset: functools.partial[Any], given: Tuple[Any, ...], named: Dict[str, Any]) -> _Given:
    gap = getattr(functools, "Placeholder", preset)
    rest = iter(given)
    first = [next(rest, gap) if value is gap else value for value in preset.args]
    return (*first, *rest), {**preset.keywords, **named}


def _is_to_come(result: Any) -> bool:
    """Whether a function has only promised its result."""
    is_future = isinstance(result, Future) or asyncio.isfuture(result)
    return is_future or inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result)


def _handed_on(session: GuardSession, decision: Decision, result: Any) -> Any:
    """The result of a call, or what stands for it until it has come; it is reported first, or then."""
    if isinstance(result, Future):
        return _Executed(session, decision, result)
    if asyncio.isfuture(result):
        _when_done(session, decision, result)
        return result
    if inspect.isawaitable(result):
        return _awaited(session, decision, result)
    if inspect.isgenerator(result):
        return _streamed(session, decision, result)
    if inspect.isasyncgen(result):
        return _astreamed(session, decision, result)
    session.after(decision, result)
    return result


async def _awaited(session: GuardSession, decision: Decision, promised: Awaitable[Any]) -> Any:
    try:
        result = await promised
    except Exception as error:
        await session.aafter(decision, error=text_of(error))
        raise
    if _is_to_come(result):
        return _handed_on(session, decision, result)
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


def _streamed(session: GuardSession, decision: Decision, inner: Any) -> Any:
    recorded = _Recorded(inner)
    try:
        returned = yield from recorded
    except Exception as error:
        session.after(decision, error=text_of(error))
        raise
    session.after(decision, recorded.items)
    return returned


async def _astreamed(session: GuardSession, decision: Decision, inner: Any) -> AsyncGenerator[Any, Any]:
    items = []
    step = inner.asend(None)
    try:
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
