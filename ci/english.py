"""A grammar of English sentences about the order of tasks and clock times, written apart from planproof's.

Verb phrases are not looked up whole but put together ("are" + "not" + "to start" + "before" + a time), with number,
negation and time as an English grammar has them. All readings of a sentence are counted, by what they say.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

# A sentence of the generator has far fewer; a text with more is at fault anyway.
READINGS_MAX = 64

SINGULAR, PLURAL = "singular", "plural"
BOTH = frozenset({SINGULAR, PLURAL})

# ("before", first, second), ("ends_by", action, minute), ("starts_from", action, minute), or (edge, relation, action,
# minute) for what English can say of a clock time and cases cannot.
Fact = tuple[Any, ...]
Facts = frozenset[Fact]


class Verb(NamedTuple):
    """A verb without its ending, as in "come before"."""

    base: str
    third: str


def regular(base: str) -> Verb:
    """A verb whose third person has an s, or es."""
    first, _, rest = base.partition(" ")
    ending = "es" if first.endswith(("sh", "ch", "s", "x", "o")) else "s"
    return Verb(base, f"{first}{ending} {rest}".strip())


# What stands to its object as earlier or later.
ORDER_VERBS = {
    **{regular(base): "earlier" for base in ("precede", "come before", "go before", "come ahead of")},
    **{regular(base): "later" for base in ("follow", "come after", "come later than", "wait for")},
    regular("depend on the completion of"): "later",
}
# Behind a form of "be", by the number of the subject.
ORDER_COMPLEMENTS = {
    "a prerequisite for": ("earlier", {SINGULAR}),
    "prerequisites for": ("earlier", {PLURAL}),
    "preceded by": ("later", BOTH),
}
NEUTRAL_VERBS = [regular(base) for base in ("happen", "occur", "take place", "get done")]
NEUTRAL_PARTICIPLES = ["done", "carried out", "undertaken", "taken care of", "executed", "performed", "conducted"]
# Verbs of the end and the start of a task; "run" and "go on" reach to a time, so they speak of the end.
EDGE_VERBS = {
    **{regular(base): "end" for base in ("end", "finish", "conclude", "come to an end", "run", "go on")},
    **{regular(base): "start" for base in ("start", "begin", "commence", "get under way", "get started")},
}
EDGE_COMPLEMENTS = {
    **dict.fromkeys(("over", "finished", "completed", "complete"), "end"),
    **dict.fromkeys(("started", "begun", "initiated"), "start"),
}
PREPOSITIONS = {
    **dict.fromkeys(("before", "prior to", "ahead of", "in advance of", "earlier than"), "earlier"),
    **dict.fromkeys(("after", "subsequent to", "following", "later than"), "later"),
}
# Those that can also begin a clause.
CONJUNCTIONS = {"before": "earlier", "earlier than": "earlier", "after": "later", "later than": "later"}
# What a clock time is to the edge: at most, at least, strictly less, strictly more.
CLOCK_PREPOSITIONS = {
    **dict.fromkeys(("by", "no later than", "not later than", "at or before"), "<="),
    **dict.fromkeys(("no earlier than", "not earlier than", "no sooner than", "at or after"), ">="),
    "before": "<",
    **dict.fromkeys(("after", "past", "beyond"), ">"),
}
NEGATED = {"<=": ">", ">=": "<", "<": ">=", ">": "<="}
# What may stand in front of a preposition or a conjunction and adds nothing.
ADVERBIALS = ("at some point", "at any point", "at some time", "at any time", "some time", "at some stage", "at any stage")
JOINERS = ("and", "but", "yet", "while", "whereas")
# Auxiliaries in front of an infinitive: words, numbers they agree with, whether they negate.
AUXILIARIES = [
    ("has to", {SINGULAR}, False),
    ("have to", {PLURAL}, False),
    ("needs to", {SINGULAR}, False),
    ("need to", {PLURAL}, False),
    ("must", BOTH, False),
    ("must not", BOTH, True),
    ("cannot", BOTH, True),
]
for be, number in (("is", SINGULAR), ("are", PLURAL)):
    AUXILIARIES += [
        (f"{be} to", {number}, False),
        (f"{be} not to", {number}, True),
        (f"{be} not allowed to", {number}, True),
    ]


class VerbPhrase(NamedTuple):
    """A finite verb phrase that was found."""

    end: int
    numbers: frozenset[str]
    is_negative: bool
    meaning: str


class NounPhrase(NamedTuple):
    """A list of actions, and what its relative clause says."""

    end: int
    actions: tuple[str, ...]
    facts: Facts


class Clause(NamedTuple):
    """A clause: where it ends, the actions of its subject, what it says."""

    end: int
    subject: tuple[str, ...]
    facts: Facts


def numbers_of(actions: tuple[str, ...]) -> str:
    """The number of the verb that agrees with a list."""
    return PLURAL if len(actions) > 1 else SINGULAR


def ordered(subject: tuple[str, ...], side: str, objects: tuple[str, ...]) -> Facts:
    """Each of the subject earlier or later than each of the object."""
    pairs = ((one, other) if side == "earlier" else (other, one) for one in subject for other in objects)
    return frozenset(("before", first, second) for first, second in pairs)


def bound(subject: tuple[str, ...], edge: str, relation: str, minute: int) -> Facts:
    """What a clock time is to each of the subject."""
    kind = {("end", "<="): "ends_by", ("start", ">="): "starts_from"}.get((edge, relation))
    if kind is None:
        return frozenset((edge, relation, action, minute) for action in subject)
    return frozenset((kind, action, minute) for action in subject)


class Sentence:
    """A sentence as tokens, with all ways to read it. Methods take a place and give what can begin there."""

    def __init__(self, tokens: list[str], texts: dict[str, list[str]]) -> None:
        # The first word has a capital letter; which of its letters it had before cannot be seen.
        self.tokens = [tokens[0].lower(), *tokens[1:]] if tokens else []
        self.texts = texts
        for method in ("noun_phrases", "clauses", "verb_phrases", "prepositions"):
            setattr(self, method, cache(getattr(self, method)))

    def phrase(self, at: int, words: str) -> int | None:
        """The place behind these words."""
        wanted = words.split()
        return at + len(wanted) if self.tokens[at : at + len(wanted)] == wanted else None

    def any_of(self, at: int, phrases: Any) -> Iterator[tuple[int, str]]:
        """Those of the phrases that stand here."""
        for words in phrases:
            if (end := self.phrase(at, words)) is not None:
                yield end, words

    def actions(self, at: int) -> Iterator[tuple[int, str]]:
        """The actions whose text stands here."""
        for action, words in self.texts.items():
            here = self.tokens[at : at + len(words)]
            if here == words or (at == 0 and here == [words[0].lower(), *words[1:]]):
                yield at + len(words), action

    def lists(self, at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """"A", "A and B", "A, B and C", with or without a comma in front of "and"."""
        for end, action in self.actions(at):
            yield end, (action,)
            yield from self.longer_lists(end, (action,))

    def longer_lists(self, at: int, actions: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """A list from behind some of its items."""
        for mark in ("and", ", and"):
            if (behind := self.phrase(at, mark)) is not None:
                yield from ((end, (*actions, action)) for end, action in self.actions(behind))
        if (behind := self.phrase(at, ",")) is not None:
            for end, action in self.actions(behind):
                yield from self.longer_lists(end, (*actions, action))

    def noun_phrases(self, at: int) -> list[NounPhrase]:
        """Lists with and without a relative clause. The comma that closes one is left to what follows, or taken."""
        found = []
        for end, actions in self.lists(at):
            found.append(NounPhrase(end, actions, frozenset()))
            if (which := self.phrase(end, ", which")) is None:
                continue
            # "which" is about the whole list or about its last item; the verb agrees with what it is about.
            for about in {actions, actions[-1:]}:
                for clause in self.relatives(which, about):
                    if self.tokens[clause.end] == ",":
                        found.append(NounPhrase(clause.end + 1, actions, clause.facts))
                    if self.tokens[clause.end] in ",.;":
                        found.append(NounPhrase(clause.end, actions, clause.facts))
        return found

    def relatives(self, at: int, about: tuple[str, ...]) -> Iterator[Clause]:
        """A relative clause from behind "which", alone or with clauses that a conjunction joins to it."""
        for clause in self.predicates(at, about):
            yield clause
            for more in self.joined(clause) if self.tokens[clause.end] == "," else ():
                yield Clause(more.end, about, clause.facts | more.facts)

    def inflected(self, at: int, verb: Verb) -> Iterator[tuple[int, frozenset[str], bool]]:
        """A finite form of a verb: where it ends, the numbers it agrees with, whether it is negated."""
        for words, numbers in ((verb.third, {SINGULAR}), (verb.base, {PLURAL})):
            if (end := self.phrase(at, words)) is not None:
                yield end, frozenset(numbers), False
        for auxiliary, numbers, is_negative in AUXILIARIES:
            if (end := self.phrase(at, f"{auxiliary} {verb.base}")) is not None:
                yield end, frozenset(numbers), is_negative

    def being(self, at: int, complement: str) -> Iterator[tuple[int, frozenset[str], bool]]:
        """A finite form of "be" with its complement."""
        yield from self.inflected(at, Verb(f"be {complement}", f"is {complement}"))
        if (end := self.phrase(at, f"are {complement}")) is not None:
            yield end, frozenset({PLURAL}), False

    def verb_phrases(self, at: int, kind: str) -> list[VerbPhrase]:
        """Finite verb phrases of a kind: of order, neutral, or of an edge of a task."""
        found = []
        verbs: dict[Verb, str] = {
            "order": ORDER_VERBS,
            "neutral": dict.fromkeys(NEUTRAL_VERBS, ""),
            "edge": EDGE_VERBS,
        }[kind]
        for verb, meaning in verbs.items():
            found += [VerbPhrase(*form, meaning) for form in self.inflected(at, verb)]
        complements: dict[str, tuple[str, set[str] | frozenset[str]]] = {
            "order": ORDER_COMPLEMENTS,
            "neutral": dict.fromkeys(NEUTRAL_PARTICIPLES, ("", BOTH)),
            "edge": {words: (edge, BOTH) for words, edge in EDGE_COMPLEMENTS.items()},
        }[kind]
        for words, (meaning, complement_numbers) in complements.items():
            for end, numbers, is_negative in self.being(at, words):
                found.append(VerbPhrase(end, numbers & complement_numbers, is_negative, meaning))
        return found

    def agreeing(self, at: int, kind: str, subject: tuple[str, ...]) -> Iterator[VerbPhrase]:
        """Verb phrases that agree with a subject."""
        return (verb for verb in self.verb_phrases(at, kind) if numbers_of(subject) in verb.numbers)

    def prepositions(self, at: int, group: str) -> list[tuple[int, str]]:
        """Prepositions or conjunctions of a group with their meaning, with an adverbial in front or without."""
        table = {"order": PREPOSITIONS, "clause": CONJUNCTIONS, "clock": CLOCK_PREPOSITIONS}[group]
        begins = [at, *(end for end, _ in self.any_of(at, ADVERBIALS))]
        return [(end, table[words]) for begin in begins for end, words in self.any_of(begin, table)]

    def clock_time(self, at: int) -> int | None:
        """The minute of the day that a clock time names."""
        match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", self.tokens[at]) if at < len(self.tokens) else None
        return int(match[1]) * 60 + int(match[2]) if match else None

    def predicates(self, at: int, subject: tuple[str, ...]) -> Iterator[Clause]:
        """What can be said of a subject, up to the end of its object."""
        links = [(verb.end, verb.meaning) for verb in self.agreeing(at, "order", subject) if not verb.is_negative]
        for verb in self.agreeing(at, "neutral", subject):
            links += self.prepositions(verb.end, "order") if not verb.is_negative else []
        for end, side in links:
            for noun in self.noun_phrases(end):
                yield Clause(noun.end, subject, ordered(subject, side, noun.actions) | noun.facts)
        for verb in self.agreeing(at, "edge", subject):
            for end, relation in self.prepositions(verb.end, "clock"):
                if (minute := self.clock_time(end)) is not None:
                    relation = NEGATED[relation] if verb.is_negative else relation
                    yield Clause(end + 1, subject, bound(subject, verb.meaning, relation, minute))
        for end, numbers, is_negative in self.inflected(at, regular("wait until")):
            minute = self.clock_time(end)
            if minute is not None and numbers_of(subject) in numbers and not is_negative:
                yield Clause(end + 1, subject, bound(subject, "start", ">=", minute))

    def neutral_clauses(self, at: int) -> Iterator[Clause]:
        """"A and B happen"."""
        for noun in self.noun_phrases(at):
            for verb in self.agreeing(noun.end, "neutral", noun.actions):
                yield Clause(verb.end, noun.actions, noun.facts)

    def clauses(self, at: int) -> list[Clause]:
        """Sub-sentences."""
        return list(self.all_clauses(at))

    def all_clauses(self, at: int) -> Iterator[Clause]:
        """Subject first, or a prepositional phrase, a clause or a time first."""
        for noun in self.noun_phrases(at):
            for clause in self.predicates(noun.end, noun.actions):
                yield clause._replace(facts=clause.facts | noun.facts)
        for main in self.neutral_clauses(at):
            for end, side in self.prepositions(main.end, "clause"):
                for other in self.neutral_clauses(end):
                    facts = ordered(main.subject, side, other.subject) | main.facts | other.facts
                    yield Clause(other.end, main.subject, facts)
        fronted: list[tuple[str, Callable[[int], Any]]] = [
            ("order", lambda end: ((it.end, it.actions, it.facts) for it in self.noun_phrases(end))),
            ("clause", self.neutral_clauses),
        ]
        for group, phrases in fronted:
            for begin, side in self.prepositions(at, group):
                for end, actions, facts in phrases(begin):
                    if self.tokens[end] == ",":
                        for main in self.neutral_clauses(end + 1):
                            stated = ordered(main.subject, side, actions) | facts | main.facts
                            yield Clause(main.end, main.subject, stated)
        for begin, relation in self.prepositions(at, "clock"):
            minute = self.clock_time(begin)
            if minute is not None and self.tokens[begin + 1] == ",":
                for noun in self.noun_phrases(begin + 2):
                    for verb in self.agreeing(noun.end, "edge", noun.actions):
                        negated = NEGATED[relation] if verb.is_negative else relation
                        stated = bound(noun.actions, verb.meaning, negated, minute)
                        yield Clause(verb.end, noun.actions, stated | noun.facts)

    def joined(self, before: Clause) -> Iterator[Clause]:
        """What a semicolon or a conjunction joins to a clause."""
        if self.tokens[before.end] == ";":
            yield from self.clauses(before.end + 1)
        if self.tokens[before.end] == "," and self.tokens[before.end + 1] in JOINERS:
            begin = before.end + 2
            yield from self.clauses(begin)
            # The subject of the clause in front, and the verb with it, can be left out.
            for end, side in self.prepositions(begin, "clause"):
                for other in self.neutral_clauses(end):
                    yield Clause(other.end, before.subject, ordered(before.subject, side, other.subject) | other.facts)

    def readings(self) -> set[Facts]:
        """What the sentence can say, in all its readings."""
        complete = set()
        open_clauses = self.clauses(0)
        while open_clauses and len(complete) <= READINGS_MAX:
            clause = open_clauses.pop()
            if clause.end == len(self.tokens) - 1 and self.tokens[clause.end] == ".":
                complete.add(clause.facts)
                continue
            open_clauses += [it._replace(facts=clause.facts | it.facts) for it in self.joined(clause)]
        return complete


def sentences_of(paragraph: str) -> list[list[str]]:
    """The words and marks of each sentence, the full stop among them."""
    sentences: list[list[str]] = [[]]
    for chunk in paragraph.split():
        word = chunk.rstrip(",;.")
        sentences[-1] += [part for part in (word, *chunk[len(word) :]) if part]
        if chunk.endswith("."):
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def shown(facts: Facts) -> str:
    """Facts in a line."""
    return "; ".join(sorted(" ".join(map(str, fact)) for fact in facts))
