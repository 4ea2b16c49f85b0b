//! From the tree to English, and from the tree to constraints with their positions in the text.

use crate::clock::{Bound, clock_time};
use crate::grammar::{
    ActionList, ClockBound, ClockLink, Direction, JOINER_WORDS, Joiner, Link, NeutralClause, NounPhrase,
    Relative, SubSentence,
};
use crate::terms::{Phrasing, Position, Terms};
use crate::wording::Wordings;

/// The position of the words that state a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Sentence, from 0.
    pub sentence: u32,
    /// Sub-sentence within the sentence, from 0.
    pub sub_sentence: u32,
    /// First character, counted in Unicode scalar values from the start of the paragraph.
    pub start: u32,
    /// One past the last character.
    pub end: u32,
}

/// One pair that the text states: `first` before `second`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatedPair {
    pub(crate) first: u8,
    pub(crate) second: u8,
    pub(crate) source: Source,
    pub(crate) phrasing: Phrasing,
}

/// One clock time that the text binds an action to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatedTime {
    pub(crate) action: u8,
    pub(crate) bound: Bound,
    pub(crate) source: Source,
    pub(crate) phrasing: Phrasing,
}

/// A paragraph in English, and its statements, in the order of statement.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) pairs: Vec<StatedPair>,
    pub(crate) times: Vec<StatedTime>,
}

/// Where the text of a terminal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) fills: Fills,
    pub(crate) span: CharRange,
}

/// What fills a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fills {
    /// A wording, or a conjunction between sub-sentences.
    Wording,
    /// The text of this action.
    Action(u8),
}

/// Writes a paragraph.
pub(crate) fn write_paragraph(
    sentences: &[(Joiner, SubSentence)],
    words: &Wordings,
    texts: &[String],
) -> Written {
    write(sentences, words, texts, None).0
}

/// Writes a paragraph, and returns the positions of its terminals, in the order of the text.
pub(crate) fn write_with_slots(
    sentences: &[(Joiner, SubSentence)],
    words: &Wordings,
    texts: &[String],
) -> (Written, Vec<Slot>) {
    write(sentences, words, texts, Some(Vec::new()))
}

fn write(
    sentences: &[(Joiner, SubSentence)],
    words: &Wordings,
    texts: &[String],
    slots: Option<Vec<Slot>>,
) -> (Written, Vec<Slot>) {
    let mut writer = Writer {
        text: String::with_capacity(sentences.len() * 100),
        characters: 0,
        sentence: 0,
        sub_sentence: 0,
        pairs: Vec::with_capacity(sentences.len() * 4),
        times: Vec::new(),
        slots,
        words,
        texts,
        capital: true,
        comma_due: false,
    };
    for (joiner, sub_sentence) in sentences {
        writer.joiner(*joiner);
        writer.sub_sentence(sub_sentence);
    }
    writer.full_stop();
    let slots = writer.slots.unwrap_or_default();
    (Written { text: writer.text, pairs: writer.pairs, times: writer.times }, slots)
}

struct Writer<'a> {
    text: String,
    characters: u32,
    sentence: u32,
    sub_sentence: u32,
    pairs: Vec<StatedPair>,
    times: Vec<StatedTime>,
    /// Only on request: synthesis needs none.
    slots: Option<Vec<Slot>>,
    words: &'a Wordings,
    texts: &'a [String],
    /// The next word begins a sentence.
    capital: bool,
    /// A relative clause has ended and its closing comma is not written yet: another mark may replace it.
    comma_due: bool,
}

/// A range of characters of a paragraph, counted in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CharRange {
    pub start: u32,
    /// One past the last character.
    pub end: u32,
}

impl CharRange {
    fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl Writer<'_> {
    fn mark(&mut self, mark: char) {
        self.comma_due = false;
        self.text.push(mark);
        self.characters += 1;
    }

    /// Writes a phrase, after a blank unless it begins the text, and returns its position.
    fn phrase(&mut self, phrase: &str) -> CharRange {
        // The comma that closes a relative clause is written only if words follow; any other mark takes its place.
        if self.comma_due {
            self.mark(',');
        }
        if !self.text.is_empty() {
            self.text.push(' ');
            self.characters += 1;
        }
        let start = self.characters;
        let mut rest = phrase.chars();
        match rest.next() {
            Some(first) if self.capital => {
                self.text.extend(first.to_uppercase());
                self.text.push_str(rest.as_str());
            }
            _ => self.text.push_str(phrase),
        }
        self.capital = false;
        // Places are counted in Unicode scalar values, but nearly all phrases are ASCII and need no counting.
        self.characters += if phrase.is_ascii() { phrase.len() } else { phrase.chars().count() } as u32;
        CharRange { start, end: self.characters }
    }

