"""Checks an Inspect log by Inspect itself, and against the report on the same campaign.

    planproof test tools@sim/careless --cases 50 --inspect log.json --json > report.json
    python ci/check_inspect.py log.json --report report.json --commands

The log is read by `inspect_ai.log`, whole and its head alone; nothing that is written may be unknown to Inspect; its
metrics are computed again by Inspect's own; and Inspect must list and convert it. With `--commands`, `inspect log dump` must
print it, and the server of `inspect view` list it and hand it out.
Prints the counts as one JSON line, and exits with 1 and the reasons if anything is wrong.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REASONS_SHOWN = 10
# Inspect computes with floating-point numbers of the same width, in another order.
TOLERANCE = 1e-12
VIEW_STARTS_WITHIN_SECONDS = 60
SCORER = "planproof"
# Of infeasible cases, which are scored apart.
INFEASIBLE_SCORER = "planproof_infeasible"

# Nothing of this program's is kept where Inspect keeps what it knows between its starts.
DATA = tempfile.TemporaryDirectory(prefix="check-inspect-")
os.environ["XDG_DATA_HOME"] = os.environ["XDG_CACHE_HOME"] = DATA.name

from inspect_ai.log import EvalLog, convert_eval_logs, list_eval_logs, read_eval_log  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, accuracy, ci_wilson, mean_score, stderr  # noqa: E402

Json = Any


def lost(written: Json, read: Json, path: str = "") -> Iterator[str]:
    """Where Inspect has dropped or changed what was written. Models ignore fields that they do not know."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key, value in written.items():
            # What is null is left out when Inspect writes it.
            if key in read:
                yield from lost(value, read[key], f"{path}.{key}")
            elif value is not None:
                yield f"{path}.{key} is not known to Inspect"
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for place, (before, after) in enumerate(zip(written, read, strict=True)):
            yield from lost(before, after, f"{path}[{place}]")
    elif written != read and not is_same_moment(written, read):
        yield f"{path} is {written!r}, Inspect reads {read!r}"


def is_same_moment(written: Json, read: Json) -> bool:
    """Whether two texts are the same moment in the two forms of ISO 8601 that name UTC."""
    return isinstance(written, str) and isinstance(read, str) and written.replace("Z", "+00:00") == read


def faults_of_messages(log: EvalLog) -> Iterator[str]:
    """Conversations that no model could have had: results of calls that were never made."""
    for sample in log.samples or []:
        if not sample.messages or sample.messages[0].text != sample.input:
            yield f"sample {sample.id}: the first message is not the input"
        called = set()
        for message in sample.messages:
            if message.role == "assistant":
                called |= {call.id for call in message.tool_calls or []}
            if message.role == "tool" and message.tool_call_id not in called:
                yield f"sample {sample.id}: a result of {message.tool_call_id}, which was not called"
        ids = [message.id for message in sample.messages]
        if len(set(ids)) != len(ids):
            yield f"sample {sample.id}: messages share an id"


def scores_of(log: EvalLog, scorer: str) -> list[tuple[str | int, Score]]:
    """The scores of a scorer, each with the id of its sample."""
    samples = log.samples or []
    return [(sample.id, sample.scores[scorer]) for sample in samples if scorer in (sample.scores or {})]


def computed(log: EvalLog, scorer: str) -> dict[str, float]:
    """The metrics of a scorer's scores, by Inspect's own functions."""
    if (log.eval.config.epochs or 1) > 1:
        return computed_of_epochs(log, scorer)
    scores = [SampleScore(score=score) for _, score in scores_of(log, scorer)]
    if not scores:
        return {}
    return {"accuracy": accuracy()(scores), "stderr": stderr()(scores), **ci_wilson()(scores)}


def computed_of_epochs(log: EvalLog, scorer: str) -> dict[str, float]:
    """The metrics where samples have several epochs, of which Inspect makes one value first."""
    epochs: dict[str | int, list[Score]] = {}
    for sample, score in scores_of(log, scorer):
        epochs.setdefault(sample, []).append(Score(value=1.0 if score.value == "C" else 0.0))
    scores = [SampleScore(score=mean_score()(of_sample)) for of_sample in epochs.values()]
    return {"accuracy": accuracy()(scores), "stderr": stderr()(scores)} if scores else {}


