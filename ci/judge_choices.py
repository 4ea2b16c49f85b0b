"""Judges by Z3 what planproof chooses: whether a selection is correct and the best, and which constraints conflict.

    python ci/judge_choices.py problems.jsonl

A problem is one JSON line: `slots`, `constraints` and `objective` as planproof reads them, `given`, a selection to
start from, and `answer` and `nearest`, each with either `selection` and `cost`, or `conflict`, a smallest set of
constraints that cannot hold together (`objective` among them where its fields are missing).
Prints the totals as one JSON line, and exits with 1 and the first reasons if anything is wrong.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import combinations
from typing import Any

import z3
from judged import faults_of_minimal, judge_problems

MILLIONTHS = 10**6
# What the objective is called among the constraints.
OBJECTIVE = "objective"

Json = dict[str, Any]
# Whether a field is missing, whether a slot is empty, and what holds otherwise.
Truth = tuple[z3.BoolRef, z3.BoolRef, z3.BoolRef]


def amount(value: Any) -> int:
    """A number or a time as an integer: in millionths, or in minutes."""
    if isinstance(value, str) and ":" in value:
        hour, minute = value.split(":")
        return int(hour) * 60 + int(minute)
    if isinstance(value, str):
        value = re.fullmatch(r"EUR (-?[\d.]+)", value)[1]
    scaled = Decimal(str(value)) * MILLIONTHS
    assert scaled == scaled.to_integral_value(), value
    return int(scaled)


def compared(left: Any, op: str, right: Any) -> Any:
    """A comparison of integers, or of terms of Z3."""
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
    raise ValueError(op)


class Choices:
    """A problem for Z3: a literal for each candidate of each slot, of which one holds, or none where that is optional.
    Each constraint can be switched on by a literal of its own."""

    def __init__(self, problem: Json) -> None:
        self.solver = z3.Solver()
        self.candidates: dict[str, list[Json]] = {}
        self.chosen: dict[str, list[z3.BoolRef]] = {}
        self.texts: dict[str, int] = {}
        for name, slot in problem["slots"].items():
            is_optional = isinstance(slot, dict) and slot.get("optional", False)
            self.candidates[name] = slot["candidates"] if isinstance(slot, dict) else slot
            self.chosen[name] = [z3.Bool(f"{name} {place}") for place in range(len(self.candidates[name]))]
            one = [(literal, 1) for literal in self.chosen[name]]
            self.solver.add(z3.PbLe(one, 1) if is_optional else z3.PbEq(one, 1) if one else z3.BoolVal(False))
        self.literal: dict[str, z3.BoolRef] = {}
        for constraint in problem["constraints"]:
            self.literal[constraint["id"]] = z3.Bool(f"on {constraint['id']}")
            self.solver.add(z3.Implies(self.literal[constraint["id"]], self.demanded(constraint)))
        self.cost = z3.IntVal(0)
        direction, terms = next(iter((problem["objective"] or {"minimise": []}).items()))
        missing, total = self.total(terms)
        self.cost = total if direction == "minimise" else -total
        self.literal[OBJECTIVE] = z3.Bool("on the objective")
        self.solver.add(z3.Implies(self.literal[OBJECTIVE], z3.Not(missing)))

    def can_hold(self, names: Iterable[str], *more: z3.BoolRef) -> bool:
        """Whether constraints can hold together, with whatever else is demanded."""
        result = self.solver.check(*(self.literal[name] for name in names), *more)
        assert result != z3.unknown
        return result == z3.sat

    def is_chosen(self, selection: dict[str, int | None]) -> z3.BoolRef:
        """That a selection is chosen."""
        return z3.And(
            z3.BoolVal(True),
            *(
                literal == (place == selection[slot])
                for slot, literals in self.chosen.items()
                for place, literal in enumerate(literals)
            ),
        )

    def changes(self, given: dict[str, int | None]) -> z3.ArithRef:
        """How many slots are chosen for in another way."""
        kept = (self.empty(slot) if place is None else self.chosen[slot][place] for slot, place in given.items())
        return z3.Sum([z3.If(literal, 0, 1) for literal in kept])

    def where(self, field: str, test: Any) -> z3.BoolRef:
        """That the candidate of a field's slot has a value, or lacks one (`None`), of which something holds."""
        slot, name = field.split(".", 1)
        of_candidates = zip(self.chosen[slot], self.candidates[slot], strict=True)
        return z3.Or(z3.BoolVal(False), *(literal for literal, it in of_candidates if test(it.get(name))))

    def missing(self, fields: Iterable[str]) -> z3.BoolRef:
        """That one of some fields is missing."""
        return z3.Or(z3.BoolVal(False), *(self.where(field, lambda value: value is None) for field in fields))

    def empty(self, slot: str) -> z3.BoolRef:
        """That nothing is chosen for a slot."""
        return z3.Not(z3.Or(z3.BoolVal(False), *self.chosen[slot]))

    def any_empty(self, fields: Iterable[str]) -> z3.BoolRef:
        """That nothing is chosen for the slot of one of some fields."""
        return z3.Or(*(self.empty(field.split(".", 1)[0]) for field in fields))

    def number(self, field: str, of_value: Any = amount) -> z3.ArithRef:
        """A field as an integer, nothing where it is missing."""
        slot, name = field.split(".", 1)
        of_candidates = zip(self.chosen[slot], self.candidates[slot], strict=True)
        parts = [z3.If(it, of_value(record[name]), 0) for it, record in of_candidates if record.get(name) is not None]
        return z3.Sum([z3.IntVal(0), *parts])

    def text(self, value: Any) -> int:
        """An integer for a value, the same for equal ones."""
        return self.texts.setdefault(repr(value), len(self.texts))

    def total(self, terms: list[Any]) -> tuple[z3.BoolRef, z3.ArithRef]:
        """Whether a field of a sum is missing, and the sum."""
        pairs = [(it["field"], it.get("factor", 1)) if isinstance(it, dict) else (it, 1) for it in terms]
        parts = [self.number(field) * amount(factor) for field, factor in pairs]
        return self.missing(field for field, _ in pairs), z3.Sum([z3.IntVal(0), *parts])

    def demanded(self, constraint: Json) -> z3.BoolRef:
        """That a constraint is met."""
        match constraint["kind"]:
            case "sum":
                missing, total = self.total(constraint["terms"])
                bound = amount(constraint["bound"]) * MILLIONTHS
                return z3.And(z3.Not(missing), compared(total, constraint["op"], bound))
            case "count":
                fields, test = constraint["fields"], constraint["where"]
                passing = [self.where(field, lambda it: it is not None and passes(it, test)) for field in fields]
                number = z3.Sum([z3.If(it, 1, 0) for it in passing])
                is_right = compared(number, constraint["op"], constraint["count"])
                return z3.And(z3.Not(self.missing(fields)), is_right)
            case "different" | "same" as kind:
                fields = constraint["fields"]
                op = "!=" if kind == "different" else "=="
                pairs = [
                    z3.Or(
                        self.any_empty([one, other]),
                        compared(self.number(one, self.text), op, self.number(other, self.text)),
                    )
                    for one, other in combinations(fields, 2)
                ]
                return z3.And(z3.Not(self.missing(fields)), *pairs)
            case "implies":
                missing, empty, holds = self.truth(constraint["if"])
                asks = z3.Or(missing, z3.And(z3.Not(empty), holds))
                return z3.Implies(asks, self.met(constraint["then"]))
            case _:
                return self.met(constraint)

    def met(self, condition: Json) -> z3.BoolRef:
        """That a condition is met where it is demanded."""
        missing, empty, holds = self.truth(condition)
        return z3.And(z3.Not(missing), z3.Or(empty, holds))

    def truth(self, it: Json) -> Truth:
        """A condition."""
        match it["kind"]:
            case "filled":
                empty = self.empty(it["slot"])
                return z3.BoolVal(False), z3.BoolVal(False), empty if it.get("not") else z3.Not(empty)
            case "time":
                fields = [moment for moment in (it["from"], it["to"]) if "." in moment]
                minutes = [self.number(side) if "." in side else amount(side) for side in (it["to"], it["from"])]
                holds = compared(minutes[0] - minutes[1], it["op"], it["minutes"])
            case "compare" if "right" in it:
                fields = [it["left"], it["right"]]
                of_value = self.text if it["op"] in ("==", "!=") else amount
                left, right = (self.number(field, of_value) for field in fields)
                holds = compared(left, it["op"], right)
            case "member" if isinstance(it.get("in"), str):
                fields = [it["field"], it["in"]]
                slot, name = it["in"].split(".", 1)
                pairs = []
                for literal, record in zip(self.chosen[slot], self.candidates[slot], strict=True):
                    listed = record.get(name) or []
                    pairs.append(z3.And(literal, self.where(it["field"], lambda value, listed=listed: value in listed)))
                holds = z3.Or(z3.BoolVal(False), *pairs)
                holds = z3.Not(holds) if it.get("not") else holds
            case "compare":
                fields = [it["left"]]
                holds = self.where(it["left"], lambda value: value is not None and passes(value, it))
            case "member":
                fields = [it["field"]]
                holds = self.where(it["field"], lambda value: value is not None and passes(value, it))
            case kind:
                raise ValueError(kind)
        return self.missing(fields), self.any_empty(fields), holds