    /// Writes the text of a terminal.
    fn slot(&mut self, text: &str, fills: Fills) -> CharRange {
        let span = self.phrase(text);
        if let Some(slots) = &mut self.slots {
            slots.push(Slot { fills, span });
        }
        span
    }

    fn wording(&mut self, text: &str) -> CharRange {
        self.slot(text, Fills::Wording)
    }

    /// An English list: "A", "A and B", "A, B, and C".
    fn list(&mut self, list: &ActionList) -> CharRange {
        let texts = self.texts;
        let actions = list.as_slice();
        let mut span: Option<CharRange> = None;
        for (place, action) in actions.iter().enumerate() {
            // The serial comma: a list of two has none.
            if place > 0 && actions.len() > 2 {
                self.mark(',');
            }
            if place > 0 && place == actions.len() - 1 {
                self.phrase("and");
            }
            let here = self.slot(&texts[usize::from(*action)], Fills::Action(*action));
            span = Some(span.map_or(here, |before| before.to(here)));
        }
        span.unwrap_or(CharRange { start: self.characters, end: self.characters })
    }

    fn source(&self, span: CharRange) -> Source {
        Source { sentence: self.sentence, sub_sentence: self.sub_sentence, start: span.start, end: span.end }
    }

    fn state_bound(&mut self, subject: &ActionList, bound: ClockBound, position: Position, span: CharRange) {
        let source = self.source(span);
        let terms = Terms::of_clock(bound, position);
        let phrasing = Phrasing { terms, position, has_list: subject.is_plural() };
        let bound = bound.bound();
        let actions = subject.as_slice().iter();
        self.times.extend(actions.map(|&action| StatedTime { action, bound, source, phrasing }));
    }

    fn state(
        &mut self,
        [subject, object]: [&ActionList; 2],
        terms: Terms,
        position: Position,
        span: CharRange,
    ) {
        let source = self.source(span);
        let phrasing = Phrasing { terms, position, has_list: subject.is_plural() || object.is_plural() };
        for &x in subject.as_slice() {
            for &y in object.as_slice() {
                let (first, second) = match terms.direction {
                    Direction::Before => (x, y),
                    Direction::After => (y, x),
                };
                self.pairs.push(StatedPair { first, second, source, phrasing });
            }
        }
    }

    /// Writes a noun phrase and records the statements of its relative clause. Returns the position of its own list.
    fn noun_phrase(&mut self, phrase: &NounPhrase) -> CharRange {
        let list = self.list(&phrase.list);
        if let Some(relative) = &phrase.relative {
            self.mark(',');
            self.phrase("which");
            match &**relative {
                Relative::Ordered { direction, link, object } => {
                    self.link(*link, *direction, phrase.list.is_plural());
                    let end = self.noun_phrase(object);
                    // Set again at each level, but one comma closes all clauses that end here.
                    self.comma_due = true;
                    let terms = Terms::of_link(*link, *direction);
                    // Stated after the words are written, because its place reaches from the
                    // antecedent to the end of the object.
                    self.state([&phrase.list, &object.list], terms, Position::Relative, list.to(end));
                }
                Relative::Bounded(bound) => {
                    let end = self.clock_bound(*bound, phrase.list.is_plural());
                    self.comma_due = true;
                    self.state_bound(&phrase.list, *bound, Position::Relative, list.to(end));
                }
            }
        }
        list
    }

    /// Writes the words after the subject of a clock time, and returns the position of the time.
    fn clock_bound(&mut self, ClockBound { direction, link, minute }: ClockBound, plural: bool) -> CharRange {
        let words = self.words;
        match link {
            ClockLink::Verb { verb } => {
                self.wording(&words.clock_verbs(direction)[usize::from(verb)][usize::from(plural)]);
            }
            ClockLink::Adverbial { boundary, preposition } => {
                self.wording(&words.boundaries(direction)[usize::from(boundary)][usize::from(plural)]);
                self.wording(&words.clock_prepositions(direction)[usize::from(preposition)]);
            }
        }
        self.phrase(&clock_time(minute))
    }

