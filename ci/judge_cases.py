"""Judges cases, and verdicts on them, by other means than planproof's own: Z3 and plain counting.

    planproof synth --count 500 --json | python ci/judge_cases.py
    python ci/judge_cases.py cases.jsonl --verdicts verdicts.jsonl

Cases are of schema planproof/case/v1, verdicts of planproof/verdict/v1, one a line. Of a verdict `calls`, `passed` and
`violated` are judged; it must be of a run that nothing but its calls decided. Cases of the time form, and verdicts on
them, are judged by time_form.py: there the first wrong call, the core and the repair as well. Conflicts of infeasible
cases, and verdicts on them, are judged by infeasible.py, and cases of several messages by turns.py.
Prints the totals as one JSON line, and exits with 1 and the first reasons if anything is wrong.
"""

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import infeasible
import time_form
import turns
import z3
from json_lines import read_json_lines

CASE_SCHEMA = "planproof/case/v1"
# Above this the count of correct plans is not stated in a case.
COUNTED_ACTIONS_MAX = 20
BITS_TOLERANCE = 1e-6
REASONS_SHOWN = 10

Case = dict[str, Any]
Pair = tuple[str, str]


def pairs_of(case: Case) -> dict[str, Pair]:
    """The constraints by id, each as (action before, action after)."""
    pairs = {}
    for constraint in case["constraints"]:
        if constraint["kind"] != "before":
            raise ValueError(f"constraint {constraint['id']}: this judge does not know the kind {constraint['kind']!r}")
        pairs[constraint["id"]] = (constraint["first"], constraint["second"])
    return pairs


def is_satisfiable(actions: list[str], pairs: list[Pair]) -> bool:
    """Whether Z3 finds distinct positions 1..n for the actions that keep to all pairs."""
    position = {action: z3.Int(action) for action in actions}
    solver = z3.Solver()
    solver.add(z3.Distinct(*position.values()))
    for variable in position.values():
        solver.add(variable >= 1, variable <= len(actions))
    for first, second in pairs:
        solver.add(position[first] < position[second])
    answer = solver.check()
    if answer == z3.unknown:
        raise ValueError(f"Z3 gave up: {solver.reason_unknown()}")
    return answer == z3.sat


def count_plans(actions: list[str], pairs: list[Pair]) -> int:
    """Number of orders of the actions that keep to all pairs: sums over the sets of actions that can be done first."""
    place = {action: index for index, action in enumerate(actions)}
    before = [0] * len(actions)
    for first, second in pairs:
        before[place[second]] |= 1 << place[first]
    orders_of = {0: 1}
    for _ in actions:
        longer: Counter[int] = Counter()
        for done, orders in orders_of.items():
            for action, needed in enumerate(before):
                if not done >> action & 1 and needed & ~done == 0:
                    longer[done | 1 << action] += orders
        orders_of = longer
    return sum(orders_of.values())


def snake_case(text: str) -> str:
    """The text as a tool's name."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def mentions(text: str, action_text: str) -> bool:
    """Whether the text has the action's words as whole words, at the beginning of a sentence too."""
    return re.search(rf"(?<!\w){re.escape(action_text)}(?!\w)", text, re.IGNORECASE) is not None


def faults_of_text(case: Case) -> Iterator[str]:
    """What is wrong with the words: paragraph, query, sources."""
    paragraph = case["paragraph"]
    texts = {action["id"]: action["text"] for action in case["actions"]}
    # With several messages, each has its part of it.
    if "turns" not in case and paragraph not in case["query"]:
        yield "the query does not contain the paragraph"
    for action, text in texts.items():
        if not mentions(paragraph, text):
            yield f"the paragraph does not mention {action}, {text!r}"
    for constraint in case["constraints"]:
        if not constraint["source"] and "rule" not in constraint:
            yield f"constraint {constraint['id']} has no source"
        for source in constraint["source"]:
            start, end = source["start"], source["end"]
            # Python counts characters of a string in Unicode scalar values, as the case does.
            if not 0 <= start < end <= len(paragraph):
                yield f"constraint {constraint['id']}: {start}..{end} is not in the paragraph"
                continue
            words = paragraph[start:end]
            for action in time_form.actions_of(constraint):
                if not mentions(words, texts[action]):
                    yield f"constraint {constraint['id']}: {words!r} does not name {texts[action]!r}"
            if "minute" in constraint and time_form.clock_time(constraint["minute"]) not in words:
                yield f"constraint {constraint['id']}: {words!r} does not name its clock time"


