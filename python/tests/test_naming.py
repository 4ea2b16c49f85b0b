"""What rules see of a call is what the function gets, or the call is denied, whatever stands around the function."""

from __future__ import annotations

import asyncio
import functools
import inspect
import random
import types
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

import planproof
import pytest
from callables import (
    Approving,
    Derived,
    OfMeta,
    Other,
    Plain,
    Pretender,
    Reversing,
    Shop,
    after_a_receiver,
    as_class,
    by_name,
    by_place,
    by_type,
    cached_pretending,
    called_as,
    coroutine,
    forwarding,
    generator,
    got,
    known,
    misdeclared,
    new_refund,
    note,
    of_any_name,
    pretending,
    recoded,
    refund,
    reset,
    session_of,
    stream,
    swapping,
    turned,
)

# What names the arguments of a call.
ArgumentsOf = Callable[..., Dict[str, Any]]

# How many stacks of decorators are drawn.
STACKS = 2000

BY_PLACE, BY_NAME, NEVER = "by place", "by name", "never"

# Each kind of callable, and how it may be called: by place, or by name alone, because it takes any arguments.
KINDS: List[Tuple[str, Callable[..., Any], str]] = [
    ("function", refund, BY_PLACE),
    ("lambda", lambda order_id, amount=5: note(order_id=order_id, amount=amount), BY_PLACE),
    ("by name", by_name, BY_NAME),
    ("by place", by_place, BY_PLACE),
    ("of any name", of_any_name, BY_NAME),
    ("method", Shop().refund, BY_PLACE),
    ("class method", Shop.of_class, BY_PLACE),
    ("class method of an object", Shop().of_class, BY_PLACE),
    ("static method", Shop().static, BY_PLACE),
    ("static method itself", vars(Shop)["static"], BY_PLACE),
    ("method of a partial", Shop().preset, BY_PLACE),
    ("method of a partial, from the class", functools.partial(Shop.preset, Shop()), NEVER),
    ("method with any places", Shop().any_place, BY_NAME),
    ("method by type", Shop().by_type, BY_NAME),
    ("function by type", by_type, BY_NAME),
    ("method of an object that is called", types.MethodType(called_as(after_a_receiver)(refund), 17), BY_PLACE),
    ("partial by place", functools.partial(refund, 17), BY_PLACE),
    ("partial by name", functools.partial(refund, amount=300), BY_PLACE),
    ("partial of partial", functools.partial(Derived(refund, 17)), BY_PLACE),
    ("partial around itself", turned(refund), NEVER),
    ("derived partial", Derived(refund, 17), BY_PLACE),
    ("partial called otherwise", Reversing(of_any_name), BY_NAME),
    ("cache", functools.lru_cache(0)(new_refund()), BY_PLACE),
    ("cache of a partial", functools.lru_cache(functools.partial(new_refund(), amount=300)), NEVER),
    ("cache that pretends", cached_pretending(new_refund()), NEVER),
    ("wraps of a function", known(refund), BY_NAME),
    ("wraps of a method", known(Shop().refund), BY_NAME),
    ("wraps of a class method", known(Shop.of_class), BY_NAME),
    ("wraps of an object", known(called_as(staticmethod)(refund)), BY_NAME),
    ("wraps of a partial", known(functools.partial(refund, amount=300)), BY_NAME),
    ("wraps of a cache", known(functools.lru_cache(0)(new_refund())), BY_NAME),
    ("wraps of a class", known(Plain), BY_NAME),
    ("wraps twice", known(known(refund)), BY_NAME),
    ("wraps of a builtin", known(dict), NEVER),
    ("wraps of another", pretending(of_any_name), BY_NAME),
    ("wraps with other places", swapping(refund), BY_PLACE),
    ("signature by hand", misdeclared(new_refund()), BY_PLACE),
    ("signature by hand, copied", known(misdeclared(new_refund())), BY_NAME),
    ("called as a method", called_as(after_a_receiver)(refund), BY_PLACE),
    ("called as a static method", called_as(staticmethod)(refund), BY_PLACE),
    ("called as a class method", called_as(lambda it: classmethod(after_a_receiver(it)))(refund), BY_PLACE),
    ("called as a cache", called_as(lambda it: functools.lru_cache(0)(after_a_receiver(it)))(refund), BY_PLACE),
    ("called as a property", called_as(lambda it: property(lambda self: it))(refund), NEVER),
    ("called as a partial method", called_as(lambda it: functools.partialmethod(after_a_receiver(it)))(refund), NEVER),
    ("called as wraps", called_as(lambda it: known(after_a_receiver(it)))(refund), BY_NAME),
    ("called otherwise in its class", Pretender(refund), BY_PLACE),
    ("class", Plain, BY_PLACE),
    ("class with __new__", Other, NEVER),
    ("class of another class", OfMeta, BY_PLACE),
    ("class without code", type("Empty", (), {}), NEVER),
    ("builtin", dict, NEVER),
    ("builtin function", sorted, NEVER),
    ("method of a builtin", {}.update, NEVER),
    ("operator", (5).__add__, NEVER),
    ("coroutine", coroutine, BY_PLACE),
    ("partial of a coroutine", functools.partial(coroutine, 17), BY_PLACE),
    ("wraps of a coroutine", known(coroutine), BY_NAME),
    ("generator", generator, BY_PLACE),
    ("stream", stream, BY_PLACE),
]

