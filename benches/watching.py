"""How fast pages of run stores are made, and what it costs to watch a campaign.

    python benches/watching.py [--planproof target/release/planproof] [--inspect .venvs/inspect/bin/inspect]

Builds planproof in release mode unless it is named. Measured are
- the first page of a store of --runs runs, from the start of `planproof view` and from the request, beside `inspect view`
  (if it is named) with the log of a tenth of the runs;
- filters of the table of --filtered runs (a million needs some GB) and of 10,000, each on its first request;
- the CPU time of a campaign that is watched, beside one that is not;
- the time from the commit of an event to its state in Chromium (if there is one).
Prints Markdown tables of medians, with the lowest and the highest value. Everything is in a temporary folder that is
deleted at the end.
"""

import argparse
import contextlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from big_store import ROOT, build
from shards import AGENT, shown, took

sys.path.insert(0, str(ROOT / "ci"))
from page_check import BROWSERS  # noqa: E402
from view_check import Browser  # noqa: E402

# Longest time that a server may take to start, in seconds.
START_SECONDS_MAX = 120


def get(url: str) -> int:
    """Loads a page, and returns its size."""
    with urllib.request.urlopen(url, timeout=START_SECONDS_MAX) as answer:
        return len(answer.read())


@contextlib.contextmanager
def viewing(program: str, store: Path) -> Iterator[str]:
    """`planproof view` of a store, and its address."""
    process = subprocess.Popen([program, "view", "--store", str(store), "-q"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def first_pages(program: str, store: Path, rounds: int) -> None:
    """Times the first pages of a store."""
    started, listed, campaign, failed = [], [], [], []
    connection = sqlite3.connect(store)
    run = connection.execute("SELECT id FROM campaign ORDER BY key DESC LIMIT 1").fetchone()[0]
    connection.close()
    for _ in range(rounds):
        began = time.monotonic()
        with viewing(program, store) as address:
            get(address)
            started.append(time.monotonic() - began)
        for path, times in [("", listed), (f"0/{run}/", campaign), (f"0/{run}/?outcome=failed", failed)]:
            with viewing(program, store) as address:
                began = time.monotonic()
                get(address + path)
                times.append(time.monotonic() - began)
    for name, times in [
        ("`planproof view`: start and list of campaigns", started),
        ("list of campaigns, first request", listed),
        ("campaign, first request", campaign),
        ("failed runs of the campaign, first request", failed),
    ]:
        print(f"| {name} | {shown([1000 * it for it in times], 1)} |")


def inspect_pages(inspect: str, logs: Path, rounds: int) -> None:
    """Times `inspect view`: from its start to the list of logs, and to the log whose samples its page lists."""
    listed, samples = [], []
    for _ in range(rounds):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        began = time.monotonic()
        command = [inspect, "view", "start", "--log-dir", str(logs), "--port", str(port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            root = f"http://127.0.0.1:{port}/api"
            while True:
                try:
                    get(f"{root}/logs")
                    break
                except OSError:
                    if time.monotonic() - began > START_SECONDS_MAX:
                        raise
                    time.sleep(0.02)
            listed.append(time.monotonic() - began)
            with urllib.request.urlopen(f"{root}/logs", timeout=START_SECONDS_MAX) as answer:
                name = json.load(answer)["files"][0]["name"]
            began = time.monotonic()
            get(f"{root}/logs/{urllib.request.quote(name, safe='')}?header-only=0")
            samples.append(time.monotonic() - began)
        finally:
            process.terminate()
            process.wait()
    print(f"| `inspect view`, a tenth of the runs: start and list of logs | {shown([1000 * it for it in listed], 0)} |")
    print(f"| the log with its samples, first request | {shown([1000 * it for it in samples], 0)} |")


def filters(program: str, folder: Path, many: int, rounds: int) -> None:
    """Compares filters of a large store with those of a small one."""
    stores = {}
    for name, cases, repeats in [("small", 10_000, 1), ("large", many // 10, 10)]:
        stores[name] = folder / f"{name}.db"
        line = [program, "test", AGENT, "--actions", "2..3", "--cases", str(cases), "--repeat", str(repeats), "--seed", "7"]
        took([*line, "-q", "--store", str(stores[name])], folder)
    # A store that rests is counted once.
    time.sleep(2)
    times: dict[tuple[str, str], list[float]] = {}
    asked = ["", "outcome=failed", "outcome=unscored", "class=order_error", "class=timeout", "text=nothing"]
    for _ in range(rounds):
        for name, store in stores.items():
            connection = sqlite3.connect(store)
            run = connection.execute("SELECT id FROM campaign").fetchone()[0]
            connection.close()
            with viewing(program, store) as address:
                get(f"{address}0/{run}/?text=warm")
                for query in asked:
                    began = time.monotonic()
                    get(f"{address}0/{run}/?{query}")
                    times.setdefault((query, name), []).append(1000 * (time.monotonic() - began))
    for query in asked:
        small, large = times[query, "small"], times[query, "large"]
        ratios = [b / a for a, b in zip(small, large, strict=True)]
        print(f"| {query or 'all runs'} | {shown(small, 1)} | {shown(large, 1)} | {shown(ratios, 1)} |")
    for store in stores.values():
        store.unlink()


def follow(address: str, stop: threading.Event) -> None:
    """Watches a page as its script does."""
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}?live=1", timeout=60) as answer:
        while not stop.is_set() and answer.read1(1 << 16):
            pass


def watched(program: str, folder: Path, cases: int, rounds: int) -> None:
    """Compares the CPU time of a campaign that is watched with one that is not."""
    alone, seen = [], []
    for number in range(rounds):
        line = [program, "test", AGENT, "--cases", str(cases), "--seed", "7", "-q", "--store"]
        alone.append(took([*line, f"alone-{number}.db"], folder)[0])
        process = subprocess.Popen(
            [*line, f"seen-{number}.db", "--view"], cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        address = next(it.split()[1] for it in process.stderr if it.startswith("view "))
        stop = threading.Event()
        threading.Thread(target=follow, args=(address, stop), daemon=True).start()
        process.stderr.read()
        _, _, usage = os.wait4(process.pid, 0)
        stop.set()
        seen.append(usage.ru_utime + usage.ru_stime)
        for path in folder.glob("*.db*"):
            path.unlink()
    ratios = [b / a for a, b in zip(alone, seen, strict=True)]
    print(f"| {cases:,} runs | {shown(alone, 2)} | {shown(seen, 2)} | {shown(ratios, 3)} |")


# Notes when each number of events was first seen.
NOTE = """
window.seen = {};
document.addEventListener("planproof-state", () => requestAnimationFrame(() => {
  const state = document.querySelector("#state [data-events]");
  if (state && !(state.dataset.events in window.seen)) window.seen[state.dataset.events] = Date.now();
}));
true
"""


def commit_to_pixel(program: str, folder: Path, chromium: str) -> None:
    """Compares when events were committed with when a page showed them, for runs on a slow model."""
    environment = {**os.environ, "PLANPROOF_SERVE_KEY": "key-of-the-check", "SLOW_API_KEY": "key-of-the-check"}
    serve = [program, "serve-model", "sim/careless", "--think", "150", "--json", "-q"]
    served = subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True)
    assert served.stdout is not None
    url = json.loads(served.stdout.readline())["base_url"]
    store = folder / "slow.db"
    line = [program, "test", f"tools@slow={url}/sim", "--key-for", f"{url}=SLOW_API_KEY", "--cases", "12", "--actions", "6"]
    command = [*line, "--concurrency", "1", "--no-check", "--view", "-q", "--store", str(store)]
    campaign = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert campaign.stderr is not None
    address = next(it.split()[1] for it in campaign.stderr if it.startswith("view "))
    browser = Browser(chromium)
    # The last runs are still to come when their pages are open.
    tabs = {ordinal: browser.open(f"{address}{ordinal}/0") for ordinal in range(8, 12)}
    for tab in tabs.values():
        tab.run(NOTE)
    committed: dict[tuple[int, int], float] = {}
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    sql = """SELECT run.ordinal, sum(length(lines) - length(replace(lines, char(10), '')) + 1)
             FROM event JOIN run ON run.id = event.run WHERE run.ordinal >= 8 GROUP BY run.ordinal"""
    while campaign.poll() is None:
        now = 1000 * time.time()
        for ordinal, events in connection.execute(sql):
            committed.setdefault((ordinal, events), now)
        time.sleep(0.001)
    late = []
    for ordinal, tab in tabs.items():
        for events, at in tab.run("window.seen").items():
            if (ordinal, int(events)) in committed:
                late.append(at - committed[ordinal, int(events)])
    browser.close()
    served.terminate()
    served.wait()
    late.sort()
    print(f"| {len(late)} states | {shown(late, 0)} | {late[int(0.95 * len(late))]:.0f} |")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--planproof", type=Path)
    parser.add_argument("--inspect")
    parser.add_argument("--chromium", default=next(filter(shutil.which, BROWSERS), None))
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--filtered", type=int, default=1_000_000, help="0: no filters")
    parser.add_argument("--watched", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    program = str((options.planproof or build()).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = folder / "large.db"
        took([program, "test", AGENT, "--cases", str(options.runs), "--seed", "7", "-q", "--store", str(store)], folder)
        print(f"| first pages of {options.runs:,} runs | milliseconds |\n|---|---|")
        first_pages(program, store, options.rounds)
        if options.inspect:
            few = ["--cases", str(options.runs // 10), "--seed", "7", "-q", "--store", "few.db"]
            (folder / "logs").mkdir()
            took([program, "test", AGENT, *few, "--inspect", "logs/2026-01-01T00-00-00+00-00_planproof_runs.json"], folder)
            inspect_pages(options.inspect, folder / "logs", min(options.rounds, 3))
        store.unlink()
        if options.filtered:
            print(f"\n| filter | 10,000 runs, ms | {options.filtered:,} runs, ms | ratio |\n|---|---|---|---|")
            filters(program, folder, options.filtered, options.rounds)
        print("\n| campaign | CPU seconds | watched | ratio |\n|---|---|---|---|")
        watched(program, folder, options.watched, options.rounds)
        if options.chromium:
            print("\n| commit to pixel | milliseconds | 95th percentile |\n|---|---|---|")
            commit_to_pixel(program, folder, options.chromium)


if __name__ == "__main__":
    main()
