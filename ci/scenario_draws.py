"""Cases of one's own, drawn: worlds with and without a state, expectations, and what the user says later."""

import random
from typing import Any

from judge_rules import random_formula, written
from scenario_judge import EXPRESSIONS, TOOLS

RESULTS: list[Any] = [{"ok": True, "v": "x"}, {"ok": False, "v": "y", "n": 7}, {"v": ["x", "z"]}, "a text"]
# Those of a world with a state quote it, or the only argument that calls of the tool must have.
QUOTING: list[Any] = [{"ok": {"$state": "f"}, "v": "x"}, {"n": {"$state": "n"}}, {"v": {"$state": "t"}}]
TESTS: dict[str, list[Any]] = {
    "integer": [1, 7, {"is-not": 1}, {"above": 50}, {"above": 3, "below": 5}, {"at-most": 0}, {"one-of": [2, 7]}, {"present": False}],
    "string": ["x", "y", {"is-not": "x"}, {"one-of": ["x", "z"]}, {"present": True}, {"present": False}],
}
# Several of them on one place, of cases of the kind `values`.
VALUES: dict[str, list[Any]] = {
    "integer": [{"above": 1, "below": 4, "is-not": 2}, {"not": {"above": 3}}, {"not": {"one-of": [2, 7]}}, {"at-least": 3}, 3],
    "string": [
        *({"matches": one} for one in EXPRESSIONS),
        *({"not": {"matches": one}} for one in EXPRESSIONS),
        {"matches": "x.*", "is-not": "x"},
        {"matches": ".*y", "not": {"one-of": ["y", "xy"]}},
        "xy",
    ],
}
MESSAGES = ["Then do two.", "Then do three."]


def random_event(draw: random.Random) -> dict[str, Any]:
    moment = draw.choice(["call", "call", "done", "done", "failed"])
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
    kind = draw.choice(["requires", "requires", "followed-by", "never-after", "never", "at-most", "at-least", "first", "last", "takes", "formula"])
    if kind != "formula" and draw.random() < 0.4:
        rule["per"] = draw.choice(["/k", "/v"])
    if kind in ("requires", "followed-by", "never-after"):
        rule[kind] = [random_event(draw), random_event(draw)]
    elif kind in ("never", "first", "last"):
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
    # A `per` that one of the rule's tools does not have is refused as a slip.
    events = rule[kind] if isinstance(rule[kind], list) else [rule[kind]]
    named = [event.get(key) for event in events if isinstance(event, dict) for key in ("call", "done", "failed", "from")]
    if "per" in rule and not all(tool in ("*", None) or rule["per"][1:] in TOOLS[tool] for tool in named):
        del rule["per"]
    return rule


def random_needs(draw: random.Random, tool: str) -> dict[str, Any]:
    number = draw.randrange(4)
    tests = [{"f": True}, {"f": False}, {"n": number}, {"n": {"at-least": number}}, {"n": {"below": number}}]
    tests += [{"t": "x"}, {"t": {"is-not": "x"}}, {"f": True, "n": {"above": number}}]
    if tool == "a":
        tests += [{"n": {"at-least": {"$argument": "/k"}}}] * 3
    return draw.choice(tests)


def random_changes(draw: random.Random, tool: str) -> dict[str, Any]:
    number = draw.randrange(1, 4)
    changes: list[dict[str, Any]] = [{"sets": {"f": True}}, {"sets": {"f": False, "t": "y"}}, {"sets": {"t": "x"}}]
    changes += [{"adds": {"n": number}}, {"subtracts": {"n": number}, "sets": {"f": True}}, {}]
    if tool in ("a", "b"):
        key = draw.choice(["sets", "adds", "subtracts"])
        changes += [{key: {"n": {"$argument": "/k"}}}] * 2
    if tool == "c":
        changes.append({"sets": {"t": {"$argument": "/v"}}})
    return draw.choice(changes)


