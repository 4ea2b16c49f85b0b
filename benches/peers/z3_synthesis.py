"""Algorithm 1 of the paper (arXiv 2404.17833) the way the paper runs it: every sentence is checked by Z3.

The peer that planproof's own synthesis is measured against. It draws from the same grammar with the same limits and
fills in text, so that both do the same job: at most n sentences, 50 tries for one, lists of at most 2 actions (3 from
six actions on), one to three sub-sentences, relative clauses one deep, every action mentioned.

    python benches/peers/z3_synthesis.py --fresh --seconds 10
    python benches/peers/z3_synthesis.py --incremental --count 500 --actions 3..5 --seed 7

`--fresh` gives each check a new solver; `--incremental` keeps one for a paragraph and uses push and pop.
Prints one JSON line.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import z3

TRIES_MAX = 50
SUB_SENTENCES_MAX = 3

BEFORE, AFTER = 0, 1
VERBS = [
    ["precedes|precede", "comes before|come before", "must precede|must precede"],
    ["follows|follow", "comes after|come after", "has to wait for|have to wait for"],
]
NEUTRAL_VERBS = ["happens|happen", "takes place|take place", "is carried out|are carried out"]
PREPOSITIONS = [["before", "prior to", "ahead of"], ["after", "later than", "subsequent to"]]
CONJUNCTIONS = [["before", "some time before"], ["after", "some time after"]]
JOINERS = [", and", ", but", ", yet", ", while", ", whereas"]
ACTIVITIES = [
    "firewall audit",
    "cable inventory",
    "antenna alignment",
    "intern mentoring",
    "printer relocation",
    "bandwidth measurement",
    "badge reader repair",
    "spam filter tuning",
    "standby battery test",
    "domain name transfer",
    "tower lease negotiation",
    "packet loss diagnosis",
]
ACTIONS_MAX = 64

Pair = tuple[int, int]


class OutOfActions(Exception):
    """A sub-sentence wants more actions than the case has."""


@dataclass
class Phrase:
    """A list of actions, perhaps with a relative clause on the whole list."""

    actions: list[int]
    relative: "Relative | None" = None


@dataclass
class Relative:
    """The words ", which precedes C,": its direction, with the list in front of it as subject, and its object."""

    direction: int
    is_verb: bool
    object: Phrase


@dataclass
class SubSentence:
    """One of the five forms: verb, adverbial, fronted adverbial, clauses, fronted clauses."""

    form: str
    direction: int
    subject: Phrase
    object: Phrase

    def ends_in_relative(self) -> bool:
        """Whether a conjunction behind it could belong to its relative clause: such a sentence has two readings."""
        return self.form in ("verb", "adverbial") and self.object.relative is not None

    def pairs(self) -> Iterator[Pair]:
        """What it states, each pair as (earlier, later)."""
        yield from ordered(self.subject, self.object, self.direction)
        for phrase in (self.subject, self.object):
            if phrase.relative:
                yield from ordered(phrase, phrase.relative.object, phrase.relative.direction)


def ordered(subject: Phrase, other: Phrase, direction: int) -> Iterator[Pair]:
    """Every member of one list before every member of the other."""
    for x in subject.actions:
        for y in other.actions:
            yield (x, y) if direction == BEFORE else (y, x)


@dataclass
class Sentence:
    """Sub-sentences, and what joins each to the one before."""

    parts: list[SubSentence]
    joiners: list[str] = field(default_factory=list)

    def pairs(self) -> list[Pair]:
        """What it states."""
        return [pair for part in self.parts for pair in part.pairs()]


class Grammar:
    """Expands the grammar at random for a case of `count` actions."""

    def __init__(self, draw: random.Random, count: int) -> None:
        self.draw = draw
        self.all = set(range(count))
        self.list_max = 3 if count >= 6 else 2

    def sentence(self, unmentioned: set[int], insist: bool) -> Sentence | None:
        """A sentence, or None for a draw with two readings or too few actions; takes what it names from
        `unmentioned`. With `insist`, actions not mentioned yet come before others."""
        try:
            sentence = Sentence([self.sub_sentence(unmentioned, insist)])
            while len(sentence.parts) < SUB_SENTENCES_MAX and self.draw.random() < 0.5:
                joiner = ";" if self.draw.randrange(3) == 0 else self.draw.choice(JOINERS)
                if joiner != ";" and sentence.parts[-1].ends_in_relative():
                    return None
                sentence.joiners.append(joiner)
                sentence.parts.append(self.sub_sentence(unmentioned, insist))
        except OutOfActions:
            return None
        return sentence

    def sub_sentence(self, unmentioned: set[int], insist: bool) -> SubSentence:
        """One of the five forms, with actions that are all different."""
        free = set(self.all)
        form = self.draw.choice(["verb", "adverbial", "fronted adverbial", "clauses", "fronted clauses"])
        direction = self.draw.choice([BEFORE, AFTER])
        subject = self.phrase(free, unmentioned, insist, relative=True)
        return SubSentence(form, direction, subject, self.phrase(free, unmentioned, insist, relative=True))

    def phrase(self, free: set[int], unmentioned: set[int], insist: bool, relative: bool) -> Phrase:
        """A list of actions, one in five with a relative clause where that is allowed."""
        length = self.draw.randint(1, self.list_max)
        if not free:
            raise OutOfActions
        phrase = Phrase([self.take(free, unmentioned, insist) for _ in range(min(length, len(free)))])
        if relative and free and self.draw.randrange(5) == 0:
            direction, is_verb = self.draw.choice([BEFORE, AFTER]), self.draw.random() < 0.5
            phrase.relative = Relative(direction, is_verb, self.phrase(free, unmentioned, insist, relative=False))
        return phrase

    def take(self, free: set[int], unmentioned: set[int], insist: bool) -> int:
        """Takes an action out of `free`."""
        fresh = free & unmentioned
        action = self.draw.choice(sorted(fresh if fresh and (insist or self.draw.random() < 0.5) else free))
        free.discard(action)
        unmentioned.discard(action)
        return action


class FreshSolver:
    """Asks a new solver each time."""

    def __init__(self, count: int) -> None:
        self.calls = 0
        self.positions = [z3.Int(f"a{action}") for action in range(count)]
        self.pairs: list[Pair] = []

    def accept(self, pairs: list[Pair]) -> bool:
        """Keeps the pairs if all that was kept so far can hold together with them."""
        self.calls += 1
        solver = z3.Solver()
        add_initial(solver, self.positions)
        add_pairs(solver, self.positions, self.pairs + pairs)
        if solver.check() != z3.sat:
            return False
        self.pairs += pairs
        return True


class IncrementalSolver:
    """Keeps one solver, with a level for each sentence."""

    def __init__(self, count: int) -> None:
        self.calls = 0
        self.positions = [z3.Int(f"a{action}") for action in range(count)]
        self.solver = z3.Solver()
        add_initial(self.solver, self.positions)

    def accept(self, pairs: list[Pair]) -> bool:
        """Keeps the pairs if all that was kept so far can hold together with them."""
        self.calls += 1
        self.solver.push()
        add_pairs(self.solver, self.positions, pairs)
        if self.solver.check() == z3.sat:
            return True
        self.solver.pop()
        return False


def add_initial(solver: z3.Solver, positions: list[z3.ArithRef]) -> None:
    """The initial constraints: every action has a position of its own, 1 to n."""
    solver.add(z3.Distinct(*positions))
    for position in positions:
        solver.add(position >= 1, position <= len(positions))


def add_pairs(solver: z3.Solver, positions: list[z3.ArithRef], pairs: list[Pair]) -> None:
    """Each pair's first before its second."""
    for first, second in pairs:
        solver.add(positions[first] < positions[second])


