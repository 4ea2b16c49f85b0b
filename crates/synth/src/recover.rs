//! From a case back to the tree of its paragraph, so that a case can be changed piece by piece.
//!
//! A case file holds no tree. The recovered tree is proved: written out again it gives the same text and states the
//! same constraints at the same places. This is not a second reader (`crate::read` is one, and shares nothing with
//! the generator): it uses the generator's own wordings, and cannot understand any text that they do not produce.

use std::cell::Cell;
use std::collections::BTreeSet;

use planproof_trace::TimeOfDay;

use crate::case::{ACTIONS_MAX, PlanningCase};
use crate::clock::Bound;
use crate::grammar::{
    ActionList, ClockBound, ClockLink, Direction, Group, JOINER_WORDS, Joiner, LIST_MAX, Link, NeutralClause,
    NounPhrase, RELATIVE_DEPTH_MAX, Relative, SUB_SENTENCES_MAX, Sentences, SubSentence, WordingIndex,
};
use crate::text::{Source, write_paragraph};
use crate::wording::Wordings;

/// Most phrases that are tried in one paragraph. Those of the generator take some hundreds for each action.
const STEPS_MAX: u32 = 2_000_000;

/// Most sub-sentences of a paragraph: the generator writes at most as many sentences as a case can have actions. The
/// search recurses once for each of them, so this bounds the stack: a case file can hold a paragraph of any length.
const PARAGRAPH_SUB_SENTENCES_MAX: usize = ACTIONS_MAX * SUB_SENTENCES_MAX;

const DIRECTIONS: [Direction; 2] = [Direction::Before, Direction::After];

/// The tree of a case's paragraph; `None` if the generator cannot have written it with these wordings.
pub(crate) fn recover(case: &PlanningCase, words: &Wordings) -> Option<Sentences> {
    let texts: Vec<String> = case.actions.iter().map(|action| action.text.clone()).collect();
    let recovery = Recovery { text: &case.paragraph, words, texts: &texts, steps: Cell::new(0) };
    let start = At { byte: 0, capital: true, comma_due: false };
    let mut sentences = Sentences::new();
    recovery
        .rest(start, Joiner::Start, &mut sentences, &|found| states_the_same(case, found, words, &texts))
        .then_some(sentences)
}

fn states_the_same(case: &PlanningCase, sentences: &Sentences, words: &Wordings, texts: &[String]) -> bool {
    let written = write_paragraph(sentences, words, texts);
    let pairs: BTreeSet<(usize, usize, Source)> = written
        .pairs
        .iter()
        .map(|pair| (usize::from(pair.first), usize::from(pair.second), pair.source))
        .collect();
    let times: BTreeSet<(usize, Bound, Source)> =
        written.times.iter().map(|time| (usize::from(time.action), time.bound, time.source)).collect();
    let stated = case
        .constraints
        .iter()
        .flat_map(|stated| stated.sources.iter().map(move |source| (stated.first, stated.second, *source)));
    let bounds = case.time.iter().flat_map(|time| &time.bounds);
    let bounds = bounds
        .flat_map(|stated| stated.sources.iter().map(move |source| (stated.action, stated.bound, *source)));
    written.text == case.paragraph
        && pairs == stated.collect::<BTreeSet<_>>()
        && times == bounds.collect::<BTreeSet<_>>()
}

/// The understood part of the text, with the writer's state after it.
#[derive(Debug, Clone, Copy)]
struct At {
    byte: usize,
    capital: bool,
    comma_due: bool,
}

/// All ways to understand the next part, each with its result.
type Ways<T> = Vec<(At, T)>;

struct Recovery<'a> {
    text: &'a str,
    words: &'a Wordings,
    texts: &'a [String],
    steps: Cell<u32>,
}

