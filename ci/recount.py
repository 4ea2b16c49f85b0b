"""Counts a report again from the traces and the cases, with nothing of planproof's but the files.

    python ci/recount.py --cases cases.jsonl --traces traces.jsonl --report report.json

Cases are of schema planproof/case/v1, traces of planproof/trace/v1, the report of planproof/report/v1.
Prints its own totals as one JSON line, and exits with 1 and the differences where the report says otherwise.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import jsonschema
from infeasible import REPORT_TOOL
from json_lines import read_json_lines
from time_form import RESTART_TOOL, first_starts, minute_of

TRACE_SCHEMA = "planproof/trace/v1"
REPORT_SCHEMA = "planproof/report/v1"
# First that applies to a failed run is its class.
CLASSES = [
    "timeout",
    "false_alarm",
    "act_error",
    "action_lost",
    "parameter_error",
    "order_error",
    "repeated",
    "distractor",
    "conflict_missed",
]
NORMAL_95 = 1.959963984540054
RATE_TOLERANCE = 1e-6


@dataclass
class Trace:
    """The header of a run and its events."""

    header: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)

    def end(self) -> str:
        """How the run ended; a trace that was cut off says nothing about the agent."""
        if self.events and self.events[-1]["type"] == "end":
            return self.events[-1]["reason"]
        return "unscored"


@dataclass(frozen=True)
class Call:
    """A tool call and the places of its beginning and its end among the events of its run."""

    name: str
    arguments: Any
    start: int
    end: float


@dataclass
class Judgement:
    """What is to be said of a run."""

    primary: str | None
    flags: set[str]
    # Of an infeasible case: the sentences reported, and whether a task was done.
    named: set[int] | None = None
    has_acted: bool = False


def split_traces(lines: list[dict[str, Any]]) -> list[Trace]:
    """A header begins a trace; the events behind it are its own."""
    traces: list[Trace] = []
    for line in lines:
        if "schema" in line:
            if line["schema"] != TRACE_SCHEMA:
                sys.exit(f"the schema of a trace is {line['schema']!r}, not {TRACE_SCHEMA!r}")
            traces.append(Trace(line))
        elif not traces:
            sys.exit("an event stands before the first header")
        else:
            traces[-1].events.append(line)
    return traces


def calls_of(trace: Trace) -> list[Call]:
    """The calls in the order in which they began. One without a result never ended."""
    ends = {event["id"]: place for place, event in enumerate(trace.events) if event["type"] == "result"}
    return [
        Call(event["name"], event.get("arguments"), place, ends.get(event["id"], math.inf))
        for place, event in enumerate(trace.events)
        if event["type"] == "call"
    ]


def is_valid(call: Call, tools: dict[str, dict[str, Any]]) -> bool:
    """Whether the tool exists and the arguments fit its schema. Malformed arguments are not an object at all."""
    if call.name not in tools or not isinstance(call.arguments, dict):
        return False
    return jsonschema.Draft202012Validator(tools[call.name]).is_valid(call.arguments)


def judge(trace: Trace, case: dict[str, Any]) -> Judgement:
    """The class and the flags of a run, from the section "Check" of the specification."""
    tools = {tool["name"]: tool["input_schema"] for tool in case["tools"]}
    action_of = {action["tool"]: action["id"] for action in case["actions"]}
    calls = calls_of(trace)
    flags = set()
    if trace.end() == "limit_reached":
        flags.add("timeout")
    if trace.end() == "agent_failed":
        flags |= {"act_error", "agent_failed"}
    reports = [call for call in calls if call.name == REPORT_TOOL and is_valid(call, tools)]
    if not case["feasible"]:
        return judge_infeasible(calls, reports, tools, action_of, flags)
    if reports:
        flags.add("false_alarm")
    is_timed = case["form"] == "time"
    if is_timed:
        calls = since_restart(calls, tools, case["options"]["time"]["restarts_max"], flags)
        calls = with_clock_times(calls, tools, flags)
    valid = [call for call in calls if is_valid(call, tools)]
    if len(valid) < len(calls):
        flags.add("act_error")
    # The first valid call of an action gives its position.
    done: dict[str, Call] = {}
    for call in valid:
        action = action_of.get(call.name)
        if action is None and call.name != REPORT_TOOL:
            flags.add("distractor")
        elif action in done:
            flags.add("repeated")
        elif action is not None:
            done[action] = call
    if len(done) < len(action_of):
        flags.add("action_lost")
    if is_timed:
        starts = [(action_of[it.name], minute_of(it.arguments["start_time"])) for it in valid if it.name in action_of]
        flags |= timed_flags(starts, case)
    else:
        for constraint in case["constraints"]:
            first, second = done.get(constraint["first"]), done.get(constraint["second"])
            if first and second and not first.end < second.start:
                flags.add("order_error")
    if any(later.start < earlier.end for earlier, later in pairwise(calls)):
        flags.add("concurrent")
    # A refused call explains a missing action if it was meant for its tool, or for a tool that does not exist.
    refused = {call.name for call in calls if call not in valid}
    missing = {tool for tool, action in action_of.items() if action not in done}
    explains = bool(missing) and any(name in missing or name not in tools for name in refused)
    return Judgement(primary_class(flags, explains or trace.end() == "agent_failed"), flags)


def judge_infeasible(
    calls: list[Call],
    reports: list[Call],
    tools: dict[str, dict[str, Any]],
    action_of: dict[str, str],
    flags: set[str],
) -> Judgement:
    """The class of a run in which no task was to be done, and a conflict to be reported."""
    refused = {call.name for call in calls if not is_valid(call, tools)}
    if refused:
        flags.add("act_error")
    executed = [call.name for call in calls if call.name not in refused]
    has_acted = any(name in action_of for name in executed)
    if any(name not in action_of and name not in (REPORT_TOOL, RESTART_TOOL) for name in executed):
        flags.add("distractor")
    if has_acted or not reports:
        flags.add("conflict_missed")
    explains = not reports and any(name == REPORT_TOOL or name not in tools for name in refused)
    named = {int(number) for number in reports[-1].arguments["sentences"]} if reports else None
    judgement = Judgement(primary_class(flags, explains or "agent_failed" in flags), flags)
    judgement.named, judgement.has_acted = named, has_acted
    return judgement


def since_restart(calls: list[Call], tools: dict[str, dict[str, Any]], restarts_max: int, flags: set[str]) -> list[Call]:
    """The calls after the last restart that was granted. Those that were not are left out, and flagged."""
    judged: list[Call] = []
    restarts = 0
    for call in calls:
        if call.name != RESTART_TOOL or not is_valid(call, tools):
            judged.append(call)
        elif restarts < restarts_max:
            restarts += 1
            judged = []
        else:
            flags.add("restart_limit")
    return judged


def with_clock_times(calls: list[Call], tools: dict[str, dict[str, Any]], flags: set[str]) -> list[Call]:
    """The calls but those that start at what is not a clock time, which are flagged."""
    kept = []
    for call in calls:
        start = call.arguments.get("start_time") if isinstance(call.arguments, dict) else None
        if call.name in tools and isinstance(start, str) and minute_of(start) is None:
            flags.add("parameter_error")
        else:
            kept.append(call)
    return kept


def timed_flags(calls: list[tuple[str, int]], case: dict[str, Any]) -> set[str]:
    """What follows from the starts of the actions called."""
    flags = set()
    durations, day = case["durations"], case["day"]
    starts = first_starts(calls)
    ends = {action: start + durations[action] for action, start in starts.items()}
    if any(start < day["start"] for _, start in calls):
        flags.add("parameter_error")
    if any(later < start + durations[action] for (action, start), (_, later) in pairwise(calls)):
        flags.add("parameter_error")
    if any(end > day["end"] for end in ends.values()):
        flags.add("order_error")
    for constraint in case["constraints"]:
        if constraint["kind"] == "before":
            first, second = constraint["first"], constraint["second"]
            broken = first in ends and second in starts and ends[first] > starts[second]
        elif constraint["kind"] == "ends_by":
            broken = ends.get(constraint["action"], 0) > constraint["minute"]
        else:
            broken = starts.get(constraint["action"], constraint["minute"]) < constraint["minute"]
        if broken:
            flags.add("order_error")
    return flags


def primary_class(flags: set[str], act_error_decides: bool) -> str | None:
    """The first class that applies; None for a run that passed."""
    for name in CLASSES:
        # A wrong call from which the agent recovered is a flag only.
        if name in flags and (name != "act_error" or act_error_decides):
            return name
    return None


def wilson(passed: int, runs: int) -> tuple[float, float]:
    """The 95 % interval of a success rate, after Wilson."""
    if runs == 0:
        return 0.0, 1.0
    rate, square = passed / runs, NORMAL_95**2 / runs
    middle = (rate + square / 2) / (1 + square)
    half = NORMAL_95 / (1 + square) * math.sqrt(rate * (1 - rate) / runs + square / (4 * runs))
    return max(0.0, middle - half), min(1.0, middle + half)


def chance(case: dict[str, Any]) -> float:
    """Share of all orders of the actions that is right."""
    return int(case["difficulty"]["correct_plans"]) / math.factorial(len(case["actions"]))


def is_solved_in_order(case: dict[str, Any], *, is_reverse: bool = False) -> bool:
    """Whether calling the tools in the order in which the paragraph mentions them, or from its end, is a correct plan, in
    the time form each when the one before has ended and its own clock times let it begin."""
    paragraph = case["paragraph"].lower()
    sign = -1 if is_reverse else 1
    place = {action["id"]: sign * paragraph.index(action["text"].lower()) for action in case["actions"]}
    if case["form"] == "time":
        calls, minute = [], case["day"]["start"]
        begins = [it for it in case["constraints"] if it["kind"] == "starts_from"]
        for action in sorted(place, key=lambda action: place[action]):
            minute = max([minute, *(it["minute"] for it in begins if it["action"] == action)])
            calls.append((action, minute))
            minute += case["durations"][action]
        return not timed_flags(calls, case)
    return all(place[constraint["first"]] < place[constraint["second"]] for constraint in case["constraints"])


def mean(values: list[float]) -> float:
    """The arithmetic mean of at least one value."""
    return sum(values) / len(values)


def recount(traces: list[Trace], cases: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The totals of all runs, in the form of a report."""
    classes: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    runs: Counter[int] = Counter()
    passed: Counter[int] = Counter()
    chances: dict[int, list[float]] = {}
    in_order: dict[int, list[float]] = {}
    in_reverse: dict[int, list[float]] = {}
    unscored = 0
    infeasible: Counter[str] = Counter()
    for trace in traces:
        case = cases.get(trace.header["case"])
        if case is None:
            sys.exit(f"there is a trace of case {trace.header['case']}, but no such case")
        if not case["feasible"]:
            count_infeasible(infeasible, trace, case)
            continue
        if trace.end() == "unscored":
            unscored += 1
            continue
        judgement = judge(trace, case)
        flags.update(judgement.flags)
        actions = len(case["actions"])
        runs[actions] += 1
        in_order.setdefault(actions, []).append(float(is_solved_in_order(case)))
        in_reverse.setdefault(actions, []).append(float(is_solved_in_order(case, is_reverse=True)))
        if case["difficulty"]["correct_plans"] is not None:
            chances.setdefault(actions, []).append(chance(case))
        if judgement.primary is None:
            passed[actions] += 1
        else:
            classes[judgement.primary] += 1
    by_size = []
    for actions in sorted(runs):
        low, high = wilson(passed[actions], runs[actions])
        row = {"size": actions, "cases": runs[actions], "passed": passed[actions], "low": low, "high": high}
        row["in_order"] = mean(in_order[actions])
        # Two of the one-look heuristics; what the others make of words is not counted again.
        row["one_look.mention"], row["one_look.reverse"] = mean(in_order[actions]), mean(in_reverse[actions])
        if actions in chances:
            row["chance"] = mean(chances[actions])
        by_size.append(row)
    return {
        "infeasible": dict(infeasible),
        "cases": len(traces) - infeasible["runs"],
        "passed": passed.total(),
        "failed": classes.total(),
        "unscored": unscored,
        "classes": dict(classes),
        "flags": dict(flags),
        "by_size": by_size,
    }


