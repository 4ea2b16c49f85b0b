"""The time form of cases, and verdicts on it, judged by Z3 and plain arithmetic."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import z3

RESTART_TOOL = "restart_plan"
# Every so many verdicts, what would have been right in the place of each call is judged too, which takes many searches.
THOROUGH_EACH = 20
# Up to so many actions the count of correct plans must be stated; above, counting may have been too long.
COUNTED_SURELY_MAX = 8
BITS_TOLERANCE = 1e-6

Constraint = dict[str, Any]
# An action and the minute at which it starts.
Start = tuple[str, int]


def actions_of(constraint: Constraint) -> list[str]:
    """The actions that a constraint speaks of."""
    if constraint["kind"] == "before":
        return [constraint["first"], constraint["second"]]
    return [constraint["action"]]


def clock_time(minute: int) -> str:
    """A minute of the day as texts write it."""
    return f"{minute // 60:02}:{minute % 60:02}"


def minute_of(text: str) -> int | None:
    """The minute that a start time names; None where it is not a clock time."""
    match = re.fullmatch(r"(\d{1,2}):(\d\d)", text, re.ASCII)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        return None
    return int(match[1]) * 60 + int(match[2])


class DayProblem:
    """A case as a problem for Z3: a start for each action, in the day, without overlap; each constraint can be switched
    on by a literal of its own."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.actions = [action["id"] for action in case["actions"]]
        self.durations: dict[str, int] = case["durations"]
        self.day_start: int = case["day"]["start"]
        self.day_end: int = case["day"]["end"]
        self.constraints: dict[str, Constraint] = {it["id"]: it for it in case["constraints"]}
        self.start = {action: z3.Int(action) for action in self.actions}
        self.literal = {name: z3.Bool(f"on {name}") for name in self.constraints}
        self.solver = z3.Solver()
        for action in self.actions:
            self.solver.add(self.start[action] >= self.day_start, self.end(action) <= self.day_end)
        for place, one in enumerate(self.actions):
            for other in self.actions[place + 1 :]:
                self.solver.add(z3.Or(self.end(one) <= self.start[other], self.end(other) <= self.start[one]))
        for name, constraint in self.constraints.items():
            self.solver.add(z3.Implies(self.literal[name], self.demand(constraint)))

    def end(self, action: str) -> z3.ArithRef:
        """When an action ends."""
        return self.start[action] + self.durations[action]

    def demand(self, constraint: Constraint) -> z3.BoolRef:
        """What a constraint demands."""
        match constraint["kind"]:
            case "before":
                return self.end(constraint["first"]) <= self.start[constraint["second"]]
            case "ends_by":
                return self.end(constraint["action"]) <= constraint["minute"]
            case "starts_from":
                return self.start[constraint["action"]] >= constraint["minute"]
            case kind:
                raise ValueError(f"constraint {constraint['id']}: this judge does not know the kind {kind!r}")

    def holds(self, constraint: Constraint, starts: dict[str, int]) -> bool:
        """Whether a constraint holds for these starts, by arithmetic."""
        end = {action: start + self.durations[action] for action, start in starts.items()}
        if constraint["kind"] == "before":
            return end[constraint["first"]] <= starts[constraint["second"]]
        if constraint["kind"] == "ends_by":
            return end[constraint["action"]] <= constraint["minute"]
        return starts[constraint["action"]] >= constraint["minute"]

    def is_satisfiable(self, names: Iterable[str]) -> bool:
        """Whether these constraints can hold together with what was added last."""
        answer = self.solver.check(*[self.literal[name] for name in names])
        if answer == z3.unknown:
            raise ValueError(f"Z3 gave up: {self.solver.reason_unknown()}")
        return answer == z3.sat

    def can_continue(self, calls: list[Start], names: Iterable[str]) -> bool:
        """Whether these constraints can hold when these calls are made first and everything else behind them."""
        ends = [start + self.durations[action] for action, start in calls]
        if any(start < self.day_start for _, start in calls):
            return False
        if any(later[1] < end for end, later in zip(ends, calls[1:], strict=False)):
            return False
        firsts = first_starts(calls)
        self.solver.push()
        for action, start in firsts.items():
            self.solver.add(self.start[action] == start)
        for action in self.actions:
            if action not in firsts and calls:
                self.solver.add(self.start[action] >= ends[-1])
        answer = self.is_satisfiable(names)
        self.solver.pop()
        return answer

    def is_correct(self, calls: list[Start]) -> bool:
        """Whether these calls are a correct schedule, by arithmetic."""
        ends = [start + self.durations[action] for action, start in calls]
        return (
            sorted(action for action, _ in calls) == sorted(self.actions)
            and all(start >= self.day_start for _, start in calls)
            and all(end <= self.day_end for end in ends)
            and all(end <= later[1] for end, later in zip(ends, calls[1:], strict=False))
            and all(self.holds(constraint, dict(calls)) for constraint in self.constraints.values())
        )

    def count_plans(self) -> int:
        """Number of orders of the actions that are correct when each starts as early as its own clock times let it."""
        before: dict[str, set[str]] = {action: set() for action in self.actions}
        release = dict.fromkeys(self.actions, self.day_start)
        deadline = dict.fromkeys(self.actions, self.day_end)
        for constraint in self.constraints.values():
            if constraint["kind"] == "before":
                before[constraint["second"]].add(constraint["first"])
            elif constraint["kind"] == "ends_by":
                deadline[constraint["action"]] = min(deadline[constraint["action"]], constraint["minute"])
            else:
                release[constraint["action"]] = max(release[constraint["action"]], constraint["minute"])

        @cache
        def count(done: frozenset[str], minute: int) -> int:
            if len(done) == len(self.actions):
                return 1
            total = 0
            for action in self.actions:
                end = max(minute, release[action]) + self.durations[action]
                if action not in done and before[action] <= done and end <= deadline[action]:
                    total += count(done | {action}, end)
            return total

        return count(frozenset(), self.day_start)