CALLS: List[Tuple[Tuple[Any, ...], Dict[str, Any]]] = [
    ((17, 500), {}),
    ((17,), {"amount": 500}),
    ((17,), {}),
    ((500,), {}),
    ((), {}),
    ((), {"order_id": 17, "amount": 500}),
    ((), {"amount": 500, "order_id": 17}),
    ((), {"order_id": 17}),
]


def outcome(promised: Any) -> Any:
    async def all_of(items: Any) -> List[Any]:
        return [item async for item in items]

    if hasattr(promised, "__await__"):
        return asyncio.run(promised)
    if hasattr(promised, "__aiter__"):
        return asyncio.run(all_of(promised))
    return list(promised) if inspect.isgenerator(promised) else promised


def called(function: Callable[..., Any], given: Tuple[Any, ...], named: Dict[str, Any]) -> Optional[str]:
    """Why a call was not made."""
    got.clear()
    try:
        outcome(function(*given, **named))
    except (planproof.CallDenied, TypeError, IndexError) as error:
        # Python itself refuses a call without such parameters.
        return str(error)
    return None


@pytest.mark.parametrize("kind", [name for name, *_ in KINDS])
def test_rules_see_what_each_kind_of_callable_gets(kind: str) -> None:
    [(function, how)] = [(function, how) for name, function, how in KINDS if name == kind]
    made_by_place = made_by_name = 0
    for given, named in CALLS:
        guard = Approving()
        refused = called(session_of(guard).wrap(function, "refund"), given, named)
        assert refused is not None or guard.seen == got, (given, named, guard.seen, got)
        made_by_place += bool(refused is None and given)
        made_by_name += bool(refused is None and not given)
        if how == NEVER:
            assert refused is not None and "it is not certain what the arguments of refund are called" in refused
    assert bool(made_by_place) == (how == BY_PLACE)
    # What goes by its type must have a first argument, and other parameters have no names.
    assert bool(made_by_name) == (how != NEVER and "by type" not in kind and kind != "by place")


def test_what_changes_after_wrap_is_seen() -> None:
    def huge(amount: int, order_id: int = 500) -> str:
        return note(order_id=order_id, amount=amount)

    guard = Approving()
    wrapped = [session_of(guard).wrap(it, "refund") for it in (reset, functools.partial(reset), recoded)]
    reset.__defaults__ = (500,)
    recoded.__code__ = huge.__code__
    assert [called(it, (17,), {}) for it in wrapped] == [None] * 3
    assert guard.seen == [{"order_id": 17, "amount": 500}] * 2 + [{"amount": 17, "order_id": 5}]
    assert got == guard.seen[2:]


def calls_of(session: planproof.GuardSession, function: Callable[..., Any]) -> Dict[str, Callable[[Any], Any]]:
    """The ways to call a function of an order."""

    def named(order: Any) -> Dict[str, Any]:
        return {"order": order, "amount": inspect.signature(function).parameters["amount"].default}

    return {
        "wrap": session.wrap(function, "refund"),
        "arguments": session.wrap(function, "refund", arguments=named),
        "run": lambda order: session.run("refund", {"order": order}, function),
    }


CHANGED = "the arguments of refund have changed since the call was decided on"


def test_what_changes_while_a_call_is_decided_on_is_not_passed_on() -> None:
    def changing(order: Any, amount: int = 5) -> str:
        return note(order=order, amount=amount)

    async def later(order: Any, amount: int = 5) -> str:
        return note(order=order, amount=amount)

    def items(order: Any, amount: int = 5) -> Generator[str, None, None]:
        yield note(order=order, amount=amount)

    def change_defaults(function: Any, order: Dict[str, Any], preset: Any) -> None:
        function.__defaults__ = (500,)

    def change_argument(function: Any, order: Dict[str, Any], preset: Any) -> None:
        order["amount"] = 500

    def change_preset(function: Any, order: Dict[str, Any], preset: Any) -> None:
        preset.keywords["amount"] = 500

    def nothing(function: Any, order: Dict[str, Any], preset: Any) -> None:
        pass

    for function in (changing, later, items):
        for change in (change_defaults, change_argument, change_preset, nothing):
            for way in ("wrap", "arguments", "run"):
                if way == "run" and change not in (change_argument, nothing):
                    # What is given in advance is not an argument of `run`.
                    continue
                function.__defaults__ = (5,)
                order, guard = {"amount": 50}, Approving()
                preset = functools.partial(function, amount=5) if change is change_preset else function
                guard.meanwhile = functools.partial(change, function, order, preset)
                call = calls_of(session_of(guard), preset)[way]
                refused = called(call, (order,), {})
                if change is nothing:
                    assert refused is None and len(got) == 1, (function, way)
                else:
                    assert refused == CHANGED, (change, way)
                    assert got == []


