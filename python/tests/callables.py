"""Callables of all kinds, each of which notes what it gets, and a guard that keeps what it is asked."""

from __future__ import annotations

import functools
import inspect
import json
from typing import Any, AsyncGenerator, Callable, Dict, Generator, List, cast

import planproof


class Approving:
    """Stands for a guard that approves everything, and keeps what it was asked. Meanwhile, others may work."""

    mode = "enforce"

    def __init__(self) -> None:
        self.seen: List[Dict[str, Any]] = []
        self.meanwhile: Callable[[], Any] = lambda: None

    def _decided(self, question: Dict[str, Any]) -> planproof.Decision:
        self.seen.append(json.loads(question["arguments"].text()))
        self.meanwhile()
        return planproof.Decision(approved=True, number=1)

    async def _adecided(self, question: Dict[str, Any]) -> planproof.Decision:
        return self._decided(question)

    def _undecided(self, error: planproof.GuardError) -> planproof.Decision:
        return planproof.Decision(approved=False, reason=str(error))

    def _counted(self, question: Dict[str, Any]) -> bool:
        return True

    async def _acounted(self, question: Dict[str, Any]) -> bool:
        return True


def session_of(guard: Approving) -> planproof.GuardSession:
    return planproof.GuardSession(cast(Any, guard), None)


# What the functions below were called with.
got: List[Dict[str, Any]] = []


def note(**arguments: Any) -> str:
    got.append(arguments)
    return "made"


def new_refund() -> Callable[..., Any]:
    """A function of its own, because some are changed."""

    def refund(order_id: int, amount: int = 5) -> str:
        return note(order_id=order_id, amount=amount)

    return refund


refund = new_refund()


def spec(amount: int = 1, order_id: int = 2) -> None:
    """Another function with the same parameters, in another order."""


def forwarding(function: Callable[..., Any]) -> Callable[..., Any]:
    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return forward


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(function)(forwarding(function))


def pretending(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(spec)(forwarding(function))


def cached_pretending(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(spec)(functools.lru_cache(function))


def swapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def swap(amount: int = 7, order_id: int = 3) -> Any:
        return function(order_id=order_id, amount=amount)

    return swap


def with_signature(function: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    try:
        function.__signature__ = signature  # type: ignore[attr-defined]
    except AttributeError:
        # A method has none of its own.
        pass
    return function


def misdeclared(function: Callable[..., Any]) -> Callable[..., Any]:
    return with_signature(function, inspect.signature(spec))


def called_as(how: Callable[[Callable[..., Any]], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Objects of a class that are called in a way."""
    return lambda function: type("Called", (), {"__call__": how(function)})()


def after_a_receiver(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, order_id: int, amount: int = 6) -> Any:
        return function(order_id=order_id, amount=amount)

    return method


def as_class(function: Callable[..., Any]) -> Callable[..., Any]:
    def begin(self: Any, order_id: int, amount: int = 9) -> None:
        function(order_id=order_id, amount=amount)

    return type("Tool", (), {"__init__": begin})


class Derived(functools.partial):  # type: ignore[type-arg]
    """Is called as `partial` is, and has members of the same names."""

    args = ()
    keywords: Dict[str, Any] = {"amount": 1}


class Reversing(functools.partial):  # type: ignore[type-arg]
    """Is called otherwise."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.func(*reversed(args), **kwargs)


class Pretender:
    """Has another way to be called itself than in its class."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__call__ = spec  # type: ignore[method-assign,assignment]

    def __call__(self, order_id: int, amount: int = 8) -> Any:
        return self.function(order_id=order_id, amount=amount)


class Plain:
    def __init__(self, order_id: int, amount: int = 5) -> None:
        note(order_id=order_id, amount=amount)


class Other:
    def __new__(cls, amount: int, order_id: int = 5) -> "Other":
        note(order_id=order_id, amount=amount)
        return object.__new__(cls)

    def __init__(self, order_id: int, amount: int = 5) -> None:
        pass


class Meta(type):
    def __call__(cls, amount: int, order_id: int = 5) -> Any:
        return note(order_id=order_id, amount=amount)


class OfMeta(metaclass=Meta):
    def __init__(self, order_id: int, amount: int = 5) -> None:
        pass


class Shop:
    def refund(self, order_id: int, amount: int = 5) -> str:
        return note(order_id=order_id, amount=amount)

    @classmethod
    def of_class(cls, order_id: int, amount: int = 5) -> str:
        return note(order_id=order_id, amount=amount)

    @staticmethod
    def static(order_id: int, amount: int = 5) -> str:
        return note(order_id=order_id, amount=amount)

    preset = functools.partialmethod(refund, amount=400)

    @functools.singledispatchmethod
    def by_type(self, order_id: int, amount: int = 5) -> str:
        return note(order_id=order_id, amount=amount)

    def any_place(*args: Any, **kwargs: Any) -> str:
        return note(**kwargs)


def reset(order_id: int, amount: int = 5) -> str:
    return note(order_id=order_id, amount=amount)


def recoded(order_id: int, amount: int = 5) -> str:
    raise AssertionError("this code is replaced")


async def coroutine(order_id: int, amount: int = 5) -> str:
    return note(order_id=order_id, amount=amount)


def generator(order_id: int, amount: int = 5) -> Generator[str, None, None]:
    yield note(order_id=order_id, amount=amount)


async def stream(order_id: int, amount: int = 5) -> AsyncGenerator[str, None]:
    yield note(order_id=order_id, amount=amount)


def by_name(*, order_id: int, amount: int = 5) -> str:
    return note(order_id=order_id, amount=amount)


def by_place(order_id: int, amount: int = 5, /) -> str:
    return note(order_id=order_id, amount=amount)


def of_any_name(**kwargs: Any) -> str:
    return note(**kwargs)


@functools.singledispatch
def by_type(order_id: int, amount: int = 5) -> str:
    return note(order_id=order_id, amount=amount)


def turned(function: Callable[..., Any]) -> Any:
    """A `partial` around itself."""
    around = functools.partial(function)
    cast(Any, around).__setstate__((around, (), {}, {}))
    return around