def random_line(draw: random.Random, tool: str, has_state: bool) -> dict[str, Any]:
    line: dict[str, Any] = {}
    where = {"/" + name: draw.choice(TESTS[kind]) for name, (kind, _) in TOOLS[tool].items() if draw.random() < 0.5}
    if where:
        line["where"] = where
    if has_state and draw.random() < 0.5:
        line["needs"] = random_needs(draw, tool)
        if draw.random() < 0.6:
            line["otherwise"] = draw.choice(["no", "not now"])
    if draw.random() < 0.25:
        line["fails"] = draw.choice(["no", "not now"])
        return line
    if has_state:
        line |= random_changes(draw, tool)
    quoting = [*QUOTING, {"n": {"$argument": "/k"}}] if tool == "a" else QUOTING
    line["returns"] = draw.choice([*RESULTS, *(quoting if has_state else [])])
    return line


def random_world(draw: random.Random, has_state: bool) -> dict[str, Any]:
    lines = {tool: [random_line(draw, tool, has_state) for _ in range(draw.choice([0, 0, 1, 2]))] for tool in TOOLS}
    return {tool: of_tool for tool, of_tool in lines.items() if of_tool}


def between_messages(draw: random.Random, expectation: dict[str, Any], messages: int) -> dict[str, Any]:
    """The expectation, which may bind from a message on, or until one."""
    if messages == 1 or any(key in expectation for key in ("first", "last", "formula")):
        return expectation
    first, last = sorted(draw.choices(range(1, messages + 1), k=2))
    bound = dict(expectation)
    if draw.random() < 0.5:
        # Words bind from the message that says them.
        bound |= {"words": MESSAGES[first - 2]} if first > 1 and draw.random() < 0.5 else {"from": first}
    if draw.random() < 0.4:
        bound["until"] = last
    return bound


def valued_rule(draw: random.Random, name: str) -> dict[str, Any]:
    """An expectation with tests that other expectations of the case may have on the same place."""
    tool, argument = draw.choice([("a", "k"), ("b", "v"), ("c", "v"), ("c", "v"), ("c", "n")])
    kind = TOOLS[tool][argument][0]
    event = {"call": tool, "where": {"/" + argument: draw.choice(VALUES[kind])}}
    if draw.random() < 0.4:
        return {"with": event}
    rule = draw.choice([{"never": event}, {"never": event}, {"at-most": {"call": tool, "times": 1}}, {"last": event}])
    return {"id": name, **rule}


def random_case(draw: random.Random, number: int, kinds: tuple[str, ...]) -> dict[str, Any]:
    """A case. `kinds` are those that it may be of: `state`, `turns`, `values`."""
    has_state = "state" in kinds and draw.random() < 0.6
    messages = draw.choice([1, 2, 2, 3]) if "turns" in kinds else 1
    expect: list[dict[str, Any]] = []
    first: dict[str, Any] = {"do": draw.sample(list(TOOLS), draw.choice([1, 2, 2, 3]))}
    if draw.random() < 0.2:
        first["only"] = True
    if draw.random() < 0.9:
        expect.append(first)
    if draw.random() < 0.4:
        expect.append({"with": random_event(draw)})
    for _ in range(draw.choice([1, 1, 2, 2, 3, 4])):
        expect.append(random_rule(draw, f"r{len(expect)}"))
    case: dict[str, Any] = {"id": f"x{number}", "query": "Do it.", "world": random_world(draw, has_state)}
    if "values" in kinds:
        expect[1:] = [valued_rule(draw, f"v{place}") for place in range(draw.choice([2, 3, 4]))] + expect[1:2]
    if has_state:
        case["state"] = {"f": draw.random() < 0.5, "n": draw.randrange(4), "t": "x"}
    if messages > 1:
        case["turns"] = MESSAGES[: messages - 1]
    case["expect"] = [between_messages(draw, expectation, messages) for expectation in expect]
    return case
