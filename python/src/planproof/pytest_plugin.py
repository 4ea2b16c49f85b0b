"""A plugin for pytest: a test for each case of a campaign, with the finding as its message.

    @pytest.mark.planproof("worker:python my_agent.py", cases=20)
    def test_planning(planproof_case):
        pass

The campaign runs once, before the first of its tests. A case that the agent fails is a failed test; a run that says
nothing about the agent, because something else failed, is an error.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Generator, List, Optional, Sequence, Union

import pytest

from ._agent import Agent
from ._binary import find_binary

CASES = 20
SEED = 7

# Most characters that are shown of what the program said: its end, which says why it ended.
COMPLAINT_CHARACTERS_MAX = 20_000

# What the program exits with: all passed, some failed, something outside failed. Anything else is a mistake of ours.
_RAN = (0, 1, 3)

_campaigns = pytest.StashKey[Dict[str, "Campaign"]]()


@dataclass(frozen=True)
class CaseResult:
    """What came of one case."""

    id: str
    name: str
    # Empty where the case passed.
    message: str = ""
    # The class of a failure (`order_error`, `action_lost`, ...).
    failure: Optional[str] = None
    # The run says nothing about the agent, because something else failed.
    unscored: bool = False

    @property
    def passed(self) -> bool:
        """Whether the agent passed it."""
        return self.failure is None and not self.unscored


@dataclass(frozen=True)
class Campaign:
    """A campaign: how it was asked for, and what came of its cases."""

    command: Sequence[str]
    results: Dict[str, CaseResult] = field(default_factory=dict)
    # What the program said where there is no result.
    complaint: str = ""

    def result(self, case: str) -> CaseResult:
        """What came of a case. One that was not run is unscored."""
        missing = CaseResult(case, case, self.complaint or "the case was not run", unscored=True)
        return self.results.get(case, missing)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Lets the agent be named for all tests at once."""
    group = parser.getgroup("planproof")
    group.addoption("--planproof-agent", metavar="AGENT", help="the agent of marks that name none")
    group.addoption("--planproof-options", metavar="OPTIONS", default="", help="further options of `planproof test`")
    parser.addini("planproof_agent", "the agent of marks that name none")


def pytest_configure(config: pytest.Config) -> None:
    """Declares the mark."""
    config.addinivalue_line(
        "markers",
        "planproof(agent=None, cases=20, seed=7, serve_model=None, options=()): a test for each case of a campaign of "
        "`planproof test`; the agent is a text as on the command line or a function under @planproof.agent",
    )
    config.stash[_campaigns] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(name: str, obj: object) -> None:
    """Lets a marked function, or class, have the fixture without naming it."""
    if _is_marked(obj):
        if isinstance(obj, type) and issubclass(obj, unittest.TestCase):
            raise _misplaced(f"the class {name} of unittest")
        pytest.mark.usefixtures("planproof_case")(obj)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test for each case of a marked function."""
    mark = metafunc.definition.get_closest_marker("planproof")
    if mark is None:
        return
    asked = _Asked.of(mark, metafunc.config)
    metafunc.parametrize("planproof_case", asked.case_ids(), indirect=True)


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    """Refuses marks of which no campaign would come: such a test would pass without any case."""
    for item in items:
        if item.get_closest_marker("planproof") is None:
            continue
        if not isinstance(item, pytest.Function) or issubclass(item.cls or object, unittest.TestCase):
            raise _misplaced(f"{item.nodeid}, which is not a test function of pytest")
        if "planproof_case" not in getattr(getattr(item, "callspec", None), "params", {}):
            raise _misplaced(f"{item.nodeid}, as a mark of a parameter")


def _is_marked(obj: object) -> bool:
    marks = getattr(obj, "pytestmark", [])
    return any(mark.name == "planproof" for mark in (marks if isinstance(marks, list) else [marks]))


def _misplaced(where: str) -> pytest.UsageError:
    return pytest.UsageError(
        f"pytest.mark.planproof is for test functions and classes of pytest, and has no effect on {where}: "
        "mark a function"
    )


@pytest.fixture
def planproof_case(request: pytest.FixtureRequest) -> CaseResult:
    """What came of the case that the test is about. The first test of a campaign runs it."""
    mark = request.node.get_closest_marker("planproof")
    if mark is None:
        raise pytest.UsageError("planproof_case is for tests that are marked with pytest.mark.planproof")
    result = _campaign(request.node, mark).result(request.param)
    if result.unscored:
        # Pytest reports a failure in a fixture as an error of the test, which is what such a run is.
        pytest.fail(result.message, pytrace=False)
    return result


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
    """Fails the test of a case that the agent failed, after what the test itself looks at."""
    outcome = yield
    result = pyfuncitem.funcargs.get("planproof_case")
    # A failure of the test itself is kept, because it is more specific.
    if isinstance(result, CaseResult) and result.failure is not None and outcome.excinfo is None:
        outcome.force_exception(pytest.fail.Exception(result.message, pytrace=False))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says how to look at the campaigns."""
    campaigns = config.stash.get(_campaigns, {})
    if not campaigns:
        return
    terminalreporter.section("planproof")
    for name, campaign in campaigns.items():
        results = campaign.results.values()
        passed = sum(result.passed for result in results)
        unscored = sum(result.unscored for result in results)
        said = f"{name}: passed {passed} of {len(results) - unscored} cases"
        terminalreporter.write_line(said + (f"; {unscored} say nothing about the agent" if unscored else ""))
        if campaign.complaint:
            terminalreporter.write_line(campaign.complaint)


