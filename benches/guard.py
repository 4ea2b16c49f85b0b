"""Measures what a guard costs: a call through it, a hook, and records that are held against rules.

    cargo build --release -p planproof
    cargo build --release -p planproof-tools --examples --config profile.release.package.rmcp.opt-level=3
    python3 benches/guard.py --release target/release [--peers VENV] [calls] [hooks] [records]

`calls`: the time of a call of a tool over stdio, without anything in between, through `planproof guard` (with a log,
and with a history as well), and through a pass-through of the SDK's types that decides nothing. The four take turns, a
round each. `hooks`: the CPU time of a process for one event with 20 rules, beside `python3 -c pass` and, with
`--peers`, the hooks of others that are installed in a virtual environment. `records`: the CPU time of `planproof check
--rules` beside that of reading the same lines with serde_json. Prints Markdown tables.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

CALLS, ROUNDS = 2000, 5
EVENTS = 40
SESSIONS, TURNS = 2000, 20

RULES = "schema: planproof/rules/v1\nrules:\n"
FOUR = RULES + """\
  - {id: look-first, requires: {call: refund, done: get_order}, per: /order_id}
  - {id: once, at-most: {call: refund, times: 1}, per: /order_id}
  - {id: small, never: {call: refund, where: {/amount: {above: 100}}}}
  - {id: inform, followed-by: {done: refund, call: send_email}}
