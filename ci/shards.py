"""Runs a campaign in shards on a real scheduler while its processes are killed, and compares it with one machine's.

    python ci/shards.py target/release/planproof --on slurm --cases 40000 --repeat 5 --shards 40 --kills 30
    python ci/shards.py target/release/planproof --on parallel --cases 400 --shards 10 --kills 19

A simulated model behind `planproof serve-model` counts requests. Shards run as `planproof shard plan` writes them: with
`sbatch` (SLURM_CONF names a cluster whose nodes are on this machine) or GNU parallel. At random moments, processes are
killed with -9 or, on Slurm, requeued; with --node-pid FILE, the daemon of one node is killed in the middle. What is left
then is submitted again, as its users would. Checked:
- every unit has one run, and verdicts and traces are those of one machine, byte for byte but for times;
- the requests that were asked more than on one machine are no more than those of the runs that were cut off;
- the budget is kept, and the merged campaign is sealed.

Prints what was seen as one JSON line, and exits with 1 and reasons if anything is wrong. Everything is in --folder, by
default a temporary one that is removed. Needs nothing but the standard library.
"""

import argparse
import atexit
import hashlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

KEY = "key-of-the-check"
# Longest time of the whole campaign in shards, in seconds.
SECONDS_MAX = 3000


class Run:
    """Commands of planproof in a folder."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = Path(program).resolve(), folder
        path = f"{self.program.parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PLANPROOF_SERVE_KEY": KEY, "SLOW_API_KEY": KEY}

    def out(self, *words: str, allowed: tuple[int, ...] = (0,)) -> str:
        """What a command prints."""
        done = subprocess.run(words, cwd=self.folder, env=self.environment, text=True, capture_output=True, check=False)
        if done.returncode not in allowed:
            sys.exit(f"shards: {' '.join(words)} exited with {done.returncode}: {done.stderr}")
        return done.stdout

    def planproof(self, *words: str, allowed: tuple[int, ...] = (0,)) -> str:
        """What planproof prints."""
        return self.out(str(self.program), *words, allowed=allowed)


class Served:
    """A model that counts its requests, always at the same address."""

    def __init__(self, run: Run, model: str, port: int) -> None:
        command = [str(run.program), "serve-model", model, "--port", str(port), "--json", "-q"]
        self._process = subprocess.Popen(command, env=run.environment, text=True, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        # Also where a step of the check fails.
        atexit.register(self._process.kill)
        self.url = json.loads(self._process.stdout.readline())["base_url"]

    def end(self) -> tuple[int, float]:
        """How many requests it was asked, and its CPU seconds."""
        before = os.times()
        self._process.terminate()
        out, _ = self._process.communicate()
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return json.loads(out.splitlines()[-1])["requests"], cpu


def shard_processes(folder: Path) -> list[int]:
    """The processes that run shards in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"--shard" in words and b"test" in words and (entry / "cwd").resolve() == folder:
                # The shell around it has them in one word.
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class Killer(threading.Thread):
    """Kills processes of shards at random moments."""

    def __init__(self, folder: Path, kills: int, seconds: float, seed: int, jobs: Any, node_pid: Path | None) -> None:
        super().__init__(daemon=True)
        self._folder, self._seconds, self._draw = folder, seconds, random.Random(seed)
        self._left, self._jobs, self._node_pid = kills, jobs, node_pid
        self.killed = self.requeued = self.nodes = 0
        self.is_over = False

    def run(self) -> None:
        """Kills until nothing is left to kill."""
        pause = self._seconds / max(self._left, 1)
        half = self._left // 2
        while self._left > 0 and not self.is_over:
            time.sleep(self._draw.uniform(0.3, 1.0) * pause)
            running = shard_processes(self._folder)
            if not running:
                continue
            jobs = self._jobs() if self._draw.random() < 0.35 else []
            if jobs:
                done = subprocess.run(["scontrol", "requeue", self._draw.choice(jobs)], capture_output=True, check=False)
                self.requeued += done.returncode == 0
                self._left -= done.returncode == 0
            else:
                try:
                    os.kill(self._draw.choice(running), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.killed += 1
                self._left -= 1
            if self._node_pid and self._left <= half and self.nodes == 0:
                os.kill(int(self._node_pid.read_text(encoding="utf-8")), signal.SIGKILL)
                self.nodes = 1


def running_jobs() -> list[str]:
    """The tasks of Slurm that run."""
    out = subprocess.run(["squeue", "-h", "-r", "-t", "R", "-o", "%i"], text=True, capture_output=True, check=False)
    return out.stdout.split()


def queued() -> bool:
    """Whether Slurm has anything left."""
    out = subprocess.run(["squeue", "-h", "-r", "-o", "%i"], text=True, capture_output=True, check=False)
    return bool(out.stdout.split())


def submit(run: Run, scheduler: str, shards: list[int], end: float) -> None:
    """Runs these shards to the end of their tasks, however they end."""
    if scheduler == "slurm":
        numbers = ",".join(map(str, shards))
        run.out("sbatch", f"--array={numbers}", "--output=log-%a.txt", "job.sh")
        while queued() and time.monotonic() < end:
            time.sleep(0.5)
    else:
        subprocess.run(["sh", "job.sh"], cwd=run.folder, env=run.environment, capture_output=True, check=False)


def missing(run: Run) -> list[int]:
    """The shards that are not complete, after a merge of what is there."""
    stores = sorted(str(path.relative_to(run.folder)) for path in (run.folder / "shards").glob("*.db"))
    merged = json.loads(run.planproof("runs", "merge", *stores, "--into", "all.db", "--json", allowed=(0, 3)))
    return [int(it["shard"].split("/")[0]) for it in merged["missing"]]


def started(folder: Path) -> tuple[int, int]:
    """How many runs were started in all shards, and how many are there."""
    begun = there = 0
    for path in (folder / "shards").glob("*.db"):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        begun += connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'run'").fetchone()[0]
        there += connection.execute("SELECT count(*) FROM run WHERE state = 'finished'").fetchone()[0]
        connection.close()
    return begun, there


def export(run: Run, store: str, form: str) -> tuple[str, int, int]:
    """The digest of an export without times, how many units it has, and the most model turns of a run."""
    command = [str(run.program), "runs", "export", "last", "--format", form, "--store", store, "-q"]
    digest, units, turns, most = hashlib.sha256(), set(), 0, 0
    with subprocess.Popen(command, cwd=run.folder, env=run.environment, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            line = re.sub(r'^\{"at":\d+,', "{", line)
            digest.update(line.encode())
            if line.startswith('{"schema":"planproof/trace/'):
                header = json.loads(line)
                units.add((header["case"], header["repeat"]))
                turns = 0
            elif '"type":"turn"' in line or '"type":"reply"' in line:
                turns += 1
                most = max(most, turns)
    return digest.hexdigest(), len(units), most


def main() -> int:
    """Returns 0 when nothing is wrong, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("planproof")
    parser.add_argument("--on", choices=["slurm", "parallel"], default="slurm")
    parser.add_argument("--model", default="sim/careless")
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--port", type=int, default=18_473)
    parser.add_argument("--node-pid", type=Path, help="file with the process of a node's daemon, which is killed")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        seen, reasons = compare(Run(options.planproof, folder), options)
    print(json.dumps({**seen, "wrong": len(reasons)}))
    for reason in reasons:
        print(f"shards: {reason}", file=sys.stderr)
    return 1 if reasons else 0


def compare(run: Run, options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Runs the campaign on one machine and in shards, and says what was seen and what is wrong."""
    served = Served(run, options.model, options.port)
    units = options.cases * options.repeat
    line = (
        f"test tools@slow={served.url}/sim --key-for {served.url}=SLOW_API_KEY --cases {options.cases} "
        f"--repeat {options.repeat} --seed {options.seed} --concurrency {options.concurrency} --no-check"
    ).split()
    began = time.monotonic()
    run.planproof(*line, "--store", "one.db", "-q", allowed=(0, 1))
    alone_seconds = time.monotonic() - began
    alone_requests, _ = served.end()
    report = json.loads(run.planproof("runs", "show", "last", "--json", "--store", "one.db", "-q"))
    budget = 3 * (report["tokens"]["input"] + report["tokens"]["output"])

    served = Served(run, options.model, options.port)
    budgeted = [*line, "--max-tokens", str(budget)]
    plan = ["shard", "plan", "--for", options.on, "--shards", str(options.shards), "--", *budgeted]
    (run.folder / "job.sh").write_text(run.planproof(*plan), encoding="utf-8")
    jobs = running_jobs if options.on == "slurm" else list
    killer = Killer(run.folder, options.kills, alone_seconds, options.seed, jobs, options.node_pid)
    began = time.monotonic()
    end = began + SECONDS_MAX
    killer.start()
    left, rounds = list(range(1, options.shards + 1)), 0
    while left and time.monotonic() < end:
        rounds += 1
        submit(run, options.on, left, end)
        left = missing(run)
    killer.is_over = True
    shards_seconds = time.monotonic() - began
    requests, _ = served.end()
    begun, there = started(run.folder)

    reasons = [f"shards {left} are not complete"] if left else []
    alone = {form: export(run, "one.db", form) for form in ["traces", "verdicts"]}
    shards = {form: export(run, "all.db", form) for form in ["traces", "verdicts"]}
    for form, (digest, _, _) in alone.items():
        if shards[form][0] != digest:
            reasons.append(f"the {form} differ")
    if shards["traces"][1] != units or there != units:
        reasons.append(f"{units} units have {there} runs, and {shards['traces'][1]} traces")
    # A run asks once more for each turn, and once more at its end.
    most = alone["traces"][2] or 64
    cut = begun - there
    if requests - alone_requests > cut * most:
        reasons.append(f"{requests - alone_requests} requests were asked twice, by {cut} runs that were cut off")
    merged = json.loads(run.planproof("runs", "show", "last", "--json", "--store", "all.db", "-q"))
    spent = merged["tokens"]["input"] + merged["tokens"]["output"]
    if spent > budget:
        reasons.append(f"{spent} tokens were spent of {budget}")
    run.planproof("runs", "verify", "last", "--store", "all.db")
    return {
        "on": options.on,
        "units": units,
        "shards": options.shards,
        "rounds": rounds,
        "killed": killer.killed,
        "requeued": killer.requeued,
        "nodes_down": killer.nodes,
        "runs_cut": cut,
        "requests": {"one_machine": alone_requests, "shards": requests},
        "tokens": spent,
        "budget": budget,
        "seconds": {"one_machine": round(alone_seconds, 1), "shards": round(shards_seconds, 1)},
        "traces_sha256": shards["traces"][0][:16],
    }, reasons


if __name__ == "__main__":
    sys.exit(main())
