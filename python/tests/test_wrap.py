"""Functions that a guard stands before, however their arguments and their results look."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import inspect
import types
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, AsyncGenerator, Callable, Dict, Generator, Iterator, List, Tuple

import pytest

import planproof

RULES = """
schema: planproof/rules/v1
rules:
  - {id: small, never: {call: refund, where: {/amount: {above: 100}}}}
  - {id: nested, never: {call: refund, where: {/order/amount: {above: 100}}}}
  - {id: looked, requires: {call: pay, done: look}}
  - {id: sure, never-after: {call: pay, failed: look}}
"""


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[planproof.Guard]:
    """A guard that enforces them."""
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    with planproof.Guard(path, mode="enforce") as guard:
        yield guard


def refund(order_id: int, amount: Any = 0) -> str:
    return f"{amount} of {order_id}"


def keywords(**kwargs: Any) -> str:
    return str(kwargs)


def further(order_id: int, **extra: Any) -> str:
    return str(extra)


def several(*args: Any) -> str:
    return str(args)


def forwarding(function: Callable[..., Any]) -> Callable[..., Any]:
    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return forward


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(function)(forwarding(function))


def injecting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inject(*args: Any, **kwargs: Any) -> Any:
        return function("database", *args, **kwargs)

    return inject


def swapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def swap(amount: Any, order_id: int) -> Any:
        return function(order_id, amount)

    return swap


@injecting
def injected(database: str, order_id: int, amount: Any = 10) -> str:
    return f"{amount} of {order_id}"


class Shop:
    @known
    def decorated(self, order_id: int, amount: Any = 400) -> str:
        return f"{amount} of {order_id}"

    @known
    def __call__(self, order_id: int, amount: Any = 400) -> str:
        return f"{amount} of {order_id}"

    def refund(self, order_id: int, amount: Any) -> str:
        return f"{amount} of {order_id}"

    small = functools.partialmethod(refund, amount=4)
    large = functools.partialmethod(refund, amount=400)


CALLS: List[Tuple[Callable[..., Any], Tuple[Any, ...], Dict[str, Any]]] = [
    (refund, (1,), {"amount": 0}),
    (refund, (1, 0), {}),
    (keywords, (), {"order_id": 1, "amount": 0}),
    (further, (1,), {"amount": 0}),
    (known(refund), (), {"order_id": 1, "amount": 0}),
    (known(further), (), {"order_id": 1, "amount": 0}),
    (functools.lru_cache(refund), (1, 0), {}),
    (forwarding(refund), (), {"order_id": 1, "amount": 0}),
    (functools.partial(refund, 1), (0,), {}),
    (functools.partial(keywords, order_id=1), (), {"amount": 0}),
    (functools.partial(known(functools.partial(refund, 1)), amount=0), (), {}),
    (known(functools.partial(refund, 1)), (), {"amount": 0}),
    (swapping(refund), (0, 1), {}),
    (functools.partial(Shop().refund, amount=0), (1,), {}),
    (Shop().refund, (1, 0), {}),
    (Shop.refund, (Shop(), 1, 0), {}),
    (lambda order_id, amount: amount, (1, 0), {}),
]


@pytest.mark.parametrize("place", range(len(CALLS)))
def test_all_arguments_are_seen(guard: planproof.Guard, place: int) -> None:
    function, given, named = CALLS[place]
    for amount, is_denied in ((4, False), (400, True)):
        # Zero stands for the amount, also in what was given in advance.
        def put(value: Any) -> Any:
            return amount if value == 0 and not isinstance(value, bool) else value

        asked = function
        if isinstance(function, functools.partial) and function.keywords.get("amount") == 0:
            asked = functools.partial(function.func, *function.args, **{**function.keywords, "amount": amount})
        call = guard.wrap(asked, "refund")
        arguments = tuple(map(put, given)), {key: put(value) for key, value in named.items()}
        if is_denied:
            with pytest.raises(planproof.CallDenied, match="small"):
                call(*arguments[0], **arguments[1])
        else:
            assert "4" in str(call(*arguments[0], **arguments[1]))


def test_arguments_that_were_given_in_advance_are_seen(guard: planproof.Guard) -> None:
    shop = Shop()
    assert guard.wrap(shop.small, "refund")(1) == "4 of 1"
    for call in (functools.partial(refund, 1, 4), known(functools.partial(refund, 1, 4))):
        assert guard.wrap(call, "refund")() == "4 of 1"
    for call in (functools.partial(refund, 1, 400), known(functools.partial(refund, 1, amount=400))):
        with pytest.raises(planproof.CallDenied, match="small"):
            guard.wrap(call, "refund")()
    with pytest.raises(planproof.CallDenied, match="small"):
        guard.wrap(shop.large, "refund")(1)


def declared(function: Callable[..., Any]) -> Callable[..., Any]:
    """As libraries do that say what the parameters are."""
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return function


def signed(database: str, order_id: int, amount: Any = 10) -> str:
    return "made"


@pytest.mark.parametrize(
    "function",
    [injected, known(refund), Shop().decorated, Shop(), injecting(declared(signed)), functools.partial(injected)],
)
def test_what_a_decorator_gets_by_place_has_no_name(guard: planproof.Guard, function: Callable[..., Any]) -> None:
    call = guard.wrap(function, "refund")
    with pytest.raises(planproof.CallDenied, match="2 arguments of refund have no names"):
        call(17, 4)
    assert call(order_id=17, amount=4)
    with pytest.raises(planproof.CallDenied, match="small"):
        call(order_id=17, amount=400)


def test_what_stands_behind_a_decorator_is_seen(guard: planproof.Guard) -> None:
    for function in (Shop().decorated, Shop(), known(known(Shop().decorated)), known(functools.partial(refund, 1, 400))):
        given = {} if isinstance(getattr(function, "__wrapped__", None), functools.partial) else {"order_id": 1}
        with pytest.raises(planproof.CallDenied, match="small"):
            guard.wrap(function, "refund")(**given)
    assert guard.wrap(injected, "refund")(order_id=1) == "10 of 1"


def test_arguments_that_change_meanwhile_are_denied(guard: planproof.Guard) -> None:
    def paid(order: Dict[str, int]) -> str:
        return str(order["amount"])

    async def later(order: Dict[str, int]) -> str:
        return paid(order)

    def lines(order: Dict[str, int]) -> Generator[str, None, None]:
        yield paid(order)

    async def stream(order: Dict[str, int]) -> AsyncGenerator[str, None]:
        yield paid(order)

    async def work(function: Callable[..., Any], begin: Callable[[Any], Any], changed: Dict[str, int]) -> Any:
        order = {"amount": 50}
        begun = begin(guard.wrap(function, "refund")(order))
        await asyncio.sleep(0)
        order.update(changed)
        return await outcome(begun)

    ways: List[Tuple[Callable[..., Any], Callable[[Any], Any]]] = [
        (later, asyncio.ensure_future),
        (later, lambda it: it),
        (lambda order: later(order), lambda it: it),
        (lines, lambda it: it),
        (stream, lambda it: it),
    ]
    for function, begin in ways:
        assert asyncio.run(work(function, begin, {})) in ("50", ["50"])
        # Where it is decided on when it begins, the rule itself denies it.
        with pytest.raises(planproof.CallDenied, match="the arguments of refund have changed|nested"):
            asyncio.run(work(function, begin, {"amount": 500}))
    assert guard.end().pending == []


def test_arguments_without_names_are_denied_or_named(guard: planproof.Guard, tmp_path: Path) -> None:
    for function in (several, forwarding(refund)):
        with pytest.raises(planproof.CallDenied, match="2 arguments of refund have no names"):
            guard.wrap(function, "refund")(1, 4)
    assert guard.wrap(several, "refund")() == "()"

    def order(order_id: int, amount: int = 0) -> Dict[str, Any]:
        return {"order_id": order_id, "amount": amount}

    call = guard.wrap(forwarding(refund), "refund", arguments=order)
    assert call(1, 4) == "4 of 1"
    with pytest.raises(planproof.CallDenied, match="small"):
        call(1, 400)

    # A parameter that can only be given by place leaves its name to others.
    def twice(amount: int, /, **extra: Any) -> str:
        return "made"

    with pytest.raises(planproof.CallDenied, match="two arguments of refund are called amount"):
        guard.wrap(twice, "refund")(400, amount=4)

    # What only watches stops nothing.
    with planproof.Guard(tmp_path / "rules.yaml", mode="shadow", log=tmp_path / "log.jsonl") as watching:
        assert watching.wrap(several, "refund")(1, 4) == "(1, 4)"
    assert '"args":[1,4]' in (tmp_path / "log.jsonl").read_text(encoding="utf-8")


class Size(enum.Enum):
    SMALL = 4
    LARGE = 400


@dataclasses.dataclass
class Order:
    order_id: int
    amount: Any


class Model:
    """As those of Pydantic."""

    def __init__(self, amount: Any) -> None:
        self.amount = amount

    def model_dump(self) -> Dict[str, Any]:
        return {"amount": self.amount}


def test_values_that_json_does_not_have_are_seen_into(guard: planproof.Guard) -> None:
    call = guard.wrap(refund)
    numbers = [(Decimal("4.10"), Decimal("400.10")), (Fraction(1, 4), Fraction(401)), (Size.SMALL, Size.LARGE)]
    for small, large in numbers:
        assert call(1, small)
        with pytest.raises(planproof.CallDenied, match="small"):
            call(1, large)

    def of_order(order: Any) -> str:
        return "made"

    nested = guard.wrap(of_order, "refund")
    for make in (lambda it: Order(1, it), Model, lambda it: types.MappingProxyType({"amount": it})):
        assert nested(make(Decimal(4)))
        with pytest.raises(planproof.CallDenied, match="nested"):
            nested(make(Decimal(400)))
    # A number that JSON has no room for is not decided on.
    for amount in (Decimal("NaN"), Decimal("1E+999999999"), Decimal("100." + "0" * 20 + "1"), Fraction(1, 3)):
        with pytest.raises(planproof.CallDenied, match="cannot be written as JSON"):
            guard.wrap(refund)(1, amount)


class Asynchronous:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    async def __call__(self) -> Any:
        return self.function()


class Awaitable:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __await__(self) -> Generator[Any, None, Any]:
        yield from asyncio.sleep(0).__await__()
        return self.function()


def promises(function: Callable[[], Any], pool: ThreadPoolExecutor) -> List[Tuple[str, Callable[..., Any]]]:
    """What gives the result of the function, or its failure, later."""

    async def plain() -> Any:
        await asyncio.sleep(0)
        return function()

    async def stream() -> AsyncGenerator[Any, None]:
        yield "first"
        yield function()

    def lines() -> Generator[Any, None, None]:
        yield "first"
        yield function()

    async def of_stream() -> Any:
        return stream()

    return [
        ("coroutine", plain),
        ("decorated", known(plain)),
        ("object", Asynchronous(function)),
        ("partial", functools.partial(plain)),
        ("awaitable", lambda: Awaitable(function)),
        ("task", lambda: asyncio.ensure_future(plain())),
        ("executor", lambda: pool.submit(function)),
        ("in the loop", lambda: asyncio.get_running_loop().run_in_executor(pool, function)),
        ("generator", lines),
        ("asynchronous generator", stream),
        ("stream that is promised", of_stream),
    ]


async def outcome(promised: Any) -> Any:
    if isinstance(promised, Future):
        return promised.result()
    if hasattr(promised, "__await__"):
        promised = await promised
    if hasattr(promised, "__aiter__"):
        return [item async for item in promised]
    return list(promised) if isinstance(promised, types.GeneratorType) else promised


def fail() -> None:
    raise RuntimeError("down")


def test_what_is_promised_is_reported_when_it_has_come(guard: planproof.Guard) -> None:
    with ThreadPoolExecutor() as pool:
        for place, (name, look) in enumerate(promises(lambda: "seen", pool)):
            session = guard.session(f"right {name}")

            async def work() -> Any:
                promised = session.wrap(look, "look")()
                if name not in ("executor", "in the loop"):
                    assert not session.before("pay"), f"{name}: it has not come yet"
                return await outcome(promised)

            assert asyncio.run(work()) in ("seen", ["first", "seen"]), name
            assert session.before("pay"), name
        for name, look in promises(fail, pool):
            session = guard.session(f"wrong {name}")

            async def work_in_vain() -> None:
                with pytest.raises(RuntimeError, match="down"):
                    await outcome(session.wrap(look, "look")())
                # Asked at once, before anything else of the loop is done.
                decision = session.before("pay")
                assert not decision and [rule["id"] for rule in decision.rules] == ["looked", "sure"], name

            asyncio.run(work_in_vain())
            assert session.end().pending == [], name


def test_what_does_not_come_stays_pending(guard: planproof.Guard) -> None:
    async def forever() -> None:
        await asyncio.sleep(60)

    def lines() -> Generator[int, int, str]:
        try:
            got = yield 1
            yield got
        finally:
            closed.append(True)
        return "all"

    closed: List[bool] = []

    async def work() -> None:
        for function in (forever, lambda: asyncio.ensure_future(forever())):
            task = asyncio.ensure_future(guard.wrap(function, "look")())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(work())
    begun = guard.wrap(lines, "look")()
    assert next(begun) == 1
    begun.close()
    assert closed == [True]
    blocked: "Future[int]" = Future()
    waiting = guard.wrap(lambda: blocked, "look")()
    assert waiting.cancel() and waiting.cancelled() and blocked.cancelled()
    with pytest.raises(CancelledError):
        waiting.result()
    assert not guard.before("pay")
    # A generator is one as before: it takes values, and returns one.
    whole = guard.wrap(lines, "look")()
    assert (next(whole), whole.send(7)) == (1, 7)
    with pytest.raises(StopIteration) as end:
        next(whole)
    assert end.value.value == "all" and guard.before("pay")


def test_run_reports_what_has_come(guard: planproof.Guard) -> None:
    async def look(order_id: int) -> str:
        return f"order {order_id}"

    async def work() -> str:
        promised = guard.run("look", {"order_id": 1}, look)
        assert not guard.before("pay")
        return str(await promised)

    assert asyncio.run(work()) == "order 1" and guard.before("pay")


class Unsayable:
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_every_outcome_is_reported(guard: planproof.Guard) -> None:
    deep: List[Any] = []
    for _ in range(500):
        deep = [deep]
    results = ["\ud83d", {"\ud83d": ["\udc00 and \ud83d\ude00"]}, deep, {1: "a", "1": "b"}, Unsayable()]
    results += [{Unsayable(): 1}, 2**70, float("inf"), Decimal("NaN"), {frozenset([1]): 2}, {3, 1, 2}, Order(1, Decimal("0.1"))]
    for place, result in enumerate(results):
        session = guard.session(f"result {place}")
        assert session.after(session.before("look"), result), place
        assert session.before("pay") and guard.failure is None, place
    for place, error in enumerate(["\ud83d", "x" * (17 * 1024 * 1024), "\x00" * (2 * 1024 * 1024)]):
        session = guard.session(f"error {place}")
        assert session.after(session.before("look"), error=error), place
        assert not session.before("pay") and guard.failure is None, place
