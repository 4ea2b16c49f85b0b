"""Looks at an HTML report in a real browser (Chromium, headless): what it marks, and whether it fits.

    planproof runs export RUN --format verdicts > verdicts.jsonl
    planproof runs export RUN --format cases > cases.jsonl
    python ci/page_check.py report.html --verdicts verdicts.jsonl --cases cases.jsonl --screenshots folder

Checked in the page as the browser has it after its script ran:
- the browser has nothing to complain of on its console (a style or script that the page's own policy refuses would be
  there), and the script did run;
- with --verdicts: the page shows failed cases and no others, all of them unless it says that some are left out, and
  the marked words are the violated words of the verdict; with --cases, character by character;
- with --shrinking, the report of the same campaign as JSON, and the verdicts and cases of its candidates: each smallest
  failing query that was found is shown beside the query that it comes from, and in both the violated words are marked,
  character by character;
- at a width of 390 pixels neither the page nor an unfolded case is wider than the window.

Saves light.png, dark.png and narrow.png into the folder of --screenshots. Prints what was checked as one JSON line, and
exits with 1 and the first reasons if anything is wrong. Needs nothing but the standard library and Chromium.
"""

import argparse
import html.parser
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from json_lines import read_json_lines

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome"]
# Longest time of one start of the browser, in seconds.
BROWSER_SECONDS_MAX = 120
# What the browser may spend on the page before it is looked at, in its own milliseconds.
PAGE_MS_MAX = 5000
NARROW_PIXELS = 390
WIDE_PIXELS = 1280
# Screenshots are at most so high; a report can be as long as a book.
HEIGHT_PIXELS_MAX = 3600
# Most cases that are unfolded to be measured.
UNFOLDED_MAX = 40
REASONS_SHOWN = 10

# Put into a copy of the page whose policy is taken away: unfolds cases, measures, and tells the page around it.
MEASURE = """
<script>
addEventListener("load", () => {
  const unfolded = [...document.querySelectorAll("details.case:not([hidden])")].slice(0, %d);
  for (const details of unfolded) {
    details.open = true;
    details.style.contentVisibility = "visible";
  }
  const root = document.documentElement;
  const wide = unfolded.filter((details) => details.scrollWidth > details.clientWidth);
  parent.postMessage(JSON.stringify({
    unfolded: unfolded.length,
    width: root.scrollWidth,
    window: root.clientWidth,
    height: root.scrollHeight,
    wide_cases: wide.map((details) => details.dataset.case ?? details.dataset.shrunk),
  }), "*");
});
</script>
""" % UNFOLDED_MAX

# The page around the copy: a window of the browser has a least width, a frame has none.
FRAME = """<!DOCTYPE html>
<iframe src="page.html" width="%d" height="844" frameborder="0"></iframe>
<output id="page-check"></output>
<script>
addEventListener("message", (event) => { document.getElementById("page-check").textContent = event.data; });
</script>
""" % NARROW_PIXELS

# Elements that have no end tag.
VOID = {"meta", "input", "br", "hr", "link", "img"}