    fn link(&mut self, link: Link, direction: Direction, plural: bool) {
        let words = self.words;
        match link {
            Link::Verb { verb } => {
                self.wording(&words.verbs(direction)[usize::from(verb)][usize::from(plural)]);
            }
            Link::Adverbial { neutral, preposition } => {
                self.neutral(neutral, plural);
                self.wording(&words.prepositions(direction)[usize::from(preposition)]);
            }
        }
    }

    fn neutral(&mut self, neutral: u8, plural: bool) -> CharRange {
        let words = self.words;
        self.wording(&words.neutrals()[usize::from(neutral)][usize::from(plural)])
    }

    fn neutral_clause(&mut self, clause: &NeutralClause) -> CharRange {
        let subject = self.noun_phrase(&clause.subject);
        subject.to(self.neutral(clause.neutral, clause.subject.list.is_plural()))
    }

    fn sub_sentence(&mut self, sub_sentence: &SubSentence) {
        let words = self.words;
        match sub_sentence {
            SubSentence::Independent { subject, direction, link, object, fronted: false } => {
                let from = self.noun_phrase(subject);
                self.link(*link, *direction, subject.list.is_plural());
                let to = self.noun_phrase(object);
                let terms = Terms::of_link(*link, *direction);
                self.state([&subject.list, &object.list], terms, Position::Behind, from.to(to));
            }
            SubSentence::Independent { subject, direction, link, object, fronted: true } => {
                let Link::Adverbial { neutral, preposition } = link else {
                    unreachable!("only an adverbial clause is drawn fronted");
                };
                // The words that state the constraint reach from the preposition to the verb of the subject.
                let from = self.wording(&words.prepositions(*direction)[usize::from(*preposition)]);
                self.noun_phrase(object);
                self.mark(',');
                self.noun_phrase(subject);
                let to = self.neutral(*neutral, subject.list.is_plural());
                let terms = Terms::of_link(*link, *direction);
                self.state([&subject.list, &object.list], terms, Position::Front, from.to(to));
            }
            SubSentence::Bounded { subject, bound, fronted: false } => {
                let from = self.noun_phrase(subject);
                let to = self.clock_bound(*bound, subject.list.is_plural());
                self.state_bound(&subject.list, *bound, Position::Behind, from.to(to));
            }
            SubSentence::Bounded { subject, bound, fronted: true } => {
                let ClockLink::Adverbial { boundary, preposition } = bound.link else {
                    unreachable!("only an adverbial clause is drawn fronted");
                };
                let front = &words.clock_fronts(bound.direction)[usize::from(preposition)];
                let from = self.wording(front);
                self.phrase(&clock_time(bound.minute));
                self.mark(',');
                self.noun_phrase(subject);
                let boundary = &words.boundaries(bound.direction)[usize::from(boundary)];
                let to = self.wording(&boundary[usize::from(subject.list.is_plural())]);
                self.state_bound(&subject.list, *bound, Position::Front, from.to(to));
            }
            SubSentence::Clauses { main, direction, conjunction, other, fronted } => {
                let terms = Terms::of_conjunction(*conjunction, *direction);
                let position = if *fronted { Position::Front } else { Position::Behind };
                let conjunction = &words.conjunctions(*direction)[usize::from(*conjunction)];
                let span = if *fronted {
                    let from = self.wording(conjunction);
                    self.neutral_clause(other);
                    self.mark(',');
                    from.to(self.neutral_clause(main))
                } else {
                    let from = self.neutral_clause(main);
                    self.wording(conjunction);
                    from.to(self.neutral_clause(other))
                };
                self.state([&main.subject.list, &other.subject.list], terms, position, span);
            }
        }
    }

    fn joiner(&mut self, joiner: Joiner) {
        match joiner {
            Joiner::Start => {
                // Ends the sentence before; the last one is ended by `write`.
                if !self.text.is_empty() {
                    self.full_stop();
                    self.sentence += 1;
                }
                self.sub_sentence = 0;
            }
            Joiner::Semicolon => {
                self.mark(';');
                self.sub_sentence += 1;
            }
            Joiner::Comma(word) => {
                self.mark(',');
                self.wording(JOINER_WORDS[usize::from(word)]);
                self.sub_sentence += 1;
            }
        }
    }

    /// A full stop replaces the comma that would close a relative clause, as every mark does.
    fn full_stop(&mut self) {
        self.mark('.');
        self.capital = true;
    }
}