def synthesise(draw: random.Random, count: int, solver_kind: type) -> tuple[list[Sentence], int]:
    """Skeleton synthesis; returns the sentences and the number of solver calls. Draws until all is mentioned."""
    calls = 0
    grammar = Grammar(draw, count)
    while True:
        solver = solver_kind(count)
        sentences: list[Sentence] = []
        unmentioned = set(range(count))
        target = draw.randint(1, (count + 1) // 2)
        while len(sentences) < count and (len(sentences) < target or unmentioned):
            insist = len(sentences) + 1 >= target
            for _ in range(TRIES_MAX):
                fresh = set(unmentioned)
                sentence = grammar.sentence(fresh, insist)
                if sentence and solver.accept(sentence.pairs()):
                    sentences.append(sentence)
                    unmentioned = fresh
                    break
            else:
                break
        calls += solver.calls
        if not unmentioned:
            return sentences, calls


class Writer:
    """Fills text into skeletons."""

    def __init__(self, draw: random.Random, count: int) -> None:
        self.draw = draw
        texts = ACTIVITIES
        if count > len(ACTIVITIES):
            sites = range(1, 2 + (count - 1) // len(ACTIVITIES))
            texts = [f"{activity} at site {site}" for site in sites for activity in ACTIVITIES]
        self.texts = draw.sample(texts, count)

    def paragraph(self, sentences: list[Sentence]) -> str:
        """The sentences as English."""
        return " ".join(self.sentence(sentence) for sentence in sentences)

    def sentence(self, sentence: Sentence) -> str:
        """One sentence. The comma that closes a relative clause gives way to other punctuation."""
        text = self.sub_sentence(sentence.parts[0])
        for joiner, part in zip(sentence.joiners, sentence.parts[1:], strict=True):
            text = f"{text.removesuffix(',')}{joiner} {self.sub_sentence(part)}"
        return text[0].upper() + text[1:].removesuffix(",") + "."

    def sub_sentence(self, part: SubSentence) -> str:
        """One of the five forms."""
        subject, other = self.phrase(part.subject), self.phrase(part.object)
        if part.form == "verb":
            return f"{subject} {self.verb(VERBS[part.direction], part.subject)} {other}"
        happens = f"{subject} {self.verb(NEUTRAL_VERBS, part.subject)}"
        if "adverbial" in part.form:
            link = self.draw.choice(PREPOSITIONS[part.direction])
        else:
            link = self.draw.choice(CONJUNCTIONS[part.direction])
            other = f"{other} {self.verb(NEUTRAL_VERBS, part.object)}"
        if part.form.startswith("fronted"):
            return f"{link} {other.removesuffix(',')}, {happens}"
        return f"{happens} {link} {other}"

    def phrase(self, phrase: Phrase) -> str:
        """An English list and its relative clause."""
        *others, last = [self.texts[action] for action in phrase.actions]
        text = last
        if others:
            text = f"{', '.join(others)}{',' if len(others) > 1 else ''} and {last}"
        if relative := phrase.relative:
            if relative.is_verb:
                link = self.verb(VERBS[relative.direction], phrase)
            else:
                link = f"{self.verb(NEUTRAL_VERBS, phrase)} {self.draw.choice(PREPOSITIONS[relative.direction])}"
            text += f", which {link} {self.phrase(relative.object)},"
        return text

    def verb(self, wordings: list[str], subject: Phrase) -> str:
        """A verb phrase that agrees with its subject."""
        singular, plural = self.draw.choice(wordings).split("|")
        return plural if len(subject.actions) > 1 else singular


def action_range(text: str) -> range:
    """Reads "3..5" or "4"."""
    low, _, high = text.partition("..")
    actions = range(int(low), int(high or low) + 1)
    if not actions or actions[0] < 2 or actions[-1] > ACTIONS_MAX:
        raise argparse.ArgumentTypeError(f"must be a range within 2..{ACTIONS_MAX}")
    return actions


def main() -> None:
    """Synthesises until the count or the time is reached, and prints what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--fresh", action="store_const", dest="solver", const=FreshSolver)
    kind.add_argument("--incremental", action="store_const", dest="solver", const=IncrementalSolver)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--count", type=int, help="number of cases")
    amount.add_argument("--seconds", type=float, default=10.0, help="CPU seconds (default: 10)")
    parser.add_argument("--actions", type=action_range, default=range(3, 6), help="default: 3..5")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    cases, solver_calls, paragraph = 0, 0, ""
    begin = time.process_time()
    while cases < options.count if options.count else time.process_time() - begin < options.seconds:
        count = draw.choice(options.actions)
        sentences, calls = synthesise(draw, count, options.solver)
        paragraph = Writer(draw, count).paragraph(sentences)
        cases += 1
        solver_calls += calls
    cpu_seconds = time.process_time() - begin
    mode = "fresh" if options.solver is FreshSolver else "incremental"
    result = {
        "peer": f"z3 {z3.get_version_string()}, {mode}",
        "actions": f"{options.actions[0]}..{options.actions[-1]}",
        "seed": options.seed,
        "cases": cases,
        "cpu_seconds": round(cpu_seconds, 3),
        "cases_per_cpu_second": round(cases / cpu_seconds, 1),
        "solver_calls": solver_calls,
        "last_paragraph": paragraph,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