class Page(html.parser.HTMLParser):
    """Collects the cases of a page: for each its id, its paragraph, and the marks in it. The shrunk ones have two
    paragraphs, that of the failed case and the smallest one, and are collected apart, and so are those that passed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cases: list[dict[str, Any]] = []
        self.shrunk: list[dict[str, Any]] = []
        self.passed: list[dict[str, Any]] = []
        self._shown: dict[str, Any] = {}
        self.is_cut = False
        self.has_filter = False
        self.measured = ""
        self._open: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if tag not in VOID:
            self._open.append((tag, found))
        if tag == "details" and "data-case" in found:
            self._shown = {"id": found["data-case"], "paragraph": "", "marks": []}
            self.cases.append(self._shown)
        elif tag == "details" and found.get("class") == "passed-case":
            self._shown = {"title": "", "paragraph": "", "marks": []}
            self.passed.append(self._shown)
        elif tag == "details" and "data-shrunk" in found:
            self.shrunk.append({"id": found["data-shrunk"], "queries": []})
        elif found.get("class") == "paragraph" and any("data-shrunk" in around for _, around in self._open):
            self._shown = {"paragraph": "", "marks": []}
            self.shrunk[-1]["queries"].append(self._shown)
        elif tag == "mark":
            ids = found.get("data-constraint", "").split(" ")
            at = len(self._shown["paragraph"])
            self._shown["marks"].append({"ids": ids, "start": at, "text": ""})
        elif found.get("id") == "left-out":
            self.is_cut = True
        elif found.get("id") == "filter":
            self.has_filter = "hidden" not in found

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            self._open.pop()

    def handle_data(self, text: str) -> None:
        if any(found.get("class") == "paragraph" for _, found in self._open):
            self._shown["paragraph"] += text
            if self._open[-1][0] == "mark":
                self._shown["marks"][-1]["text"] += text
        elif self._open and self._open[-1][0] == "h4" and "title" in self._shown:
            self._shown["title"] += text
        elif self._open and self._open[-1][1].get("id") == "page-check":
            self.measured += text


def browse(browser: str, page: Path, *options: str) -> tuple[str, list[str]]:
    """Starts the browser on a page. Gives its stdout and what the page wrote to the console."""
    # Children of the browser may still write to it when the browser has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            f"--virtual-time-budget={PAGE_MS_MAX}",
            *options,
            page.resolve().as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=BROWSER_SECONDS_MAX, check=False)
    if done.returncode != 0:
        sys.exit(f"{browser} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


def violated_characters(case: dict[str, Any], ids: set[str]) -> set[int]:
    """The characters of the paragraph that state the constraints with these ids."""
    sources = [source for stated in case["constraints"] if stated["id"] in ids for source in stated["source"]]
    return {at for source in sources for at in range(source["start"], source["end"])}


def wrong_marks(shown: dict[str, Any], verdict: dict[str, Any], case: dict[str, Any] | None) -> Iterator[str]:
    """Where the marks of a case are not the violated words of its verdict."""
    words = {violated["id"]: violated["words"] for violated in verdict["violated"]}
    marked = {constraint for mark in shown["marks"] for constraint in mark["ids"]}
    for constraint in sorted(marked ^ words.keys()):
        yield f"{constraint} is {'marked but not violated' if constraint in marked else 'violated but not marked'}"
    for mark in shown["marks"]:
        stated = [words[constraint] for constraint in mark["ids"] if constraint in words]
        # A mark holds overlapping places together, or a second place that states the same constraint in other words.
        is_second = all(mark is not first_mark(shown, constraint) for constraint in mark["ids"])
        if not is_second and not any(text in mark["text"] for text in stated):
            yield f"{mark['text']!r} is marked, but the violated words are {stated}"
    for constraint, text in words.items():
        if not any(text in mark["text"] for mark in shown["marks"] if constraint in mark["ids"]):
            yield f"the words of {constraint}, {text!r}, are not marked"
    if case is None:
        return
    yield from wrong_characters(shown, verdict, case)


def wrong_characters(shown: dict[str, Any], verdict: dict[str, Any], case: dict[str, Any]) -> Iterator[str]:
    """Where the marked characters of a paragraph are not those that state what the verdict says is violated."""
    if shown["paragraph"] != case["paragraph"]:
        yield "the paragraph is another one than the case has"
        return
    found = {at for mark in shown["marks"] for at in range(mark["start"], mark["start"] + len(mark["text"]))}
    expected = violated_characters(case, {violated["id"] for violated in verdict["violated"]})
    if found != expected:
        yield f"characters {sorted(found ^ expected)[:5]}... are marked and not violated, or violated and not marked"


def first_mark(shown: dict[str, Any], constraint: str) -> dict[str, Any] | None:
    """The first mark that names a constraint."""
    return next((mark for mark in shown["marks"] if constraint in mark["ids"]), None)


def check_marks(page: Page, verdicts: list[dict[str, Any]], cases: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What is wrong with the cases that the page shows."""
    failed = {verdict["case"]: verdict for verdict in verdicts if verdict.get("class") is not None}
    shown = [case["id"] for case in page.cases]
    for case in sorted(set(shown) - failed.keys()):
        yield f"case {case}: it is shown, but it did not fail"
    if len(set(shown)) != len(shown):
        yield "a case is shown twice"
    missing = sorted(failed.keys() - set(shown))
    if missing and not page.is_cut:
        yield f"{len(missing)} failed cases are not shown, and the page does not say so: {', '.join(missing[:5])}"
    for case in page.cases:
        if case["id"] in failed:
            for reason in wrong_marks(case, failed[case["id"]], cases.get(case["id"])):
                yield f"case {case['id']}: {reason}"
    for case in page.passed:
        id = case["title"].removeprefix("case ").split(",")[0]
        if id in failed or (cases and id not in cases):
            yield f"{case['title']}: it is shown as passed, but it failed, or is no case of the campaign"
        elif case["marks"]:
            yield f"{case['title']}: it passed, but words of it are marked as violated"
        elif cases and case["paragraph"] != cases[id]["paragraph"]:
            yield f"{case['title']}: the paragraph is another one than the case has"


class Judged:
    """Verdicts, and the cases that they are of by id."""

    def __init__(self, verdicts: str | None, cases: str | None) -> None:
        self.verdicts = read_json_lines(verdicts) if verdicts else []
        self.cases = {case["id"]: case for case in read_json_lines(cases)} if cases else {}