def faults_of_metrics(log: EvalLog) -> Iterator[str]:
    """Where the metrics of the log are not those of its samples."""
    for summary in log.results.scores:
        said = {name: metric.value for name, metric in summary.metrics.items()}
        found = computed(log, summary.scorer)
        if said.keys() != found.keys():
            yield f"metrics: the log has {sorted(said)}, computed {sorted(found)} ({summary.scorer})"
        for name in said.keys() & found.keys():
            if abs(said[name] - found[name]) > TOLERANCE:
                yield f"{name}: the log says {said[name]}, computed {found[name]} ({summary.scorer})"


def count(log: EvalLog) -> dict[str, Any]:
    """What the samples are."""
    samples = log.samples or []
    values = [score.value for _, score in scores_of(log, SCORER)]
    infeasible = [score.value for _, score in scores_of(log, INFEASIBLE_SCORER)]
    usages = [usage for sample in samples for usage in sample.model_usage.values()]
    return {
        "samples": len(samples),
        "passed": values.count("C"),
        "failed": values.count("I"),
        "detected": infeasible.count("C"),
        "missed": infeasible.count("I"),
        "unscored": sum(sample.error is not None for sample in samples),
        "tokens": {
            "input": sum(usage.input_tokens for usage in usages),
            "output": sum(usage.output_tokens for usage in usages),
        },
    }


def faults_of_head(log: EvalLog, counted: dict[str, Any]) -> Iterator[str]:
    """Where the head of the log says something else than its samples."""
    scored = sum(counted[name] for name in ["passed", "failed", "detected", "missed"])
    for summary in log.results.scores:
        found = len(scores_of(log, summary.scorer))
        if summary.scored_samples != found:
            yield f"scored_samples of {summary.scorer}: the log says {summary.scored_samples}, counted {found}"
    unscored = sum(summary.unscored_samples for summary in log.results.scores)
    for name, said, found in [
        ("completed_samples", log.results.completed_samples, scored),
        ("unscored_samples", unscored, counted["unscored"]),
        ("the dataset", log.eval.dataset.samples * (log.eval.config.epochs or 1), log.results.total_samples),
        ("the status", log.status == "success", counted["samples"] == log.results.total_samples),
        ("the tags", "simulation" in (log.eval.tags or []), log.eval.metadata["simulated"]),
    ]:
        if said != found:
            yield f"{name}: the log says {said}, counted {found}"
    known = log.eval.dataset.sample_ids or []
    for sample in log.samples or []:
        if sample.id not in known:
            yield f"sample {sample.id} is not in the dataset"


def differences(report: dict[str, Any], log: EvalLog, counted: dict[str, Any]) -> Iterator[str]:
    """Where the log says something else than the report."""
    infeasible = dict.fromkeys(["runs", "detected", "failed", "unscored", "not_run"], 0)
    infeasible |= report.get("infeasible") or {}
    not_run = report.get("not_run", 0) + infeasible["not_run"]
    runs = report["runs"] + infeasible["runs"]
    for name, said, found in [
        ("samples", counted["samples"], runs),
        ("passed", counted["passed"], report["passed"]),
        ("failed", counted["failed"], report["failed"]),
        ("detected", counted["detected"], infeasible["detected"]),
        ("missed", counted["missed"], infeasible["failed"]),
        ("unscored", counted["unscored"], report["unscored"] + infeasible["unscored"]),
        # Tokens that nobody counted are null in the report, and have no entry in the log.
        ("tokens", counted["tokens"], report["tokens"] or {"input": 0, "output": 0}),
        ("total_samples", log.results.total_samples, runs + not_run),
        ("epochs", log.eval.config.epochs, report["repeats"]),
        ("agent", log.eval.solver, report["agent"]),
        ("model", log.eval.model, report["model"] or "none/none"),
        ("simulated", log.eval.metadata["simulated"], report["simulated"]),
    ]:
        if said != found:
            yield f"{name}: the report says {found}, the log {said}"
    scored = report["passed"] + report["failed"]
    if scored:
        said = log.results.scores[0].metrics["accuracy"].value
        if abs(said - report["passed"] / scored) > TOLERANCE:
            yield f"accuracy: the report says {report['passed']} of {scored}, the log {said}"