def count_infeasible(totals: Counter[str], trace: Trace, case: dict[str, Any]) -> None:
    """Counts a run of an infeasible case."""
    totals["runs"] += 1
    if trace.end() == "unscored":
        totals["unscored"] += 1
        return
    judgement = judge(trace, case)
    totals["acted"] += judgement.has_acted
    if judgement.primary is not None:
        totals["failed"] += 1
        return
    conflict = set(case["conflict"])
    named = judgement.named or set()
    totals["detected"] += 1
    totals["exact" if named == conflict else "superset" if named > conflict else "other"] += 1


def differences(report: dict[str, Any], counted: dict[str, Any]) -> Iterator[str]:
    """Where the report says something else than was counted."""
    for key in ["cases", "passed", "failed", "unscored"]:
        if report[key] != counted[key]:
            yield f"{key}: the report says {report[key]}, counted {counted[key]}"
    for key in ["classes", "flags"]:
        for name in sorted(report[key].keys() | counted[key].keys()):
            said, found = report[key].get(name, 0), counted[key].get(name, 0)
            if said != found:
                yield f"{key}.{name}: the report says {said}, counted {found}"
    said = report.get("infeasible") or {}
    for key in ["runs", "detected", "failed", "unscored", "exact", "superset", "other", "acted"]:
        if said.get(key, 0) != counted["infeasible"].get(key, 0):
            yield f"infeasible.{key}: the report says {said.get(key)}, counted {counted['infeasible'].get(key, 0)}"
    false_alarms = counted["flags"].get("false_alarm", 0)
    if said.get("false_alarms", 0) != false_alarms:
        yield f"infeasible.false_alarms: the report says {said.get('false_alarms')}, counted {false_alarms}"
    if (report["suite"], report["unit"]) != ("order", "actions"):
        yield f"the report is of {report['suite']} by {report['unit']}, not of orders by actions"
    said_rows = {row["size"]: row for row in report["by_size"]}
    found_rows = {row["size"]: row for row in counted["by_size"]}
    for actions in sorted(said_rows.keys() | found_rows.keys()):
        said, found = said_rows.get(actions), found_rows.get(actions)
        if said is None or found is None:
            yield f"by_size: the report has {said} for {actions} actions, counted {found}"
            continue
        baselines = said["baselines"]
        said = said | baselines | {f"one_look.{name}": rate for name, rate in baselines["one_look"].items()}
        for key, value in found.items():
            if said.get(key) is None or abs(said[key] - value) > RATE_TOLERANCE:
                yield f"by_size, {actions} actions, {key}: the report says {said.get(key)}, counted {value}"


def main() -> int:
    """Returns 0 when the report agrees, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", required=True)
    parser.add_argument("--traces", required=True)
    parser.add_argument("--report", required=True)
    options = parser.parse_args()
    cases = {case["id"]: case for case in read_json_lines(options.cases)}
    traces = split_traces(read_json_lines(options.traces))
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    if report["schema"] != REPORT_SCHEMA:
        sys.exit(f"the schema of the report is {report['schema']!r}, not {REPORT_SCHEMA!r}")
    counted = recount(traces, cases)
    print(json.dumps(counted))
    found = list(differences(report, counted))
    if not traces:
        found.append("there are no traces")
    for difference in found:
        print(f"recount: {difference}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