def check_shrunk(page: Page, shrinking: dict[str, Any], campaign: Judged, candidates: Judged) -> Iterator[str]:
    """What is wrong with the smallest failing queries that the page shows. `shrinking` is what the report says of them."""
    found = {failure["case"]: failure for failure in shrinking["failures"] if failure["group"] is not None}
    shown = [case["id"] for case in page.shrunk]
    if sorted(shown) != sorted(found):
        yield f"the smallest queries of {shown} are shown, but were found of {sorted(found)}"
        return
    for case in page.shrunk:
        failure = found[case["id"]]
        pairs = [("the query", campaign, failure["case"]), ("the smallest query", candidates, failure["example"]["case"])]
        if len(case["queries"]) != len(pairs):
            yield f"case {case['id']}: {len(case['queries'])} queries are shown"
            continue
        for query, (name, judged, of_case) in zip(case["queries"], pairs):
            # A case may be run several times; one of its failures is shown.
            failed = [it for it in judged.verdicts if it["case"] == of_case and it["class"] == failure["class"]]
            wrong = [list(wrong_characters(query, verdict, judged.cases[of_case])) for verdict in failed]
            if all(wrong):
                reasons = wrong[0] if wrong else ["no run of it failed so"]
                yield f"case {case['id']}, {name}: {reasons[0]}"


def measure(browser: str, source: Path) -> dict[str, Any]:
    """The sizes of the page in a narrow window with its first cases unfolded."""
    text = source.read_text(encoding="utf-8")
    begin = text.index('<meta http-equiv="Content-Security-Policy"')
    end = text.index(">", begin) + 1
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(text[:begin] + MEASURE + text[end:], encoding="utf-8")
        frame = Path(folder) / "frame.html"
        frame.write_text(FRAME, encoding="utf-8")
        dom, _ = browse(browser, frame, "--dump-dom")
    measured = Page(dom).measured
    if not measured:
        sys.exit("the page could not be measured: its copy did not load to the end")
    return json.loads(measured)


def check_sizes(sizes: dict[str, Any]) -> Iterator[str]:
    """Where the page is wider than a narrow window."""
    if sizes["window"] != NARROW_PIXELS:
        yield f"the window was {sizes['window']} pixels wide, not {NARROW_PIXELS}"
    if sizes["width"] > sizes["window"]:
        yield f"the page is {sizes['width']} pixels wide in a window of {sizes['window']}"
    for case in sizes["wide_cases"]:
        yield f"case {case}: it is wider than a window of {sizes['window']} pixels"


def take_screenshots(browser: str, page: Path, folder: Path, height: int) -> None:
    """Light and dark in a wide window, and light in a narrow one."""
    folder.mkdir(parents=True, exist_ok=True)
    looks = {
        "light.png": (WIDE_PIXELS, ["--blink-settings=preferredColorScheme=1"]),
        "dark.png": (WIDE_PIXELS, ["--blink-settings=preferredColorScheme=0"]),
        "narrow.png": (NARROW_PIXELS, ["--blink-settings=preferredColorScheme=1"]),
    }
    for name, (width, options) in looks.items():
        target = folder / name
        target.unlink(missing_ok=True)
        size = f"--window-size={width},{min(height, HEIGHT_PIXELS_MAX)}"
        browse(browser, page, size, f"--screenshot={target.resolve()}", *options)
        if not target.exists():
            sys.exit(f"the browser wrote no {target}")


def main() -> int:
    """Returns 0 when nothing is wrong, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--verdicts", help="verdict v1 lines of the campaign; without them marks are not checked")
    parser.add_argument("--cases", help="case v1 lines of the campaign, to check marks character by character")
    parser.add_argument("--shrinking", type=Path, help="the report of the campaign as JSON, where its failures were shrunk")
    parser.add_argument("--shrunk-verdicts", help="verdict v1 lines of the candidates of the shrinking")
    parser.add_argument("--shrunk-cases", help="case v1 lines of the candidates of the shrinking")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER")
    parser.add_argument("--chromium", default=next(filter(shutil.which, BROWSERS), None))
    options = parser.parse_args()
    if options.chromium is None:
        sys.exit("there is no Chromium; name one with --chromium")

    dom, console = browse(options.chromium, options.page, f"--window-size={WIDE_PIXELS},900", "--dump-dom")
    page = Page(dom)
    reasons = [f"console: {line}" for line in console]
    if page.cases and not page.has_filter:
        reasons.append("the page's script did not run: the filter is hidden")
    judged = Judged(options.verdicts, options.cases)
    if options.verdicts:
        reasons.extend(check_marks(page, judged.verdicts, judged.cases))
    if options.shrinking:
        shrinking = json.loads(options.shrinking.read_text(encoding="utf-8"))["shrinking"]
        candidates = Judged(options.shrunk_verdicts, options.shrunk_cases)
        reasons.extend(check_shrunk(page, shrinking, judged, candidates))
    sizes = measure(options.chromium, options.page)
    reasons.extend(check_sizes(sizes))
    if options.screenshots:
        take_screenshots(options.chromium, options.page, options.screenshots, sizes["height"])

    marks = sum(len(case["marks"]) for case in page.cases)
    shown = {"cases": len(page.cases), "marks": marks, "shrunk": len(page.shrunk)}
    print(json.dumps({**shown, "sizes": sizes, "passed": len(page.passed), "wrong": len(reasons)}))
    for reason in reasons[:REASONS_SHOWN]:
        print(f"page_check: {reason}", file=sys.stderr)
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
