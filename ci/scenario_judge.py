"""A case of one's own as constraints on the calls of a session, for Z3.

The tools, and what lines of a world may say, are those of scenario_draws.py; what they mean is written down here once
more, after docs/scenarios.md and docs/rules.md.
"""

import re
from typing import Any

import z3
from judge_rules import MISSING, at, everything_at, passes

# The arguments of each tool: their types, and whether they may be left out.
TOOLS: dict[str, dict[str, tuple[str, bool]]] = {
    "a": {"k": ("integer", False)},
    "b": {"k": ("integer", True), "v": ("string", True)},
    "c": {"v": ("string", False), "n": ("integer", True)},
    "d": {},
}
# For each set of these, there are texts without end that they match and no others.
EXPRESSIONS = ["x.*", ".*y", ".*order [0-9]+.*"]
# Sums of so few of them are exact in planproof, which keeps whole numbers of 64 bits.
NUMBER_MAX = 2**54
KINDS = {bool: "boolean", int: "integer", str: "string"}
# What a call of a tool with no line for it gets; an error whose words no case asks for.
NO_LINE = "no line"
NO_VALUE = "no value"


class Unknown:
    """A value that Z3 chooses: a number, the number of a text, or true or false."""

    def __init__(self, kind: str, value: Any, there: Any = True) -> None:
        self.kind, self.value = kind, value
        self.there = z3.BoolVal(True) if there is True else there


def unknown(kind: str, name: str) -> Any:
    return z3.Bool(name) if kind == "boolean" else z3.Int(name)


class Call:
    """A call of a session, which is made if there are so many."""

    def __init__(self, judge: "Judge", number: int) -> None:
        self.judge, self.number = judge, number
        self.tool, self.turn = z3.Int(f"tool{number}"), z3.Int(f"turn{number}")
        kinds = {name: kind for tool in TOOLS.values() for name, (kind, _) in tool.items()}
        self.arguments = {
            name: Unknown(kind, z3.Int(f"{name}{number}"), z3.Bool(f"{name}{number}?")) for name, kind in kinds.items()
        }
        # All that may come of it: under which condition, `done` or `failed`, the result or the error, what it changes.
        self.outcomes: list[tuple[z3.BoolRef, str, Any, dict[str, Any]]] = []
        for tool in TOOLS:
            self.outcomes += self.outcomes_of(tool)

    def made(self) -> z3.BoolRef:
        return self.judge.length > self.number

    def is_of(self, tool: str) -> z3.BoolRef:
        return z3.BoolVal(True) if tool == "*" else self.tool == list(TOOLS).index(tool)

    def is_within(self, first: int, last: int | None) -> z3.BoolRef:
        """Whether it follows one of these messages."""
        return z3.And(self.turn >= first, self.turn <= (last or self.judge.turns))

    def is_valid(self) -> z3.BoolRef:
        """What the schemas of the tools allow."""
        allowed = []
        for tool, arguments in TOOLS.items():
            parts = [self.is_of(tool)]
            for name, argument in self.arguments.items():
                if name not in arguments:
                    parts.append(z3.Not(argument.there))
                elif not arguments[name][1]:
                    parts.append(argument.there)
            allowed.append(z3.And(parts))
        numbers = [argument.value for argument in self.arguments.values() if argument.kind == "integer"]
        bounded = [z3.And(number >= -NUMBER_MAX, number <= NUMBER_MAX) for number in numbers]
        return z3.And(z3.Or(allowed), *bounded, self.turn >= 1, self.turn <= self.judge.turns)

    def passes(self, tests: dict[str, Any]) -> z3.BoolRef:
        """The tests of `where`."""
        held = [self.judge.holds(self.arguments.get(pointer[1:], MISSING), test) for pointer, test in tests.items()]
        return z3.And(held or [z3.BoolVal(True)])

    def source(self, value: Any) -> Any:
        """What a value of a line stands for."""
        if isinstance(value, dict) and "$argument" in value:
            return self.arguments[value["$argument"][1:]]
        if isinstance(value, dict) and "$state" in value:
            return self.judge.states[self.number][value["$state"]]
        return value

    def filled(self, result: Any) -> Any:
        """A result with what it quotes, as it is after the changes of its line."""
        if isinstance(result, dict) and ("$argument" in result or "$state" in result):
            after = self.judge.states[self.number + 1]
            return after[result["$state"]] if "$state" in result else self.source(result)
        return {key: self.filled(part) for key, part in result.items()} if isinstance(result, dict) else result

    def needs(self, line: dict[str, Any]) -> z3.BoolRef:
        state, held = self.judge.states[self.number], []
        for name, test in line.get("needs", {}).items():
            tests = test if isinstance(test, dict) else {"is": test}
            held += [self.judge.holds(state[name], {key: self.source(wanted)}) for key, wanted in tests.items()]
        return z3.And(held or [z3.BoolVal(True)])

    def changes(self, line: dict[str, Any]) -> tuple[z3.BoolRef, dict[str, Any]]:
        """Whether all that the changes of a line take is there, and the values after it."""
        state, there, after = self.judge.states[self.number], [z3.BoolVal(True)], {}
        for key in ("sets", "adds", "subtracts"):
            for name, value in line.get(key, {}).items():
                source = self.source(value)
                if isinstance(source, Unknown):
                    there.append(source.there)
                number = self.judge.number(source)
                sign = {"sets": 0, "adds": 1, "subtracts": -1}[key]
                after[name] = number if sign == 0 else state[name].value + sign * number
        return z3.And(there), after

    def outcomes_of(self, tool: str) -> list[tuple[z3.BoolRef, str, Any, dict[str, Any]]]:
        lines = self.judge.world.get(tool, [])
        if not lines:
            return [(self.is_of(tool), "done", "done", {})]
        found = []
        # Under which condition no line before has answered.
        reached = self.is_of(tool)
        for line in lines:
            fits, needs = self.passes(line.get("where", {})), self.needs(line)
            applies = z3.And(reached, fits, needs)
            if "otherwise" in line:
                found.append((z3.And(reached, fits, z3.Not(needs)), "failed", line["otherwise"], {}))
                reached = z3.And(reached, z3.Not(fits))
            else:
                reached = z3.And(reached, z3.Not(z3.And(fits, needs)))
            if "fails" in line:
                found.append((applies, "failed", line["fails"], {}))
                continue
            is_there, after = self.changes(line)
            found.append((z3.And(applies, is_there), "done", self.filled(line.get("returns", "done")), after))
            found.append((z3.And(applies, z3.Not(is_there)), "failed", NO_VALUE, {}))
        return [*found, (reached, "failed", NO_LINE, {})]