def faults_of_tools(case: Case) -> Iterator[str]:
    """What is wrong with the tools: one for each action, named after it; others are distractors."""
    names = [tool["name"] for tool in case["tools"]]
    if len(set(names)) != len(names):
        yield "two tools share a name"
    for action in case["actions"]:
        if action["tool"] != snake_case(action["text"]):
            yield f"the tool of {action['text']!r} is called {action['tool']!r}"
        if action["tool"] not in names:
            yield f"there is no tool {action['tool']!r}"
    wanted = case["options"].get("distractors", 0)
    restart_tools = 1 if case["form"] == "time" else 0
    report_tools = names.count(infeasible.REPORT_TOOL)
    if len(names) != len(case["actions"]) + wanted + restart_tools + report_tools:
        yield f"{len(names)} tools for {len(case['actions'])} actions and {wanted} distractors"


def faults_of_order(case: Case) -> Iterator[str]:
    """What is wrong with the constraints and with the difficulty that follows from them."""
    actions = [action["id"] for action in case["actions"]]
    pairs = pairs_of(case)
    if len(set(actions)) != len(actions):
        yield "two actions share an id"
    if len(pairs) != len(case["constraints"]):
        yield "two constraints share an id"
    if len(set(pairs.values())) != len(pairs):
        yield "two constraints state the same pair"
    for constraint, pair in pairs.items():
        if not set(pair) <= set(actions):
            yield f"constraint {constraint} names an action that the case does not have"
            return
    satisfiable = is_satisfiable(actions, list(pairs.values()))
    if not satisfiable and case.get("feasible", True):
        yield "the constraints contradict each other"
    if case.get("feasible", True) != satisfiable:
        yield f"the case says feasible: {case['feasible']}"
    if "turns" in case:
        yield from turns.faults_of_case(case, count_plans)
        return
    yield from faults_of_difficulty(case["difficulty"], actions, list(pairs.values()), satisfiable)


def faults_of_difficulty(
    difficulty: dict[str, Any], actions: list[str], pairs: list[Pair], satisfiable: bool
) -> Iterator[str]:
    """What is wrong with the counts, and whether the plain count agrees with Z3."""
    if (difficulty["actions"], difficulty["constraints"]) != (len(actions), len(pairs)):
        yield f"difficulty is of {difficulty['actions']} actions and {difficulty['constraints']} constraints"
    if len(actions) > COUNTED_ACTIONS_MAX:
        if difficulty["correct_plans"] is not None:
            yield f"correct_plans is stated for {len(actions)} actions"
        return
    correct = count_plans(actions, pairs)
    if difficulty["correct_plans"] != str(correct):
        yield f"correct_plans is {difficulty['correct_plans']!r}, counted {correct}"
    if (correct > 0) != satisfiable:
        yield f"Z3 says satisfiable: {satisfiable}, but {correct} plans were counted"
    if correct > 0:
        bits = math.log2(math.factorial(len(actions)) / correct)
        if abs(difficulty["bits"] - bits) > BITS_TOLERANCE:
            yield f"bits is {difficulty['bits']}, computed {bits}"


def faults_of_case(case: Case) -> list[str]:
    """Everything that is wrong with a case."""
    try:
        if case["schema"] != CASE_SCHEMA:
            return [f"the schema is {case['schema']!r}, not {CASE_SCHEMA!r}"]
        if case["form"] == "time":
            meaning = time_form.faults_of_case(case)
        else:
            meaning = faults_of_order(case)
        return [*meaning, *infeasible.faults_of_case(case), *faults_of_text(case), *faults_of_tools(case)]
    except KeyError as error:
        return [f"there is no {error}"]
    except (TypeError, ValueError) as error:
        return [str(error)]


