"""Holds `planproof scenario check` to Z3: which cases nobody can satisfy.

    python ci/judge_scenarios.py target/debug/planproof --cases 300 --seed 1 --kinds state,turns

Draws cases with worlds, rules and expectations (scenario_draws.py); of the kinds `state`, with values that calls need
and change, `values`, with several tests on one argument, and `turns`, with messages of the user between which expectations bind. Z3 decides whether a session of up
to `--length` calls satisfies all of them (scenario_judge.py), with any whole number and any text as an argument, where
planproof tries values. Sessions are those of one call after the other, each with arguments that the tool's schema
allows and with the outcome that the world gives it. A case that planproof calls unsatisfiable must have no such session;
a session that it shows must be right by the evaluator of judge_rules.py, its results must be those of the world
(scenario_world.py), and Z3 must find no shorter one if it is said to be a shortest one. Cases whose shortest session is
longer than `--length` calls are judged by their session alone.

`--forget expectation` leaves out an expectation on purpose, `--forget message` when expectations bind and `--forget
state` what lines need, so that it can be seen that a wrong verdict is caught.
Prints the totals as JSON and exits with 1 if anything differs.
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import z3
from judge_rules import Event, is_held
from scenario_draws import MESSAGES, random_case
from scenario_judge import TOOLS, Judge
from scenario_world import answers_differently

# A rule, and the messages between which it binds.
Bound = tuple[dict[str, Any], tuple[int, int | None]]


def rules_of(expect: list[dict[str, Any]], forget: str) -> tuple[list[Bound], list[str] | None]:
    """The rules that the expectations are, and the tools that alone may be called."""
    rules: list[Bound] = []
    only = None
    for expectation in expect:
        first = expectation.get("from", MESSAGES.index(expectation["words"]) + 2 if "words" in expectation else 1)
        window = (1, None) if forget == "message" else (first, expectation.get("until"))
        if "do" in expectation:
            rules += [({"at-least": {"done": tool, "times": 1}}, window) for tool in expectation["do"]]
            if expectation.get("only"):
                only = expectation["do"]
        elif "with" in expectation:
            rules.append(({"at-least": {**expectation["with"], "times": 1}}, window))
        else:
            rules.append((expectation, window))
    return rules, only


def shown(value: Any) -> Any:
    """Without what is for this program alone."""
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items() if not key.startswith("_")}
    return [shown(part) for part in value] if isinstance(value, list) else value


def faults_of_session(case: dict[str, Any], session: list[dict[str, Any]], rules: list[Bound], only: list[str] | None) -> list[str]:
    faults = answers_differently(case, session)
    events, turns = [], {}
    for call in session:
        if only is not None and call["tool"] not in only:
            faults.append(f"the session calls {call['tool']}")
        failed = "error" in call
        outcome = call["error" if failed else "result"]
        pair = [Event("call", call["tool"], call["arguments"])]
        pair.append(Event("failed" if failed else "done", call["tool"], call["arguments"], outcome))
        turns |= {id(event): call.get("message", 1) for event in pair}
        events += pair
    if list(turns.values()) != sorted(turns.values()):
        faults.append("messages do not come one after the other")
    for rule, (first, last) in rules:
        binds = lambda event, first=first, last=last: first <= turns[id(event)] <= (last or turns[id(event)])
        if not is_held(rule, events, "nothing", binds):
            faults.append(f"the session violates {shown(rule)}")
    return faults


def faults_of(case: dict[str, Any], verdict: dict[str, Any], options: argparse.Namespace) -> tuple[str, list[str]]:
    """What Z3 says of a case, and in what planproof differs."""
    rules, only = rules_of(case["expect"], options.forget)
    session = verdict["session"]
    faults = faults_of_session(case, session, rules, only) if session is not None else []
    if options.forget == "expectation":
        rules = rules[:-1]
    if options.forget == "state":
        case = copy.deepcopy(case)
        for line in (line for lines in case["world"].values() for line in lines):
            line.pop("needs", None)
            line.pop("otherwise", None)
    judge = Judge(case, only, options.length)
    judge.solver.add([judge.held(rule, window) for rule, window in rules])
    judge.solver.add(judge.known_matches())
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
    parser.add_argument("--kinds", default="state,turns", help="what cases may have: state, turns, values, or nothing")
    parser.add_argument("--forget", choices=["nothing", "expectation", "message", "state"], default="nothing")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    tools = [
        {"name": tool, "arguments": {name + "?" * is_optional: kind for name, (kind, is_optional) in arguments.items()}}
        for tool, arguments in TOOLS.items()
    ]
    kinds = tuple(options.kinds.split(","))
    cases = [random_case(draw, number, kinds) for number in range(options.cases)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.yaml"
        # JSON is YAML.
        file.write_text(json.dumps({"schema": "planproof/scenario/v1", "tools": tools, "cases": shown(cases)}))
        command = [options.planproof, "scenario", "check", str(file), "--json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1) or not run.stdout:
        print(run.stderr, file=sys.stderr)
        return 1
    totals = {"cases": 0, "with_state": 0, "with_turns": 0, "satisfied": 0, "unsatisfiable": 0, "undecided": 0, "longer": 0, "differences": 0}
    for case, verdict in zip(cases, json.loads(run.stdout)["cases"], strict=True):
        totals["cases"] += 1
        totals["with_state"] += "state" in case
        totals["with_turns"] += "turns" in case
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
