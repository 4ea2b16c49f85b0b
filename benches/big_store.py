"""How long it takes to look at campaigns in a run store of about a gigabyte.

    python benches/big_store.py

Builds planproof in release mode, fills a run store with campaigns of simulated models until it has the size that is
asked for, once with many small cases and once with few large ones, and prints a Markdown table of medians. Everything
is in a temporary folder that is deleted at the end.
"""

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
# What the store holds, and the options of a campaign. One campaign of 100,000 small cases is almost a gigabyte.
SHAPES = {
    "100,000 cases of 3 to 5 actions a campaign": ["--cases", "100000", "--actions", "3..5"],
    "10,000 cases of 20 to 64 actions and 64 distractors a campaign": [
        *["--cases", "10000", "--actions", "20..64", "--distractors", "64", "--iterations", "200"],
    ],
}
# What is timed. The newest campaign is the largest there is.
LOOKS = {
    "runs list": ["runs", "list"],
    "runs show last": ["runs", "show", "last"],
    "runs show last --judge-again": ["runs", "show", "last", "--judge-again"],
    "report last --csv": ["report", "last", "--csv", "report.csv", "--quiet"],
}


def build() -> Path:
    """Builds the command and returns where it lies."""
    subprocess.run(["cargo", "build", "--release", "--package", "planproof"], cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    output = subprocess.run(metadata, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    target = output.split('"target_directory":"')[1].split('"')[0]
    return Path(target) / "release" / "planproof"


def fill(planproof: Path, folder: Path, options: list[str], size: int) -> int:
    """Runs campaigns until the store has so many bytes, and returns how many."""
    campaigns = 0
    while not (store := folder / ".planproof" / "runs.db").exists() or store.stat().st_size < size:
        command = [planproof, "test", "tools@sim/careless", *options, "--seed", str(campaigns), "--quiet", "--json"]
        result = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        # Exit status 1 means failures, which the careless model is meant to have.
        if result.returncode > 1:
            raise SystemExit(f"{command} ended with {result.returncode}")
        campaigns += 1
    return campaigns


def cpu_of_children() -> float:
    """CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(planproof: Path, folder: Path, arguments: list[str]) -> tuple[float, float]:
    """Runs a command, and returns how long it took and its CPU time, in seconds."""
    cpu, start = cpu_of_children(), time.perf_counter()
    subprocess.run([planproof, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, cpu_of_children() - cpu


def main() -> None:
    """Measures all shapes and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--megabytes", type=int, default=950, help="size that the store must reach; default: 950")
    parser.add_argument("--planproof", type=Path, help="a command that is built already")
    arguments = parser.parse_args()
    planproof = (arguments.planproof or build()).resolve()
    print("| store | command | seconds | CPU seconds |")
    print("|---|---|---|---|")
    for shape, options in SHAPES.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            campaigns = fill(planproof, folder, options, arguments.megabytes * 1_000_000)
            size = (folder / ".planproof" / "runs.db").stat().st_size
            store = f"{size / 1e6:,.0f} MB: {campaigns} with {shape}"
            for look, command in LOOKS.items():
                rounds = [measure(planproof, folder, command) for _ in range(arguments.rounds)]
                wall, cpu = (median(column) for column in zip(*rounds))
                print(f"| {store} | `{look}` | {wall:.2f} | {cpu:.2f} |", flush=True)


if __name__ == "__main__":
    main()