def faults_of_verdict(verdict: dict[str, Any], case: Case) -> Iterator[str]:
    """What is wrong with a verdict: judged again by plain comparison of positions, and once more by Z3."""
    actions = [action["id"] for action in case["actions"]]
    calls = verdict["calls"]
    # The first call of an action gives its position.
    called = [action for action in dict.fromkeys(calls) if action in actions]
    position = {action: index for index, action in enumerate(called)}
    decided = {name: pair for name, pair in pairs_of(case).items() if set(pair) <= position.keys()}
    violated = {name for name, (first, second) in decided.items() if position[first] > position[second]}
    stated = {entry["id"] for entry in verdict["violated"]}
    if stated != violated:
        yield f"violated is {sorted(stated)}, evaluated {sorted(violated)}"
    passed = not violated and sorted(calls) == sorted(actions) and "false_alarm" not in verdict["flags"]
    if verdict["passed"] != passed:
        yield f"passed is {verdict['passed']}, evaluated {passed}"
    if called and is_satisfiable(called, [*decided.values(), *pairwise(called)]) != (not violated):
        yield f"Z3 does not agree that {sorted(violated)} is violated"


def judge_verdicts(verdicts: list[dict[str, Any]], cases: dict[str, Case]) -> list[str]:
    """Everything that is wrong with the verdicts, each with the case's id in front."""
    faults = []
    days: dict[str, time_form.DayProblem] = {}
    for number, verdict in enumerate(verdicts):
        case = cases.get(verdict["case"])
        if case is None:
            faults.append(f"verdict on {verdict['case']}: there is no such case")
            continue
        if not case["feasible"]:
            found = infeasible.faults_of_verdict(verdict, case)
        elif case["form"] == "time":
            day = days.setdefault(case["id"], time_form.DayProblem(case))
            found = time_form.faults_of_verdict(verdict, day, is_thorough=number % time_form.THOROUGH_EACH == 0)
        elif "turns" in case:
            found = turns.faults_of_verdict(verdict, case)
        else:
            found = faults_of_verdict(verdict, case)
        faults += [f"verdict on {verdict['case']}, calls {verdict['calls']}: {fault}" for fault in found]
    return faults


def main() -> int:
    """Returns 0 when everything is right, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="?", default="-", help="file of cases; standard input by default")
    parser.add_argument("--verdicts", help="file of verdicts on these cases")
    options = parser.parse_args()
    cases = read_json_lines(options.cases)
    faults = [f"case {case.get('id')}: {fault}" for case in cases for fault in faults_of_case(case)]
    if not cases:
        faults.append("there are no cases")
    by_id = {case["id"]: case for case in cases if "id" in case}
    if len(by_id) != len(cases):
        faults.append("cases share an id, or have none")
    verdicts = read_json_lines(options.verdicts) if options.verdicts else []
    if options.verdicts and not verdicts:
        faults.append("there are no verdicts")
    # Verdicts on a case that is itself broken would say nothing.
    if not faults:
        faults = judge_verdicts(verdicts, by_id)
    totals = {
        "cases": len(cases),
        "constraints": sum(len(case.get("constraints") or []) for case in cases),
        "infeasible": sum(not case.get("feasible", True) for case in cases),
        "with_turns": sum("turns" in case for case in cases),
        "by_actions": dict(sorted(Counter(len(case.get("actions") or []) for case in cases).items())),
        "verdicts": len(verdicts),
        "passed_verdicts": sum(verdict["passed"] for verdict in verdicts),
        "cores": dict(sorted(Counter(len(verdict["core"]) for verdict in verdicts if not verdict["passed"]).items())),
        "faults": len(faults),
    }
    print(json.dumps(totals))
    for fault in faults[:REASONS_SHOWN]:
        print(f"judge_cases: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
