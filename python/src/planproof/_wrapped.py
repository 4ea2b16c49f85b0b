"""Functions of which each call is decided on first, and reported after."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, AsyncGenerator, Awaitable, Callable, Dict, List, Mapping, Optional, Tuple

from ._lines import line_of

if TYPE_CHECKING:
    from ._guard import Decision, GuardSession

# How a function gives the arguments of a call by name, for rules to see.
ArgumentsOf = Callable[..., Mapping[str, Any]]


def wrapped(
    session: GuardSession, function: Callable[..., Any], name: str, arguments: Optional[ArgumentsOf]
) -> Callable[..., Any]:
    """A function like this one, which decides on each call of the tool `name`."""
    named_by = arguments or _naming(function, name)

    def naming(*given: Any, **named: Any) -> Mapping[str, Any]:
        try:
            return named_by(*given, **named)
        except UnnamedArguments as unnamed:
            return unnamed.asked_by(session)

    def prepared(*given: Any, **named: Any) -> Tuple[Mapping[str, Any], Callable[[], None]]:
        """The arguments, and what denies the call if they are others by then: they may change while others work."""
        asked = naming(*given, **named)
        before = _said(asked)

        def check() -> None:
            if _said(naming(*given, **named)) != before:
                session._deny_unless_watching(f"the arguments of {name} have changed since the call was decided on")

        return asked, check

    @functools.wraps(function)
    async def awaited(*given: Any, **named: Any) -> Any:
        asked, check = prepared(*given, **named)

        async def made() -> Any:
            return await function(*given, **named)

        decision = await session.abefore(name, asked)
        decision.raise_if_denied()
        return await _awaited(session, decision, made(), check)

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        asked, check = prepared(*given, **named)
        decision = session.before(name, asked)
        decision.raise_if_denied()
        return made_with(session, decision, lambda: function(*given, **named), check)

    is_asynchronous = any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))
    return awaited if is_asynchronous else called


def _said(arguments: Mapping[str, Any]) -> object:
    """Arguments as the guard reads them, to be compared; equal to no others if it cannot read them."""
    try:
        return line_of(dict(arguments))
    except Exception:
        return object()


def _unchanged() -> None:
    """What is called with the very arguments that were decided on needs no check."""


def made_with(
    session: GuardSession, decision: Decision, make: Callable[[], Any], check: Callable[[], None] = _unchanged
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
    signature = _signature(inner)
    behind = _given_behind(inner)

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
        arguments = {**behind, **further, **arguments}
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
        if isinstance(function, functools.partial):
            preset.append(functools.partial(_filled, function))
            function = function.func
        elif isinstance(function, _CACHED):
            function = function.__wrapped__
        elif not hasattr(function, "__signature__") and inspect.ismethod(getattr(function, "__call__", None)):
            # An object that can be called, not the class of one.
            function = getattr(function, "__call__")
        else:
            return function, preset


# What `functools.cache` makes: it calls what it wraps with the arguments that it gets.
_CACHED = type(functools.lru_cache(lambda: None))


def _any(*args: Any, **kwargs: Any) -> None:
    """Has the parameters of a function of which nothing is known."""


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function itself. A decorator may give the function that it wraps other arguments than it
    gets, so what `functools.wraps` says of that one does not count here.
    """
    unbound = getattr(function, "__func__", function)
    said = getattr(unbound, "__signature__", None)
    # `functools.wraps` copies that as well.
    is_copied = said is not None and said is getattr(getattr(unbound, "__wrapped__", None), "__signature__", None)
    try:
        return inspect.signature(_any if is_copied else function, follow_wrapped=False)
    except (TypeError, ValueError):
        return inspect.signature(_any)


def _given_behind(function: Callable[..., Any]) -> Dict[str, Any]:
    """What the function behind a decorator gets by default or in advance, for parameters that a call does not give:
    if the decorator takes any name, it passes on what it does not know.
    """
    takes_any_name = any(it.kind is it.VAR_KEYWORD for it in _signature(function).parameters.values())
    behind = inspect.unwrap(function)
    if not takes_any_name or behind is function:
        return {}
    inner, preset = _without_presets(behind)
    given, named = (), {}  # type: _Given
    for fill in preset:
        given, named = fill(given, named)
    signature = _signature(inner)
    bound = signature.bind_partial(*given, **named)
    bound.apply_defaults()
    kinds = {name: it.kind for name, it in signature.parameters.items()}
    one_each = {name: value for name, value in bound.arguments.items() if "VAR" not in kinds[name].name}
    return {**_given_behind(inner), **one_each}


def _filled(preset: functools.partial[Any], given: Tuple[Any, ...], named: Dict[str, Any]) -> _Given:
    gap = getattr(functools, "Placeholder", preset)
    rest = iter(given)
    first = [next(rest, gap) if value is gap else value for value in preset.args]
    return (*first, *rest), {**preset.keywords, **named}


def _is_to_come(result: Any) -> bool:
    """Whether a function has only promised its result."""
    is_future = isinstance(result, Future) or asyncio.isfuture(result)
    return is_future or inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result)


def _handed_on(session: GuardSession, decision: Decision, result: Any, check: Callable[[], None] = _unchanged) -> Any:
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
            getattr(promised, "close", _unchanged)()
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