"""


def twenty() -> str:
    """Twenty rules, of all kinds."""
    kinds = (
        "requires: {{call: tool_{0}, done: look_{0}}}, per: /id",
        "at-most: {{call: tool_{0}, times: 3}}",
        "never: {{call: tool_{0}, where: {{/amount: {{above: 100}}}}}}",
        "followed-by: {{done: tool_{0}, call: tell_{0}}}",
        "never-after: {{call: tool_{0}, done: close_{0}}}, per: /id",
    )
    lines = (f"  - {{id: r{number}, {kinds[number % len(kinds)].format(number)}}}\n" for number in range(20))
    return RULES + "".join(lines)


class Server:
    """A session with an MCP server over stdio."""

    def __init__(self, words: list[str], folder: str) -> None:
        self.child = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
        self.ask(message("initialize", greeting, 0))
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
        listed = json.loads(self.ask(message("tools/list", {}, 1)))
        self.tool = listed["result"]["tools"][0]["name"]

    def write(self, line: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(line.encode())

    def ask(self, line: str) -> bytes:
        assert self.child.stdout is not None
        self.write(line)
        return self.child.stdout.readline()

    def times(self, count: int, first: int) -> list[float]:
        """Seconds of each of so many calls."""
        taken = []
        for number in range(first, first + count):
            line = message("tools/call", {"name": self.tool, "arguments": {"note": f"call {number}"}}, number)
            begin = time.perf_counter()
            answer = self.ask(line)
            taken.append(time.perf_counter() - begin)
            assert b'"result"' in answer, answer
        return taken

    def end(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()


def message(method: str, params: dict, number: int) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def calls(release: Path, folder: str) -> None:
    planproof = str(release / "planproof")
    case = subprocess.run([planproof, "synth", "--count", "1", "--actions", "3"], capture_output=True, check=True)
    Path(folder, "case.jsonl").write_bytes(case.stdout)
    Path(folder, "rules.yaml").write_text(FOUR)
    server = [planproof, "serve-tools", "--case", "case.jsonl", "--stdio"]
    guard = [planproof, "guard", "--rules", "rules.yaml", "--enforce", "-q", "--log", "log.jsonl"]
    history = ["--history", "guard.db", "--session-name", "s"]
    ways = {
        "nothing": server,
        "planproof guard, log": [*guard, "--", *server],
        "planproof guard, log and history": [*guard, *history, "--", *server],
        "rmcp, typed, no decision": [str(release / "examples" / "pass_through"), *server],
    }
    sessions = {name: Server(words, folder) for name, words in ways.items()}
    for session in sessions.values():
        session.times(200, 10)
    rounds: dict[str, list[list[float]]] = {name: [] for name in ways}
    for number in range(ROUNDS):
        for name, session in sessions.items():
            rounds[name].append(session.times(CALLS, 1000 + number * CALLS))
    for session in sessions.values():
        session.end()
    row("in between", "p50, microseconds", "added at p50", "p99", "added in each round")
    row(*["---"] * 5)

    def at(part: float, times: list[float]) -> float:
        return sorted(times)[int(len(times) * part)] * 1e6

    bare = [at(0.5, times) for times in rounds["nothing"]]
    for name, all_times in rounds.items():
        together = [seconds for times in all_times for seconds in times]
        added = [at(0.5, times) - none for times, none in zip(all_times, bare)]
        span = f"{min(added):.0f} to {max(added):.0f}"
        row(name, f"{at(0.5, together):.0f}", f"{statistics.median(added):.0f}", f"{at(0.99, together):.0f}", span)


def cpu(words: list[str], text: str, folder: str) -> float:
    """Milliseconds of CPU that a process takes, with its children."""
    child = subprocess.Popen(
        words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert child.stdin is not None
    child.stdin.write(text.encode())
    child.stdin.close()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in (0, 2), (words, child.returncode)
    return (used.ru_utime + used.ru_stime) * 1e3


def event(number: int) -> str:
    return json.dumps(
        {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "look_5", "tool_input": {"id": number},
         "tool_use_id": str(number), "cwd": "/", "transcript_path": "", "permission_mode": "default"}
    )  # fmt: skip


def hooks(release: Path, folder: str, peers: Path | None) -> None:
    Path(folder, "twenty.yaml").write_text(twenty())
    hook = [str(release / "planproof"), "hook", "claude-code", "--rules", "twenty.yaml", "--enforce"]
    ways = {
        "planproof hook, 20 rules, `--state`": [*hook, "--state", "state"],
        "planproof hook, 20 rules, `--history`": [*hook, "--history", "guard.db"],
        "`python3 -c pass`": ["python3", "-c", "pass"],
    }
    if peers is not None:
        ways |= {name: [str(word) for word in words] for name, words in peer_hooks(peers, Path(folder)).items()}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(EVENTS):
        for name, words in ways.items():
            taken[name].append(cpu(words, event(number), folder))
    row("process for an event", "CPU, milliseconds", "lowest to highest")
    row(*["---"] * 3)
    for name, times in taken.items():
        row(name, f"{statistics.median(times):.1f}", f"{min(times):.1f} to {max(times):.1f}")


def peer_hooks(venv: Path, folder: Path) -> dict[str, list[Path | str]]:
    """The hooks of others that are installed there, each with twenty rules of its own language."""
    python = venv / "bin" / "python"
    first = [{"template": "must_precede", "args": [f"look_{number}", f"tool_{number}"]} for number in range(10)]
    limits = [
        {"template": "rate_limit", "args": [f"tool_{number}"], "kwargs": {"n": 3, "window_seconds": 60}}
        for number in range(10, 20)
    ]
    (folder / "acel.json").write_text(json.dumps({"contracts": first + limits}))
    rules = "".join(
        f"  - id: r{number}\n    before: {{first: {{tool: look_{number}}}, then: {{tool: tool_{number}}}}}\n"
        f"    why: First things first.\n"
        for number in range(20)
    )
    (folder / "AGENTLTL.yaml").write_text("rules:\n" + rules)
    return {
        "`acel hook-pretooluse`, 20 rules": [python, "-m", "acel.cli", "hook-pretooluse", "--rules", "acel.json"],
        "`agentltl_coding.Session`, 20 rules": [python, HERE / "peers" / "agentltl_hook.py"],
    }


def records(release: Path, folder: str) -> None:
    Path(folder, "twenty.yaml").write_text(twenty())
    path = Path(folder, "sessions.jsonl")
    with path.open("w") as out:
        for session in range(SESSIONS):
            messages: list[dict] = [{"role": "user", "content": "Please see to the orders, one after the other."}]
            for turn in range(TURNS):
                tool = f"{('look', 'tool', 'tell')[turn % 3]}_{turn % 20}"
                arguments = json.dumps({"id": session, "amount": turn, "note": "as the customer asked for it"})
                call = {"id": f"c{turn}", "type": "function", "function": {"name": tool, "arguments": arguments}}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                outcome = json.dumps({"id": session, "status": "paid", "text": "some words of an answer " * 8})
                messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": outcome})
            out.write(json.dumps({"messages": messages}) + "\n")
    check = [str(release / "planproof"), "check", "--rules", "twenty.yaml", str(path), "--json"]
    parse = [str(release / "examples" / "parse_lines"), str(path)]
    # `check` ends with 1 where a session violates a rule.
    pairs = [(run(check, folder), run(parse, folder)) for _ in range(7)]
    checks, parses = zip(*pairs)
    ratios = [one / other for one, other in pairs]
    print(f"{SESSIONS} sessions of {TURNS} calls, {path.stat().st_size / 1e6:.0f} MB, 20 rules\n")
    row("", "CPU, milliseconds", "ratio")
    row(*["---"] * 3)
    row("serde_json, the same lines", f"{statistics.median(parses):.0f}", 1)
    span = f"{min(ratios):.2f} to {max(ratios):.2f}"
    row("planproof check --rules", f"{statistics.median(checks):.0f}", f"{statistics.median(ratios):.2f} ({span})")


def run(words: list[str], folder: str) -> float:
    child = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in (0, 1), (words, child.returncode)
    return (used.ru_utime + used.ru_stime) * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--peers", type=lambda path: Path(path).resolve())
    parser.add_argument("what", nargs="*", default=["calls", "hooks", "records"])
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}\n")
    for what in options.what:
        with tempfile.TemporaryDirectory() as folder:
            match what:
                case "calls":
                    calls(options.release, folder)
                case "hooks":
                    hooks(options.release, folder, options.peers)
                case "records":
                    records(options.release, folder)
                case _:
                    parser.error(f"{what} is not calls, hooks or records")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
