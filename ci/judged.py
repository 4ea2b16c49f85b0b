"""What the programs have in common that judge a file of problems: totals as one JSON line, and the first faults."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from json_lines import read_json_lines

REASONS_SHOWN = 10

Json = dict[str, Any]


def judge_problems(
    document: str, faults_of: Callable[[Json], Iterator[str]], conflict_of: Callable[[Json], list[str] | None]
) -> int:
    """Judges the file that the command line names, and counts its conflicts by size.

    `document` is the program's own documentation. Returns 0 when everything is right, 1 otherwise.
    """
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument("problems", help="file of problems, `-` for standard input")
    problems = read_json_lines(parser.parse_args().problems)
    faults = [f"problem {number}: {fault}" for number, it in enumerate(problems, start=1) for fault in faults_of(it)]
    if not problems:
        faults.append("there are no problems")
    conflicts = [conflict_of(it) for it in problems]
    sizes = Counter("none" if conflict is None else str(len(conflict)) for conflict in conflicts)
    print(json.dumps({"problems": len(problems), "conflicts": dict(sorted(sizes.items())), "faults": len(faults)}))
    for fault in faults[:REASONS_SHOWN]:
        print(f"{Path(sys.argv[0]).stem}: {fault}", file=sys.stderr)
    return 1 if faults else 0


def faults_of_minimal(conflict: list[str], can_hold: Callable[[list[str]], bool]) -> Iterator[str]:
    """What is wrong with a conflict of which every part can hold, and the whole cannot."""
    if can_hold(conflict):
        yield f"the conflict {conflict} can hold"
    for name in conflict:
        if not can_hold([other for other in conflict if other != name]):
            yield f"the conflict {conflict} is not minimal: it is one without {name}"
