"""What shards and their merge take beside one campaign, in CPU time.

    python benches/shards.py [--planproof target/release/planproof] [--cases 20000] [--shards 10] [--rounds 3]

Builds planproof in release mode unless it is named. In each round one campaign of simulated runs, the same in shards one
after the other, and their merge run in turn; the ratios are those of a round. Prints a Markdown table of medians, with
the lowest and the highest value. Everything is in a temporary folder that is deleted at the end.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from big_store import build

AGENT = "tools@sim/careless"


def took(command: list[str], folder: Path) -> tuple[float, float, float]:
    """CPU seconds, seconds, and the most memory in MB of a command."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # Exit status 1 means failures, which the careless model is meant to have.
    if process.returncode > 1:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {errors}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 1024


def shown(values: list[float], digits: int) -> str:
    """The median with the lowest and the highest value."""
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--planproof", type=Path)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    program = str((options.planproof or build()).resolve())
    line = [program, "test", AGENT, "--cases", str(options.cases), "--repeat", str(options.repeat), "--seed", "7", "-q"]
    one, shards, merge, merge_wall, memory, sizes = [], [], [], [], [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            one.append(took([*line, "--store", "one.db"], folder)[0])
            stores = [f"{number}.db" for number in range(1, options.shards + 1)]
            shards.append(
                sum(
                    took([*line, "--shard", f"{number}/{options.shards}", "--store", store], folder)[0]
                    for number, store in enumerate(stores, 1)
                )
            )
            cpu, wall, megabytes = took([program, "runs", "merge", *stores, "--into", "all.db"], folder)
            merge.append(cpu)
            merge_wall.append(wall)
            memory.append(megabytes)
            sizes.append((folder / "all.db").stat().st_size / 1e6)
    runs = options.cases * options.repeat
    print(f"{runs:,} runs of {AGENT}, {options.shards} shards, {options.rounds} rounds, {median(sizes):,.0f} MB\n")
    print("| command | CPU seconds | microseconds a run | ratio |\n|---|---|---|---|")
    each = 1e6 / runs
    print(f"| one campaign | {shown(one, 2)} | {median(one) * each:,.0f} | 1 |")
    ratios = [b / a for a, b in zip(one, shards, strict=True)]
    print(f"| its shards | {shown(shards, 2)} | {median(shards) * each:,.0f} | {shown(ratios, 3)} of the campaign |")
    ratios = [a / b for a, b in zip(one, merge, strict=True)]
    print(f"| their merge | {shown(merge, 2)} | {median(merge) * each:,.0f} | the campaign takes {shown(ratios, 1)} times that |")
    print(f"\nThe merge took {shown(merge_wall, 2)} seconds and {shown(memory, 0)} MB.")


if __name__ == "__main__":
    main()
