"""Runs the same command lines with two builds of planproof, and shows what they print and write differently.

    python3 ci/same_output.py OLD NEW             # two programs
    python3 ci/same_output.py OLD NEW --only html # the lines with this text in them

For changes that are to move code and nothing else: before the change keep a build, after it compare. Times, durations
and ids of campaigns differ between any two runs and are masked; everything else counts: stdout, stderr, the exit status
and every file. Ends with 1 if anything differs. A canary proves first that a difference is seen.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = ["test", "bench", "limit", "score", "report", "runs", "runs show", "demo", "synth", "check", "run", "tables", "mnms"]
# Each comes with a few cases of its own.
SUITES = ["gsm8k", "hotpotqa", "triviaqa", "mnms", "apibank", "tptu"]
SIMULATIONS = ["perfect", "parallel", "in-order", "forgetful", "careless", "clumsy", "endless"]
TEST = "test --cases 24 --actions 3..6 --store runs.db"
REPORTS = "--html out.html --junit out.xml --csv out.csv --inspect out.inspect --step-summary out.md"

# Each line runs in one folder after those before it in its group, so that later ones can read what earlier ones wrote.
GROUPS: dict[str, list[str]] = {
    "demo": ["demo", "demo --json"],
    "synthesis": [
        "synth --count 20",
        "synth --count 20 --time",
        "synth --count 20 --infeasible 0.5",
        "synth --count 20 --time --infeasible 0.5",
        "synth --count 5 --hard --actions 4..6",
        "topics --json",
    ],
    "simulations": [f"{TEST} tools@sim/{name}" for name in SIMULATIONS]
    + ["runs list", "runs show last", "runs export last", "runs export last --format verdicts"],
    "planted": [f"{TEST} tools@sim/planted/word --dissect --dissect-k 2 --dissect-max 2"],
    "forms": [
        f"{TEST} tools@sim/careless --time {REPORTS}",
        f"{TEST} tools@sim/careless --infeasible 0.4 --json",
        f"{TEST} tools@sim/clumsy --time --infeasible 0.4 --json",
        "report last --csv -",
    ],
    "text": [
        f"{TEST} {kind}@sim/careless --json"
        for kind in ["direct", "cot", "react", "rewoo", "reflexion", "pass", "responses", "fallback:direct,react"]
    ],
    "reports": [
        f"{TEST} tools@sim/careless {REPORTS}",
        f"{TEST} tools@sim/forgetful --repeat 3 --json",
        "report last --csv -",
        "runs export last --format chat-jsonl",
        "runs export last --format preference-jsonl",
        "tables last",
    ],
    "shrinking": [f"{TEST} tools@sim/in-order --shrink --shrink-max 2 --shrink-to small.jsonl", "read small.jsonl --verify"],
    "guard": [f"{TEST} tools@sim/careless", f"{TEST} repair:tools@sim/careless {REPORTS}", f"{TEST} repair:tools@sim/careless --time"],
    "limit": ["limit tools@sim/careless --store runs.db --to 8 --cases-max 400 --html limit.html", "runs list"],
    "recording": [
        f"{TEST} tools@sim/careless --concurrency 1 --record out.jsonl",
        "test --replay out.jsonl --store other.db",
        "test --replay out.jsonl --store other.db --json",
    ],
    "help": ["--help", "-h"] + [f"{command} --help" for command in COMMANDS],
    "suites": ["bench", "bench --json"]
    + [f"bench {suite} {kind}@sim/gold --set sim.noise=0.3 --limit 6 --store runs.db --json" for suite in SUITES for kind in ["tools", "cot"]]
    + ["runs list", "runs show last --details", "report last --csv -", "runs export last --format verdicts"],
    "matrix": [
        "bench gsm8k cot@sim/gold direct@sim/gold --set sim.noise=0.2,0.4 --limit 6 --store runs.db --html matrix.html",
        "runs list",
        "bench gsm8k --resume last --store runs.db",
    ],
    "resumed": [
        f"{TEST} tools@sim/planted/word --max-tokens 9000 --concurrency 1",
        "test --resume last --store runs.db --max-tokens 900000 --json",
        "test --resume last --store runs.db --dissect --dissect-k 1 --dissect-max 2 --json",
        "test --resume last --store runs.db --dissect --dissect-k 2",
        "test --resume last --store runs.db --shrink --shrink-max 1 --shrink-to small.jsonl",
        "runs show last --details",
        "runs list",
        "test tools@sim/perfect --like last --store runs.db --json",
    ],
    "sequels": [
        f"{TEST} tools@sim/in-order --dissect --dissect-k 1 --dissect-max 2 --shrink --shrink-max 1 --concurrency 1 --record out.jsonl",
        "test --replay out.jsonl --store other.db --json",
        "test --replay out.jsonl --store other.db --dissect --dissect-k 3",
        "test --replay out.jsonl --store other.db --allow-repeats",
    ],
    "gate": [
        f"{TEST} tools@sim/perfect",
        "runs export last --store runs.db --format baseline",
        f"{TEST} tools@sim/careless --baseline {{stdout}} --json",
        f"{TEST} tools@sim/careless --allow-repeats --baseline last",
        "bench gsm8k cot@sim/gold --limit 6 --store runs.db --label first",
        "bench gsm8k cot@sim/gold --set sim.noise=0.5 --limit 6 --store runs.db --baseline first",
    ],
    "shards": [
        f"{TEST} tools@sim/careless --shard 1/2 --json",
        f"{TEST} tools@sim/careless --shard 1/2 --json",
        f"{TEST} tools@sim/careless --shard 1/2 --allow-repeats",
        f"{TEST} tools@sim/careless --shard 1/2 --dissect",
    ],
    "check": [
        "synth --count 1 --actions 3",
        "check --case {stdout} --calls a1,a2,a3",
        "check --case {stdout} --calls a3,a2,a1 --json",
    ],
    "specifications": ["spec check react", "spec graph react", "spec compile react --to gbnf", "spec print pass"],
    "mistakes": ["test nobody", "test tools@sim/none", "test tools@sim/perfect --from none.jsonl", "report none", "runs show none"]
    + [
        "test tools@sim/perfect --cases 3 --shrink-to small.jsonl",
        "test --resume last",
        "bench gsm8k cot@sim/gold --allow-repeats",
        "bench gsm8k cot@sim/gold --level 3",
        "bench nothing cot@sim/gold",
        "bench gsm8k",
        "limit tools@sim/perfect --from 9 --to 3",
        "test tools@sim/perfect --cases auto",
        "test tools@sim/perfect --fail-over calls=2x --success-min 90%:proved",
    ],
}

MASKS = [
    # Ids of campaigns, seals, then times of the day with a date, then durations.
    (r"\b[0-9a-f]{12,14}\b", "ID"),
    (r"\b([0-9a-f]{4}-){4}[0-9a-f]{4}\b", "SEAL"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?", "TIME"),
    (r"\b\d+(\.\d+)?[ \u00a0\u202f]?(ms|µs|ns|s|seconds?|minutes?)\b", "DURATION"),
    (r'"(\w*seconds|\w*_ms|\w*_ns|total_time|working_time|wall\w*|time\w*|started\w*|completed\w*|created\w*|uuid|eval_id|run_id|task_id)": ?("[^"]*"|[\d.e-]+)', r'"\1": MASKED'),
    (r'"run_seconds":\{[^}]*\}', '"run_seconds": MASKED'),
    # The column wall_ms, before those of tokens.
    (r'",\d+,(\d+,\d+,)', r'",MASKED,\1'),
    (r'\b(time|timestamp)="[^"]*"', r'\1="MASKED"'),
    # A line may end within these.
    (r"median (under )?DURATION, 95th\s+percentile (under )?DURATION; wall time:?\s*(DURATION|[\d.]+\s+\w+)?", "TIMES"),
]
LINES_SHOWN_MAX = 12
# Bytes of these differ although their content is the same: a database, and a compressed log.
UNREAD = {".db", ".db-wal", ".db-shm"}


def masked(text: str, folder: Path, program: Path) -> str:
    text = text.replace(str(folder), "FOLDER").replace(str(program), "planproof")
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    # Columns are as wide as the durations in them.
    return re.sub(r"[─━]{2,}", "─", re.sub(r" {2,}", " ", text))


def outcomes(build: Path, lines: list[str]) -> dict[str, str]:
    """What every line of a group comes to: its status and output, and the files that it leaves."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        # Whatever a build is called, its command lines are those of planproof.
        folder, program = Path(name) / "work", Path(name) / "planproof"
        folder.mkdir()
        program.symlink_to(build)
        stdout = folder / "stdout"
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI", "ANTHROPIC"))}
        environment |= {"PLANPROOF_CONFIG": "none", "COLUMNS": "100"}
        for line in lines:
            before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
            words = [word.replace("{stdout}", str(stdout)) for word in line.split()]
            done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
            found[f"{line}: exit status"] = str(done.returncode)
            found[f"{line}: stdout"] = masked(done.stdout, folder, program)
            found[f"{line}: stderr"] = masked(done.stderr, folder, program)
            stdout.write_text(done.stdout)
            for path in sorted(folder.iterdir()):
                is_new = before.get(path) != path.stat().st_mtime_ns
                if is_new and path != stdout and path.is_file() and path.suffix not in UNREAD:
                    found[f"{line}: {path.name}"] = masked(path.read_text(errors="replace"), folder, program)
    return found


