#!/usr/bin/env python3
"""Tests agents of several frameworks with simulated models, which plan rightly: every run must pass, every time.

    ci/frameworks/run.py [NAME ...] [--planproof FILE] [--home DIR] [--cases N] [--repeat N]

Each folder beside this file is a framework: `agent.py` with `requirements.txt`, or `agent.mjs` with `package.json`. It is
installed into a folder of its own below --home (by default `.venvs/frameworks`; together about 1.5 GB), once. Needs
Python 3.11 or later, Node 20 or later with npm, and the way to PyPI and npm for the installation alone.
"""

import argparse
import csv
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FORMS = {"basic": [], "time": ["--time"], "infeasible": ["--infeasible", "0.3"]}
MODELS = ["sim/perfect", "sim/parallel"]
# Most runs at once, where a framework stands fewer than others in one process.
CONCURRENCY = {"crewai": 1}


def names() -> list[str]:
    """The frameworks."""
    return sorted(path.parent.name for path in HERE.glob("*/agent.*"))


def install(name: str, home: Path) -> list[str]:
    """Makes sure that a framework is installed; gives the command of its service."""
    source, target = HERE / name, home / name
    is_python = (source / "agent.py").exists()
    pins = (source / ("requirements.txt" if is_python else "package.json")).read_bytes()
    stamp, digest = target / ".made-from", hashlib.sha256(pins).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        print(f"installing {name}", file=sys.stderr)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        if is_python:
            subprocess.run([sys.executable, "-m", "venv", target], check=True)
            pip = [target / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--requirement"]
            subprocess.run([*pip, source / "requirements.txt"], check=True)
        else:
            shutil.copy(source / "package.json", target)
            npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]
            subprocess.run(npm, cwd=target, check=True)
        stamp.write_text(digest)
    if is_python:
        return [str(target / "bin/python"), str(HERE / "service.py"), str(source / "agent.py")]
    # Node looks for packages where the module lies.
    shutil.copy(source / "agent.mjs", target)
    return ["node", str(HERE / "service.mjs"), str(target / "agent.mjs")]


def environment() -> dict[str, str]:
    """Nothing of ours that a framework would take for its own, and no proxy."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith(("_PROXY", "_KEY"))}
    return kept | {"LANGSMITH_TRACING": "false", "DO_NOT_TRACK": "1", "NO_PROXY": "127.0.0.1,localhost"}


def campaign(name: str, url: str, model: str, form: str, options: argparse.Namespace) -> tuple[int, int, str]:
    """Runs a campaign; gives how many runs passed, how many there are, and what else there was to say."""
    concurrency = CONCURRENCY.get(name, options.concurrency)
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / "runs.csv"
        command = [options.planproof.resolve(), "test", f"url:{url}", "--serve-model", model, *FORMS[form]]
        command += ["--cases", str(options.cases), "--repeat", str(options.repeats), "--seed", "7"]
        command += ["--concurrency", str(concurrency), "--store", Path(scratch) / "runs.db", "--csv", table]
        done = subprocess.run(command, capture_output=True, text=True)
        if not table.exists():
            return 0, options.cases * options.repeats, done.stderr.strip()
        with table.open(newline="") as file:
            runs = list(csv.DictReader(file))
    passed = sum(run["passed"] == "true" for run in runs)
    others = {run["class"] or run["unscored"] for run in runs if run["passed"] != "true"}
    return passed, len(runs), ", ".join(sorted(others))


def main() -> int:
    """Runs the matrix and prints a table; 1 if a run did not pass."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}; all by default")
    arguments.add_argument("--planproof", type=Path, default=ROOT / "target/debug/planproof")
    arguments.add_argument("--home", type=Path, default=ROOT / ".venvs/frameworks")
    arguments.add_argument("--cases", type=int, default=20)
    arguments.add_argument("--repeat", type=int, dest="repeats", default=5)
    arguments.add_argument("--concurrency", type=int, default=8)
    options = arguments.parse_args()
    is_good = True
    print(f"{'framework':18} {'form':11} {'model':13} {'passed':>9} {'seconds':>8}", flush=True)
    for name in options.names or names():
        service = install(name, options.home.resolve())
        with tempfile.TemporaryDirectory() as scratch, open(Path(scratch) / "log", "w+") as log:
            process = subprocess.Popen(
                service, stdout=subprocess.PIPE, stderr=log, text=True, env=environment(), cwd=scratch
            )
            # Some frameworks print what they do, and wait for ever once the pipe is full and nobody reads it.
            printed = threading.Thread(target=shutil.copyfileobj, args=(process.stdout, log), daemon=True)
            try:
                url = f"http://127.0.0.1:{int(process.stdout.readline())}/"
                printed.start()
                for form in FORMS:
                    for model in MODELS:
                        begin = time.monotonic()
                        passed, total, others = campaign(name, url, model, form, options)
                        is_good &= passed == total > 0
                        seconds = time.monotonic() - begin
                        line = f"{name:18} {form:11} {model:13} {passed:4}/{total:<4} {seconds:8.1f}"
                        print(f"{line} {others}".rstrip(), flush=True)
            finally:
                process.terminate()
                process.wait()
            printed.join()
            if not is_good:
                log.seek(0)
                sys.stderr.writelines(log.readlines()[-40:])
    return 0 if is_good else 1


sys.exit(main())
