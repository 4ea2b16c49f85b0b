"""Judges by Z3 what planproof says of timed problems: whether they can be satisfied, and which constraints conflict.

    python ci/judge_conflicts.py problems.jsonl

A problem is one JSON line: `actions`, `durations`, `day` and `constraints` as in a case of the time form, and `conflict`,
the ids of an inclusion-minimal set of constraints that cannot hold together, or null where all can.
Prints the totals as one JSON line, and exits with 1 and the first reasons if anything is wrong.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from json_lines import read_json_lines
from time_form import DayProblem

REASONS_SHOWN = 10


def faults_of(problem: dict[str, Any]) -> Iterator[str]:
    """What Z3 finds otherwise."""
    day, conflict = DayProblem(problem), problem["conflict"]
    satisfiable = day.is_satisfiable(day.constraints)
    if satisfiable != (conflict is None):
        yield f"satisfiable: {satisfiable}, but the conflict is {conflict}"
    if conflict is None:
        return
    if day.is_satisfiable(conflict):
        yield f"the conflict {conflict} can hold"
    for name in conflict:
        if not day.is_satisfiable(other for other in conflict if other != name):
            yield f"the conflict {conflict} is not minimal: it is one without {name}"


def main() -> int:
    """Returns 0 when everything is right, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", help="file of problems, `-` for standard input")
    problems = read_json_lines(parser.parse_args().problems)
    faults = [f"problem {number}: {fault}" for number, it in enumerate(problems, start=1) for fault in faults_of(it)]
    if not problems:
        faults.append("there are no problems")
    sizes = Counter("none" if it["conflict"] is None else str(len(it["conflict"])) for it in problems)
    print(json.dumps({"problems": len(problems), "conflicts": dict(sorted(sizes.items())), "faults": len(faults)}))
    for fault in faults[:REASONS_SHOWN]:
        print(f"judge_conflicts: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