@dataclass(frozen=True)
class _Asked:
    """What a mark asks for."""

    agent: str
    cases: int
    seed: int
    options: List[str]

    @classmethod
    def of(cls, mark: pytest.Mark, config: pytest.Config) -> "_Asked":
        return cls._of(config, *mark.args, **mark.kwargs)

    @classmethod
    def _of(
        cls,
        config: pytest.Config,
        agent: Union[str, Agent, None] = None,
        cases: int = CASES,
        seed: int = SEED,
        serve_model: Optional[str] = None,
        options: Sequence[str] = (),
    ) -> "_Asked":
        named = agent or config.getoption("--planproof-agent") or config.getini("planproof_agent")
        if not named:
            raise pytest.UsageError("pytest.mark.planproof names no agent, and neither does --planproof-agent")
        if cases < 1:
            raise pytest.UsageError("pytest.mark.planproof needs at least one case, as in cases=20")
        words = ["--serve-model", serve_model] if serve_model else []
        words += [*options, *shlex.split(config.getoption("--planproof-options"))]
        # The tests are named before anything runs, so these two must be known by then.
        for name in ("cases", "seed"):
            if any(word.split("=")[0] == f"--{name}" for word in words):
                raise pytest.UsageError(f"--{name} belongs in the mark, as in pytest.mark.planproof({name}=3)")
        return cls(named.command() if isinstance(named, Agent) else str(named), cases, seed, words)

    def case_ids(self) -> List[str]:
        # Tests are collected without running anything: planproof names its cases by seed and index.
        return [f"{self.seed}-{number}" for number in range(self.cases)]

    def run(self, folder: Path) -> Campaign:
        with tempfile.TemporaryDirectory() as scratch:
            junit = Path(scratch, "junit.xml")
            command = [find_binary(), "test", self.agent, "--cases", str(self.cases), "--seed", str(self.seed)]
            command += ["--junit", str(junit), "--quiet", *self.options]
            ran = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace"
            )
            # The file is missing if planproof refused its command line; stderr says why.
            results = _read(junit) if junit.is_file() else []
        complaint = ran.stderr.strip()
        if len(complaint) > COMPLAINT_CHARACTERS_MAX:
            complaint = "…" + complaint[1 - COMPLAINT_CHARACTERS_MAX :]
        if ran.returncode not in _RAN:
            complaint = f"planproof exited with {ran.returncode}: {complaint}"
        return Campaign(command, _by_case(results), complaint)


def _campaign(item: Any, mark: pytest.Mark) -> Campaign:
    """The campaign of a marked function, which is run if it was not yet."""
    campaigns: Dict[str, Campaign] = item.config.stash[_campaigns]
    # Without the parameter, the name is the same for all tests of one function, which share a campaign.
    name = item.nodeid.rpartition("[")[0]
    if name not in campaigns:
        campaigns[name] = _Asked.of(mark, item.config).run(item.config.rootpath)
    return campaigns[name]


def _by_case(results: Sequence[CaseResult]) -> Dict[str, CaseResult]:
    """The result of each case. With `--repeat`, that is its first failed run, else one without a score, if any."""
    by_case: Dict[str, CaseResult] = {}
    for result in results:
        known = by_case.get(result.id)
        if known is None or _gravity(result) > _gravity(known):
            by_case[result.id] = result
    return by_case


def _gravity(result: CaseResult) -> int:
    if result.failure is not None:
        return 2
    return 1 if result.unscored else 0


def _read(junit: Path) -> List[CaseResult]:
    """The results in a JUnit file of planproof's: one for each run."""
    return [_result(case) for case in ElementTree.parse(junit).getroot().iter("testcase")]


def _result(case: ElementTree.Element) -> CaseResult:
    name = case.get("name", "")
    # The name begins with the case's id, which has no blanks.
    identity = name.split(" ")[0]
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is None:
            continue
        first = f"{name}: {found.get('type', kind)}: {found.get('message', '')}"
        message = "\n".join(part for part in (first, (found.text or "").strip()) if part)
        if kind == "failure":
            return CaseResult(identity, name, message, found.get("type", "failure"))
        return CaseResult(identity, name, message, unscored=True)
    return CaseResult(identity, name)