class Judge:
    """A case: its world, the values that this begins with, the tools that alone may be called, and its messages."""

    def __init__(self, case: dict[str, Any], only: list[str] | None, length: int) -> None:
        self.world, self.turns = case["world"], 1 + len(case.get("turns", []))
        self.texts: dict[str, int] = {}
        self.length = z3.Int("length")
        beginning = case.get("state", {})
        self.states = [
            {name: Unknown(KINDS[type(value)], unknown(KINDS[type(value)], f"{name}@{step}")) for name, value in beginning.items()}
            for step in range(length + 1)
        ]
        self.solver = z3.Solver()
        self.solver.add(self.length >= 0, self.length <= length)
        self.solver.add([self.states[0][name].value == self.number(value) for name, value in beginning.items()])
        self.calls = [Call(self, number) for number in range(length)]
        for call in self.calls:
            self.solver.add(call.is_valid())
            if only is not None:
                self.solver.add(z3.Implies(call.made(), z3.Or([call.is_of(tool) for tool in only])))
            before, after = self.states[call.number], self.states[call.number + 1]
            for condition, _, _, changed in call.outcomes:
                same = [after[name].value == changed.get(name, before[name].value) for name in after]
                self.solver.add(z3.Implies(condition, z3.And(same or [z3.BoolVal(True)])))
        # Messages come one after the other.
        self.solver.add([one.turn <= other.turn for one, other in zip(self.calls, self.calls[1:], strict=False)])
        # Every call has two events: it is asked for, and its outcome comes.
        self.places = [(call, is_call) for call in self.calls for is_call in (True, False)]

    def number(self, value: Any) -> Any:
        """A value as Z3 compares it; texts have numbers."""
        if isinstance(value, Unknown):
            return value.value
        if isinstance(value, str):
            return z3.IntVal(self.texts.setdefault(value, len(self.texts)))
        return z3.BoolVal(value) if isinstance(value, bool) else z3.IntVal(value)

    def equal(self, one: Any, other: Any) -> z3.BoolRef:
        """Whether two values are there and are one. At least one of them is unknown."""
        kinds = [value.kind if isinstance(value, Unknown) else KINDS.get(type(value)) for value in (one, other)]
        there = [value.there for value in (one, other) if isinstance(value, Unknown)]
        return z3.And(*there, self.number(one) == self.number(other)) if kinds[0] == kinds[1] else z3.BoolVal(False)

    def matched(self, expression: str) -> z3.FuncDeclRef:
        """Whether an expression matches a text. Of texts that are not named, some match any of the expressions that
        cases have, and no others."""
        return z3.Function(f"matches {expression}", z3.IntSort(), z3.BoolSort())

    def known_matches(self) -> list[z3.BoolRef]:
        """What expressions match of the texts that the case names."""
        known = [(text, number, one) for text, number in self.texts.items() for one in EXPRESSIONS]
        return [self.matched(one)(number) == (re.fullmatch(one, text, re.DOTALL) is not None) for text, number, one in known]

    def holds(self, value: Any, test: Any) -> z3.BoolRef:
        """A test of a value that may be unknown."""
        tests = test if isinstance(test, dict) else {"is": test}
        if not isinstance(value, Unknown):
            return z3.BoolVal(passes(value, tests))
        held = []
        for key, wanted in tests.items():
            if key == "present":
                held.append(value.there if wanted else z3.Not(value.there))
            elif key == "is":
                held.append(self.equal(value, wanted))
            elif key == "is-not":
                held.append(z3.And(value.there, z3.Not(self.equal(value, wanted))))
            elif key == "one-of":
                held.append(z3.Or([self.equal(value, one) for one in wanted]))
            elif key == "not":
                held.append(z3.Not(self.holds(value, wanted)))
            elif key == "matches":
                is_matched = self.matched(wanted)(value.value) if value.kind == "string" else z3.BoolVal(False)
                held.append(z3.And(value.there, is_matched))
            else:
                kind = wanted.kind if isinstance(wanted, Unknown) else KINDS.get(type(wanted))
                are_numbers = value.kind == kind == "integer"
                compare = {"above": "__gt__", "at-least": "__ge__", "below": "__lt__", "at-most": "__le__"}[key]
                there = [it.there for it in (value, wanted) if isinstance(it, Unknown)]
                compared = getattr(value.value, compare)(self.number(wanted)) if are_numbers else z3.BoolVal(False)
                held.append(z3.And(*there, compared))
        return z3.And(held)

    def matches(self, place: int, pattern: dict[str, Any], window: tuple[int, int | None] = (1, None)) -> z3.BoolRef:
        call, is_call = self.places[place]
        where = z3.And(call.passes(pattern.get("where", {})), call.is_within(*window))
        if "call" in pattern:
            return z3.And(call.made(), call.is_of(pattern["call"]), where) if is_call else z3.BoolVal(False)
        if is_call:
            return z3.BoolVal(False)
        moment = "done" if "done" in pattern else "failed"
        tests = pattern.get("result" if moment == "done" else "error", {})
        fitting = [
            z3.And(condition, *[self.holds(at(outcome, key), test) for key, test in tests.items()])
            for condition, came, outcome, _ in call.outcomes
            if came == moment
        ]
        return z3.And(call.made(), call.is_of(pattern[moment]), where, z3.Or(fitting))

    def active(self, place: int) -> z3.BoolRef:
        return self.places[place][0].made() if place < len(self.places) else z3.BoolVal(False)

    def formula(self, formula: list[Any], place: int) -> z3.BoolRef:
        name, *rest = formula
        later = range(place, len(self.places))
        if name == "event":
            return self.matches(place, rest[0]) if place < len(self.places) else z3.BoolVal(False)
        if name == "not":
            return z3.Not(self.formula(rest[0], place))
        if name == "next":
            if place + 1 >= len(self.places):
                return z3.BoolVal(False)
            return z3.And(self.active(place + 1), self.formula(rest[0], place + 1))
        if name == "always":
            return z3.And([z3.Implies(self.active(other), self.formula(rest[0], other)) for other in later])
        if name == "eventually":
            return z3.Or([z3.And(self.active(other), self.formula(rest[0], other)) for other in later])
        if name == "until":
            ends = []
            for end in later:
                before = [self.formula(rest[0], other) for other in range(place, end)]
                ends.append(z3.And(self.active(end), self.formula(rest[1], end), *before))
            return z3.Or(ends)
        left, right = (self.formula(part, place) for part in rest)
        return {"and": z3.And, "or": z3.Or, "implies": z3.Implies}[name](left, right)

    def alike(self, one: int, other: int, per: str | None) -> z3.BoolRef:
        """Whether two events have one value of `per`, which may be none."""
        if per is None:
            return z3.BoolVal(True)
        first, second = (self.places[place][0].arguments.get(per[1:]) for place in (one, other))
        if first is None or second is None:
            return z3.BoolVal(True)
        return z3.And(first.there == second.there, z3.Implies(first.there, first.value == second.value))

    def held(self, rule: dict[str, Any], window: tuple[int, int | None] = (1, None)) -> z3.BoolRef:
        """A rule that binds between two messages. What comes before what it forbids or demands may lie before them."""
        per, places = rule.get("per"), range(len(self.places))

        def some(of: range, one: int, pattern: dict[str, Any], within: tuple[int, int | None] = (1, None)) -> z3.BoolRef:
            return z3.Or([z3.And(self.matches(other, pattern, within), self.alike(one, other, per)) for other in of])

        def count(one: int | None, pattern: dict[str, Any]) -> z3.ArithRef:
            alike = [self.alike(one, other, per) if one is not None else z3.BoolVal(True) for other in places]
            return z3.Sum([z3.If(z3.And(self.matches(other, pattern, window), alike[other]), 1, 0) for other in places])

        if "requires" in rule:
            trigger, needed = rule["requires"]
            return z3.And([z3.Implies(self.matches(one, trigger, window), some(range(one), one, needed)) for one in places])
        if "followed-by" in rule:
            trigger, then = rule["followed-by"]
            after = [some(range(one + 1, len(places)), one, then, window) for one in places]
            return z3.And([z3.Implies(self.matches(one, trigger, window), after[one]) for one in places])
        if "never-after" in rule:
            event, after = rule["never-after"]
            return z3.And([z3.Not(z3.And(self.matches(one, event, window), some(range(one), one, after))) for one in places])
        if "never" in rule:
            return z3.And([z3.Not(self.matches(one, rule["never"], window)) for one in places])
        if "at-most" in rule or "at-least" in rule:
            kind = "at-most" if "at-most" in rule else "at-least"
            pattern, times = rule[kind], rule[kind]["times"]
            compare = (lambda number: number <= times) if kind == "at-most" else (lambda number: number >= times)
            if per is None:
                return compare(count(None, pattern))
            return z3.And([z3.Implies(self.active(one), compare(count(one, pattern))) for one in places])
        if "first" in rule:
            moment = next(key for key in ("call", "done", "failed") if key in rule["first"])
            any_of = {moment: "*"}
            parts = []
            for one in places:
                is_first = z3.Not(some(range(one), one, any_of))
                parts.append(z3.Implies(z3.And(self.matches(one, any_of), is_first), self.matches(one, rule["first"])))
            return z3.And(parts)
        if "last" in rule:
            moment = next(key for key in ("call", "done", "failed") if key in rule["last"])
            any_of = {moment: "*"}
            parts = []
            for one in places:
                is_last = z3.Not(some(range(one + 1, len(places)), one, any_of))
                parts.append(z3.Implies(z3.And(self.matches(one, any_of), is_last), self.matches(one, rule["last"])))
            return z3.And(parts)
        if "takes" in rule:
            return z3.And([self.takes(rule, one, window) for one in places if self.places[one][1]])
        return self.formula(rule["_formula"], 0)

    def takes(self, rule: dict[str, Any], one: int, window: tuple[int, int | None]) -> z3.BoolRef:
        """Whether the argument of a call has a value of a result before it."""
        takes, offered = rule["takes"], []
        argument = self.places[one][0].arguments.get(takes["argument"][1:])
        for other in range(one):
            before, asked = self.places[other]
            if asked or argument is None:
                continue
            for condition, came, outcome, _ in before.outcomes:
                values = everything_at(outcome, takes["value"]) if came == "done" else []
                equal = z3.Or([self.equal(argument, value) for value in values])
                alike = self.alike(one, other, rule.get("per"))
                offered.append(z3.And(before.made(), before.is_of(takes["from"]), condition, equal, alike))
        taken = z3.And(argument.there, z3.Or(offered)) if argument is not None else z3.BoolVal(False)
        return z3.Implies(self.matches(one, {"call": takes["call"]}, window), taken)