class Flickering(Dict[str, int]):
    """Is read as something else each time."""

    def items(self) -> Any:
        self["reads"] += 1
        return list(super().items())


def test_arguments_are_read_once_for_a_decision() -> None:
    guard = Approving()
    order = Flickering(reads=0)
    guard.meanwhile = lambda: note(reads=order["reads"])
    refused = called(session_of(guard).wrap(lambda order: "made", "refund"), (order,), {})
    assert (got, guard.seen) == ([{"reads": 1}], [{"order": {"reads": 1}}])
    assert refused == CHANGED


# What is put around a function. None of them changes what it passes on, whatever it says of itself.
LAYERS: List[Callable[[Callable[..., Any]], Any]] = [
    known,
    forwarding,
    pretending,
    cached_pretending,
    functools.lru_cache,
    swapping,
    misdeclared,
    lambda it: functools.partial(it, 17),
    lambda it: functools.partial(it, amount=300),
    lambda it: Derived(it, 17),
    Reversing,
    Pretender,
    called_as(staticmethod),
    called_as(after_a_receiver),
    called_as(lambda it: classmethod(after_a_receiver(it))),
    called_as(lambda it: property(lambda self: it)),
    lambda it: types.MethodType(after_a_receiver(it), "receiver"),
    lambda it: known(types.MethodType(after_a_receiver(it), "receiver")),
    lambda it: session_of(Approving()).wrap(it, "refund"),
    as_class,
]

# Of these, it is not known what they pass on by default.
HIDING = (forwarding, pretending, Reversing)

BASES: List[Callable[[], Callable[..., Any]]] = [
    new_refund,
    lambda: by_name,
    lambda: by_place,
    lambda: of_any_name,
    lambda: Shop().refund,
    lambda: Shop.of_class,
    lambda: Shop().preset,
    lambda: Plain,
    lambda: Other,
    lambda: by_type,
]


def differences(naming: Optional[Callable[[Callable[..., Any]], ArgumentsOf]]) -> Tuple[List[Any], int, int]:
    """Calls of drawn stacks of which rules saw something else than the function got, and how many calls were made and
    denied. `naming` names the arguments instead of `wrap`."""
    draw = random.Random(20)
    different: List[Any] = []
    made = denied = 0
    for _ in range(STACKS):
        base = draw.choice(BASES)()
        layers = [draw.choice(LAYERS) for _ in range(draw.randint(0, 4))]
        function = base
        for layer in layers:
            function = layer(function)
        guard = Approving()
        wrapped = session_of(guard).wrap(function, "refund", arguments=naming and naming(function))
        if draw.random() < 0.2 and isinstance(base, types.FunctionType) and base.__name__ == "refund":
            base.__defaults__ = (500,)
        for given, named in CALLS:
            guard.seen.clear()
            refused = called(wrapped, given, named)
            made += refused is None
            denied += refused is not None
            # A cache may have its result already.
            if refused is not None or not got:
                continue
            [seen], [actual] = guard.seen, got
            hidden = actual.keys() - seen.keys()
            is_hiding = any(layer in HIDING for layer in layers)
            if any(actual.get(name) != value for name, value in seen.items()) or (hidden and not is_hiding):
                different.append((base, layers, given, named, seen, actual))
    return different, made, denied


def test_rules_see_what_drawn_stacks_of_decorators_get() -> None:
    different, made, denied = differences(None)
    assert different == []
    # Both happen often enough for this to say something.
    assert made > STACKS and denied > STACKS, (made, denied)


def test_the_drawn_stacks_show_wrong_names() -> None:
    def trusting(function: Callable[..., Any]) -> ArgumentsOf:
        def named(*given: Any, **by_name: Any) -> Dict[str, Any]:
            try:
                bound = inspect.signature(function).bind(*given, **by_name)
            except ValueError:
                raise TypeError("nothing is known of it") from None
            bound.apply_defaults()
            return {"order_id": 0, **bound.arguments}

        return named

    assert len(differences(trusting)[0]) > STACKS / 10
