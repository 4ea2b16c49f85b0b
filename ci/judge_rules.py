"""Holds `planproof check --rules` to the definitions of docs/rules.md, written down once more in Python.

    python ci/judge_rules.py target/debug/planproof --files 250 --sessions 80 --seed 1

Draws files of rules and sessions, and compares the verdict on every beginning of every session. `--forget per` and
`--forget order` are wrong on purpose, so that it can be seen that a wrong evaluator is caught. Prints the totals as JSON
and exits with 1 if anything differs.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOOLS = ["a", "b", "c"]
# No decimal is this number: the nearest ones are one less and one more.
LARGE = 2**53 + 1
ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"k": 1, "n": 5},
    {"k": 1, "n": 50, "v": "x"},
    {"k": 2, "n": 500, "v": "y"},
    {"k": "1", "v": 7},
    # Python compares whole numbers with decimals without rounding, too.
    {"k": LARGE, "n": LARGE, "v": LARGE},
    {"k": float(LARGE - 1), "n": LARGE - 1, "v": 7.0},
]
RESULTS: list[Any] = [{"ok": True, "v": "x"}, {"ok": False, "v": ["y", 7, LARGE - 1]}, "a text", {"result": {"ok": True, "v": "x"}}]
MISSING = object()


class Event:
    """What happened: a call was asked for, is done, or has failed."""

    def __init__(self, moment: str, tool: str, arguments: dict[str, Any], outcome: Any = MISSING) -> None:
        self.moment, self.tool, self.arguments, self.outcome = moment, tool, arguments, outcome


def at(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def unwrapped(outcome: Any, pointer: str) -> Any:
    """Where a pointer into an outcome begins: the SDKs for Python wrap what is not an object."""
    is_wrapped = isinstance(outcome, dict) and list(outcome) == ["result"] and pointer.split("/")[1:2] != ["result"]
    return outcome["result"] if is_wrapped else outcome


def everything_at(value: Any, pointer: str) -> list[Any]:
    found = [unwrapped(value, pointer)]
    for part in pointer.split("/")[1:]:
        if part == "*":
            found = [item for value in found for item in (value if isinstance(value, list) else [value])]
        else:
            found = [target for value in found if (target := at(value, "/" + part)) is not MISSING]
    return found


def same(left: Any, right: Any) -> bool:
    # In Python, True is 1.
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def is_of_type(value: Any, name: str) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "string": isinstance(value, str),
        "number": is_number,
        "integer": is_number and value == int(value),
        "boolean": isinstance(value, bool),
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "null": value is None,
    }[name]


def passes(value: Any, test: Any) -> bool:
    if not isinstance(test, dict):
        test = {"is": test}
    for name, wanted in test.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        ok = {
            "is": lambda: value is not MISSING and same(value, wanted),
            "is-not": lambda: value is not MISSING and not same(value, wanted),
            "one-of": lambda: any(same(value, one) for one in wanted),
            "above": lambda: is_number and value > wanted,
            "at-least": lambda: is_number and value >= wanted,
            "below": lambda: is_number and value < wanted,
            "at-most": lambda: is_number and value <= wanted,
            "matches": lambda: isinstance(value, str) and re.fullmatch(wanted, value, re.DOTALL) is not None,
            "type": lambda: any(is_of_type(value, one) for one in (wanted if isinstance(wanted, list) else [wanted])),
            "not": lambda: not passes(value, wanted),
            "present": lambda: (value is not MISSING) == wanted,
        }[name]()
        if not ok:
            return False
    return True


def matches(event: Event, pattern: dict[str, Any]) -> bool:
    tool = pattern.get(event.moment)
    if tool is None or tool not in ("*", event.tool):
        return False
    if not all(passes(at(event.arguments, key), test) for key, test in pattern.get("where", {}).items()):
        return False
    tests = pattern.get({"done": "result", "failed": "error"}.get(event.moment, ""), {})
    return all(event.outcome is not MISSING and passes(at(unwrapped(event.outcome, key), key), test) for key, test in tests.items())


def formula_holds(formula: list[Any], session: list[Event], place: int) -> bool:
    name, *rest = formula
    later = range(place, len(session))
    if name == "event":
        return place < len(session) and matches(session[place], rest[0])
    if name == "not":
        return not formula_holds(rest[0], session, place)
    if name == "next":
        return place + 1 < len(session) and formula_holds(rest[0], session, place + 1)
    if name == "always":
        return all(formula_holds(rest[0], session, at) for at in later)
    if name == "eventually":
        return any(formula_holds(rest[0], session, at) for at in later)
    if name == "and":
        return formula_holds(rest[0], session, place) and formula_holds(rest[1], session, place)
    if name == "or":
        return formula_holds(rest[0], session, place) or formula_holds(rest[1], session, place)
    if name == "implies":
        return not formula_holds(rest[0], session, place) or formula_holds(rest[1], session, place)
    if name == "until":
        return any(
            formula_holds(rest[1], session, end) and all(formula_holds(rest[0], session, at) for at in range(place, end))
            for end in later
        )
    raise AssertionError(name)


def written(formula: list[Any]) -> str:
    if formula[0] == "event":
        (moment, tool), *_ = formula[1].items()
        where = formula[1].get("where")
        return f"(call:{tool} (> n {where['/n']['above']}))" if where else f"{moment}:{tool}"
    return "(" + " ".join([formula[0], *(written(part) for part in formula[1:])]) + ")"


def is_held(
    rule: dict[str, Any], session: list[Event], forget: str, binds: Callable[[Event], bool] = lambda event: True
) -> bool:
    """Whether a session that has ended holds a rule, which is about the events that it `binds`; what has to come before
    one of them, or must not, may be any event."""
    if "per" in rule and forget != "per":
        values: list[Any] = []
        for event in session:
            value = at(event.arguments, rule["per"])
            if not any(value is other or same(value, other) for other in values):
                values.append(value)
        alone = {key: part for key, part in rule.items() if key != "per"}
        return all(
            is_held(alone, [event for event in session if same_value(at(event.arguments, rule["per"]), value)], forget, binds)
            for value in values
        )

    def places(pattern: dict[str, Any], of_all: bool = False) -> list[int]:
        return [place for place, event in enumerate(session) if matches(event, pattern) and (of_all or binds(event))]

    if "requires" in rule:
        trigger, needed = rule["requires"]
        is_before = (lambda one, other: True) if forget == "order" else (lambda one, other: one < other)
        return all(any(is_before(before, place) for before in places(needed, of_all=True)) for place in places(trigger))
    if "followed-by" in rule:
        trigger, then = rule["followed-by"]
        return all(any(after > place for after in places(then)) for place in places(trigger))
    if "never-after" in rule:
        event, after = rule["never-after"]
        return not any(before < place for place in places(event) for before in places(after, of_all=True))
    if "never" in rule:
        return not places(rule["never"])
    if "at-most" in rule:
        return len(places(rule["at-most"])) <= rule["at-most"]["times"]
    if "at-least" in rule:
        return len(places(rule["at-least"])) >= rule["at-least"]["times"]
    if "first" in rule:
        moment = next(key for key in ("call", "done", "failed") if key in rule["first"])
        of_moment = [event for event in session if event.moment == moment]
        return not of_moment or matches(of_moment[0], rule["first"])
    if "last" in rule:
        moment = next(key for key in ("call", "done", "failed") if key in rule["last"])
        of_moment = [event for event in session if event.moment == moment]
        return not of_moment or matches(of_moment[-1], rule["last"])
    if "takes" in rule:
        takes = rule["takes"]
        offered: list[Any] = []
        for event in session:
            if matches(event, {"done": takes["from"]}):
                offered += everything_at(event.outcome, takes["value"])
            if matches(event, {"call": takes["call"]}) and binds(event):
                taken = at(event.arguments, takes["argument"])
                if not any(same(taken, value) for value in offered):
                    return False
        return True
    return formula_holds(rule["_formula"], session, 0)


def same_value(left: Any, right: Any) -> bool:
    return left is right or (left is not MISSING and right is not MISSING and same(left, right))


def random_event(draw: random.Random) -> dict[str, Any]:
    moment = draw.choice(["call", "call", "done", "done", "failed"])
    pattern: dict[str, Any] = {moment: draw.choice([*TOOLS, "*"])}
    if draw.random() < 0.3:
        pattern["where"] = draw.choice(
            [
                {"/n": {"above": 50}},
                {"/k": 1},
                {"/k": LARGE},
                {"/n": {"above": LARGE - 1}},
                {"/n": {"below": LARGE}},
                {"/k": {"is-not": float(LARGE - 1)}},
                {"/v": {"one-of": ["x", 7]}},
                {"/n": {"present": False}},
                {"/v": {"type": "string"}},
                {"/n": {"not": {"type": "integer", "at-most": 50}}},
                {"/v": {"not": {"type": ["array", "string"]}}},
            ]
        )
    if moment != "call" and draw.random() < 0.3:
        key = "result" if moment == "done" else "error"
        pattern[key] = draw.choice([{"/ok": True}, {"/ok": {"is-not": True}}, {"": "a text"}, {"/v/1": {"at-most": 7}}])
    return pattern


def random_formula(draw: random.Random, depth: int) -> list[Any]:
    if depth == 0 or draw.random() < 0.2:
        return ["event", draw.choice([{"call": "a"}, {"done": "b"}, {"failed": "*"}, {"call": "c", "where": {"/n": {"above": draw.choice([50, LARGE - 1])}}}])]
    name = draw.choice(["not", "next", "always", "eventually", "and", "or", "implies", "until"])
    count = 1 if name in ("not", "next", "always", "eventually") else 2
    return [name, *(random_formula(draw, depth - 1) for _ in range(count))]


def random_rule(draw: random.Random, number: int) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": f"r{number}"}
    if draw.random() < 0.4:
        rule["per"] = draw.choice(["/k", "/v"])
    kind = draw.choice(["requires", "followed-by", "never-after", "never", "at-most", "at-least", "first", "last", "takes", "formula"])
    if kind in ("requires", "followed-by", "never-after"):
        rule[kind] = [random_event(draw), random_event(draw)]
    elif kind in ("never", "first", "last"):
        rule[kind] = random_event(draw)
    elif kind in ("at-most", "at-least"):
        rule[kind] = {**random_event(draw), "times": draw.randrange(3)}
    elif kind == "takes":
        value = draw.choice(["/v", "/v/*", "/v/0", "/result/v"])
        rule[kind] = {"call": draw.choice(TOOLS), "argument": "/v", "from": draw.choice([*TOOLS, "*"]), "value": value}
    else:
        rule["_formula"] = random_formula(draw, 3)
        rule[kind] = written(rule["_formula"])
    return rule


def random_session(draw: random.Random) -> tuple[list[Event], list[dict[str, Any]]]:
    """The events, and for each of them a message as Anthropic's logs have it. Some results come late, some never."""
    events, messages = [], []
    open_calls: list[tuple[str, str, dict[str, Any]]] = []
    for number in range(draw.randrange(1, 13)):
        if open_calls and draw.random() < 0.6:
            name, tool, arguments = open_calls.pop(draw.randrange(len(open_calls)))
            failed, outcome = draw.random() < 0.2, draw.choice(RESULTS)
            events.append(Event("failed" if failed else "done", tool, arguments, outcome))
            content = outcome if isinstance(outcome, str) else json.dumps(outcome)
            block = {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": failed}
            messages.append({"role": "user", "content": [block]})
        else:
            name, tool, arguments = f"c{number}", draw.choice(TOOLS), draw.choice(ARGUMENTS)
            open_calls.append((name, tool, arguments))
            events.append(Event("call", tool, arguments))
            block = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
            messages.append({"role": "assistant", "content": [block]})
    return events, messages


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("planproof")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forget", choices=["nothing", "per", "order"], default="nothing")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    totals = {"sessions": 0, "prefixes": 0, "verdicts": 0, "violated": 0, "differences": 0}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.files):
            rules = [random_rule(draw, number) for number in range(draw.randrange(1, 6))]
            shown = [{key: part for key, part in rule.items() if not key.startswith("_")} for rule in rules]
            rules_file, sessions_file = Path(folder) / "rules.json", Path(folder) / "sessions.jsonl"
            rules_file.write_text(json.dumps({"schema": "planproof/rules/v1", "rules": shown}))
            prefixes: list[list[Event]] = []
            lines: list[str] = []
            for _ in range(options.sessions):
                events, messages = random_session(draw)
                totals["sessions"] += 1
                for length in range(1, len(events) + 1):
                    prefixes.append(events[:length])
                    lines.append(json.dumps({"messages": messages[:length]}))
            sessions_file.write_text("\n".join(lines) + "\n")
            command = [options.planproof, "check", "--rules", str(rules_file), str(sessions_file), "--json"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode not in (0, 1):
                print(json.dumps(shown), run.stderr, file=sys.stderr)
                return 1
            for prefix, line in zip(prefixes, run.stdout.splitlines(), strict=True):
                totals["prefixes"] += 1
                for rule, verdict in zip(rules, json.loads(line)["rules"], strict=True):
                    expected = is_held(rule, prefix, options.forget)
                    totals["verdicts"] += 1
                    totals["violated"] += not verdict["held"]
                    if verdict["held"] != expected:
                        totals["differences"] += 1
                        if totals["differences"] <= 3:
                            shown_events = [(event.moment, event.tool, event.arguments, event.outcome) for event in prefix]
                            print(f"{json.dumps(rule)}: {verdict}, not {expected}: {shown_events}", file=sys.stderr)
    print(json.dumps(totals))
    return 1 if totals["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