impl Recovery<'_> {
    /// Finds the rest of the paragraph, sub-sentence by sub-sentence, up to an end that `is_right` accepts.
    fn rest(
        &self,
        at: At,
        joiner: Joiner,
        sentences: &mut Sentences,
        is_right: &impl Fn(&Sentences) -> bool,
    ) -> bool {
        if sentences.len() >= PARAGRAPH_SUB_SENTENCES_MAX {
            return false;
        }
        for (at, sub_sentence) in self.sub_sentence(at) {
            sentences.push((joiner, sub_sentence));
            if self.behind(at, sentences, is_right) {
                return true;
            }
            sentences.pop();
        }
        false
    }

    fn behind(&self, at: At, sentences: &mut Sentences, is_right: &impl Fn(&Sentences) -> bool) -> bool {
        if let Some(at) = self.mark(at, '.') {
            if at.byte == self.text.len() {
                return is_right(sentences);
            }
            return self.rest(At { capital: true, ..at }, Joiner::Start, sentences, is_right);
        }
        if let Some(at) = self.mark(at, ';') {
            return self.rest(at, Joiner::Semicolon, sentences, is_right);
        }
        // The three marks exclude each other, so no alternative has to be tried after one of them fails.
        let Some(comma) = self.mark(at, ',') else { return false };
        (0..).zip(JOINER_WORDS).any(|(index, word)| {
            self.phrase(comma, word)
                .is_some_and(|at| self.rest(at, Joiner::Comma(index), sentences, is_right))
        })
    }

    fn mark(&self, at: At, mark: char) -> Option<At> {
        let byte = at.byte + self.text.get(at.byte..)?.starts_with(mark).then_some(mark.len_utf8())?;
        Some(At { byte, comma_due: false, ..at })
    }

    /// Where the next word begins.
    fn word(&self, at: At) -> Option<usize> {
        let mut byte = at.byte;
        // The comma of a relative clause is due only before further words, as in the writer.
        for mark in [at.comma_due.then_some(','), (byte > 0).then_some(' ')].into_iter().flatten() {
            byte += self.text.get(byte..)?.starts_with(mark).then_some(1)?;
        }
        Some(byte)
    }

    fn phrase(&self, at: At, phrase: &str) -> Option<At> {
        self.steps.set(self.steps.get() + 1);
        // From here on everything fails, so the search unwinds quickly.
        if self.steps.get() > STEPS_MAX {
            return None;
        }
        let begin = self.word(at)?;
        let rest = self.text.get(begin..)?;
        let mut characters = phrase.chars();
        let after = match characters.next() {
            Some(first) if at.capital => {
                let mut rest = rest;
                for upper in first.to_uppercase() {
                    rest = rest.strip_prefix(upper)?;
                }
                rest.strip_prefix(characters.as_str())?
            }
            _ => rest.strip_prefix(phrase)?,
        };
        // A phrase has to end with a word, or one text could be found at the beginning of another.
        let is_whole = after.is_empty() || after.starts_with([' ', ',', ';', '.']);
        is_whole.then_some(At { byte: self.text.len() - after.len(), capital: false, comma_due: false })
    }

    fn clock_time(&self, at: At) -> Option<(At, u16)> {
        const LENGTH: usize = "14:30".len();
        let begin = self.word(at)?;
        let time = TimeOfDay::parse(self.text.get(begin..begin + LENGTH)?)?;
        Some((At { byte: begin + LENGTH, capital: false, comma_due: false }, time.minute()))
    }

    /// The matching wordings of a terminal; with `plural`, verbs are plural.
    fn wordings(&self, at: At, group: Group, plural: bool) -> Ways<WordingIndex> {
        let count = self.words.count(group);
        let fits = |index: u8| Some((self.phrase(at, self.form(group, index, plural))?, index));
        (0..count).filter_map(|index| fits(u8::try_from(index).ok()?)).collect()
    }

    fn form(&self, group: Group, index: u8, plural: bool) -> &str {
        let (words, place, form) = (self.words, usize::from(index), usize::from(plural));
        match group {
            Group::Verb(direction) => &words.verbs(direction)[place][form],
            Group::Neutral => &words.neutrals()[place][form],
            Group::ClockVerb(direction) => &words.clock_verbs(direction)[place][form],
            Group::Boundary(direction) => &words.boundaries(direction)[place][form],
            group => words.text(group, index),
        }
    }

    fn actions(&self, at: At) -> Ways<u8> {
        let fits = |(index, text): (u8, &String)| Some((self.phrase(at, text)?, index));
        (0..).zip(self.texts).filter_map(fits).collect()
    }

    fn list(&self, at: At) -> Ways<ActionList> {
        let mut ways = Vec::new();
        for (at, first) in self.actions(at) {
            let mut list = ActionList::new();
            list.push(first);
            ways.push((at, list));
            if let Some(and) = self.phrase(at, "and") {
                ways.extend(self.actions(and).into_iter().map(|(at, second)| {
                    let mut list = list;
                    list.push(second);
                    (at, list)
                }));
            }
            self.longer_lists(at, list, &mut ways);
        }
        ways
    }

    /// "A, B, and C", after an item of it.
    fn longer_lists(&self, at: At, list: ActionList, ways: &mut Ways<ActionList>) {
        let length = list.as_slice().len();
        // With a comma due, the mark would close a relative clause instead of separating items.
        let Some(comma) = self.mark(at, ',').filter(|_| !at.comma_due && length < LIST_MAX) else { return };
        let with = |action: u8| {
            let mut list = list;
            list.push(action);
            list
        };
        if length >= 2
            && let Some(and) = self.phrase(comma, "and")
        {
            ways.extend(self.actions(and).into_iter().map(|(at, action)| (at, with(action))));
        }
        for (at, action) in self.actions(comma) {
            self.longer_lists(at, with(action), ways);
        }
    }

    fn noun_phrase(&self, at: At, depth: u8) -> Ways<NounPhrase> {
        let mut ways = Vec::new();
        for (at, list) in self.list(at) {
            ways.push((at, NounPhrase { list, relative: None }));
            if depth == 0 {
                continue;
            }
            let Some(which) = self.mark(at, ',').and_then(|at| self.phrase(at, "which")) else { continue };
            for direction in DIRECTIONS {
                for (at, link) in self.links(which, direction, list.is_plural()) {
                    for (at, object) in self.noun_phrase(at, depth - 1) {
                        let relative = Some(Box::new(Relative::Ordered { direction, link, object }));
                        ways.push((At { comma_due: true, ..at }, NounPhrase { list, relative }));
                    }
                }
                for (at, bound) in self.clock_bounds(which, direction, list.is_plural()) {
                    let relative = Some(Box::new(Relative::Bounded(bound)));
                    ways.push((At { comma_due: true, ..at }, NounPhrase { list, relative }));
                }
            }
        }
        ways
    }

    fn links(&self, at: At, direction: Direction, plural: bool) -> Ways<Link> {
        let verbs = self.wordings(at, Group::Verb(direction), plural);
        let mut ways: Ways<Link> = verbs.into_iter().map(|(at, verb)| (at, Link::Verb { verb })).collect();
        for (at, neutral) in self.wordings(at, Group::Neutral, plural) {
            let prepositions = self.wordings(at, Group::Preposition(direction), plural);
            let link = |(at, preposition)| (at, Link::Adverbial { neutral, preposition });
            ways.extend(prepositions.into_iter().map(link));
        }
        ways
    }

    fn clock_bounds(&self, at: At, direction: Direction, plural: bool) -> Ways<ClockBound> {
        let verbs = self.wordings(at, Group::ClockVerb(direction), plural);
        let mut links: Ways<ClockLink> =
            verbs.into_iter().map(|(at, verb)| (at, ClockLink::Verb { verb })).collect();
        for (at, boundary) in self.wordings(at, Group::Boundary(direction), plural) {
            let prepositions = self.wordings(at, Group::ClockPreposition(direction), plural);
            let link = |(at, preposition)| (at, ClockLink::Adverbial { boundary, preposition });
            links.extend(prepositions.into_iter().map(link));
        }
        let timed = |(at, link)| {
            let (at, minute) = self.clock_time(at)?;
            Some((at, ClockBound { direction, link, minute }))
        };
        links.into_iter().filter_map(timed).collect()
    }

    fn neutral_clauses(&self, at: At) -> Ways<NeutralClause> {
        let mut ways = Vec::new();
        for (at, subject) in self.noun_phrase(at, RELATIVE_DEPTH_MAX) {
            for (at, neutral) in self.wordings(at, Group::Neutral, subject.list.is_plural()) {
                ways.push((at, NeutralClause { subject: subject.clone(), neutral }));
            }
        }
        ways
    }

    fn sub_sentence(&self, at: At) -> Ways<SubSentence> {
        let mut ways = Vec::new();
        for (at, subject) in self.noun_phrase(at, RELATIVE_DEPTH_MAX) {
            self.behind_subject(at, &subject, &mut ways);
        }
        for direction in DIRECTIONS {
            self.fronted(at, direction, &mut ways);
        }
        ways
    }

    fn behind_subject(&self, at: At, subject: &NounPhrase, ways: &mut Ways<SubSentence>) {
        let plural = subject.list.is_plural();
        for direction in DIRECTIONS {
            for (at, link) in self.links(at, direction, plural) {
                for (at, object) in self.noun_phrase(at, RELATIVE_DEPTH_MAX) {
                    let subject = subject.clone();
                    let found = SubSentence::Independent { subject, direction, link, object, fronted: false };
                    ways.push((at, found));
                }
            }
            for (at, bound) in self.clock_bounds(at, direction, plural) {
                let found = SubSentence::Bounded { subject: subject.clone(), bound, fronted: false };
                ways.push((at, found));
            }
            for (at, neutral) in self.wordings(at, Group::Neutral, plural) {
                let main = NeutralClause { subject: subject.clone(), neutral };
                for (at, conjunction) in self.wordings(at, Group::Conjunction(direction), false) {
                    for (at, other) in self.neutral_clauses(at) {
                        let main = main.clone();
                        let found =
                            SubSentence::Clauses { main, direction, conjunction, other, fronted: false };
                        ways.push((at, found));
                    }
                }
            }
        }
    }

    fn fronted(&self, at: At, direction: Direction, ways: &mut Ways<SubSentence>) {
        for (at, preposition) in self.wordings(at, Group::Preposition(direction), false) {
            for (at, object) in self.noun_phrase(at, RELATIVE_DEPTH_MAX) {
                let Some(at) = self.mark(at, ',') else { continue };
                for (at, NeutralClause { subject, neutral }) in self.neutral_clauses(at) {
                    let link = Link::Adverbial { neutral, preposition };
                    let object = object.clone();
                    let found = SubSentence::Independent { subject, direction, link, object, fronted: true };
                    ways.push((at, found));
                }
            }
        }
        for (at, preposition) in self.wordings(at, Group::ClockFront(direction), false) {
            let Some((at, minute)) = self.clock_time(at) else { continue };
            let Some(at) = self.mark(at, ',') else { continue };
            for (at, subject) in self.noun_phrase(at, RELATIVE_DEPTH_MAX) {
                let plural = subject.list.is_plural();
                for (at, boundary) in self.wordings(at, Group::Boundary(direction), plural) {
                    let link = ClockLink::Adverbial { boundary, preposition };
                    let bound = ClockBound { direction, link, minute };
                    let subject = subject.clone();
                    ways.push((at, SubSentence::Bounded { subject, bound, fronted: true }));
                }
            }
        }
        for (at, conjunction) in self.wordings(at, Group::Conjunction(direction), false) {
            for (at, other) in self.neutral_clauses(at) {
                let Some(at) = self.mark(at, ',') else { continue };
                for (at, main) in self.neutral_clauses(at) {
                    let other = other.clone();
                    let found = SubSentence::Clauses { main, direction, conjunction, other, fronted: true };
                    ways.push((at, found));
                }
            }
        }
    }
}
