"""Reads the English of cases back into constraints, by a grammar of its own, and compares.

    planproof synth --count 500 --json | python ci/read_english.py -
    python ci/read_english.py cases.jsonl

Cases are of schema planproof/case/v1, one a line; any Python from 3.11 runs it, without packages. It shares nothing with
planproof: no code, and no list of wordings. Its grammar is in english.py, and what later messages add in
english_messages.py.

All readings of each sentence are counted, and a case is at fault when a sentence has more than one, or says something
else than the constraints that name it as their source. Readings differ by what they say. What counts as two:
- "A and B, which must follow C": A and B, or B alone, because "must" shows no number;
- "D follows E, but before A, B and C happen": D before all three, or B and C before A;
- commas of a list that can be cut in more than one place.
Prints the totals as one JSON line, and exits with 1 and the first reasons if anything is wrong.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from english import Facts, Sentence, sentences_of, shown
from english_messages import faults_of_messages
from json_lines import read_json_lines

REASONS_SHOWN = 10


def stated(case: dict[str, Any], sentence: int) -> Facts:
    """The constraints that name this sentence as a source."""
    facts = set()
    for constraint in case["constraints"]:
        if any(source["sentence"] == sentence for source in constraint["source"]):
            if constraint["kind"] == "before":
                facts.add(("before", constraint["first"], constraint["second"]))
            else:
                facts.add((constraint["kind"], constraint["action"], constraint["minute"]))
    return frozenset(facts)


def faults_of(case: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the English of a case."""
    texts = {action["id"]: action["text"].split() for action in case["actions"]}
    sentences = sentences_of(case["paragraph"])
    for number, tokens in enumerate(sentences):
        words = " ".join(tokens)
        readings = Sentence(tokens, texts).readings()
        if len(readings) != 1:
            says = " | ".join(map(shown, sorted(readings, key=shown)))
            yield f"sentence {number + 1} has {len(readings)} readings: {words!r} ({says})"
            continue
        says, wanted = readings.pop(), stated(case, number)
        if says != wanted:
            only = f"only the text: {shown(says - wanted)}, only the constraints: {shown(wanted - says)}"
            yield f"sentence {number + 1} does not say what the constraints say: {words!r} ({only})"
    sources = {source["sentence"] for constraint in case["constraints"] for source in constraint["source"]}
    if not sources <= set(range(len(sentences))):
        yield "a constraint names a sentence that is not there"
    if "turns" in case:
        yield from faults_of_messages(case)


def main() -> None:
    """Reads the file that the command line names."""
    if len(sys.argv) != 2:
        sys.exit("read_english: give one file of cases, or -")
    cases = read_json_lines(sys.argv[1])
    faults = [f"case {case['id']}: {fault}" for case in cases for fault in faults_of(case)]
    for fault in faults[:REASONS_SHOWN]:
        print(f"read_english: {fault}", file=sys.stderr)
    print(json.dumps({"cases": len(cases), "faults": len(faults)}))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
