"""What is asked of a guard, as lines of JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
from collections import deque
from collections.abc import Mapping as AnyMapping
from collections.abc import Set as AnySet
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Dict, Iterator, Optional


class Written:
    """The arguments of a call as JSON, which are read just once: another reading might find something else.

    A call must be decided on as it is, so its arguments are said exactly or not at all.
    """

    def __init__(self, arguments: AnyMapping[str, Any]) -> None:
        self._text: Optional[bytes] = None
        self._failure: Optional[Exception] = None
        try:
            self._text = _exactly(dict(arguments))
        except Exception as error:
            # Also what the code of an argument raises, such as that of a model of Pydantic.
            self._failure = error

    def text(self) -> bytes:
        """The JSON object. Raises what kept it from being written."""
        if self._text is None:
            raise self._failure or ValueError("nothing was written")
        return self._text

    def says(self, other: Written) -> bool:
        """Whether others are the same. What could not be written is the same as nothing."""
        return self._text is not None and self._text == other._text


def line_of(question: Dict[str, Any]) -> bytes:
    """A question as a line, without its end. Raises an exception of whatever kind if JSON cannot say it.

    The arguments of a call stand in it as they were `Written`. What came of a call is reported in any case: what JSON
    cannot say of it becomes a text, and half a character becomes U+FFFD.
    """
    if question.get("do") == "before":
        others = _exactly({key: value for key, value in question.items() if key != "arguments"})
        return b'%b, "arguments": %b}' % (others[:-1], question["arguments"].text())
    if question.get("do") != "after":
        return _exactly(question)
    try:
        text = json.dumps(question, default=_plain, allow_nan=False, ensure_ascii=False)
    except Exception:
        text = json.dumps(with_text(question), ensure_ascii=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _exactly(value: Dict[str, Any]) -> bytes:
    return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False).encode()


def ways_to_say(question: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """What came of a call, and the same as a text: the guard may refuse the first, as where lists are too deep.

    At last only that something came of it, as where the text is too long: the guard refuses that, and approves no
    further call of the session, because nobody knows what has been done.
    """
    yield question
    if not isinstance(question.get("result"), (str, type(None))):
        yield with_text(question)
    yield {key: value for key, value in question.items() if key not in ("result", "error")}


def with_text(question: Dict[str, Any]) -> Dict[str, Any]:
    """What came of a call, with the text of its result in place of the result."""
    return {**question, "result": _text(question["result"])} if "result" in question else question


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        # Its own code has failed.
        return f"a value of the type {type(value).__name__}"


def _plain(value: Any) -> Any:
    """What stands in JSON for a value of a type that JSON does not have, so that rules see into it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (Decimal, numbers.Real)):
        return _number(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    # A model of Pydantic.
    if callable(getattr(type(value), "model_dump", None)):
        return value.model_dump()
    if isinstance(value, AnyMapping):
        return dict(value)
    if isinstance(value, AnySet):
        return sorted(value, key=repr)
    return list(value) if isinstance(value, deque) else str(value)


def _number(value: Any) -> Any:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is not a number of JSON")
    if not isinstance(value, (Decimal, numbers.Rational)):
        return number
    exact = Fraction(value)
    if exact.denominator == 1:
        return exact.numerator
    if Fraction(repr(number)) != exact:
        # Rules would see another number than the function.
        raise ValueError(f"{value} has more digits than numbers of JSON keep")
    return number
