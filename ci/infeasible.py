"""Infeasible cases, and verdicts on them, judged by Z3: all smallest conflicts between sentences are enumerated."""

from collections.abc import Callable, Iterator
from typing import Any

import time_form
import z3

REPORT_TOOL = "report_conflict"

Case = dict[str, Any]
# Whether the sentences with these numbers, from 1, can hold together.
Holds = Callable[[frozenset[int]], bool]


def smallest_conflicts(sentences: int, holds: Holds) -> list[frozenset[int]]:
    """All inclusion-minimal sets of sentences that cannot hold together (MARCO: Liffiton et al., Constraints 21, 2016)."""
    every = frozenset(range(1, sentences + 1))
    member = {number: z3.Bool(f"sentence {number}") for number in every}
    unexplored = z3.Solver()
    conflicts = []
    while unexplored.check() == z3.sat:
        model = unexplored.model()
        seed = frozenset(it for it in every if z3.is_true(model.eval(member[it], model_completion=True)))
        if holds(seed):
            for number in every - seed:
                if holds(seed | {number}):
                    seed |= {number}
            unexplored.add(z3.Or([member[it] for it in every - seed]))
        else:
            for number in seed:
                if not holds(seed - {number}):
                    seed -= {number}
            conflicts.append(seed)
            unexplored.add(z3.Or([z3.Not(member[it]) for it in seed]))
    return conflicts


def constraints_of(case: Case, sentences: frozenset[int]) -> list[dict[str, Any]]:
    """What these sentences state."""
    # What a rule of the topic demands holds beside any sentences.
    return [
        it
        for it in case["constraints"]
        if "rule" in it or any(source["sentence"] + 1 in sentences for source in it["source"])
    ]


def holds_in_order(case: Case) -> Holds:
    """Of the basic form: whether Z3 finds positions."""
    position = {action["id"]: z3.Int(action["id"]) for action in case["actions"]}

    def holds(sentences: frozenset[int]) -> bool:
        solver = z3.Solver()
        solver.add(z3.Distinct(*position.values()))
        for constraint in constraints_of(case, sentences):
            solver.add(position[constraint["first"]] < position[constraint["second"]])
        return solver.check() == z3.sat

    return holds


def holds_in_day(case: Case, durations: dict[str, int]) -> Holds:
    """Of the time form: whether Z3 finds a schedule when the tasks take so long."""
    day = time_form.DayProblem({**case, "durations": durations})
    return lambda sentences: day.is_satisfiable(it["id"] for it in constraints_of(case, sentences))


def faults_of_case(case: Case) -> Iterator[str]:
    """What is wrong with the conflict of a case, or with there being none."""
    conflict = case.get("conflict")
    if (conflict is None) != case["feasible"]:
        yield f"conflict is {conflict}, but feasible is {case['feasible']}"
        return
    offered = [tool for tool in case["tools"] if tool["name"] == REPORT_TOOL]
    if offered and (REPORT_TOOL not in case["query"] or "sentences" not in offered[0]["input_schema"]["properties"]):
        yield f"{REPORT_TOOL} is offered, but not told of, or without sentences"
    if conflict is None:
        return
    if not offered:
        yield f"there is no tool {REPORT_TOOL}"
    paragraph = case["paragraph"]
    for constraint in case["constraints"]:
        for source in constraint["source"]:
            if paragraph[: source["start"]].count(".") != source["sentence"]:
                yield f"constraint {constraint['id']} is not in sentence {source['sentence'] + 1}"
    ways = {"in order": holds_in_order(case)}
    if case["form"] == "time":
        shortest = dict.fromkeys(case["durations"], 1)
        # Nobody can know the durations before a task is done, so the conflict must not depend on them.
        ways = {"as they are": holds_in_day(case, case["durations"]), "shortest": holds_in_day(case, shortest)}
    for name, holds in ways.items():
        found = sorted(sorted(it) for it in smallest_conflicts(paragraph.count("."), holds))
        if found != [conflict]:
            yield f"conflict is {conflict}, Z3 finds {found} ({name})"


def faults_of_verdict(verdict: dict[str, Any], case: Case) -> Iterator[str]:
    """What is wrong with a verdict on an infeasible case, of a run that nothing but its calls decided."""
    stated = verdict["conflict"]
    conflict, reported = set(case["conflict"]), stated["reported"]
    if stated["sentences"] != case["conflict"]:
        yield f"the verdict's conflict is {stated['sentences']}"
    named = None
    if reported is not None:
        named = "exact" if set(reported) == conflict else "superset" if set(reported) > conflict else "other"
    if stated["named"] != named:
        yield f"named is {stated['named']}, evaluated {named}"
    others = {"timeout", "agent_failed", "distractor"} & set(verdict["flags"])
    passed = reported is not None and not verdict["calls"] and not others
    if verdict["passed"] != passed:
        yield f"passed is {verdict['passed']}, evaluated {passed}"
    if verdict["violated"] or verdict["repair"] or verdict["first_wrong_call"] is not None:
        yield "there is nothing to be violated or repaired in an infeasible case"
    core = {it["id"]: it for it in case["constraints"] if it["id"] in verdict["core"]}
    holds = holds_of_constraints(case)
    if not core or holds(list(core.values())):
        yield f"the core {sorted(core)} can hold"
    for name in core:
        if not holds([it for other, it in core.items() if other != name]):
            yield f"the core {sorted(core)} is not minimal: {name} is not needed"


def holds_of_constraints(case: Case) -> Callable[[list[dict[str, Any]]], bool]:
    """Whether Z3 finds constraints to hold together, in the time form when the tasks are as short as can be."""
    if case["form"] == "time":
        day = time_form.DayProblem({**case, "durations": dict.fromkeys(case["durations"], 1)})
        return lambda constraints: day.is_satisfiable(it["id"] for it in constraints)

    def holds(constraints: list[dict[str, Any]]) -> bool:
        solver = z3.Solver()
        for constraint in constraints:
            solver.add(z3.Int(constraint["first"]) < z3.Int(constraint["second"]))
        return solver.check() == z3.sat

    return holds
