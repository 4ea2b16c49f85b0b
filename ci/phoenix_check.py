"""Whether Phoenix understands the runs that `planproof report --otlp URL` sends it.

    python3 -m venv VENV && VENV/bin/pip install arize-phoenix
    python3 ci/phoenix_check.py --planproof target/debug/planproof --phoenix VENV --shot phoenix.png

Starts Phoenix on this machine with a store of its own, runs a campaign of a simulated model of which some runs fail,
sends it, and compares what Phoenix answers about its spans with the traces of the campaign: as many traces as runs, as
many spans of tools as calls, their names and arguments, and a verdict on each run. With `--shot`, Chromium takes a
picture of Phoenix's page of the traces, for somebody to look at.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

# Seconds that Phoenix may take to begin, and to have read what it was sent.
START, READ = 120, 60
CASES = 8


def asked(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def wait(url: str) -> None:
    for _ in range(START):
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            time.sleep(1)
    sys.exit(f"Phoenix has not begun within {START} seconds")


def spans(base: str) -> list[dict[str, Any]]:
    """All spans of the project that has some."""
    found: list[dict[str, Any]] = []
    for project in asked(f"{base}/v1/projects")["data"]:
        cursor = ""
        while cursor is not None:
            page = asked(f"{base}/v1/projects/{project['id']}/spans?limit=500{cursor}")
            found += page["data"]
            cursor = f"&cursor={page['next_cursor']}" if page.get("next_cursor") else None
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planproof", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--phoenix", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--port", type=int, default=16006)
    parser.add_argument("--shot", type=lambda path: Path(path).resolve())
    options = parser.parse_args()
    base = f"http://127.0.0.1:{options.port}"
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PHOENIX_WORKING_DIR": folder,
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(options.port),
            "PHOENIX_GRPC_PORT": str(options.port + 1),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        command = [options.phoenix / "bin" / "phoenix", "serve"]
        log = Path(folder, "phoenix.log").open("w")
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait(f"{base}/healthz")
            return check(options, base, folder)
        finally:
            server.terminate()
            server.wait(30)


def check(options: argparse.Namespace, base: str, folder: str) -> int:
    def planproof(*words: str) -> str:
        done = subprocess.run([options.planproof, *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    planproof("test", "tools@sim/careless", "--cases", str(CASES), "--seed", "7", "-q")
    planproof("report", "last", "--otlp", f"{base}/v1/traces")
    events = [json.loads(line) for line in planproof("runs", "export", "last").splitlines()]
    calls = [event for event in events if event.get("type") == "call"]
    expected = collections.Counter(call["name"] for call in calls)
    found: list[dict[str, Any]] = []
    for _ in range(READ):
        found = spans(base)
        tools = [span for span in found if span["span_kind"] == "TOOL"]
        if len(tools) >= len(calls):
            break
        time.sleep(1)
    traces = {span["context"]["trace_id"] for span in found}
    names = collections.Counter(
        span["attributes"].get("tool.name") or span["attributes"].get("gen_ai.tool.name") for span in tools
    )
    kinds = collections.Counter(span["span_kind"] for span in found)
    verdicts = [
        event for span in found for event in span.get("events", []) if event["name"] == "gen_ai.evaluation.result"
    ]
    print(f"{len(traces)} traces, {dict(kinds)}, {len(verdicts)} verdicts; {len(calls)} calls in {CASES} runs")
    faults = []
    if len(traces) != CASES:
        faults.append("there are not as many traces as runs")
    if names != expected:
        faults.append(f"tools: {names} and not {expected}")
    if len(verdicts) != CASES:
        faults.append("there are not as many verdicts as runs")
    if options.shot is not None:
        project = next(project for project in asked(f"{base}/v1/projects")["data"])
        chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
        page = f"{base}/projects/{project['id']}/traces"
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1500,1000",
             "--virtual-time-budget=20000", f"--screenshot={options.shot}", page],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        print(f"{options.shot} shows {page}")
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