def first_starts(calls: Iterable[Start]) -> dict[str, int]:
    """The first call of an action gives its start."""
    starts: dict[str, int] = {}
    for action, start in calls:
        starts.setdefault(action, start)
    return starts


def faults_of_case(case: dict[str, Any]) -> Iterator[str]:
    """What is wrong with constraints, durations, day and difficulty of a case."""
    actions = {action["id"] for action in case["actions"]}
    if len(actions) != len(case["actions"]):
        yield "two actions share an id"
    if len({constraint["id"] for constraint in case["constraints"]}) != len(case["constraints"]):
        yield "two constraints share an id"
    demands = [tuple(sorted((key, it[key]) for key in it if key not in ("id", "source"))) for it in case["constraints"]]
    if len(set(demands)) != len(demands):
        yield "two constraints demand the same"
    if set(case["durations"]) != actions:
        yield "durations are not of the actions"
        return
    for constraint in case["constraints"]:
        if not set(actions_of(constraint)) <= actions:
            yield f"constraint {constraint['id']} names an action that the case does not have"
            return
    day = DayProblem(case)
    span = f"from {clock_time(day.day_start)} to {clock_time(day.day_end)}"
    if span not in case["query"]:
        yield f"the query does not say that the day goes {span}"
    if all("minute" not in constraint for constraint in case["constraints"]):
        yield "no constraint names a clock time"
    options = case["options"]["time"]
    for action, minutes in case["durations"].items():
        if not options["duration_min"] <= minutes <= options["duration_max"]:
            yield f"{action} takes {minutes} minutes, outside of its options"
    if [tool["name"] for tool in case["tools"]].count(RESTART_TOOL) != 1:
        yield f"there is no tool {RESTART_TOOL}, or more than one"
    satisfiable = day.is_satisfiable(day.constraints)
    if not satisfiable and case["feasible"]:
        yield "the constraints contradict each other"
    if case["feasible"] != satisfiable:
        yield f"the case says feasible: {case['feasible']}"
    yield from faults_of_difficulty(case["difficulty"], day, satisfiable)


def faults_of_difficulty(difficulty: dict[str, Any], day: DayProblem, satisfiable: bool) -> Iterator[str]:
    """What is wrong with the counts, and whether the plain count agrees with Z3."""
    if (difficulty["actions"], difficulty["constraints"]) != (len(day.actions), len(day.constraints)):
        yield f"difficulty is of {difficulty['actions']} actions and {difficulty['constraints']} constraints"
    if difficulty["correct_plans"] is None:
        if len(day.actions) <= COUNTED_SURELY_MAX:
            yield f"correct_plans is not stated for {len(day.actions)} actions"
        return
    correct = day.count_plans()
    if difficulty["correct_plans"] != str(correct):
        yield f"correct_plans is {difficulty['correct_plans']!r}, counted {correct}"
    if (correct > 0) != satisfiable:
        yield f"Z3 says satisfiable: {satisfiable}, but {correct} plans were counted"
    if correct > 0:
        bits = math.log2(math.factorial(len(day.actions)) / correct)
        if abs(difficulty["bits"] - bits) > BITS_TOLERANCE:
            yield f"bits is {difficulty['bits']}, computed {bits}"


def faults_of_verdict(verdict: dict[str, Any], day: DayProblem, is_thorough: bool) -> Iterator[str]:
    """What is wrong with a verdict. With `is_thorough`, what would have been right in each place is judged too."""
    minutes = [minute_of(start) for start in verdict["start_times"]]
    if len(minutes) != len(verdict["calls"]) or None in minutes:
        yield f"start_times is {verdict['start_times']}"
        return
    calls: list[Start] = list(zip(verdict["calls"], minutes, strict=True))
    if not verdict["decided"]:
        yield "a search reached its limit"
    yield from faults_of_arithmetic(verdict, day, calls)
    yield from faults_of_first_wrong(verdict, day, calls)
    yield from faults_of_repair(verdict, day, calls)
    if is_thorough:
        yield from faults_of_next(verdict, day, calls)