def passes(value: Any, test: Json) -> bool:
    """Whether a value passes a test."""
    if "in" in test:
        return (value in test["in"]) != test.get("not", False)
    if "has" in test:
        return (test["has"] in value) != test.get("not", False)
    if test["op"] in ("==", "!="):
        return compared(value, test["op"], test["value"])
    return compared(amount(value), test["op"], amount(test["value"]))


def faults_of_conflict(choices: Choices, conflict: list[str], names: list[str]) -> Iterator[str]:
    """What Z3 finds otherwise of a smallest conflict."""
    yield from faults_of_minimal(conflict, choices.can_hold)
    for size in range(len(conflict)):
        for fewer in combinations(names, size):
            if not choices.can_hold(fewer):
                yield f"the conflict {conflict} is not the smallest: {list(fewer)} is one"
                return


def faults_of(problem: Json) -> Iterator[str]:
    """What Z3 finds otherwise."""
    choices = Choices(problem)
    constraints = [it["id"] for it in problem["constraints"]]
    with_objective = [*constraints, OBJECTIVE]
    answer, nearest = problem["answer"], problem["nearest"]
    if "conflict" in answer:
        yield from faults_of_conflict(choices, answer["conflict"], with_objective)
    else:
        # Costs are given with the factor in, as texts of decimals.
        cost = Decimal(answer["cost"]) * MILLIONTHS * MILLIONTHS if answer["cost"] is not None else Decimal(0)
        cost = -cost if "maximise" in (problem["objective"] or {}) else cost
        if not choices.can_hold(with_objective, choices.is_chosen(answer["selection"]), choices.cost == int(cost)):
            yield f"the selection {answer['selection']} is not correct, or does not come to {answer['cost']}"
        if choices.can_hold(with_objective, choices.cost < int(cost)):
            yield f"there is a better selection than {answer['selection']}"
    if "conflict" in nearest:
        yield from faults_of_conflict(choices, nearest["conflict"], constraints)
    else:
        changes, count = choices.changes(problem["given"]), int(nearest["cost"])
        if not choices.can_hold(constraints, choices.is_chosen(nearest["selection"]), changes == count):
            yield f"the nearest selection {nearest['selection']} is not correct, or does not change {count}"
        if choices.can_hold(constraints, changes < count):
            yield f"there is a nearer selection than {nearest['selection']}"


if __name__ == "__main__":
    sys.exit(judge_problems(__doc__, faults_of, lambda it: it["answer"].get("conflict")))
