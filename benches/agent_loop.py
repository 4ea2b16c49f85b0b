"""Measures the agent loop of `planproof test` beside the bare HTTP requests it makes, and the memory of many runs.

Every side is a process of its own, and the sides take turns, so that what else the machine does hits all of them. CPU
time and memory are the client's, not the server's. "bare requests" sends what a campaign sent, from a recording;
"campaign" is `planproof_engine::Campaign` with the run store. The CPU time of these two begins when the bodies, or the
cases, are ready. "planproof test" is the whole command from its start to its end, drawing cases and report included. A
step is a model request. Prints Markdown tables of medians with the lowest and the highest value.

    python benches/agent_loop.py
    python benches/agent_loop.py --langgraph    # needs .venvs/langgraph, see benches/README.md
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEY = "benchmark"
ACTIONS = 10
LOOP_RUNS = 2000
LOOP_CONCURRENCY = 64
MEMORY_RUNS = 5000
THINK_MS = 200
LANGGRAPH = ROOT / ".venvs/langgraph/bin/python"
LANGGRAPH_RUNS = 100

Sample = dict[str, float]


def build() -> tuple[Path, Path]:
    """Builds in release mode; gives the command and the benchmark program."""
    command = ["cargo", "build", "--release", "--message-format=json", "-p", "planproof", "--bin", "planproof"]
    command += ["-p", "planproof-order", "--bench", "agent_loop"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    programs = {m["target"]["name"]: Path(m["executable"]) for m in messages if m.get("executable")}
    return programs["planproof"], programs["agent_loop"]


@contextmanager
def served(planproof: Path, think_ms: int) -> Iterator[str]:
    """The simulated model behind HTTP, as a process of its own; gives its address and port."""
    command = [planproof, "serve-model", "sim/perfect", "--think", str(think_ms), "--json", "--quiet"]
    environment = {**os.environ, "PLANPROOF_SERVE_KEY": KEY}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["base_url"].removeprefix("http://").removesuffix("/v1")
        finally:
            server.terminate()


def measured(command: list[Any], address: str) -> tuple[Sample, str]:
    """Runs a process to its end: CPU seconds, peak memory and what it wrote to stdout."""
    environment = {**os.environ, "OPENAI_BASE_URL": f"http://{address}/v1", "OPENAI_API_KEY": KEY}
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    # Read to its end before the wait: a child that fills the pipe would never end.
    output = child.stdout.read()
    # `wait4` gives the resources of this child alone. `Popen` does not notice, so its exit status is set here.
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} exited with {child.returncode}: {output}")
    return {"cpu": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024}, output


def planproof_test(planproof: Path, address: str, runs: int, concurrency: int) -> Sample:
    """`planproof test` from its start to its end: drawing the cases, the run store and the report included."""
    with tempfile.TemporaryDirectory() as folder:
        command = [planproof, "test", "tools@openai/sim/perfect", "--cases", str(runs), "--actions", str(ACTIONS)]
        command += ["--concurrency", str(concurrency), "--store", f"{folder}/runs.db", "--json", "--quiet"]
        sample, output = measured(command, address)
    report = json.loads(output)
    if report["passed"] != runs:
        sys.exit(f"{report['passed']} of {runs} runs passed")
    return {**sample, "steps": runs * (ACTIONS + 1)}


def bare(program: Path, address: str, recording: Path) -> Sample:
    """The recorded requests alone."""
    command = [program, "bare", "--server", address, "--key", KEY, "--recording", recording]
    sample, output = measured([*command, "--concurrency", str(LOOP_CONCURRENCY)], address)
    result = json.loads(output)
    return {**sample, "cpu": result["cpu_seconds"], "steps": result["steps"]}


def campaign(program: Path, runs: int, concurrency: int, model: list[str]) -> Sample:
    """A campaign with the run store."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "campaign", "--runs", str(runs), "--actions", str(ACTIONS), *model]
        command += ["--concurrency", str(concurrency), "--store", f"{folder}/runs.db"]
        sample, output = measured(command, "")
    result = json.loads(output)
    return {**sample, "cpu": result["cpu_seconds"], "steps": result["steps"]}


