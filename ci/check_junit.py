"""Checks a JUnit file: against ci/junit.xsd, by junitparser, and against the report on the same campaign.

    planproof test tools@sim/careless --cases 50 --junit junit.xml --json > report.json
    python ci/check_junit.py junit.xml --report report.json

Prints the counts as one JSON line, and exits with 1 and the reasons if anything is wrong.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite

SCHEMA = Path(__file__).with_name("junit.xsd")
REASONS_SHOWN = 10
COUNTS = ["tests", "failures", "errors", "skipped"]


def faults_of_schema(path: str) -> Iterator[str]:
    """Where the file is not what the schema says."""
    for error in xmlschema.XMLSchema(SCHEMA).iter_errors(path):
        yield f"schema: {error.path}: {error.reason}"


def count(suite: TestSuite) -> dict[str, Any]:
    """What the test cases of a suite are, as junitparser reads them."""
    kinds: Counter[type] = Counter()
    classes: Counter[str] = Counter()
    seconds = 0.0
    for case in suite:
        seconds += case.time or 0.0
        for result in case.result:
            kinds[type(result)] += 1
            if isinstance(result, Failure):
                classes[result.type] += 1
    return {
        "tests": len(list(suite)),
        "failures": kinds[Failure],
        "errors": kinds[Error],
        "skipped": kinds[Skipped],
        "classes": dict(classes),
        "seconds": round(seconds, 3),
    }


def faults_of_totals(name: str, element: JUnitXml | TestSuite, counted: dict[str, Any]) -> Iterator[str]:
    """Where the attributes of an element say something else than the test cases in it."""
    for key in COUNTS:
        if getattr(element, key) != counted[key]:
            yield f"{key}: the {name} says {getattr(element, key)}, counted {counted[key]}"
    # Each time is rounded to a millisecond.
    if abs(element.time - counted["seconds"]) > 0.001 * (counted["tests"] + 1):
        yield f"time: the {name} says {element.time}, the test cases sum to {counted['seconds']}"


def shown(text: str | None) -> str | None:
    """The text with what XML forbids replaced as the file replaces it: by pictures of control characters, by U+FFFD."""
    if text is None:
        return None
    pictures = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"}
    return text.translate(pictures | {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD})


def differences(report: dict[str, Any], suite: TestSuite, counted: dict[str, Any]) -> Iterator[str]:
    """Where the file says something else than the report."""
    # Infeasible cases are counted apart in a report, and are test cases like others in the file.
    parts = [report, *filter(None, [report.get("infeasible")])]
    classes = Counter(name for part in parts for name, runs in part["classes"].items() for _ in range(runs))
    not_run = sum(part.get("not_run", 0) for part in parts)
    expected = {
        "tests": sum(part["runs"] for part in parts) + not_run,
        "failures": sum(part["failed"] for part in parts),
        "errors": sum(part["unscored"] for part in parts),
        "skipped": not_run,
        "classes": dict(classes),
    }
    for key, value in expected.items():
        if counted[key] != value:
            yield f"{key}: the report says {value}, the file {counted[key]}"
    properties = {entry.name: entry.value for entry in suite.properties()}
    simulated = "true" if report["simulated"] else "false"
    for key, value in [("planproof.simulated", simulated), ("planproof.model", shown(report["model"]))]:
        if properties.get(key) != value:
            yield f"property {key}: the report says {value}, the file {properties.get(key)}"
    if suite.name != shown(report["agent"]):
        yield f"the suite is named {suite.name!r}, the agent {report['agent']!r}"


def main() -> int:
    """Returns 0 when everything is right, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--report", help="file with the report on the campaign, schema planproof/report/v1")
    options = parser.parse_args()
    try:
        faults = list(faults_of_schema(options.file))
        document = JUnitXml.fromfile(options.file)
        suites = list(document)
    except Exception as error:  # Whatever a reader of XML throws: the file cannot be read.
        sys.exit(f"check_junit: {options.file}: {error}")
    if len(suites) != 1:
        sys.exit(f"check_junit: {options.file} has {len(suites)} suites, not one")
    [suite] = suites
    counted = count(suite)
    faults += [*faults_of_totals("document", document, counted), *faults_of_totals("suite", suite, counted)]
    if options.report:
        report = json.loads(Path(options.report).read_text(encoding="utf-8"))
        faults += differences(report, suite, counted)
    print(json.dumps(counted))
    for fault in faults[:REASONS_SHOWN]:
        print(f"check_junit: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
