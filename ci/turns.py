"""Orders that arrive in several messages, and verdicts on them, judged by Z3 and plain counting after docs/turns.md.

A case has the messages as parts of its paragraph, the changes that later ones make, and the turn in which each task is
due. Here the turns are found again: the earliest ones that leave nothing unknown, as the smallest solution that Z3
finds of what they must be like.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import z3

Case = dict[str, Any]
Pair = tuple[str, str]


def message_of(case: Case, character: int) -> int:
    """The message in which a character of the paragraph stands."""
    parts = case["turns"]["messages"]
    return next(number for number, part in enumerate(parts, start=1) if part["start"] <= character < part["end"])


class Told:
    """What the messages of a case say, one after the other."""

    def __init__(self, case: Case) -> None:
        self.case, turns = case, case["turns"]
        self.last = len(turns["messages"])
        actions = {action["id"]: action["text"] for action in case["actions"]}
        # The paragraph's constraints, and the first message that states each.
        self.pairs: dict[str, Pair] = {}
        self.arrival: dict[str, int] = {}
        for constraint in case["constraints"]:
            name = constraint["id"]
            self.pairs[name] = (constraint["first"], constraint["second"])
            stated = [message_of(case, source["start"]) for source in constraint["source"]]
            self.arrival[name] = min(stated, default=1)
        # The first message that has the words of each task.
        self.named: dict[str, int] = {}
        for action, text in actions.items():
            words = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", case["paragraph"], re.IGNORECASE)
            self.named[action] = message_of(case, words.start()) if words else 1
        self.dropped: dict[str, int] = {}
        # Tasks that wait for a message, and tasks that are due in one turn.
        self.waits: list[tuple[str, int]] = []
        self.together: list[Pair] = []
        for change in turns["changes"]:
            self.apply(change)

    def apply(self, change: dict[str, Any]) -> None:
        message = change["message"]
        if "action" in change:
            task = change["action"]
            self.dropped[task] = message
            for name, (first, second) in list(self.pairs.items()):
                if task in (first, second):
                    # What the dropped task had to precede waits for the message as well.
                    self.waits += [(second, message)] if first == task else []
                    del self.pairs[name]
            return
        first, second = self.pairs.pop(change["drops"])
        self.waits += [(first, message), (second, message)]
        self.together.append((first, second))
        if "reverse" in change:
            self.pairs[change["reverse"]] = (second, first)
            self.arrival[change["reverse"]] = message

    def earliest(self) -> dict[str, int] | None:
        """The earliest turn of each task that is not dropped; `None` if Z3 finds none."""
        tasks = [task for task in self.named if task not in self.dropped]
        turn = {task: z3.Int(task) for task in tasks}
        solver = z3.Optimize()
        for task in tasks:
            solver.add(turn[task] >= self.named[task], turn[task] <= self.last)
        for name, (first, second) in self.pairs.items():
            solver.add(turn[second] >= turn[first], turn[second] >= self.arrival[name])
        solver.add([turn[task] >= message for task, message in self.waits if task in turn])
        solver.add([turn[one] == turn[other] for one, other in self.together if one in turn and other in turn])
        # There is a smallest solution, because of two solutions the smaller turn of each task is one, too.
        solver.minimize(z3.Sum(list(turn.values())))
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return {task: model.eval(turn[task], model_completion=True).as_long() for task in tasks}

    def waiting(self, message: int) -> set[str]:
        """The tasks that a message tells to wait with."""
        due = self.case["turns"]["due"]
        until = {task: self.dropped[task] if task in self.dropped else due[task] for task in self.named}
        return {task for task, named in self.named.items() if named <= message < until[task]}


def text_of(case: Case, message: int) -> str:
    return case["query"] if message == 1 else case["turns"]["messages"][message - 1]["text"]


def faults_of_case(case: Case, count_plans: Callable[[list[str], list[Pair]], int]) -> Iterator[str]:
    """What is wrong with the messages of a case, and with the difficulty that follows from them."""
    told, turns = Told(case), case["turns"]
    due = turns["due"]
    earliest = told.earliest()
    if earliest is None:
        yield "there is no turn for each task"
        return
    stated = {task: turn for task, turn in due.items() if turn is not None}
    if stated != earliest:
        yield f"due is {stated}, and Z3 finds {earliest}"
    if {task for task, turn in due.items() if turn is None} != set(told.dropped):
        yield f"due drops other tasks than {sorted(told.dropped)}"
    end = 0
    for number, part in enumerate(turns["messages"], start=1):
        if part["start"] != part["end"]:
            if case["paragraph"][end : part["start"]].strip():
                yield f"message {number} does not continue the paragraph"
            end = part["end"]
        if case["paragraph"][part["start"] : part["end"]] not in text_of(case, number):
            yield f"message {number} does not have its part of the paragraph"
        says = part["start"] != part["end"] or any(change["message"] == number for change in turns["changes"])
        if not says:
            yield f"message {number} says nothing"
        if number not in stated.values():
            yield f"nothing is due in turn {number}"
    if case["paragraph"][end:].strip():
        yield "the end of the paragraph is in no message"
    for change in turns["changes"]:
        if change["words"] not in text_of(case, change["message"]):
            yield f"message {change['message']} does not have the words of its change"
    yield from faults_of_difficulty(case, told, count_plans)


def faults_of_difficulty(case: Case, told: Told, count_plans: Callable[[list[str], list[Pair]], int]) -> Iterator[str]:
    """The plans are the orders within the turns."""
    difficulty, due = case["difficulty"], case["turns"]["due"]
    if (difficulty["actions"], difficulty["constraints"]) != (len(case["actions"]), len(told.pairs)):
        yield f"difficulty is of {difficulty['actions']} actions and {difficulty['constraints']} constraints"
    plans, orders = 1, 1
    for turn in range(1, told.last + 1):
        tasks = [task for task in told.named if due[task] == turn]
        plans *= count_plans(tasks, [pair for pair in told.pairs.values() if set(pair) <= set(tasks)])
        orders *= math.factorial(len(tasks))
    if difficulty["correct_plans"] != str(plans):
        yield f"correct_plans is {difficulty['correct_plans']!r}, counted {plans}"
    elif plans and abs(difficulty["bits"] - math.log2(orders / plans)) > 1e-6:
        yield f"bits is {difficulty['bits']}, computed {math.log2(orders / plans)}"
    if not plans:
        yield "the orders within a turn contradict each other"


def faults_of_verdict(verdict: dict[str, Any], case: Case) -> Iterator[str]:
    """What is wrong with a verdict: judged again by plain comparison of positions and turns."""
    told, due = Told(case), case["turns"]["due"]
    calls, in_turn = verdict["calls"], verdict["turns"]
    position: dict[str, int] = {}
    for place, task in enumerate(calls):
        position.setdefault(task, place)
    turn_of = {task: in_turn[place] for task, place in position.items()}
    violated = set()
    for name, (first, second) in told.pairs.items():
        # What was done before a message is not judged by what it says.
        if {first, second} <= position.keys() and turn_of[second] >= told.arrival[name]:
            violated |= {name} if position[first] > position[second] else set()
    for task, turn in turn_of.items():
        if due[task] is None:
            violated.add(f"{task}.never")
        elif turn < due[task]:
            violated.add(f"{task}.from")
        elif turn > due[task]:
            violated.add(f"{task}.by")
    stated = {entry["id"] for entry in verdict["violated"]}
    if stated != violated:
        yield f"violated is {sorted(stated)}, evaluated {sorted(violated)}"
    wanted = sorted(task for task, turn in due.items() if turn is not None)
    passed = not violated and sorted(calls) == wanted
    if verdict["passed"] != passed:
        yield f"passed is {verdict['passed']}, evaluated {passed}"
    if passed != (all(turn_of.get(task) == due[task] for task in wanted) and len(calls) == len(wanted) and not violated):
        yield "a run that passes has a task in another turn"
