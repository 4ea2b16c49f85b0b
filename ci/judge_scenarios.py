"""Holds `planproof scenario check` to Z3: which cases nobody can satisfy.

    python ci/judge_scenarios.py target/debug/planproof --cases 300 --seed 1

Draws cases with worlds, rules and expectations. Z3 decides whether a session of up to `--length` calls satisfies all
of them, with any whole number and any text as an argument, where planproof tries values. Sessions are those of one call
after the other, each with arguments that the tool's schema allows and with the outcome that the world gives it. A case
that planproof calls unsatisfiable must have no such session; a session that it shows must be right by the evaluator of
`judge_rules.py`, and Z3 must find no shorter one if it is said to be a shortest one. Cases whose shortest session is longer than `--length` calls are
judged by their session alone.

`--forget expectation` leaves out an expectation on purpose, so that it can be seen that a wrong verdict is caught.
Prints the totals as JSON and exits with 1 if anything differs.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import z3

from judge_rules import Event, at, everything_at, is_held, passes, random_formula, written

# The arguments of each tool: their types, and whether they may be left out.
TOOLS: dict[str, dict[str, tuple[str, bool]]] = {
    "a": {"k": ("integer", False)},
    "b": {"k": ("integer", True), "v": ("string", True)},
    "c": {"v": ("string", False), "n": ("integer", True)},
    "d": {},
}
RESULTS: list[Any] = [{"ok": True, "v": "x"}, {"ok": False, "v": "y", "n": 7}, {"v": ["x", "z"]}, "a text"]
TESTS: dict[str, list[Any]] = {
    "integer": [1, 7, {"is-not": 1}, {"above": 50}, {"above": 3, "below": 5}, {"at-most": 0}, {"one-of": [2, 7]}, {"present": False}],
    "string": ["x", "y", {"is-not": "x"}, {"one-of": ["x", "z"]}, {"present": True}, {"present": False}],
}


class Argument:
    """An argument of a call: whether it is there, and a number, or the number of a text."""

    def __init__(self, name: str, kind: str) -> None:
        self.kind, self.there, self.value = kind, z3.Bool(f"{name}?"), z3.Int(name)


class Call:
    """A call of a session, which is made if there are so many."""

    def __init__(self, judge: "Judge", number: int) -> None:
        self.judge, self.number = judge, number
        self.tool = z3.Int(f"tool{number}")
        kinds = {name: kind for tool in TOOLS.values() for name, (kind, _) in tool.items()}
        self.arguments = {name: Argument(f"{name}{number}", kind) for name, kind in kinds.items()}

    def made(self) -> z3.BoolRef:
        return self.judge.length > self.number

    def is_of(self, tool: str) -> z3.BoolRef:
        return z3.BoolVal(True) if tool == "*" else self.tool == list(TOOLS).index(tool)

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
        return z3.Or(allowed)

    def passes(self, tests: dict[str, Any]) -> z3.BoolRef:
        return z3.And([self.passes_at(pointer[1:], test) for pointer, test in tests.items()] or [z3.BoolVal(True)])

    def passes_at(self, name: str, test: Any) -> z3.BoolRef:
        if name not in self.arguments:
            return z3.BoolVal(isinstance(test, dict) and test == {"present": False})
        argument = self.arguments[name]
        if not isinstance(test, dict):
            test = {"is": test}
        parts = []
        for key, wanted in test.items():
            number = isinstance(wanted, int) and not isinstance(wanted, bool)
            is_number = argument.kind == "integer"
            parts.append(
                {
                    "is": lambda: z3.And(argument.there, self.judge.equal(argument, wanted)),
                    "is-not": lambda: z3.And(argument.there, z3.Not(self.judge.equal(argument, wanted))),
                    "one-of": lambda: z3.And(argument.there, z3.Or([self.judge.equal(argument, one) for one in wanted])),
                    "above": lambda: z3.And(argument.there, is_number and number, argument.value > wanted),
                    "below": lambda: z3.And(argument.there, is_number and number, argument.value < wanted),
                    "at-most": lambda: z3.And(argument.there, is_number and number, argument.value <= wanted),
                    "at-least": lambda: z3.And(argument.there, is_number and number, argument.value >= wanted),
                    "present": lambda: argument.there if wanted else z3.Not(argument.there),
                }[key]()
            )
        return z3.And(parts)

    def outcomes(self) -> list[tuple[z3.BoolRef, str, Any]]:
        """All that may come of the call: under which condition, `done` or `failed`, and the result or the error."""
        found: list[tuple[z3.BoolRef, str, Any]] = []
        for tool in TOOLS:
            lines = self.judge.world.get(tool, [])
            if not lines:
                found.append((self.is_of(tool), "done", "done"))
                continue
            before = []
            for line in lines:
                fits = self.passes(line.get("where", {}))
                condition = z3.And(self.is_of(tool), fits, *[z3.Not(other) for other in before])
                is_done = "returns" in line
                found.append((condition, "done" if is_done else "failed", line["returns"] if is_done else line["fails"]))
                before.append(fits)
            found.append((z3.And(self.is_of(tool), *[z3.Not(other) for other in before]), "failed", "no line"))
        return found


class Judge:
    """A case as constraints on the calls of a session."""

    def __init__(self, world: dict[str, Any], only: list[str] | None, length: int) -> None:
        self.world, self.texts = world, {}
        self.length = z3.Int("length")
        self.calls = [Call(self, number) for number in range(length)]
        self.solver = z3.Solver()
        self.solver.add(self.length >= 0, self.length <= length)
        for call in self.calls:
            self.solver.add(call.is_valid())
            if only is not None:
                self.solver.add(z3.Implies(call.made(), z3.Or([call.is_of(tool) for tool in only])))
        # Every call has two events: it is asked for, and its outcome comes.
        self.places = [(call, is_call) for call in self.calls for is_call in (True, False)]

    def equal(self, argument: Argument, value: Any) -> z3.BoolRef:
        if isinstance(value, bool) or not isinstance(value, int if argument.kind == "integer" else str):
            return z3.BoolVal(False)
        return argument.value == (value if argument.kind == "integer" else self.texts.setdefault(value, len(self.texts)))

    def matches(self, place: int, pattern: dict[str, Any]) -> z3.BoolRef:
        call, is_call = self.places[place]
        where = call.passes(pattern.get("where", {}))
        if "call" in pattern:
            return z3.And(call.made(), call.is_of(pattern["call"]), where) if is_call else z3.BoolVal(False)
        if is_call:
            return z3.BoolVal(False)
        moment = "done" if "done" in pattern else "failed"
        tests = pattern.get("result" if moment == "done" else "error", {})
        fitting = [
            condition
            for condition, came, outcome in call.outcomes()
            if came == moment and all(passes(at(outcome, key), test) for key, test in tests.items())
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
            return z3.And(self.active(place + 1), self.formula(rest[0], place + 1)) if place + 1 < len(self.places) else z3.BoolVal(False)
        if name == "always":
            return z3.And([z3.Implies(self.active(other), self.formula(rest[0], other)) for other in later])
        if name == "eventually":
            return z3.Or([z3.And(self.active(other), self.formula(rest[0], other)) for other in later])
        if name == "until":
            return z3.Or(
                [
                    z3.And(self.active(end), self.formula(rest[1], end), *[self.formula(rest[0], other) for other in range(place, end)])
                    for end in later
                ]
            )
        left, right = (self.formula(part, place) for part in rest)
        return {"and": z3.And, "or": z3.Or, "implies": z3.Implies}[name](left, right)

    def alike(self, one: int, other: int, per: str | None) -> z3.BoolRef:
        """Whether two events have one value of `per`, which may be none."""
        if per is None:
            return z3.BoolVal(True)
        first, second = (self.places[place][0].arguments.get(per[1:]) for place in (one, other))
        if first is None:
            return z3.BoolVal(True)
        both_or_none = first.there == second.there
        return z3.And(both_or_none, z3.Implies(first.there, first.value == second.value))

    def held(self, rule: dict[str, Any]) -> z3.BoolRef:
        per, places = rule.get("per"), range(len(self.places))

        def some(of: range, one: int, pattern: dict[str, Any]) -> z3.BoolRef:
            return z3.Or([z3.And(self.matches(other, pattern), self.alike(one, other, per)) for other in of])

        def count(one: int | None, pattern: dict[str, Any]) -> z3.ArithRef:
            alike = [self.alike(one, other, per) if one is not None else z3.BoolVal(True) for other in places]
            return z3.Sum([z3.If(z3.And(self.matches(other, pattern), alike[other]), 1, 0) for other in places])

        if "requires" in rule:
            trigger, needed = rule["requires"]
            return z3.And([z3.Implies(self.matches(one, trigger), some(range(one), one, needed)) for one in places])
        if "followed-by" in rule:
            trigger, then = rule["followed-by"]
            return z3.And([z3.Implies(self.matches(one, trigger), some(range(one + 1, len(places)), one, then)) for one in places])
        if "never-after" in rule:
            event, after = rule["never-after"]
            return z3.And([z3.Not(z3.And(self.matches(one, event), some(range(one), one, after))) for one in places])
        if "never" in rule:
            return z3.And([z3.Not(self.matches(one, rule["never"])) for one in places])
        if "at-most" in rule or "at-least" in rule:
            kind = "at-most" if "at-most" in rule else "at-least"
            pattern, times = rule[kind], rule[kind]["times"]
            compare = (lambda number: number <= times) if kind == "at-most" else (lambda number: number >= times)
            if per is None:
                return compare(count(None, pattern))
            return z3.And([z3.Implies(self.active(one), compare(count(one, pattern))) for one in places])
        if "last" in rule:
            moment = next(key for key in ("call", "done", "failed") if key in rule["last"])
            any_of = {moment: "*"}
            return z3.And(
                [
                    z3.Implies(
                        z3.And(self.matches(one, any_of), z3.Not(some(range(one + 1, len(places)), one, any_of))),
                        self.matches(one, rule["last"]),
                    )
                    for one in places
                ]
            )
        if "takes" in rule:
            takes = rule["takes"]
            parts = []
            for one in places:
                call, is_call = self.places[one]
                argument = call.arguments.get(takes["argument"][1:])
                offered = []
                for other in range(one):
                    before, asked = self.places[other]
                    if asked or argument is None:
                        continue
                    for condition, came, outcome in before.outcomes():
                        values = everything_at(outcome, takes["value"]) if came == "done" else []
                        equal = [self.equal(argument, value) for value in values]
                        offered.append(
                            z3.And(before.made(), before.is_of(takes["from"]), condition, z3.Or(equal), self.alike(one, other, per))
                        )
                there = argument.there if argument is not None else z3.BoolVal(False)
                taken = z3.And(there, z3.Or(offered))
                if is_call:
                    parts.append(z3.Implies(self.matches(one, {"call": takes["call"]}), taken))
            return z3.And(parts)
        return self.formula(rule["_formula"], 0)


def random_event(draw: random.Random, moments: list[str] | None = None) -> dict[str, Any]:
    moment = draw.choice(moments or ["call", "call", "done", "done", "failed"])
    tool = draw.choice([*TOOLS, *TOOLS, "*"])
    pattern: dict[str, Any] = {moment: tool}
    if draw.random() < 0.4:
        names = {name: kind for one, arguments in TOOLS.items() if tool in ("*", one) for name, (kind, _) in arguments.items()}
        for name, kind in names.items():
            if draw.random() < 0.6:
                pattern.setdefault("where", {})["/" + name] = draw.choice(TESTS[kind])
    if moment == "done" and draw.random() < 0.3:
        pattern["result"] = draw.choice([{"/ok": True}, {"/v": {"is-not": "y"}}, {"": "a text"}, {"": "done"}, {"/n": {"above": 5}}])
    if moment == "failed" and draw.random() < 0.3:
        pattern["error"] = {"": draw.choice(["no", "not now"])}
    return pattern


def random_rule(draw: random.Random, name: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": name}
    kind = draw.choice(["requires", "requires", "followed-by", "never-after", "never", "at-most", "at-least", "last", "takes", "formula"])
    if kind != "formula" and draw.random() < 0.25:
        rule["per"] = draw.choice(["/k", "/v"])
    if kind in ("requires", "followed-by", "never-after"):
        rule[kind] = [random_event(draw), random_event(draw)]
    elif kind in ("never", "last"):
        rule[kind] = random_event(draw)
    elif kind in ("at-most", "at-least"):
        rule[kind] = {**random_event(draw), "times": draw.randrange(3)}
    elif kind == "takes":
        tool, argument = draw.choice([("a", "/k"), ("b", "/v"), ("c", "/v"), ("c", "/n")])
        value = draw.choice(["/v", "/v/*", "/n", ""])
        rule[kind] = {"call": tool, "argument": argument, "from": draw.choice([*TOOLS, "*"]), "value": value}
    else:
        rule["_formula"] = random_formula(draw, 2)
        rule[kind] = written(rule["_formula"])
    # A `per` that none of the rule's tools has is refused as a slip.
    events = rule[kind] if isinstance(rule[kind], list) else [rule[kind]]
    named = [event.get(key) for event in events if isinstance(event, dict) for key in ("call", "done", "failed", "from")]
    if "per" in rule and "*" not in named and not any(rule["per"][1:] in TOOLS.get(tool, {}) for tool in named):
        del rule["per"]
    return rule


def random_world(draw: random.Random) -> dict[str, Any]:
    world: dict[str, Any] = {}
    for tool, arguments in TOOLS.items():
        lines = []
        for _ in range(draw.choice([0, 0, 1, 2])):
            line: dict[str, Any] = {}
            where = {"/" + name: draw.choice(TESTS[kind]) for name, (kind, _) in arguments.items() if draw.random() < 0.5}
            if where:
                line["where"] = where
            if draw.random() < 0.75:
                line["returns"] = draw.choice(RESULTS)
            else:
                line["fails"] = draw.choice(["no", "not now"])
            lines.append(line)
        if lines:
            world[tool] = lines
    return world


def random_case(draw: random.Random, number: int) -> dict[str, Any]:
    expect: list[dict[str, Any]] = []
    done = draw.sample(list(TOOLS), draw.choice([1, 2, 2, 3]))
    first: dict[str, Any] = {"do": done}
    if draw.random() < 0.2:
        first["only"] = True
    if draw.random() < 0.9:
        expect.append(first)
    if draw.random() < 0.4:
        expect.append({"with": random_event(draw)})
    for _ in range(draw.choice([1, 1, 2, 2, 3, 4])):
        rule = random_rule(draw, f"r{len(expect)}")
        expect.append(rule)
    return {"id": f"x{number}", "query": "Do it.", "world": random_world(draw), "expect": expect}


def rules_of(expect: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str] | None]:
    """The rules that the expectations are, and the tools that alone may be called."""
    rules: list[dict[str, Any]] = []
    only = None
    for expectation in expect:
        if "do" in expectation:
            rules += [{"at-least": {"done": tool, "times": 1}} for tool in expectation["do"]]
            if expectation.get("only"):
                only = expectation["do"]
        elif "with" in expectation:
            rules.append({"at-least": {**expectation["with"], "times": 1}})
        else:
            rules.append(expectation)
    return rules, only


def shown(value: Any) -> Any:
    """Without what is for this program alone."""
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items() if not key.startswith("_")}
    return [shown(part) for part in value] if isinstance(value, list) else value


def faults_of(case: dict[str, Any], verdict: dict[str, Any], options: argparse.Namespace) -> tuple[str, list[str]]:
    """What Z3 says of a case, and in what planproof differs."""
    rules, only = rules_of(case["expect"])
    faults = []
    session = verdict["session"]
    if session is not None:
        events = []
        for call in session:
            events.append(Event("call", call["tool"], call["arguments"]))
            failed = "error" in call
            events.append(Event("failed" if failed else "done", call["tool"], call["arguments"], call["error" if failed else "result"]))
            if only is not None and call["tool"] not in only:
                faults.append(f"the session calls {call['tool']}")
        faults += [f"the session violates {shown(rule)}" for rule in rules if not is_held(rule, events, "nothing")]
    if options.forget == "expectation":
        rules = rules[:-1]
    judge = Judge(case["world"], only, options.length)
    judge.solver.add([judge.held(rule) for rule in rules])
    answer = str(judge.solver.check())
    if answer == "sat" and session is not None and verdict["is_shortest"]:
        judge.solver.add(judge.length < len(session))
        if judge.solver.check() == z3.sat:
            faults.append(f"Z3 has a session of {judge.solver.model()[judge.length]} calls, shorter than {len(session)}")
    if answer == "sat" and verdict["satisfiable"] is False:
        faults.append(f"it can be satisfied: {judge.solver.model()}")
    if answer == "unsat" and session is not None and len(session) <= options.length:
        faults.append("Z3 has no session")
    if answer == "unknown":
        faults.append("Z3 does not know")
    return answer, faults


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("planproof")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=5, help="calls of a session of Z3")
    parser.add_argument("--forget", choices=["nothing", "expectation"], default="nothing")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    tools = [
        {"name": tool, "arguments": {name + "?" * is_optional: kind for name, (kind, is_optional) in arguments.items()}}
        for tool, arguments in TOOLS.items()
    ]
    cases = [random_case(draw, number) for number in range(options.cases)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.yaml"
        # JSON is YAML.
        file.write_text(json.dumps({"schema": "planproof/scenario/v1", "tools": tools, "cases": shown(cases)}))
        command = [options.planproof, "scenario", "check", str(file), "--json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        print(run.stderr, file=sys.stderr)
        return 1
    totals = {"cases": 0, "satisfied": 0, "unsatisfiable": 0, "undecided": 0, "longer": 0, "differences": 0}
    for case, verdict in zip(cases, json.loads(run.stdout)["cases"], strict=True):
        totals["cases"] += 1
        key = {True: "satisfied", False: "unsatisfiable", None: "undecided"}[verdict["satisfiable"]]
        totals[key] += 1
        answer, faults = faults_of(case, verdict, options)
        totals["longer"] += answer == "unsat" and verdict["satisfiable"] is True
        if faults:
            totals["differences"] += 1
            if totals["differences"] <= 3:
                print(f"{json.dumps(shown(case))}: {faults}; {json.dumps(verdict['session'])}", file=sys.stderr)
    print(json.dumps(totals))
    return 1 if totals["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
