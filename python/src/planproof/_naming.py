"""What the arguments of a call are called, where it is certain which code gets them, and how."""

from __future__ import annotations

import functools
import gc
import inspect
import types
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

# How a function gives the arguments of a call by name, for rules to see.
ArgumentsOf = Callable[..., Mapping[str, Any]]

# Arguments by place, and by name.
_Given = Tuple[Tuple[Any, ...], Dict[str, Any]]


class UnnamedArguments(Exception):
    """The arguments of a call are not known by name, so rules might not see what they are about."""

    def __init__(self, why: str, arguments: Dict[str, Any]) -> None:
        super().__init__(why)
        # What is known of them, for rules that only watch.
        self.arguments = arguments


@dataclass(frozen=True)
class NamedCall:
    """A call with the names of its arguments."""

    # What rules see.
    arguments: Mapping[str, Any]
    # Makes the call, with these very values, also where they are defaults.
    make: Callable[[], Any]


def named_call(function: Callable[..., Any], tool: str, given: Tuple[Any, ...], named: Dict[str, Any]) -> NamedCall:
    """A call of this function as it is now. Raises `UnnamedArguments` where names are not certain, and `TypeError`
    where the function does not take such arguments.

    What an object says of itself counts for nothing here (`__signature__`, `__wrapped__`, an attribute `__call__`):
    the names are those of the parameters in the code that Python enters.
    """
    how = "pass them by name, or say what they are called with `arguments` of `wrap`"
    entry = _entry(function)
    behind = _given_behind(entry) if entry is not None else None
    if entry is None or behind is None:
        raise UnnamedArguments(
            f"it is not certain what the arguments of {tool} are called (it is a {type(function).__name__}): "
            "say it with `arguments` of `wrap`",
            {**({"args": given} if given else {}), **named},
        )
    bound = entry.bound(given, named, entry.signature.bind)
    arguments, unnamed, further = _by_name(bound)
    twice = arguments.keys() & further.keys()
    seen = {**behind, **further, **arguments}
    if twice:
        raise UnnamedArguments(f"two arguments of {tool} are called {min(twice)}; {how}", seen)
    if unnamed:
        (name, values), *_ = unnamed.items()
        raise UnnamedArguments(
            f"{len(values)} arguments of {tool} have no names (`*{name}`); {how}", {**unnamed, **seen}
        )
    return NamedCall(seen, functools.partial(entry.target, *map(_value, bound.args), **bound.kwargs))


def entered(function: Callable[..., Any]) -> Optional[types.FunctionType]:
    """The function in Python that a call enters first, if that is certain."""
    entry = _entry(function)
    return entry.function if entry is not None else None