def langgraph(address: str, cases: Path) -> Sample:
    """The same loop in LangGraph; its own count leaves out imports and one run to warm up."""
    command = [LANGGRAPH, ROOT / "benches/peers/langgraph_loop.py", cases]
    command += ["--runs", str(LANGGRAPH_RUNS), "--concurrency", "16", "--model", "sim/perfect"]
    sample, output = measured(command, address)
    result = json.loads(output)
    return {**sample, "cpu": result["cpu_seconds"], "steps": result["steps"]}


def record(planproof: Path, program: Path, address: str, out: Path) -> None:
    """Keeps the requests that `planproof test` sends."""
    command = [program, "record", "--upstream", address, "--out", out]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as recorder:
        assert recorder.stdout is not None and recorder.stdin is not None
        # The recorder prints its address and passes requests on to the model; it ends with its stdin.
        planproof_test(planproof, recorder.stdout.readline().strip(), LOOP_RUNS, LOOP_CONCURRENCY)
        recorder.stdin.close()


def in_turn(sides: dict[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """Every side once a round."""
    samples: dict[str, list[Sample]] = {name: [] for name in sides}
    for number in range(rounds):
        for name, side in sides.items():
            print(f"round {number + 1}: {name} (load {os.getloadavg()[0]:.1f})", file=sys.stderr)
            samples[name].append(side())
    return samples


def spread(values: list[float], digits: int) -> str:
    """Median, lowest and highest."""
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def loop_table(samples: dict[str, list[Sample]]) -> None:
    """The ratio is that of each round, so that what slowed down a whole round cancels out."""
    per_second = {name: [s["steps"] / s["cpu"] for s in taken] for name, taken in samples.items()}
    print("| side | steps | CPU seconds | steps per CPU second | of the bare requests | peak MiB |")
    print("|---|---|---|---|---|---|")
    for name, taken in samples.items():
        ratios = [own / bare for own, bare in zip(per_second[name], per_second["bare requests"], strict=True)]
        cells = [name, f"{taken[0]['steps']:,.0f}", spread([s["cpu"] for s in taken], 2)]
        cells += [spread(per_second[name], 0), spread(ratios, 3), spread([s["mib"] for s in taken], 0)]
        print(f"| {' | '.join(cells)} |")


def memory_table(samples: dict[str, list[Sample]]) -> None:
    """Peak memory of the client process."""
    print("| model | runs at once | peak MiB | CPU seconds |")
    print("|---|---|---|---|")
    for name, taken in samples.items():
        mib, cpu = spread([s["mib"] for s in taken], 0), spread([s["cpu"] for s in taken], 2)
        print(f"| {name} | {MEMORY_RUNS:,} | {mib} | {cpu} |")


def main() -> None:
    """Builds, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--langgraph", action="store_true", help="measure LangGraph's loop beside it")
    options = parser.parse_args()
    # Each run has a connection of its own, at the client and at the server.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    planproof, program = build()
    with tempfile.TemporaryDirectory() as folder, served(planproof, 0) as address:
        recording, cases = Path(folder, "requests"), Path(folder, "cases.jsonl")
        record(planproof, program, address, recording)
        sides = {
            "bare requests": lambda: bare(program, address, recording),
            "campaign": lambda: campaign(
                program, LOOP_RUNS, LOOP_CONCURRENCY, ["--server", address, "--key", KEY]
            ),
            "planproof test": lambda: planproof_test(planproof, address, LOOP_RUNS, LOOP_CONCURRENCY),
        }
        if options.langgraph:
            synth = [planproof, "synth", "--count", str(LANGGRAPH_RUNS), "--actions", str(ACTIONS), "--json"]
            cases.write_bytes(subprocess.run(synth, check=True, stdout=subprocess.PIPE).stdout)
            sides["LangGraph"] = lambda: langgraph(address, cases)
        loop_table(in_turn(sides, options.rounds))
    print(flush=True)
    with served(planproof, THINK_MS) as address:
        sides = {
            "in process": lambda: campaign(program, MEMORY_RUNS, MEMORY_RUNS, ["--think-ms", str(THINK_MS)]),
            "over HTTP": lambda: planproof_test(planproof, address, MEMORY_RUNS, MEMORY_RUNS),
        }
        memory_table(in_turn(sides, options.rounds))


if __name__ == "__main__":
    main()
