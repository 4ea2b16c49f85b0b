"""The plugin, in a pytest of its own over the program that PLANPROOF_BINARY names."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import planproof

pytest_plugins = ["pytester"]

CARELESS = """
import pytest

@pytest.mark.planproof("tools@sim/careless", cases=4, options=["--actions", "6", "--store", "runs.db"])
def test_planning(planproof_case):
    assert planproof_case.id.startswith("7-")
"""

# A program that ran each of three cases twice.
TWICE = """#!/bin/sh
while [ "$1" != --junit ]; do shift; done
cat > "$2" <<END
<testsuites><testsuite>
<testcase name="7-0 clerk repeat 0"><failure type="order_error" message="not a before b"/></testcase>
<testcase name="7-1 clerk repeat 0"><error type="unscored" message="the model is gone"/></testcase>
<testcase name="7-2 clerk repeat 0"/>
<testcase name="7-0 clerk repeat 1"/>
<testcase name="7-1 clerk repeat 1"/>
<testcase name="7-2 clerk repeat 1"/>
</testsuite></testsuites>
END
exit 1
"""


@pytest.fixture(autouse=True)
def not_installed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads the plugin of this source, whether or not one is installed."""
    monkeypatch.setenv("PYTHONPATH", str(Path(planproof.__file__).resolve().parents[1]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest('pytest_plugins = ["planproof.pytest_plugin"]')


def run(pytester: pytest.Pytester, text: str, *words: str) -> pytest.RunResult:
    """The run of a file of tests."""
    pytester.makepyfile(text)
    return pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", *words)


def test_each_case_is_a_test_with_its_finding(pytester: pytest.Pytester) -> None:
    result = run(pytester, CARELESS)
    result.assert_outcomes(passed=2, failed=2)
    text = result.stdout.str()
    assert "test_planning[7-0] FAILED" in text and "test_planning[7-1] PASSED" in text
    result.stdout.fnmatch_lines(["7-0 tax accountant: order_error: ethics examination came before fee negotiation: *"])
    result.stdout.fnmatch_lines(["called: *", "violated: *", "first wrong call: *", "right: *", "see it: *"])
    result.stdout.fnmatch_lines(["*::test_planning: passed 2 of 4 cases"])
    assert "Traceback" not in text and "planproof_case =" not in text


MISPLACED = {
    "a method of unittest": """
        class TestPlanning(unittest.TestCase):
            @MARK
            def test_planning(self):
                pass
    """,
    "a class of unittest": """
        @MARK
        class TestPlanning(unittest.TestCase):
            def test_planning(self):
                pass
    """,
    "a module of unittest": """
        pytestmark = MARK
        class TestPlanning(unittest.TestCase):
            def test_planning(self):
                pass
    """,
    "a parameter": """
        @pytest.mark.parametrize("x", [pytest.param(1, marks=MARK)])
        def test_planning(x):
            pass
    """,
}


@pytest.mark.parametrize("where", MISPLACED)
def test_a_mark_that_would_have_no_effect_is_an_error(pytester: pytest.Pytester, where: str) -> None:
    head = 'import pytest\nimport unittest\nMARK = pytest.mark.planproof("tools@sim/careless", cases=2)\n'
    result = run(pytester, head + textwrap.dedent(MISPLACED[where]))
    assert result.ret not in (0, 1), result.stdout.str()
    assert "pytest.mark.planproof is for test functions and classes of pytest" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("cases", [0, -1])
def test_no_case_is_an_error(pytester: pytest.Pytester, cases: int) -> None:
    text = f"""
        import pytest

        @pytest.mark.planproof("tools@sim/careless", cases={cases})
        def test_planning():
            pass
    """
    assert "needs at least one case" in run(pytester, text).stdout.str()


def test_a_function_without_the_fixture_has_a_test_for_each_case_too(pytester: pytest.Pytester) -> None:
    text = """
        import pytest

        @pytest.mark.planproof("tools@sim/careless", cases=4, options=["--actions", "6", "--store", "runs.db"])
        def test_planning():
            pass

        @pytest.mark.planproof("tools@sim/perfect", cases=3, seed=9, options=["--store", "runs.db"])
        class TestPlanning:
            def test_planning(self):
                pass

        def test_other():
            pass
    """
    run(pytester, text).assert_outcomes(passed=6, failed=2)
    result = run(pytester, text, "-k", "9-1")
    result.assert_outcomes(passed=1, deselected=7)


def test_an_own_failure_comes_first(pytester: pytest.Pytester) -> None:
    result = run(pytester, CARELESS.replace('startswith("7-")', 'startswith("8-")'))
    result.assert_outcomes(failed=4)
    assert "AssertionError" in result.stdout.str()


def test_what_says_nothing_of_the_agent_is_an_error(pytester: pytest.Pytester) -> None:
    text = "import pytest\n@pytest.mark.planproof(\"command:sh -c 'exit 7'\", cases=2)\ndef test_it(): pass\n"
    result = run(pytester, text)
    result.assert_outcomes(errors=2)
    assert "never connected" in result.stdout.str()
    result = run(pytester, text.replace("sh -c 'exit 7'", "no_such_program"))
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*planproof exited with 2: *there is no program `no_such_program`*"])
    # Whatever it says instead of calling a tool, what it is shown with is short.
    long = "sh -c 'yes xxxxxxxxx | head -c 3000000'"
    result = run(pytester, text.replace("sh -c 'exit 7'", long))
    result.assert_outcomes(errors=2)
    assert "xxxx" in result.stdout.str() and len(result.stdout.str()) < 200_000


def test_a_case_that_fails_in_one_of_its_runs_is_failed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = pytester.path / "planproof-twice"
    program.write_text(TWICE, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PLANPROOF_BINARY", str(program))
    mark = '@pytest.mark.planproof("tools@openai/m", cases=3, options=["--repeat", "2"])'
    result = run(pytester, f"import pytest\n{mark}\ndef test_it(): pass\n")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(["7-0 clerk repeat 0: order_error: not a before b"])


def test_cases_and_seed_belong_in_the_mark(pytester: pytest.Pytester) -> None:
    text = 'import pytest\n@pytest.mark.planproof("tools@sim/perfect")\ndef test_it(): pass\n'
    result = run(pytester, text, "--planproof-options", "--hard --seed=3")
    assert result.ret != 0
    assert "--seed belongs in the mark, as in pytest.mark.planproof(seed=3)" in result.stdout.str()


def test_the_agent_may_come_from_elsewhere(pytester: pytest.Pytester) -> None:
    text = 'import pytest\n@pytest.mark.planproof(cases=1, options=["--store", "r.db"])\ndef test_it(): pass\n'
    result = run(pytester, text)
    assert result.ret != 0 and "names no agent" in result.stdout.str()
    run(pytester, text, "--planproof-agent", "tools@sim/perfect").assert_outcomes(passed=1)
    pytester.makeini("[pytest]\nplanproof_agent = tools@sim/perfect\n")
    run(pytester, text).assert_outcomes(passed=1)


def test_a_function_under_the_decorator_is_an_agent(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        my_agent="""
        import planproof

        @planproof.agent
        def in_order(query, tools):
            for tool in tools.list():
                tools.call(tool.name, {})
            return "Done."
        """
    )
    text = """
        import pytest
        from my_agent import in_order

        @pytest.mark.planproof(in_order, cases=6, options=["--actions", "2", "--store", "runs.db"])
        def test_planning(planproof_case):
            assert planproof_case.passed or planproof_case.failure == "order_error"
    """
    result = run(pytester, text)
    outcomes = result.parseoutcomes()
    assert outcomes.get("errors", 0) == 0 and outcomes["passed"] + outcomes["failed"] == 6, result.stdout.str()
