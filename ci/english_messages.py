"""Reads what a message says beside its part of the paragraph: changes, and what to wait with.

A change is a sentence of english.py with words before and behind it that say what becomes of the order which it states.
"""

import re
from collections.abc import Iterator
from typing import Any

from english import Sentence, sentences_of

Said = tuple[Any, ...]

# How a sentence begins that turns an order round, or says that it does not matter. The clause follows.
TURNS_ROUND = ["No, the other way round:", "I was wrong there:", "Correction:"]
SETS_FREE = ["Forget that", "It no longer matters whether"]
# What may stand behind the clause, and adds nothing to what it says.
DENIED = {"earlier": ", not after it", "later": ", not before it"}
NO_MATTER = ", their order does not matter"
# Around a task that is not to be done.
LEFT_OUT = [("Leave out", "after all"), ("There is no need for", "any more, so do not do it"), ("Forget about", ", which nobody needs any more")]
WAIT = ("Wait with", "until my next message")


def clause(words: str, texts: dict[str, list[str]]) -> list[Said]:
    """The readings of a clause that states one order."""
    (tokens,) = sentences_of(words + ".") or [[]]
    readings = Sentence(tokens, texts).readings()
    return [fact for facts in readings if len(facts) == 1 for fact in facts if fact[0] == "before"]


def tasks(words: str, texts: dict[str, list[str]]) -> list[tuple[str, ...]]:
    """The readings of a list of tasks."""
    tokens = [part for chunk in words.split() for part in (chunk.rstrip(","), *("," * chunk.endswith(","))) if part]
    # The end of a sentence, which no list reaches over.
    return [found for end, found in Sentence([*tokens, "."], texts).lists(0) if end == len(tokens)]


def readings_of(sentence: str, texts: dict[str, list[str]]) -> list[Said]:
    """All that a sentence can say, without its full stop."""
    found: list[Said] = []

    def between(begin: str, end: str) -> str | None:
        has_both = sentence.startswith(begin + " ") and sentence.endswith(end) and len(sentence) > len(begin + end)
        return sentence[len(begin) : len(sentence) - len(end)].strip() if has_both else None

    for begin in TURNS_ROUND:
        rest = between(begin, "")
        for side, denied in ((None, ""), *DENIED.items()):
            if rest is None or not rest.endswith(denied) or (side is None and ", not " in rest):
                continue
            for _, first, second in clause(rest.removesuffix(denied), texts):
                # The denied order is the reverse: its subject is earlier if the clause's subject is.
                subject = first if side == "earlier" else second
                if side is None or rest.startswith(" ".join(texts[subject])):
                    found.append(("reversed", first, second))
    for begin in SETS_FREE:
        for end in ("", NO_MATTER):
            rest = between(begin, end)
            if rest is not None and (end or NO_MATTER not in rest):
                found += [("free", first, second) for _, first, second in clause(rest, texts)]
    for begin, end in LEFT_OUT:
        rest = between(begin, end)
        found += [("dropped", task) for (task,) in tasks(rest, texts)] if rest else []
    rest = between(*WAIT)
    return found + ([("waiting", frozenset(all_of)) for all_of in tasks(rest, texts)] if rest else [])


def wanted(case: dict[str, Any], message: int) -> set[Said]:
    """What a message has to say, by the file."""
    turns, texts = case["turns"], {action["id"]: action["text"] for action in case["actions"]}
    pairs = {constraint["id"]: (constraint["first"], constraint["second"]) for constraint in case["constraints"]}
    for change in turns["changes"]:
        if "reverse" in change:
            pairs[change["reverse"]] = pairs[change["drops"]][::-1]
    says: set[Said] = set()
    for change in turns["changes"]:
        if change["message"] == message:
            if "action" in change:
                says.add(("dropped", change["action"]))
            else:
                kind = "reversed" if "reverse" in change else "free"
                says.add((kind, *pairs[change.get("reverse", change["drops"])]))
    dropped = {change["action"]: change["message"] for change in turns["changes"] if "action" in change}
    # The text of the paragraph up to this message names these tasks.
    so_far = " ".join(case["paragraph"][part["start"] : part["end"]] for part in turns["messages"][:message])
    waiting = frozenset(
        task
        for task, text in texts.items()
        if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", so_far, re.IGNORECASE)
        and message < (turns["due"][task] or dropped[task])
    )
    return says | ({("waiting", waiting)} if waiting else set())


def faults_of_messages(case: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the English of the messages of a case, beside the paragraph."""
    texts = {action["id"]: action["text"].split() for action in case["actions"]}
    for number, part in enumerate(case["turns"]["messages"], start=1):
        of_paragraph = case["paragraph"][part["start"] : part["end"]]
        text = case["query"] if number == 1 else part["text"]
        said: list[Said] = []
        for block in text.split("\n\n"):
            if block == of_paragraph:
                continue
            sentences = [sentence.strip() for sentence in block.split(".") if sentence.strip()]
            for sentence in sentences:
                readings = readings_of(sentence, texts)
                # The query has instructions beside what it says of tasks.
                if len(set(readings)) > 1 or (not readings and number > 1):
                    yield f"message {number}: {sentence!r} has {len(set(readings))} readings"
                said += readings[:1]
        if of_paragraph and of_paragraph not in text.split("\n\n"):
            yield f"message {number} does not have its part of the paragraph"
        if len(said) != len(set(said)) or set(said) != wanted(case, number):
            yield f"message {number} says {sorted(map(str, said))}, and the case {sorted(map(str, wanted(case, number)))}"
