"""Writes traces of random schedules for cases of the time form, to have them judged.

    python ci/random_schedules.py cases.jsonl --each 4 --seed 1 > traces.jsonl
    planproof check --case cases.jsonl --trace traces.jsonl --json > verdicts.jsonl
    python ci/judge_cases.py cases.jsonl --verdicts verdicts.jsonl

Some schedules are nearly right, some random, some leave a call out, repeat one, or begin anew after a restart.
"""

import argparse
import json
import random
from collections.abc import Iterator
from typing import Any

from json_lines import read_json_lines
from time_form import RESTART_TOOL, DayProblem, clock_time, minute_of

LAST_MINUTE = 24 * 60 - 1


def random_order(draw: random.Random, day: DayProblem) -> list[str]:
    """The actions at random, or in an order that Z3 has found."""
    order = draw.sample(day.actions, len(day.actions))
    if draw.random() < 0.7 and day.is_satisfiable(day.constraints):
        model = day.solver.model()
        order.sort(key=lambda action: model[day.start[action]].as_long())
        if draw.random() < 0.4 and len(order) > 1:
            place = draw.randrange(len(order) - 1)
            order[place], order[place + 1] = order[place + 1], order[place]
    if draw.random() < 0.1:
        order.pop(draw.randrange(len(order)))
    if draw.random() < 0.1:
        order.insert(draw.randrange(len(order) + 1), draw.choice(day.actions))
    return order


def random_starts(draw: random.Random, day: DayProblem) -> Iterator[tuple[str, str]]:
    """Calls with their start times: mostly one after the other, some late, some too early, some at no time at all."""
    releases: dict[str, int] = {}
    for constraint in day.constraints.values():
        if constraint["kind"] == "starts_from":
            action = constraint["action"]
            releases[action] = max(constraint["minute"], releases.get(action, 0))
    minute = day.day_start
    for action in random_order(draw, day):
        start = minute
        if draw.random() < 0.9:
            start = max(start, releases.get(action, 0))
        if draw.random() < 0.3:
            start += draw.choice([5, 15, 30, 60, 120])
        if draw.random() < 0.03:
            start = max(0, minute - draw.choice([1, 10, 60]))
        start = min(start, LAST_MINUTE)
        if draw.random() < 0.02:
            yield action, draw.choice(["25:00", "2 pm", "14:00:00", "noon", "", "24:00"])
            continue
        yield action, clock_time(start)
        minute = start + day.durations[action]


def events_of(draw: random.Random, case: dict[str, Any], day: DayProblem) -> Iterator[dict[str, Any]]:
    """The events of a run that makes random calls, perhaps after a restart."""
    tools = {action["id"]: action["tool"] for action in case["actions"]}
    calls: list[tuple[str, dict[str, str], str, bool]] = []
    for attempt in range(2 if draw.random() < 0.1 else 1):
        if attempt > 0:
            calls.append((RESTART_TOOL, {}, "The day is cleared: no task is done.", False))
        for action, start in random_starts(draw, day):
            is_refused = minute_of(start) is None
            answer = "no clock time" if is_refused else f"It took {day.durations[action]} minutes."
            calls.append((tools[action], {"start_time": start}, answer, is_refused))
    for number, (name, arguments, answer, is_refused) in enumerate(calls):
        call_id = f"c{number + 1}"
        yield {"at": 2 * number, "type": "call", "id": call_id, "name": name, "arguments": arguments}
        yield {"at": 2 * number + 1, "type": "result", "id": call_id, "text": answer, "is_error": is_refused}
    yield {"at": 2 * len(calls), "type": "end", "reason": "answered", "text": ""}


def main() -> None:
    """Writes the traces to stdout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases")
    parser.add_argument("--each", type=int, default=4, help="schedules of each case (default: 4)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for case in read_json_lines(options.cases):
        day = DayProblem(case)
        for repeat in range(options.each):
            header = {
                "schema": "planproof/trace/v1",
                "agent": "random schedules",
                "model": None,
                "simulated": True,
                "case": case["id"],
                "repeat": repeat,
                "seed": str(options.seed),
                "clock": "logical",
                "version": "1",
            }
            for line in [header, *events_of(draw, case, day)]:
                print(json.dumps(line))


if __name__ == "__main__":
    main()
