"""Watches a campaign in a real browser (Chromium, headless) while it runs, as `planproof view` shows it.

    python ci/view_check.py target/debug/planproof --screenshots folder

Starts a simulated model that takes its time, a campaign that asks it with `--view`, and a browser on its pages. Checked:
- every state of the graph that a page of a run showed is what the finished calls of the trace make of it, counted here
  from the exported case and trace alone: which tasks are done and as which call, which edges hold, are broken or open;
- the figures that the page of the campaign ended with are those of `planproof report --json`;
- the page said that it was live, and at the end that the campaign has ended;
- a page opened by `planproof view` afterwards shows the same, step by step, with the keys left and right;
- the browser has nothing to complain of on its console, and no page is wider than a window of 390 pixels;
- with --axe, axe-core finds nothing serious or critical on any kind of page: the list, campaigns and runs, running and
  finished, empty lists, messages, and the finished report with all its cases unfolded; in light and dark colours.

Saves screenshots into the folder of --screenshots. Prints what was checked as one JSON line, and exits with 1 and the
first reasons if anything is wrong. Needs nothing but the standard library and Chromium.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from page_check import BROWSERS

CASES = 12
# What the simulated model waits before each answer: the campaign has to go on until all pages are open.
THINK_MS = 250
# Longest time for anything that is waited for, in seconds.
WAIT_SECONDS_MAX = 30
NARROW_PIXELS = 390
WIDE_PIXELS = 1280
REASONS_SHOWN = 10
# Fewest states of graphs that must have been seen: a page that never changed would be right in each of them.
STATES_MIN = 12

# Notes every state of a page after each change.
RECORD = """
window.states = [];
const note = () => {
  const state = document.querySelector("#state [data-events]");
  const board = document.querySelector("#board .picture");
  if (!state || !board || board.dataset.events !== state.dataset.events) return;
  const nodes = [...board.querySelectorAll("[data-node]")].map((node) =>
    [Number(node.dataset.node), node.querySelector(".number").textContent, node.classList.contains("begun")]);
  const edges = [...board.querySelectorAll("[data-edge]")].map((edge) => [edge.dataset.edge, edge.dataset.state]);
  window.states.push({ events: Number(board.dataset.events), nodes, edges });
};
document.addEventListener("planproof-state", note);
note();
true
"""


# What axe-core finds serious, with the places; it may load nothing, which the policy of the page would refuse.
AXE = """
axe.run(document, { preload: false, resultTypes: ["violations", "passes"] }).then((found) => JSON.stringify({
  passes: found.passes.length,
  violations: found.violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) =>
    `${it.id}: ${it.help}: ${it.nodes.slice(0, 3).map((node) => node.target.join(" ") + " " + node.failureSummary).join(" | ")}`),
}))
"""


class Browser:
    """Chromium, spoken to by its own protocol over two pipes: there is no port that another process could take."""

    def __init__(self, program: str) -> None:
        # Children of the browser may still write to it when the browser has ended.
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def pipes() -> None:
            # The browser reads from 3 and writes to 4, which may be ours at this moment.
            spare = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        command = [
            program,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={self._profile.name}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._buffer = b""
        self.console: list[str] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Sends a command and gives its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    sys.exit(f"the browser refused {method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._read, 1 << 16)
            if not read:
                sys.exit("the browser ended")
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(str([argument.get("value") for argument in parameters["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(str(parameters["exceptionDetails"].get("text")))
        elif method == "Log.entryAdded":
            self.console.append(parameters["entry"]["text"])

    def open(self, url: str, width: int = WIDE_PIXELS) -> "Tab":
        """A new window with this page: a tab behind another is hidden, and a hidden page is not live."""
        target = self.call("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session)
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable", session)
        tab.resize(width)
        tab.go(url)
        return tab

    def close(self) -> None:
        """Ends the browser."""
        self._process.terminate()
        self._process.wait()
        self._profile.cleanup()


class Tab:
    """A page in the browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def run(self, script: str) -> Any:
        """The value of an expression in the page, or of its promise."""
        result = self._browser.call(
            "Runtime.evaluate", self._session, expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            sys.exit(f"a script of the check failed in the page: {result['exceptionDetails']}")
        return result["result"].get("value")

    def go(self, url: str) -> None:
        """Loads a page to its end."""
        self._browser.call("Page.navigate", self._session, url=url)
        until(f"{url} to load", lambda: self.run("location.href !== 'about:blank' && document.readyState === 'complete'"))

    def resize(self, width: int) -> None:
        """Sets the width of the window."""
        self._browser.call(
            "Emulation.setDeviceMetricsOverride", self._session, width=width, height=900, deviceScaleFactor=1, mobile=False
        )

    def press(self, key: str) -> None:
        """Presses a key, which may lead to another page."""
        before = self.run("window.beforeKey = true")
        assert before
        self._browser.call("Input.dispatchKeyEvent", self._session, type="keyDown", key=key, code=key)
        until(f"the page after {key}", lambda: self.run("!window.beforeKey && document.readyState === 'complete'"))

    def colour(self, is_dark: bool) -> None:
        """Light or dark colours."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        self._browser.call("Emulation.setEmulatedMedia", self._session, features=scheme)

    def save(self, path: Path, is_dark: bool = False) -> None:
        """Saves a picture of the whole page."""
        self.colour(is_dark)
        picture = self._browser.call("Page.captureScreenshot", self._session, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def width_over(self) -> int:
        """By how many pixels the page is wider than its window."""
        return self.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")


class Axe:
    """axe-core, which looks at pages for what keeps people from using them."""

    def __init__(self, source: Path | None, reasons: list[str]) -> None:
        self._source = source.read_text(encoding="utf-8") if source else None
        self._reasons = reasons
        self.looked_at = 0
        self.rules_passed = 0

    def look(self, name: str, tab: Tab) -> None:
        """Notes what is serious or critical on this page, in light and in dark colours."""
        if self._source is None:
            return
        # A script of the protocol is not held to the policy of the page.
        tab.run(f"{self._source}; true")
        tab.run("document.querySelectorAll('details').forEach((details) => { details.open = true }); true")
        for is_dark in [False, True]:
            tab.colour(is_dark)
            found = json.loads(tab.run(AXE))
            self.looked_at += 1
            self.rules_passed += found["passes"]
            for violation in found["violations"]:
                self._reasons.append(f"axe on {name}{' (dark)' if is_dark else ''}: {violation}")


    def must_notice(self, tab: Tab) -> None:
        """Makes sure that it would have noted something: a button that nobody can name."""
        if self._source is None:
            return
        tab.run("document.querySelector('main').append(document.createElement('button')); true")
        if not any(it.startswith("button-name") for it in json.loads(tab.run(AXE))["violations"]):
            self._reasons.append("axe does not notice a button without a name")


def until(what: str, look: Any) -> Any:
    """What `look` gives once it gives something."""
    end = time.monotonic() + WAIT_SECONDS_MAX
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    sys.exit(f"view_check: waited {WAIT_SECONDS_MAX} s in vain for {what}")


def counted(case: dict[str, Any], events: list[dict[str, Any]]) -> tuple[list[int | None], list[bool], dict[str, str]]:
    """The place of each task's first successful call among all successful ones, which tasks were begun and not finished,
    and how each pair of the case's constraints stands; from the finished calls of the beginning of a trace."""
    names = [action["tool"] for action in case["actions"]]
    ids = [action["id"] for action in case["actions"]]
    places: list[int | None] = [None] * len(names)
    waiting: dict[str, str] = {}
    done = 0
    for event in events:
        if event["type"] == "call":
            waiting[event["id"]] = event["name"]
        elif event["type"] == "result":
            name = waiting.pop(event["id"], None)
            if name in names and not event["is_error"]:
                done += 1
                task = names.index(name)
                places[task] = places[task] or done
    begun = [name in waiting.values() for name in names]
    pairs: dict[str, set[str]] = {}
    for stated in case["constraints"]:
        first, second = (ids.index(stated[end]) for end in ("first", "second"))
        one, other = places[first], places[second]
        state = "open" if one is None or other is None else "held" if one < other else "broken"
        pairs.setdefault(f"{first}-{second}", set()).add(state)
    worst = {pair: min(states, key=["broken", "open", "held"].index) for pair, states in pairs.items()}
    return places, begun, worst


def wrong_states(case: dict[str, Any], events: list[dict[str, Any]], states: list[dict[str, Any]]) -> Iterator[str]:
    """Where a state that a page showed is another one than the calls make."""
    for state in states:
        places, begun, pairs = counted(case, events[: state["events"]])
        about = f"case {case['id']} after {state['events']} events"
        for node, number, is_begun in state["nodes"]:
            if number != (str(places[node]) if places[node] else "–"):
                yield f"{about}: task {node} is shown as call {number}, and is {places[node]}"
            if is_begun != begun[node]:
                yield f"{about}: task {node} is shown as begun: {is_begun}"
        for edge, shown in state["edges"]:
            if pairs.get(edge) != shown:
                yield f"{about}: edge {edge} is shown as {shown}, and is {pairs.get(edge)}"


class Planproof:
    """The program, with a run store and a slow simulated model."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = str(Path(program).resolve()), folder
        self.environment = {**os.environ, "PLANPROOF_SERVE_KEY": "key-of-the-check", "SLOW_API_KEY": "key-of-the-check"}
        self._children: list[subprocess.Popen[str]] = []

    def start(self, *words: str, stderr: Any = None) -> subprocess.Popen[str]:
        """Starts a command."""
        command = [self.program, *words]
        child = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=stderr or subprocess.DEVNULL
        )
        self._children.append(child)
        return child

    def out(self, *words: str) -> str:
        """What a command prints."""
        command = [self.program, *words]
        return subprocess.run(command, cwd=self.folder, env=self.environment, text=True, capture_output=True, check=False).stdout

    def close(self) -> None:
        """Ends what is still running."""
        for child in self._children:
            child.terminate()
            child.wait()


def watch(browser: Browser, planproof: Planproof, axe: Axe, folder: Path | None, reasons: list[str]) -> dict[str, Any]:
    """Watches a campaign from its beginning to its end, and looks at it again afterwards."""
    served = planproof.start("serve-model", "sim/careless", "--think", str(THINK_MS), "--json", "-q")
    assert served.stdout is not None
    url = json.loads(served.stdout.readline())["base_url"]
    line = ["test", f"tools@slow={url}/sim", "--key-for", f"{url}=SLOW_API_KEY", "--cases", str(CASES), "--concurrency", "2"]
    campaign = planproof.start(*line, "--view", "-q", "--no-check", stderr=subprocess.PIPE)
    assert campaign.stderr is not None
    address = next((it.split()[1] for it in campaign.stderr if it.startswith("view ")), None)
    if address is None:
        sys.exit("the campaign printed no address")
    page = browser.open(address)
    until("the page to be live", lambda: page.run("document.getElementById('live').textContent === 'Live.'"))
    until("a run", lambda: page.run("document.querySelectorAll('#started li').length > 0"))
    if folder:
        page.save(folder / "campaign-running.png")
    runs = {}
    for ordinal in [0, *range(CASES // 2, CASES)]:
        runs[ordinal] = browser.open(f"{address}{ordinal}/0")
        runs[ordinal].run(RECORD)
    if folder:
        runs[0].save(folder / "run-running.png")
    # Beside those whose states are noted: folding out and colours change nothing there.
    axe.look("a running campaign", browser.open(address))
    axe.look("a running run", browser.open(f"{address}0/0"))
    until("the end of the campaign", lambda: page.run("document.getElementById('live').textContent.startsWith('Ended')"))
    campaign.wait()

    cases = [json.loads(it) for it in planproof.out("runs", "export", "last", "--format", "cases").splitlines()]
    traces: list[list[dict[str, Any]]] = []
    for text in planproof.out("runs", "export", "last").splitlines():
        record = json.loads(text)
        if "schema" in record:
            traces.append([])
        else:
            traces[-1].append(record)
    states = 0
    for ordinal, tab in runs.items():
        shown = tab.run("window.states")
        states += len(shown)
        reasons.extend(wrong_states(cases[ordinal], traces[ordinal], shown))
    if states < STATES_MIN:
        reasons.append(f"only {states} states of graphs were seen")

    report = json.loads(planproof.out("report", "last", "--json"))
    lead = "document.querySelector('#figures .lead').dataset"
    for name, value in {
        "passed": report["passed"],
        "scored": report["passed"] + report["failed"],
        "low": report["low"],
        "high": report["high"],
    }.items():
        shown = page.run(f"Number({lead}.{name})")
        if shown != value:
            reasons.append(f"the page ended with {name} {shown}, the report has {value}")

    again = planproof.start("view", "-q")
    assert again.stdout is not None
    root = again.stdout.readline().strip()
    id = json.loads(planproof.out("runs", "list", "--json").splitlines()[0])["run"]
    stepped = 0
    tab = browser.open(f"{root}0/{id}/0/0")
    shown = []
    while tab.run("document.querySelector('a[rel=prev]') !== null"):
        tab.run(RECORD)
        shown.extend(tab.run("window.states"))
        tab.press("ArrowLeft")
        stepped += 1
    tab.run(RECORD)
    shown.extend(tab.run("window.states"))
    reasons.extend(wrong_states(cases[0], traces[0], shown))
    if stepped != len(cases[0]["actions"]):
        reasons.append(f"{stepped} steps led back through {len(cases[0]['actions'])} calls")
    tab.press("ArrowRight")
    if not tab.run("document.querySelector('#steps').textContent.includes('call 1 of')"):
        reasons.append("the key right did not lead to the first call")

    looks = {"list": root, "campaign": f"{root}0/{id}/", "run": f"{root}0/{id}/0/0"}
    for name, url in looks.items():
        tab.go(url)
        for width, is_dark in [(WIDE_PIXELS, False), (WIDE_PIXELS, True), (NARROW_PIXELS, False)]:
            tab.resize(width)
            if width == NARROW_PIXELS and tab.width_over() > 0:
                reasons.append(f"the page {name} is {tab.width_over()} pixels wider than a window of {width}")
            if folder:
                tab.save(folder / f"{name}-{width}{'-dark' if is_dark else ''}.png", is_dark)
    others = {
        "a campaign without runs that fit": f"{root}0/{id}/?text=nothing",
        "failed runs": f"{root}0/{id}/?outcome=failed",
        "an empty list": f"{root}?agent=nobody",
        "a run step by step": f"{root}0/{id}/0/0?after=1",
        "a run that did not fail": f"{root}0/{id}/1/0",
        "no campaign": f"{root}0/nobody/",
        "the report": f"{root}0/{id}/report",
    }
    for name, url in {**looks, **others}.items():
        tab.go(url)
        tab.resize(WIDE_PIXELS)
        axe.look(name, tab)
    axe.must_notice(tab)
    return {"states": states, "stepped": stepped, "runs": report["runs"], "axe": axe.looked_at, "axe_passed": axe.rules_passed}


def main() -> int:
    """Returns 0 when nothing is wrong, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("planproof")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER")
    parser.add_argument("--axe", type=Path, metavar="FILE", help="axe.min.js of axe-core")
    parser.add_argument("--chromium", default=next(filter(shutil.which, BROWSERS), None))
    options = parser.parse_args()
    if options.chromium is None:
        sys.exit("there is no Chromium; name one with --chromium")
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    reasons: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        planproof, browser = Planproof(options.planproof, Path(folder)), Browser(options.chromium)
        try:
            axe = Axe(options.axe, reasons)
            seen = watch(browser, planproof, axe, options.screenshots, reasons)
        finally:
            browser.close()
            planproof.close()
    # One page was looked at that is not there.
    reasons.extend(f"console: {line}" for line in browser.console if "404 (Not Found)" not in line)
    print(json.dumps({**seen, "wrong": len(reasons)}))
    for reason in reasons[:REASONS_SHOWN]:
        print(f"view_check: {reason}", file=sys.stderr)
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
