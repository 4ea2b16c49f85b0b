"""Counts what single pieces of work cost in instructions and allocations, which no other process disturbs.

Each piece is done by the command, or by benches/counted, twice under valgrind's callgrind, a few times and often; the
difference is free of what comes before and after. Writes benches/counted.json and prints its figures beside those that
stood there.

    python benches/count.py
    python benches/count.py --show    # writes nothing

A rise of more than 3 % is explained in the commit that brings it; see CONTRIBUTING.md.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "benches/counted.json"
KEY = "benchmark"
ACTIONS = 10
# A rise by so many per cent is pointed out.
RISE_MAX = 3.0
ALLOCATORS = {"malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign"}

Counts = dict[str, float]
# A command line, for a number of times in the given folder.
Line = Callable[[Path, int], list[str | Path]]


def build() -> tuple[Path, Path]:
    """Builds in release mode; gives the command and the program with the pieces of work."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json", "-p", "planproof", "-p", "counted"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    programs = {m["target"]["name"]: Path(m["executable"]) for m in messages if m.get("executable")}
    return programs["planproof"], programs["counted"]


@contextmanager
def served(planproof: Path) -> Iterator[dict[str, str]]:
    """The simulated model behind HTTP, as a process of its own; gives the environment of those who ask it."""
    command = [planproof, "serve-model", "sim/perfect", "--json", "--quiet"]
    environment = {**os.environ, "PLANPROOF_SERVE_KEY": KEY}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["base_url"]
            yield {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
        finally:
            server.terminate()


def run(command: list[str | Path], folder: Path, environment: dict[str, str]) -> None:
    """Runs a command; its failures found (exit status 1) are of no concern here."""
    # One worker, so that no time goes into handing work from one to another.
    environment = {**os.environ, "TOKIO_WORKER_THREADS": "1", "PLANPROOF_CONFIG": "none", **environment}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))} exited with {done.returncode}:\n{done.stderr}")


def counted(command: list[str | Path], folder: Path, environment: dict[str, str]) -> Counts:
    """Instructions of a whole process, and its calls of the allocator."""
    out = folder / "callgrind.out"
    run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], folder, environment)
    names: dict[str, str] = {}
    instructions, allocations, callee = 0, 0, ""
    for line in out.read_text(errors="replace").splitlines():
        # The name of a function stands only where it first comes, behind its number.
        if match := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            number, name = match.groups()
            if name is not None:
                names[number] = name.split("'")[0]
            # `cfn` names the function that the next `calls` line is about.
            callee = names[number] if line.startswith("c") else callee
        elif line.startswith("calls=") and callee in ALLOCATORS:
            allocations += int(line[6:].split()[0])
        elif line.startswith("totals:"):
            instructions = int(line.split()[1])
    return {"instructions": instructions, "allocations": allocations}


def each(line: Line, few: int, many: int, environment: dict[str, str], units: int = 1, prepare: Line | None = None) -> Counts:
    """What one piece costs: the difference between doing it `few` and `many` times, each with so many units."""
    counts = []
    for times in (few, many):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if prepare is not None:
                run(prepare(folder, times), folder, environment)
            counts.append(counted(line(folder, times), folder, environment))
    # Start and end of the process are in both counts, so they cancel out.
    return {key: (counts[1][key] - counts[0][key]) / ((many - few) * units) for key in counts[0]}


def count() -> dict[str, Counts]:
    """All pieces of work."""
    planproof, program = build()

    def work(name: str) -> Line:
        return lambda _, times: [program, name, str(times)]

    def test(agent: str, *more: str) -> Line:
        start = [planproof, "test", agent, "--actions", str(ACTIONS), "--store", "runs.db", "--json", "--quiet"]
        return lambda _, times: [*start, "--cases", str(times), *more]

    def replay(*_: object) -> list[str | Path]:
        return [planproof, "test", "--replay", "r.jsonl", "--store", "replay.db", "--json", "--quiet"]

    def report(*_: object) -> list[str | Path]:
        return [planproof, "report", "last", "--store", "runs.db", "--html", "page.html", "--quiet"]

    # Each turn of a run but the last is a call.
    steps = ACTIONS + 1
    counts = {}
    with tempfile.TemporaryDirectory() as name:
        counts["start of a short command"] = counted([planproof, "spec", "print", "direct"], Path(name), {})
    counts["synthesising a case of 3 to 5 actions"] = each(work("case"), 200, 1200, {})
    counts[f"judging a run of {ACTIONS} actions"] = each(work("verdict"), 200, 1200, {})
    counts["monitoring a token of ReAct"] = each(work("token"), 10_000, 110_000, {})
    counts["a step of a campaign, the model in process"] = each(test("tools@sim/perfect"), 50, 250, {}, steps)
    with served(planproof) as environment:
        over_http = test("tools@openai/sim/perfect")
        counts["a step of a campaign, the model over HTTP"] = each(over_http, 50, 250, environment, steps)
        recorded = test("tools@openai/sim/perfect", "--record", "r.jsonl")
        counts["a replayed request"] = each(replay, 50, 250, environment, steps, prepare=recorded)
    in_order = test("tools@sim/in-order")
    counts["a case on the HTML page, most having failed"] = each(report, 50, 250, {}, prepare=in_order)
    return counts


def table(before: dict[str, Counts], now: dict[str, Counts]) -> None:
    """Prints what was counted beside what stood in the file."""
    print("| work | instructions | before | change | allocations | before | change |")
    print("|---|---|---|---|---|---|---|")
    for name, counts in now.items():
        cells = [name]
        for key, value in counts.items():
            old = before.get(name, {}).get(key)
            change = "" if not old else f"{100 * (value / old - 1):+.1f} %"
            # Less than one more is not a rise of small figures.
            if old and value > old * (1 + RISE_MAX / 100) and value > old + 1:
                change += " (explain it)"
            cells += [f"{value:,.{0 if value >= 100 else 1}f}", "" if old is None else f"{old:,.0f}", change]
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    """Counts, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print the figures and leave the file as it is")
    options = parser.parse_args()
    before = json.loads(FILE.read_text()) if FILE.exists() else {}
    now = count()
    table(before, now)
    if not options.show:
        rounded = {name: {key: round(value, 1) for key, value in counts.items()} for name, counts in now.items()}
        FILE.write_text(json.dumps(rounded, indent=2) + "\n")


if __name__ == "__main__":
    main()
