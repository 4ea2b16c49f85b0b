"""The guard, over the program that decides."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

import planproof

RULES = """
schema: planproof/rules/v1
rules:
  - {id: look-first, requires: {call: refund, done: get_order}, per: /order_id, why: Look the order up first.}
  - {id: few, at-most: {call: pay, times: 5}}
  - {id: twice, at-most: {done: try, times: 2}}
  - {id: inform, followed-by: {done: refund, call: send_email}}
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A file of rules."""
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture
def guard(rules: Path) -> Iterator[planproof.Guard]:
    """A guard that enforces them, with a log beside them."""
    with planproof.Guard(rules, mode="enforce", log=rules.with_name("log.jsonl")) as guard:
        yield guard


def logged(rules: Path) -> List[Dict[str, Any]]:
    """The lines of the log."""
    return [json.loads(line) for line in rules.with_name("log.jsonl").read_text(encoding="utf-8").splitlines()]


def test_calls_are_decided_on(guard: planproof.Guard, rules: Path) -> None:
    order = {"order_id": 17}
    denied = guard.before("refund", order, call="c1")
    assert not denied and denied.reason is not None and "Look the order up first." in denied.reason
    assert (denied.rules[0]["id"], denied.rules[0]["missing"]) == ("look-first", "a result of get_order")
    assert denied.right == [{"tool": "get_order", "arguments": order}]
    assert denied.logged is not None and denied.logged["action"] == "blocked" and denied.logged["call"]["id"] == "c1"
    assert not guard.after(denied, "refunded"), "it was not made"
    looked = guard.before("get_order", order)
    assert looked and looked.reason is None
    assert not guard.before("refund", order), "the result has not come"
    assert guard.after(looked, {"status": "paid"}) and not guard.after(looked, {"status": "open"})
    refund = guard.before("refund", order)
    guard.after(refund, "refunded")
    ended = guard.end()
    assert [rule["id"] for rule in ended.unsatisfied] == ["inform"] and ended.pending == []
    lines = logged(rules)
    assert [line["kind"] for line in lines] == [
        "decision", "decision", "decision", "result", "decision", "result", "end",
    ]  # fmt: skip
    # What was answered is what was logged.
    assert lines[0] == denied.logged
    assert not guard.before("get_order", order), "the session has ended"


def test_each_rule_is_in_its_own_mode(rules: Path) -> None:
    text = rules.read_text(encoding="utf-8").replace("{id: few,", "{id: few, mode: shadow,")
    rules.write_text(text, encoding="utf-8")
    with planproof.Guard(rules) as guard:
        decisions = [guard.before("pay") for _ in range(6)]
        assert all(decisions) and decisions[4].reason is None
        noted = decisions[5]
        assert noted.reason is not None and noted.rules[0]["id"] == "few"
        assert noted.logged is not None and (noted.logged["action"], noted.logged["mode"]) == ("noted", "shadow")
        assert not guard.before("refund", {"order_id": 1}) and guard.mode == "enforce"
    assert not guard.before("pay"), "some rule enforces, so nothing is approved once the guard is gone"
    rules.write_text(text.replace("rules:", "mode: shadow\nrules:", 1), encoding="utf-8")
    with planproof.Guard(rules) as guard:
        assert guard.before("refund", {"order_id": 1}) and guard.mode == "shadow"
    assert guard.before("pay"), "all rules only watch"


def test_an_error_is_not_a_result(guard: planproof.Guard) -> None:
    for outcome in ({"error": "no"}, {"error": "no"}, {"result": 1}, {"result": 2}):
        decision = guard.before("try")
        assert decision
        guard.after(decision, outcome.get("result"), error=outcome.get("error"))  # type: ignore[arg-type]
    assert not guard.before("try")


def test_sessions_know_nothing_of_each_other(guard: planproof.Guard) -> None:
    first, second = guard.session("first"), guard.session("second")
    first.after(first.before("get_order", {"order_id": 1}), "")
    assert first.before("refund", {"order_id": 1}) and not second.before("refund", {"order_id": 1})
    with pytest.raises(planproof.GuardError, match="open already"):
        guard.session("first")
    assert first.end().pending == [2]
    assert not first.before("get_order"), "it has ended"


@pytest.mark.parametrize("sessions", [1, 3])
def test_nothing_gets_past_many_threads(guard: planproof.Guard, sessions: int) -> None:
    held = [guard.session(str(number)) for number in range(sessions)]
    approved: List[int] = []
    begin = threading.Barrier(24)

    def work(place: int) -> None:
        begin.wait()
        for _ in range(25):
            if held[place % sessions].before("pay", {"amount": place}):
                approved.append(place % sessions)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(approved) == sorted(list(range(sessions)) * 5)


def test_nothing_gets_past_many_tasks(guard: planproof.Guard) -> None:
    async def work() -> int:
        decisions = await asyncio.gather(*[guard.abefore("pay", {"amount": 1}) for _ in range(200)])
        for decision in decisions:
            await guard.aafter(decision, "paid")
        assert (await guard.aend()).pending == []
        return sum(map(bool, decisions))

    assert asyncio.run(work()) == 5


def test_a_cancelled_task_takes_nothing_back(guard: planproof.Guard) -> None:
    async def work() -> None:
        task = asyncio.ensure_future(guard.abefore("pay"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert guard.failure is None
    assert sum(bool(guard.before("pay")) for _ in range(9)) == 4


def test_functions_are_wrapped(guard: planproof.Guard) -> None:
    made: List[str] = []

    @guard.wrap
    def get_order(order_id: int, kind: str = "short") -> str:
        made.append(f"looked at {order_id}, {kind}")
        return '{"status": "paid"}'

    async def asynchronous(order_id: int) -> str:
        made.append("refunded")
        raise ValueError("bank is closed")

    refund = guard.wrap(asynchronous, tool="refund")
    with pytest.raises(planproof.CallDenied, match="look-first") as denied:
        asyncio.run(refund(17))
    assert denied.value.decision.right == [{"tool": "get_order", "arguments": {"order_id": 17}}]
    assert get_order(17) == '{"status": "paid"}'
    with pytest.raises(ValueError, match="bank is closed"):
        asyncio.run(refund(order_id=17))
    assert made == ["looked at 17, short", "refunded"]
    # An error is due nothing.
    assert guard.run("send_email", {"to": "a"}, lambda to: to) == "a"
    with pytest.raises(planproof.CallDenied):
        guard.run("refund", {"order_id": 18}, lambda order_id: order_id)
    assert guard.end().unsatisfied == []


def test_what_json_cannot_say(guard: planproof.Guard) -> None:
    # Not decided on, so not approved.
    for arguments in ({"n": float("nan")}, {"n": {(1, 2): 3}}, {1: "a", "1": "b"}, {"n": 2**60}, {"t": "\ud83d"}):
        decision = guard.before("other", arguments)  # type: ignore[arg-type]
        assert not decision and decision.reason is not None, arguments
    decision = guard.before("Refund", {})
    assert not decision and decision.reason is not None and "`refund` in the rules" in decision.reason
    # A result is reported, whatever it is.
    for result in (float("nan"), {(1, 2): 3}, object(), b"bytes", {"a": object()}):
        assert guard.after(guard.before("other"), result), result
    assert guard.end().pending == []


def test_too_much_for_a_line(guard: planproof.Guard) -> None:
    decision = guard.before("other", {"text": "x" * (17 * 1024 * 1024)})
    assert not decision and decision.reason is not None and "bytes" in decision.reason
    assert guard.before("other", {"text": "x" * (15 * 1024 * 1024)})


def test_a_result_that_cannot_be_told_ends_all_approval(guard: planproof.Guard) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    # As a text it can.
    assert guard.after(guard.before("other"), deep)
    other = guard.session("b")
    decision = guard.before("other")
    assert not guard.after(decision, "x" * (17 * 1024 * 1024))
    denied = guard.before("other")
    assert not denied and denied.reason is not None and "could not be read or kept" in denied.reason
    assert other.before("other")
    assert guard.after(decision, "short") and guard.before("other")


def test_a_guard_that_dies_denies(rules: Path) -> None:
    with planproof.Guard(rules, mode="enforce") as guard, planproof.Guard(rules, mode="shadow") as shadow:
        made = guard.before("get_order", {"order_id": 1})
        for killed in (guard, shadow):
            os.kill(killed._child.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            killed._child.wait()
        denied = guard.before("get_order")
        assert not denied and denied.reason is not None and "the guard has ended" in denied.reason
        assert not guard.after(made, "paid")
        with pytest.raises(planproof.GuardError, match="has ended"):
            guard.end()
        passed = shadow.before("refund", {"order_id": 1})
        assert passed and passed.reason is not None and "the guard has ended" in passed.reason

        async def later() -> planproof.Decision:
            return await guard.abefore("get_order")

        assert not asyncio.run(later())


def test_a_guard_that_does_not_answer_denies(rules: Path) -> None:
    if not hasattr(signal, "SIGSTOP"):
        pytest.skip("no process can be stopped here")
    guard = planproof.Guard(rules, mode="enforce", answer_seconds=0.5)
    os.kill(guard._child.pid, signal.SIGSTOP)
    denied = guard.before("get_order")
    assert not denied and denied.reason is not None and "not answered within 0.5 seconds" in denied.reason
    # Not even when it works again: what it has decided meanwhile is not known.
    os.kill(guard._child.pid, signal.SIGCONT)
    assert not guard.before("get_order")
    guard.close()


def test_a_closed_guard_denies(rules: Path) -> None:
    guard = planproof.Guard(rules, mode="enforce")
    with guard:
        pass
    assert not guard.before("get_order") and guard.failure == "the guard is closed"
    guard.close()


def test_what_is_wrong_is_said_at_once(rules: Path, tmp_path: Path) -> None:
    with pytest.raises(planproof.GuardError, match="cannot be read.*nothing.yaml"):
        planproof.Guard(tmp_path / "nothing.yaml", mode="shadow")
    bad = tmp_path / "bad.yaml"
    bad.write_text("schema: planproof/rules/v1\nrules:\n- {id: a, sometimes: {call: b}}\n", encoding="utf-8")
    with pytest.raises(planproof.GuardError, match="not valid.*bad.yaml:3"):
        planproof.Guard(bad, mode="enforce")
    with pytest.raises(planproof.GuardError, match="cannot write --log"):
        planproof.Guard(rules, mode="enforce", log=tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match="enforce"):
        planproof.Guard(rules, mode="watch")


FORKED = """
import os, sys
import planproof

guard = planproof.Guard(sys.argv[1], mode="enforce")
child = os.fork()
if child == 0:
    os._exit(0 if not guard.before("pay") and "forked" in guard.before("pay").reason else 1)
_, status = os.waitpid(child, 0)
assert status == 0 and guard.before("pay")
guard.close()
"""


def test_a_process_that_was_forked_off_asks_nothing(rules: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no process is forked here")
    source = Path(planproof.__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", FORKED, str(rules)], env=environment, timeout=60)
    assert done.returncode == 0


def test_the_log_ends_with_the_program(rules: Path) -> None:
    with planproof.Guard(rules, mode="enforce", log=rules.with_name("log.jsonl")) as guard:
        guard.after(guard.before("get_order", {"order_id": 1}), "paid")
        guard.before("refund", {"order_id": 1})
    end = logged(rules)[-1]
    assert (end["kind"], end["pending"]) == ("end", [2])
