"""Algorithm 1 of the paper (arXiv 2404.17833) the way the paper runs it: every sentence is checked by Z3.

The peer that planproof's own synthesis is measured against. It draws from the same grammar with the same limits and
fills in text, so that both do the same job: at most n sentences, 50 tries for one, lists of at most 2 actions (3 from
six actions on), one to three sub-sentences, relative clauses one deep, every action mentioned.

    python benches/peers/z3_synthesis.py --fresh --seconds 10
    python benches/peers/z3_synthesis.py --incremental --count 500 --actions 3..5 --seed 7
    python benches/peers/z3_synthesis.py --incremental --time --count 200

`--fresh` gives each check a new solver; `--incremental` keeps one for a paragraph and uses push and pop. `--time` is the
paper's extended form (section 4.4): objects can be clock times, actions have starts and durations, lie within a day, and
do not overlap.
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

# Of the time form.
DAY = (8 * 60, 20 * 60)
CLOCK_TIMES = range(DAY[0] + 30, DAY[1], 30)
DURATION_STEP = 5
CLOCK_VERBS = [
    ["has to end by|have to end by", "must be over by|must be over by"],
    ["must not start before|must not start before", "has to wait until|have to wait until"],
]
BOUNDARIES = [["ends|end", "is finished|are finished"], ["starts|start", "begins|begin"]]
CLOCK_PREPOSITIONS = [["by", "no later than", "at or before"], ["no earlier than", "not before", "at or after"]]
CLOCK_FRONTS = [["by", "no later than"], ["at or after", "at some point no earlier than"]]

# What a sentence states: ("before", earlier action, later action), ("ends by", action, minute), ("starts from", ...).
Statement = tuple[str, int, int]


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
    object: "Object"


@dataclass
class ClockTime:
    """A clock time, in minutes from midnight."""

    minute: int

    def text(self) -> str:
        """As in 14:30."""
        return f"{self.minute // 60:02}:{self.minute % 60:02}"


Object = Phrase | ClockTime


@dataclass
class SubSentence:
    """One of the five forms: verb, adverbial, fronted adverbial, clauses, fronted clauses."""

    form: str
    direction: int
    subject: Phrase
    object: Object

    def ends_in_relative(self) -> bool:
        """Whether a conjunction behind it could belong to its relative clause: such a sentence has two readings."""
        is_phrase = isinstance(self.object, Phrase)
        return self.form in ("verb", "adverbial") and is_phrase and self.object.relative is not None

    def statements(self) -> Iterator[Statement]:
        """What it states."""
        yield from related(self.subject, self.object, self.direction)
        for phrase in (self.subject, self.object):
            if isinstance(phrase, Phrase) and phrase.relative:
                yield from related(phrase, phrase.relative.object, phrase.relative.direction)


def related(subject: Phrase, other: Object, direction: int) -> Iterator[Statement]:
    """Every member of one list before every member of the other, or bound to the clock time."""
    for x in subject.actions:
        if isinstance(other, ClockTime):
            yield ("ends by" if direction == BEFORE else "starts from", x, other.minute)
            continue
        for y in other.actions:
            yield ("before", x, y) if direction == BEFORE else ("before", y, x)


@dataclass
class Sentence:
    """Sub-sentences, and what joins each to the one before."""

    parts: list[SubSentence]
    joiners: list[str] = field(default_factory=list)

    def statements(self) -> list[Statement]:
        """What it states."""
        return [statement for part in self.parts for statement in part.statements()]


class Grammar:
    """Expands the grammar at random for a case of `count` actions."""

    def __init__(self, draw: random.Random, count: int, is_timed: bool) -> None:
        self.draw = draw
        self.is_timed = is_timed
        self.all = set(range(count))
        self.list_max = 3 if count >= 6 else 2

    def sentence(self, unmentioned: set[int], insist: bool) -> Sentence | None:
        """A sentence, or None for a draw with two readings or too few actions; takes what it names from
        `unmentioned`. With `insist`, actions not mentioned yet come before others."""
        try:
            sentence = Sentence([self.sub_sentence(unmentioned, insist)])
            while len(sentence.parts) < SUB_SENTENCES_MAX and self.draw.random() < 0.5:
                joiner = ";" if self.draw.randrange(3) == 0 else self.draw.choice(JOINERS)
                # The whole draw is rejected and not only its last part, as in planproof.
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
        if "clauses" not in form and (clock_time := self.clock_time()):
            return SubSentence(form, direction, subject, clock_time)
        return SubSentence(form, direction, subject, self.phrase(free, unmentioned, insist, relative=True))

    def clock_time(self) -> ClockTime | None:
        """A clock time for every other object of the time form."""
        if self.is_timed and self.draw.random() < 0.5:
            return ClockTime(self.draw.choice(CLOCK_TIMES))
        return None

    def phrase(self, free: set[int], unmentioned: set[int], insist: bool, relative: bool) -> Phrase:
        """A list of actions, one in five with a relative clause where that is allowed."""
        length = self.draw.randint(1, self.list_max)
        if not free:
            raise OutOfActions
        phrase = Phrase([self.take(free, unmentioned, insist) for _ in range(min(length, len(free)))])
        if relative and free and self.draw.randrange(5) == 0:
            direction, is_verb = self.draw.choice([BEFORE, AFTER]), self.draw.random() < 0.5
            other = self.clock_time() or self.phrase(free, unmentioned, insist, relative=False)
            phrase.relative = Relative(direction, is_verb, other)
        return phrase

    def take(self, free: set[int], unmentioned: set[int], insist: bool) -> int:
        """Takes an action out of `free`."""
        fresh = free & unmentioned
        action = self.draw.choice(sorted(fresh if fresh and (insist or self.draw.random() < 0.5) else free))
        free.discard(action)
        unmentioned.discard(action)
        return action


class Positions:
    """The basic form for Z3: every action has a position of its own, 1 to n."""

    def __init__(self, count: int) -> None:
        self.positions = [z3.Int(f"a{action}") for action in range(count)]

    def initial(self) -> Iterator[z3.BoolRef]:
        """What holds before anything is stated."""
        yield z3.Distinct(*self.positions)
        for position in self.positions:
            yield position >= 1
            yield position <= len(self.positions)

    def stated(self, statement: Statement) -> z3.BoolRef:
        """A statement."""
        _, first, second = statement
        return self.positions[first] < self.positions[second]


class Schedule:
    """The time form for Z3: every action has a start, lies within the day, and overlaps no other one."""

    def __init__(self, durations: list[int]) -> None:
        self.starts = [z3.Int(f"start{action}") for action in range(len(durations))]
        self.ends = [z3.Int(f"end{action}") for action in range(len(durations))]
        self.durations = durations

    def initial(self) -> Iterator[z3.BoolRef]:
        """What holds before anything is stated."""
        for start, end, duration in zip(self.starts, self.ends, self.durations, strict=True):
            yield end == start + duration
            yield start >= DAY[0]
            yield end <= DAY[1]
        for one in range(len(self.starts)):
            for other in range(one + 1, len(self.starts)):
                yield z3.Or(self.ends[one] <= self.starts[other], self.ends[other] <= self.starts[one])

    def stated(self, statement: Statement) -> z3.BoolRef:
        """A statement."""
        match statement:
            case ("before", first, second):
                return self.ends[first] <= self.starts[second]
            case ("ends by", action, minute):
                return self.ends[action] <= minute
            case (_, action, minute):
                return self.starts[action] >= minute


Model = Positions | Schedule


class FreshSolver:
    """Asks a new solver each time."""

    def __init__(self, model: Model) -> None:
        self.calls = 0
        self.model = model
        self.statements: list[Statement] = []

    def accept(self, statements: list[Statement]) -> bool:
        """Keeps the statements if all that was kept so far can hold together with them."""
        self.calls += 1
        solver = z3.Solver()
        solver.add(*self.model.initial())
        solver.add(*(self.model.stated(statement) for statement in self.statements + statements))
        # An undecided check counts as a contradiction, so that no sentence is kept without a proof.
        if solver.check() != z3.sat:
            return False
        self.statements += statements
        return True


class IncrementalSolver:
    """Keeps one solver, with a level for each sentence."""

    def __init__(self, model: Model) -> None:
        self.calls = 0
        self.model = model
        self.solver = z3.Solver()
        self.solver.add(*model.initial())

    def accept(self, statements: list[Statement]) -> bool:
        """Keeps the statements if all that was kept so far can hold together with them."""
        self.calls += 1
        self.solver.push()
        self.solver.add(*(self.model.stated(statement) for statement in statements))
        # If they fit, the sentence's level stays on the stack for the rest of the paragraph.
        if self.solver.check() == z3.sat:
            return True
        self.solver.pop()
        return False


def draw_durations(draw: random.Random, count: int) -> list[int]:
    """Minutes for each action; all together leave some of the day free."""
    day = DAY[1] - DAY[0]
    shortest = 15 if 30 * count <= day else DURATION_STEP
    longest = max(shortest, min(180, day * 13 // (10 * count) - shortest))
    left = day * 6 // 7
    durations = []
    for waiting in reversed(range(count)):
        # The actions still waiting must all find room for their shortest duration.
        most = min(longest, left - shortest * waiting)
        durations.append(draw.randrange(shortest, most + 1, DURATION_STEP))
        left -= durations[-1]
    return durations


def synthesise(draw: random.Random, count: int, solver_kind: type, is_timed: bool) -> tuple[list[Sentence], int]:
    """Skeleton synthesis; returns the sentences and the number of solver calls. Draws until all is mentioned, and a clock
    time in the time form."""
    calls = 0
    grammar = Grammar(draw, count, is_timed)
    durations = draw_durations(draw, count) if is_timed else []
    while True:
        solver = solver_kind(Schedule(durations) if is_timed else Positions(count))
        sentences: list[Sentence] = []
        unmentioned = set(range(count))
        target = draw.randint(1, (count + 1) // 2)
        while len(sentences) < count and (len(sentences) < target or unmentioned):
            insist = len(sentences) + 1 >= target
            for _ in range(TRIES_MAX):
                # A copy, since a rejected sentence must not use up the actions that it named.
                fresh = set(unmentioned)
                sentence = grammar.sentence(fresh, insist)
                if sentence and solver.accept(sentence.statements()):
                    sentences.append(sentence)
                    unmentioned = fresh
                    break
            else:
                break
        calls += solver.calls
        names_time = any(kind != "before" for sentence in sentences for kind, _, _ in sentence.statements())
        if not unmentioned and (names_time or not is_timed):
            return sentences, calls


class Writer:
    """Fills text into skeletons."""

    def __init__(self, draw: random.Random, count: int) -> None:
        self.draw = draw
        texts = ACTIVITIES
        if count > len(ACTIVITIES):
            # Activities get a site only if there are more actions than activities.
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
        if isinstance(part.object, ClockTime):
            return self.bounded(part, part.object.text())
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

    def bounded(self, part: SubSentence, time: str) -> str:
        """One of the three forms with a clock time."""
        if part.form.startswith("fronted"):
            front = self.draw.choice(CLOCK_FRONTS[part.direction])
            happens = f"{self.phrase(part.subject)} {self.verb(BOUNDARIES[part.direction], part.subject)}"
            return f"{front} {time}, {happens}"
        link = self.clock_link(part.form == "verb", part.direction, part.subject)
        return f"{self.phrase(part.subject)} {link} {time}"

    def clock_link(self, is_verb: bool, direction: int, subject: Phrase) -> str:
        """What stands between a subject and a clock time."""
        if is_verb:
            return self.verb(CLOCK_VERBS[direction], subject)
        return f"{self.verb(BOUNDARIES[direction], subject)} {self.draw.choice(CLOCK_PREPOSITIONS[direction])}"

    def phrase(self, phrase: Phrase) -> str:
        """An English list and its relative clause."""
        *others, last = [self.texts[action] for action in phrase.actions]
        text = last
        if others:
            text = f"{', '.join(others)}{',' if len(others) > 1 else ''} and {last}"
        if relative := phrase.relative:
            if isinstance(relative.object, ClockTime):
                link = self.clock_link(relative.is_verb, relative.direction, phrase)
                return f"{text}, which {link} {relative.object.text()},"
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
    parser.add_argument("--time", action="store_true", help="the time form")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    cases, solver_calls, paragraph = 0, 0, ""
    begin = time.process_time()
    while cases < options.count if options.count else time.process_time() - begin < options.seconds:
        count = draw.choice(options.actions)
        sentences, calls = synthesise(draw, count, options.solver, options.time)
        paragraph = Writer(draw, count).paragraph(sentences)
        cases += 1
        solver_calls += calls
    cpu_seconds = time.process_time() - begin
    mode = "fresh" if options.solver is FreshSolver else "incremental"
    result = {
        "peer": f"z3 {z3.get_version_string()}, {mode}",
        "form": "time" if options.time else "basic",
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
