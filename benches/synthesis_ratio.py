"""How many times the cases per CPU second planproof synthesises of what the same algorithm makes on Z3.

    python benches/synthesis_ratio.py

Runs planproof's benchmark, which it builds first, and benches/peers/z3_synthesis.py in turn, so that a change of the
machine's speed meets all of them, and prints a Markdown table of medians. The Python that runs this must have
z3-solver (ci/requirements.txt).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "benches" / "peers" / "z3_synthesis.py"
# Form, actions, cases of planproof in one round, cases of each peer in one round, which peers.
SIZES = [
    ("basic", "3..5", 200_000, 500, ["incremental", "fresh"]),
    ("basic", "64", 10_000, 4, ["incremental", "fresh"]),
    ("time", "3..5", 100_000, 300, ["incremental", "fresh"]),
    ("time", "5", 100_000, 200, ["incremental"]),
]


def build() -> str:
    """Builds the benchmark and returns where it lies."""
    command = ["cargo", "bench", "--package", "planproof-synth", "--bench", "synthesis", "--no-run"]
    messages = subprocess.run(
        [*command, "--message-format", "json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for message in map(json.loads, messages.splitlines()):
        if message.get("executable") and message["target"]["name"] == "synthesis":
            return message["executable"]
    sys.exit("cargo built no benchmark named synthesis")


def rate(command: list[str]) -> float:
    """Runs a command that prints one JSON line, and returns its cases per CPU second."""
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    result = json.loads(output)
    # Not its "cases_per_cpu_second": the peer rounds that, too far for cases that take seconds.
    return result["cases"] / result["cpu_seconds"]


def main() -> None:
    """Measures all rounds and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    rounds = parser.parse_args().rounds
    ours = build()
    print("| form | actions | Z3 solver | planproof, cases per CPU second | Z3, cases per CPU second | ratio | lowest to highest |")
    print("|---|---|---|---|---|---|---|")
    for form, actions, our_cases, peer_cases, modes in SIZES:
        timed = ["--time"] if form == "time" else []
        peer = [sys.executable, str(PEER), "--actions", actions, "--count", str(peer_cases), *timed]
        measured = []
        for seed in range(rounds):
            figures = {"planproof": rate([ours, "--rate", actions, "--cases", str(our_cases), *timed])}
            for mode in modes:
                figures[mode] = rate([*peer, f"--{mode}", "--seed", str(seed)])
            measured.append(figures)
            print(f"round {seed + 1}, {form} at {actions} actions: {figures}", file=sys.stderr)
        for mode in modes:
            ratios = [figures["planproof"] / figures[mode] for figures in measured]
            our_rate = median(figures["planproof"] for figures in measured)
            peer_rate = median(figures[mode] for figures in measured)
            print(
                f"| {form} | {actions} | {mode} | {our_rate:,.0f} | {peer_rate:,.2f} "
                f"| {median(ratios):,.0f} | {min(ratios):,.0f} to {max(ratios):,.0f} |"
            )


if __name__ == "__main__":
    main()
