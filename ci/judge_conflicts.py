"""Judges by Z3 what planproof says of timed problems: whether they can be satisfied, and which constraints conflict.

    python ci/judge_conflicts.py problems.jsonl

A problem is one JSON line: `actions`, `durations`, `day` and `constraints` as in a case of the time form, and `conflict`,
the ids of an inclusion-minimal set of constraints that cannot hold together, or null where all can.
Prints the totals as one JSON line, and exits with 1 and the first reasons if anything is wrong.
"""

import sys
from collections.abc import Iterator
from typing import Any

from judged import faults_of_minimal, judge_problems
from time_form import DayProblem


def faults_of(problem: dict[str, Any]) -> Iterator[str]:
    """What Z3 finds otherwise."""
    day, conflict = DayProblem(problem), problem["conflict"]
    satisfiable = day.is_satisfiable(day.constraints)
    if satisfiable != (conflict is None):
        yield f"satisfiable: {satisfiable}, but the conflict is {conflict}"
    if conflict is not None:
        yield from faults_of_minimal(conflict, day.is_satisfiable)


if __name__ == "__main__":
    sys.exit(judge_problems(__doc__, faults_of, lambda it: it["conflict"]))
