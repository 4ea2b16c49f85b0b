"""What a campaign of the LangGraph example costs with `worker:` and with `command:`, in CPU time of the whole tree.

    python3 benches/workers.py PLANPROOF [CASES]

Needs `examples/make_venvs.sh langgraph` and Linux. One case is run before, so that no figure has the compilation of Python
files in it. Prints a line of JSON; exits with 1 if the worker is not at least 10 times as cheap, or a case fails.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venvs/langgraph/bin/python"
EXAMPLE = ROOT / "examples/langgraph"
CASES = 20
FACTOR_MIN = 10
# <linux/prctl.h>
PR_SET_CHILD_SUBREAPER = 36


def cost(planproof: str, agent: str, cases: int, folder: str) -> dict:
    """User and system seconds of a campaign with all its processes, and what it says of the agent."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python/src"), "PYTHONPYCACHEPREFIX": f"{folder}/pycache"}
    # With it, each process would compile its modules again, which the first case is meant to prevent.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [planproof, "test", agent, "--serve-model", "sim/perfect", "--cases", str(cases), "--quiet", "--json"]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall = time.monotonic() - begun
    if not ran.stdout:
        sys.exit(f"{agent}: exit status {ran.returncode}: {ran.stderr}")
    # What the campaign killed without waiting for it is ours by now.
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = json.loads(ran.stdout)
    return {"cpu": round(cpu, 2), "wall": round(wall, 1), "passed": report["passed"], "runs": report["runs"]}


def main() -> None:
    """Runs both, and compares."""
    planproof = str(Path(sys.argv[1]).resolve())
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else CASES
    # Orphans of a campaign become our children, so that their CPU time is counted, too.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    agents = {"worker": f"worker:{PYTHON} {EXAMPLE}/worker.py", "command": f"command:{PYTHON} {EXAMPLE}/agent.py"}
    with tempfile.TemporaryDirectory() as folder:
        for agent in agents.values():
            cost(planproof, agent, 1, folder)
        found = {name: cost(planproof, agent, cases, folder) for name, agent in agents.items()}
    factor = found["command"]["cpu"] / found["worker"]["cpu"]
    print(json.dumps({"cases": cases, **found, "factor": round(factor, 1)}))
    if factor < FACTOR_MIN or any(one["passed"] != cases for one in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
