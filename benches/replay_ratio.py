"""Measures how much faster a recorded campaign is replayed than it was run.

The recorded campaign asks a simulated model that is served by a process of its own and thinks for a while before each
answer, in the place of a real model, which takes a second or more. Both times are of the whole command `planproof test`
on the clock on the wall: drawing the cases, the run store and the report included. Prints a Markdown table of medians
with the lowest and the highest value.

    python benches/replay_ratio.py
    python benches/replay_ratio.py --program target/debug/planproof
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEY = "benchmark"
THINK_MS = 20
ACTIONS = 8
# Runs at once, and cases: so many that a recorded campaign takes some seconds.
CAMPAIGNS = [(1, 150), (8, 1200), (64, 4000)]


def build() -> Path:
    """Builds the command in release mode."""
    command = ["cargo", "build", "--release", "--message-format=json", "-p", "planproof", "--bin", "planproof"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    return next(Path(m["executable"]) for m in messages if m.get("executable"))


@contextmanager
def served(program: Path) -> Iterator[str]:
    """The simulated model behind HTTP; gives its base URL."""
    command = [program, "serve-model", "sim/perfect", "--think", str(THINK_MS), "--json", "--quiet"]
    environment = {**os.environ, "PLANPROOF_SERVE_KEY": KEY}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["base_url"]
        finally:
            server.terminate()


def timed(command: list[str | Path], folder: str, base_url: str | None) -> tuple[float, dict]:
    """Seconds that a command takes, and its report. Without a URL it has neither server nor key."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    if base_url is not None:
        environment |= {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": KEY}
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{command} exited with {done.returncode}")
    return seconds, json.loads(done.stdout)


def spread(values: list[float], form: str) -> str:
    """The median with the lowest and the highest value."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, help="the command to measure, in the place of a release build")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    program = (arguments.program or build()).resolve()
    print(f"Model requests wait {THINK_MS} ms each; {ACTIONS} actions a case; {arguments.rounds} rounds.\n")
    print("| runs at once | cases | requests | recorded, seconds | replayed, seconds | ratio |")
    print("|---|---|---|---|---|---|")
    for concurrency, cases in CAMPAIGNS:
        recorded, replayed, ratios, requests = [], [], [], 0
        for _ in range(arguments.rounds):
            with tempfile.TemporaryDirectory() as folder:
                line = ["test", "tools@openai/sim/perfect", "--cases", str(cases), "--actions", str(ACTIONS)]
                line += ["--concurrency", str(concurrency), "--record", "r.jsonl", "--json", "--quiet"]
                with served(program) as base_url:
                    slow, first = timed([program, *line], folder, base_url)
                # After the server has ended: a replay that asked a model would fail.
                fast, second = timed([program, "test", "--replay", "r.jsonl", "--json", "--quiet"], folder, None)
                if first["passed"] != second["passed"] or first["tokens"] != second["tokens"]:
                    sys.exit("the replay came out differently")
                text = (Path(folder) / "r.jsonl").read_text()
                requests = text.count('"type":"exchange"')
            recorded.append(slow)
            replayed.append(fast)
            ratios.append(slow / fast)
        row = [concurrency, cases, f"{requests:,}", spread(recorded, ".2f"), spread(replayed, ".3f"), spread(ratios, ".0f")]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