def differences(old: dict[str, str], new: dict[str, str]) -> list[str]:
    shown = []
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if before != after:
            shown.append("\n".join([f"== {key}", *changed_lines((before or "").splitlines(), (after or "").splitlines())]))
    return shown


def changed_lines(old: list[str], new: list[str]) -> list[str]:
    """The first changed lines, each from a little before the place where it differs: lines of reports can be very long."""
    rows = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            start = max(0, len(os.path.commonprefix(["".join(old[a : a + 1]), "".join(new[c : c + 1])])) - 40)
            rows += [f"- {line[start:start + 160]}" for line in old[a:b]] + [f"+ {line[start:start + 160]}" for line in new[c:d]]
    return rows[:LINES_SHOWN_MAX]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", default="", help="only groups with this text in a line")
    arguments = parser.parse_args()
    if not differences({"a: stdout": "1 of 2 passed"}, {"a: stdout": "2 of 2 passed"}):
        sys.exit("the canary was not seen")
    lines, differing = 0, []
    for group in GROUPS.values():
        if not any(arguments.only in line for line in group):
            continue
        lines += len(group)
        old, new = (outcomes(program.resolve(), group) for program in (arguments.old, arguments.new))
        differing += differences(old, new)
    print("\n\n".join([*differing, f"{lines} command lines, {len(differing)} outputs differ"]))
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