def _by_name(bound: inspect.BoundArguments) -> Tuple[Dict[str, Any], Dict[str, Any], Mapping[str, Any]]:
    """The arguments of parameters, those of `*args`, which have no names, and those of `**kwargs`."""
    first = next(iter(bound.args), None)
    receiver = first if isinstance(first, _Receiver) else None
    arguments: Dict[str, Any] = {}
    unnamed: Dict[str, Any] = {}
    further: Mapping[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        if name not in bound.arguments:
            continue
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            further = value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            shown = [_value(it) for it in value if it is not receiver]
            unnamed.update({name: shown} if shown else {})
        elif receiver is None or value is not receiver:
            arguments[name] = _value(value)
    return arguments, unnamed, further


class _Receiver:
    """What a method is called on: as the first of all, it is not one of the arguments that rules see."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _value(given: Any) -> Any:
    return given.value if isinstance(given, _Receiver) else given


@dataclass(frozen=True)
class _Entry:
    """Which code a call enters, and with what."""

    function: types.FunctionType
    # The parameters of the function.
    signature: inspect.Signature
    # What is called, with all of these parameters.
    target: Callable[..., Any]
    # What adds arguments that were given in advance, to be applied in this order.
    fills: List[Callable[[Tuple[Any, ...], Dict[str, Any]], _Given]]

    def bound(
        self, given: Tuple[Any, ...], named: Dict[str, Any], bind: Callable[..., inspect.BoundArguments]
    ) -> inspect.BoundArguments:
        """The values of all parameters, where the call gives these arguments."""
        for fill in self.fills:
            given, named = fill(given, named)
        bound = bind(*given, **named)
        bound.apply_defaults()
        return bound


# Most objects that stand around a function, such as `partial` and methods: one can be made to stand around itself.
_LAYERS_MAX = 100

# What `functools.cache` makes: it calls what it wraps with the arguments that it gets.
_CACHED = type(functools.lru_cache(lambda: None))

# `Any`, because what is read of the class itself is not in its types.
_PARTIAL: Any = functools.partial

# What says how objects of these types are called, unless a class derived from them says otherwise.
_CALL_OF_PARTIAL, _CALL_OF_CACHED, _CALL_OF_CLASS = (vars(it)["__call__"] for it in (_PARTIAL, _CACHED, type))

# What gives a function to call when it is read from a class, and runs no other code to do so.
_KNOWN_METHODS = (types.FunctionType, staticmethod, classmethod, _CACHED)


def _entry(function: Any) -> Optional[_Entry]:
    fills: List[Callable[[Tuple[Any, ...], Dict[str, Any]], _Given]] = []
    for _ in range(_LAYERS_MAX):
        kind = type(function)
        if kind is types.FunctionType:
            # It gets arguments that no call shows: those of `functools.partialmethod` that is read from the class.
            is_preset = hasattr(function, "__partialmethod__") or hasattr(function, "_partialmethod")
            return None if is_preset else _Entry(function, _signature(function), function, fills)
        # Python looks for the way to call an object in its class, and not in itself.
        call = _of_class(kind, "__call__")
        if kind is types.MethodType:
            fills.append(functools.partial(_received, function.__self__))
            function = function.__func__
        elif kind is staticmethod:
            function = function.__func__
        elif call is _CALL_OF_PARTIAL:
            fills.append(functools.partial(_filled, function))
            function = _PARTIAL.func.__get__(function)
        elif call is _CALL_OF_CACHED:
            inner = vars(function).get("__wrapped__")
            # Only the cache itself knows for certain what it calls: that attribute can be set.
            is_called = any(it is inner for it in gc.get_referents(function))
            if not is_called or type(inner) is not types.FunctionType:
                return None
            return _Entry(inner, _signature(inner), function, fills)
        elif call is _CALL_OF_CLASS:
            begin = _of_class(function, "__init__")
            is_plain = _of_class(function, "__new__") is vars(object)["__new__"]
            if not is_plain or type(begin) is not types.FunctionType:
                return None
            fills.append(functools.partial(_received, None))
            return _Entry(begin, _signature(begin), functools.partial(_new, function), fills)
        elif type(call) in _KNOWN_METHODS:
            function = call.__get__(function, kind)
        else:
            return None
    return None


def _of_class(kind: type, name: str) -> Any:
    """What objects of a class have from it, as it stands in the class."""
    for base in kind.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def _signature(function: types.FunctionType) -> inspect.Signature:
    """The parameters of the code of a function, and what they are by default now."""
    # Of a function with the same code that says nothing else of itself.
    bare = types.FunctionType(function.__code__, {}, None, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def _new(kind: Any, _receiver: None, /, *given: Any, **named: Any) -> Any:
    """An object of a class, with the arguments of its `__init__`."""
    return kind(*given, **named)


def _received(receiver: Any, given: Tuple[Any, ...], named: Dict[str, Any]) -> _Given:
    return (_Receiver(receiver), *given), named


def _filled(preset: Any, given: Tuple[Any, ...], named: Dict[str, Any]) -> _Given:
    gap = getattr(functools, "Placeholder", preset)
    rest = iter(given)
    # Read from the class, because one that is derived from it can have others of these names.
    first = [next(rest, gap) if value is gap else value for value in _PARTIAL.args.__get__(preset)]
    return (*first, *rest), {**_PARTIAL.keywords.__get__(preset), **named}


def _given_behind(decorator: _Entry) -> Optional[Dict[str, Any]]:
    """What the function behind a decorator gets by default or in advance, for parameters that a call does not give:
    if the decorator takes any name, it passes on what it does not know. None if that is not certain.
    """
    takes_any_name = any(it.kind is it.VAR_KEYWORD for it in decorator.signature.parameters.values())
    behind = vars(decorator.function).get("__wrapped__")
    if not takes_any_name or not _holds(decorator.function, behind):
        return {}
    entry = _entry(behind)
    further = _given_behind(entry) if entry is not None else None
    if entry is None or further is None:
        return None
    arguments, unnamed, others = _by_name(entry.bound((), {}, entry.signature.bind_partial))
    return None if unnamed else {**further, **others, **arguments}


def _holds(function: types.FunctionType, behind: Any) -> bool:
    """Whether a function has another at hand to call. What it only says that it wraps can be anything."""
    for cell in function.__closure__ or ():
        try:
            if cell.cell_contents is behind:
                return True
        except ValueError:
            # It has not got its value yet.
            continue
    return False
