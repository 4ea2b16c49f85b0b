"""The world of a case, gone through call by call after docs/scenarios.md."""

from typing import Any

from judge_rules import MISSING, at, passes
from scenario_judge import NO_LINE, NO_VALUE

# The beginnings of planproof's own errors.
OWN_ERRORS = {NO_LINE: "this world has no answer for the call", NO_VALUE: "this world has no value for"}


class World:
    """What tools answer, and what calls made of the state."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.lines, self.state = case["world"], dict(case.get("state", {}))
        self.has_state = "state" in case

    def source(self, value: Any, arguments: dict[str, Any]) -> Any:
        if isinstance(value, dict) and "$argument" in value:
            return at(arguments, value["$argument"])
        return self.state[value["$state"]] if isinstance(value, dict) and "$state" in value else value

    def filled(self, result: Any, arguments: dict[str, Any]) -> Any:
        if not self.has_state or not isinstance(result, dict):
            return result
        if "$argument" in result or "$state" in result:
            return self.source(result, arguments)
        return {key: self.filled(part, arguments) for key, part in result.items()}

    def needs(self, line: dict[str, Any], arguments: dict[str, Any]) -> bool:
        for name, test in line.get("needs", {}).items():
            tests = test if isinstance(test, dict) else {"is": test}
            wanted = {key: self.source(value, arguments) for key, value in tests.items()}
            if MISSING in wanted.values() or not passes(self.state[name], wanted):
                return False
        return True

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, Any]:
        """Whether the call is `done` or `failed`, with the result or the error."""
        if tool not in self.lines:
            return "done", "done"
        for line in self.lines[tool]:
            if not all(passes(at(arguments, pointer), test) for pointer, test in line.get("where", {}).items()):
                continue
            if not self.needs(line, arguments):
                if "otherwise" in line:
                    return "failed", line["otherwise"]
                continue
            if "fails" in line:
                return "failed", line["fails"]
            after = dict(self.state)
            for key, sign in (("sets", 0), ("adds", 1), ("subtracts", -1)):
                for name, value in line.get(key, {}).items():
                    source = self.source(value, arguments)
                    if source is MISSING:
                        return "failed", NO_VALUE
                    after[name] = source if sign == 0 else self.state[name] + sign * source
            self.state = after
            return "done", self.filled(line.get("returns", "done"), arguments)
        return "failed", NO_LINE


def answers_differently(case: dict[str, Any], session: list[dict[str, Any]]) -> list[str]:
    """The calls of a session whose outcome is not that of the world."""
    world, faults = World(case), []
    for number, call in enumerate(session, start=1):
        moment, outcome = world.call(call["tool"], call["arguments"])
        shown = call["error"] if "error" in call else call["result"]
        is_own = moment == "failed" and outcome in OWN_ERRORS and str(shown).startswith(OWN_ERRORS[outcome])
        if ("error" in call) != (moment == "failed") or (shown != outcome and not is_own):
            faults.append(f"call {number} is shown with {shown!r}; the world answers {moment} {outcome!r}")
    return faults