def faults_of_arithmetic(verdict: dict[str, Any], day: DayProblem, calls: list[Start]) -> Iterator[str]:
    """What a plain look at starts and ends says otherwise."""
    starts = first_starts(calls)
    decided = {name: it for name, it in day.constraints.items() if set(actions_of(it)) <= starts.keys()}
    violated = {name for name, constraint in decided.items() if not day.holds(constraint, starts)}
    stated = {entry["id"] for entry in verdict["violated"]}
    if stated != violated:
        yield f"violated is {sorted(stated)}, evaluated {sorted(violated)}"
    if set(verdict["undetermined"]) != day.constraints.keys() - decided.keys():
        yield f"undetermined is {verdict['undetermined']}"
    late = {action for action, start in starts.items() if start + day.durations[action] > day.day_end}
    if set(verdict["late"]) != late:
        yield f"late is {verdict['late']}, evaluated {sorted(late)}"
    no_times = [it for it in verdict["parameter_errors"] if it["fault"] == "no_clock_time"]
    if any(minute_of(it["start_time"]) is not None for it in no_times):
        yield f"a clock time is said to be none: {no_times}"
    wrong_starts = [minute_of(it["start_time"]) for it in verdict["parameter_errors"] if it not in no_times]
    expected = [start for _, start in calls[:1] if start < day.day_start]
    for (action, start), (_, later) in pairwise(calls):
        if later < max(day.day_start, start + day.durations[action]):
            expected.append(later)
    if wrong_starts != expected:
        yield f"wrong starts are {wrong_starts}, evaluated {expected}"
    is_right = not (violated or late or expected or no_times)
    passed = is_right and sorted(verdict["calls"]) == sorted(day.actions)
    # Calls of other tools, and how the run ended, cannot be seen from the calls.
    other_reasons = {"distractor", "timeout", "agent_failed", "act_error", "false_alarm"} & set(verdict["flags"])
    if verdict["passed"] != passed and not other_reasons:
        yield f"passed is {verdict['passed']}, evaluated {passed}"


def faults_of_first_wrong(verdict: dict[str, Any], day: DayProblem, calls: list[Start]) -> Iterator[str]:
    """Whether Z3 agrees on the first call after which nothing could be right, and on why."""
    wrong, core = verdict["first_wrong_call"], verdict["core"]
    right = calls if wrong is None else calls[:wrong]
    if not day.can_continue(right, day.constraints):
        yield f"Z3 finds no continuation after {len(right)} calls, but the first wrong call is {wrong}"
    if wrong is None:
        if core:
            yield f"core is {core} without a wrong call"
        return
    prefix = calls[: wrong + 1]
    if day.can_continue(prefix, day.constraints):
        yield f"Z3 finds a continuation after call {wrong}, which is said to be the first wrong one"
    if day.can_continue(prefix, core):
        yield f"Z3 finds a continuation after call {wrong} that keeps to the core {core}"
    for name in core:
        if not day.can_continue(prefix, [other for other in core if other != name]):
            yield f"the core {core} is not minimal: Z3 finds it in conflict without {name}"


def faults_of_repair(verdict: dict[str, Any], day: DayProblem, calls: list[Start]) -> Iterator[str]:
    """Whether the repair is a correct schedule, and missing only where the calls are one."""
    minutes = [minute_of(start) for start in verdict["repair_start_times"]]
    if len(minutes) != len(verdict["repair"]) or None in minutes:
        yield f"repair_start_times is {verdict['repair_start_times']} for {verdict['repair']}"
        return
    repair: list[Start] = list(zip(verdict["repair"], minutes, strict=True))
    if not day.is_correct(repair or calls):
        yield f"the repair {repair} is no correct schedule"
    if repair == calls and calls:
        yield "the repair is what was called"


def faults_of_next(verdict: dict[str, Any], day: DayProblem, calls: list[Start]) -> Iterator[str]:
    """Whether Z3 agrees on what would have been right in the place of each call."""
    wrong = verdict["first_wrong_call"]
    for place, stated in enumerate(verdict["correct_next"]):
        prefix = calls[:place]
        done = {action for action, _ in prefix}
        expected = []
        if wrong is None or place <= wrong:
            expected = [it for it in day.actions if it not in done and can_be_next(day, prefix, it)]
        if sorted(stated) != sorted(expected):
            yield f"right in the place of call {place} is {stated}, Z3 finds {expected}"


def can_be_next(day: DayProblem, prefix: list[Start], action: str) -> bool:
    """Whether an action can come directly behind these calls, whenever it starts."""
    done = {name for name, _ in prefix}
    day.solver.push()
    for other in day.actions:
        if other != action and other not in done:
            day.solver.add(day.end(action) <= day.start[other])
    answer = day.can_continue(prefix, day.constraints)
    day.solver.pop()
    return answer