def faults_of_files(folder: Path, name: str, samples: int) -> Iterator[str]:
    """Whether Inspect lists and converts the log."""
    listed = list_eval_logs(str(folder))
    if [(Path(entry.name).name, entry.task) for entry in listed] != [(name, SCORER)]:
        yield f"Inspect lists {listed}"
    converted = folder.with_name("converted")
    convert_eval_logs(str(folder / name), "eval", str(converted))
    again = read_eval_log(str(next(converted.glob("*.eval"))))
    if len(again.samples or []) != samples:
        yield f"converted, the log has {len(again.samples or [])} samples of {samples}"


def faults_of_dump(folder: Path, name: str, samples: int) -> Iterator[str]:
    """Whether `inspect log dump` prints the log."""
    words = [sys.executable, "-m", "inspect_ai", "log", "dump", str(folder / name)]
    dump = subprocess.run(words, capture_output=True, text=True)
    if dump.returncode != 0 or len(json.loads(dump.stdout)["samples"]) != samples:
        yield f"inspect log dump exits with {dump.returncode}: {dump.stderr}"


def fetch(url: str) -> Json:
    """The JSON at a URL of this machine, whatever proxy is set."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=VIEW_STARTS_WITHIN_SECONDS) as reply:
        return json.load(reply)


def faults_of_view(folder: Path, name: str, samples: int) -> Iterator[str]:
    """Whether the server of `inspect view` lists the log and hands it out."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["view", "start", "--host", "127.0.0.1", "--port", str(port), "--log-dir", str(folder)]
    output = open(folder.with_name("view.txt"), "w+", encoding="utf-8")
    server = subprocess.Popen([sys.executable, "-m", "inspect_ai", *words], stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + VIEW_STARTS_WITHIN_SECONDS
        while True:
            try:
                listing = fetch(f"http://127.0.0.1:{port}/api/logs")
                break
            except urllib.error.HTTPError as error:
                yield f"inspect view answers {error.code}: {error.read()[:200]!r}"
                return
            except OSError as error:
                if server.poll() is not None or time.monotonic() > deadline:
                    output.seek(0)
                    yield f"inspect view does not answer: {error}; it said: {output.read()}"
                    return
                time.sleep(0.05)
        files = [entry["name"] for entry in listing["files"] if Path(entry["name"]).name == name]
        if len(files) != 1:
            yield f"inspect view lists {listing['files']}"
            return
        log = fetch(f"http://127.0.0.1:{port}/api/logs/{urllib.request.quote(files[0], safe='')}")
        if len(log["samples"]) != samples or log["eval"]["viewer"]["trust_content"] is not False:
            yield f"inspect view hands out {len(log['samples'])} samples of {samples}, viewer {log['eval']['viewer']}"
    finally:
        server.terminate()
        server.wait()
        output.close()


def main() -> int:
    """Returns 0 when everything is right, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--report", help="file with the report on the campaign, schema planproof/report/v1")
    parser.add_argument("--commands", action="store_true", help="try `inspect log dump` and `inspect view` as well")
    options = parser.parse_args()
    # A folder of its own, so that nothing else is listed. Inspect lists a JSON file if a moment begins its name.
    folder, name = Path(DATA.name) / "logs", "2026-11-20T12-33-20_planproof_check.json"
    folder.mkdir()
    shutil.copy(options.file, folder / name)
    try:
        log = read_eval_log(str(folder / name))
        head = read_eval_log(str(folder / name), header_only=True)
    except Exception as error:  # Whatever Inspect throws: it cannot read the file.
        sys.exit(f"check_inspect: {options.file}: {error}")
    written = json.loads((folder / name).read_text(encoding="utf-8"))
    counted = count(log)
    faults = [*lost(written, json.loads(log.model_dump_json(exclude_none=True)))]
    faults += [*faults_of_head(log, counted), *faults_of_metrics(log), *faults_of_messages(log)]
    whole = log.model_dump(exclude={"samples", "location"})
    if head.samples is not None or head.model_dump(exclude={"samples", "location"}) != whole:
        faults.append("the head, read alone, is not the head of the log")
    faults += faults_of_files(folder, name, counted["samples"])
    if options.commands:
        faults += faults_of_dump(folder, name, counted["samples"])
        faults += faults_of_view(folder, name, counted["samples"])
    if options.report:
        report = json.loads(Path(options.report).read_text(encoding="utf-8"))
        faults += differences(report, log, counted)
    print(json.dumps(counted))
    for fault in faults[:REASONS_SHOWN]:
        print(f"check_inspect: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
