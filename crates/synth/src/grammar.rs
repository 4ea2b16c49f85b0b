//! The grammar of a query's paragraph (PDoctor, sections 4.1 and 4.4), as a tree without words.
//!
//! ```text
//! P    ::= S+                                     paragraph
//! S    ::= s | S j s                              sentence
//! s    ::= ci | m                                 sub-sentence
//! ci   ::= subj (VP< | VP>) obj                   Verb
//!        | subj VP0 (P< | P>) obj                 Adverbial
//!        | (P< | P>) obj "," subj VP0             Adverbial, fronted
//! m    ::= cd (SC< | SC>) cd' | (SC< | SC>) cd' "," cd      Clauses
//! cd   ::= subj VP0
//! cr   ::= "which" (VP< | VP>) obj | "which" VP0 (P< | P>) obj
//! subj, obj ::= a+ | a+ "," cr ","
//! ```
//!
//! The time form adds `obj ::= t`, a clock time. A moment has no length, so "before" and "after" it are ambiguous.
//! Therefore its clauses have phrases of their own, which say that the subject ends by then, or starts from then on:
//!
//! ```text
//! ci ::= subj (VPend | VPstart) t                  Bounded: "has to end by 14:30"
//!      | subj VPb (P< | P>) t                      "is finished no later than 14:30"
//!      | (P< | P>) t "," subj VPb                  the same, fronted
//! cr ::= "which" (VPend | VPstart) t | "which" VPb (P< | P>) t
//! ```

use crate::clock::{Bound, ClockTimes};
use crate::wording::Wordings;
use planproof_trace::Draw;

/// Most actions one list may name.
pub const LIST_MAX: usize = 4;
/// Deepest nesting of relative clauses.
pub const RELATIVE_DEPTH_MAX: u8 = 3;
/// Most sub-sentences one sentence may have.
pub const SUB_SENTENCES_MAX: usize = 8;

/// The position of the subject's actions relative to the object's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// The subject (or first clause) happens before the object (or second clause): `<`.
    Before,
    After,
}

/// A wording of a terminal: its index in the list of the [`Wordings`].
pub(crate) type WordingIndex = u8;

/// One to [`LIST_MAX`] actions, given by their indices in the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActionList {
    items: [u8; LIST_MAX],
    length: u8,
}

impl ActionList {
    /// An empty list, to push to.
    pub(crate) fn new() -> Self {
        Self { items: [0; LIST_MAX], length: 0 }
    }

    pub(crate) fn push(&mut self, action: u8) {
        self.items[usize::from(self.length)] = action;
        self.length += 1;
    }

    /// The actions, in the order of mention.
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.items[..usize::from(self.length)]
    }

    /// Whether its verbs are plural.
    pub(crate) fn is_plural(&self) -> bool {
        self.length > 1
    }
}

/// The link between a clause and its object: a verb phrase of its own, or a neutral one with a preposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Verb {
        verb: WordingIndex,
    },
    /// `VP0` with `P<` or `P>`.
    Adverbial {
        /// Which neutral verb phrase.
        neutral: WordingIndex,
        preposition: WordingIndex,
    },
}

/// A list of actions, perhaps with a relative clause on the whole list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NounPhrase {
    pub(crate) list: ActionList,
    /// What is said of them beside.
    pub(crate) relative: Option<Box<Relative>>,
}

/// A relative clause; the antecedent is its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Relative {
    /// ", which precedes C,"
    Ordered { direction: Direction, link: Link, object: NounPhrase },
    /// ", which has to end by 14:30,"
    Bounded(ClockBound),
}

/// What binds a subject to a clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockBound {
    /// `Before`: the subject ends by then; `After`: it starts from then on.
    pub(crate) direction: Direction,
    pub(crate) link: ClockLink,
    /// The clock time, in minutes from midnight.
    pub(crate) minute: u16,
}

/// The link between a subject and a clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockLink {
    /// A verb phrase that the time follows.
    Verb { verb: WordingIndex },
    /// A verb phrase for the end or the start, and a preposition.
    Adverbial {
        boundary: WordingIndex,
        /// Which preposition; an index into those for the head of a clause if it is there.
        preposition: WordingIndex,
    },
}

/// A clause that only says that something happens: `cd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NeutralClause {
    pub(crate) subject: NounPhrase,
    pub(crate) neutral: WordingIndex,
}

/// A sub-sentence: the unit of meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SubSentence {
    /// An independent clause, `ci`.
    Independent {
        subject: NounPhrase,
        /// The position of the subject relative to the object.
        direction: Direction,
        link: Link,
        object: NounPhrase,
        /// The prepositional phrase comes first; only with [`Link::Adverbial`].
        fronted: bool,
    },
    /// An independent clause whose object is a clock time.
    Bounded {
        subject: NounPhrase,
        /// What is said of it.
        bound: ClockBound,
        /// The clock time comes first; only with [`ClockLink::Adverbial`].
        fronted: bool,
    },
    /// Two neutral clauses and a sequential conjunction, `m`.
    Clauses {
        main: NeutralClause,
        /// The position of the main clause relative to the other.
        direction: Direction,
        conjunction: WordingIndex,
        /// The clause behind the conjunction.
        other: NeutralClause,
        /// Conjunction and other clause come first.
        fronted: bool,
    },
}

/// The text in front of a sub-sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joiner {
    /// Nothing of its sentence: it is the first one.
    Start,
    Semicolon,
    /// A comma with a conjunction; the index in [`JOINER_WORDS`].
    Comma(u8),
}

/// The conjunctions that follow a comma between sub-sentences. The paper's "but" and "yet" are left out: they
/// announce a contrast, which sub-sentences here seldom have.
pub(crate) const JOINER_WORDS: [&str; 3] = ["and", "while", "whereas"];

/// The sub-sentences of any number of sentences, each with the text in front of it. They are one flat list because
/// most drawn sentences are removed from its end again, and then leave their memory to the next.
pub(crate) type Sentences = Vec<(Joiner, SubSentence)>;

/// Whose wordings a terminal draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Verb(Direction),
    /// `VP0`.
    Neutral,
    Preposition(Direction),
    Conjunction(Direction),
    ClockVerb(Direction),
    Boundary(Direction),
    /// Between `VPb` and a clock time.
    ClockPreposition(Direction),
    /// In front of a clock time at the head of its clause.
    ClockFront(Direction),
    /// The conjunction of `j`.
    Joiner,
}

/// Calls `visit` for the wording of each terminal, which it may change.
pub(crate) fn each_wording(
    sentences: &mut [(Joiner, SubSentence)],
    visit: &mut impl FnMut(Group, &mut WordingIndex),
) {
    for (joiner, sub_sentence) in sentences {
        if let Joiner::Comma(word) = joiner {
            visit(Group::Joiner, word);
        }
        sub_sentence.each_wording(visit);
    }
}

/// Limits of one sub-sentence's expansion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) list_max: u8,
    pub(crate) relative_depth: u8,
    /// The possible clock times of objects; empty in the basic form.
    pub(crate) clock: Option<ClockTimes>,
}

impl Shape {
    /// A clock time for an object, for half of the objects of the time form.
    fn draw_clock(self, draw: &mut Draw) -> Option<u16> {
        let clock = self.clock?;
        draw.chance(1, 2).then(|| clock.draw(draw))
    }
}

/// Chooses actions for one sub-sentence: none twice, preferring those not mentioned yet.
pub(crate) struct ActionChoice {
    /// Actions the sub-sentence may still name.
    pub(crate) free: u64,
    /// Actions that the paragraph has not mentioned.
    pub(crate) unmentioned: u64,
    /// Every action must come from the unmentioned ones as long as there are any.
    pub(crate) insist: bool,
}

impl ActionChoice {
    fn take(&mut self, draw: &mut Draw) -> Option<u8> {
        let fresh = self.free & self.unmentioned;
        // Half of the free choices also prefer missing actions, so that few sentences are enough to mention all.
        let from = if fresh != 0 && (self.insist || draw.chance(1, 2)) { fresh } else { self.free };
        let action = draw.bit(from)?;
        self.free &= !(1 << action);
        self.unmentioned &= !(1 << action);
        Some(action)
    }

    fn list(&mut self, draw: &mut Draw, list_max: u8) -> Option<ActionList> {
        let mut list = ActionList::new();
        let length = 1 + draw.below(u32::from(list_max));
        list.push(self.take(draw)?);
        for _ in 1..length {
            match self.take(draw) {
                Some(action) => list.push(action),
                None => break,
            }
        }
        Some(list)
    }
}

fn direction(draw: &mut Draw) -> Direction {
    if draw.chance(1, 2) { Direction::Before } else { Direction::After }
}

impl NounPhrase {
    fn draw(draw: &mut Draw, words: &Wordings, choice: &mut ActionChoice, shape: Shape) -> Option<Self> {
        let list = choice.list(draw, shape.list_max)?;
        // One noun phrase in five has a relative clause: the share at which a case of three to five actions has
        // about as many constraints as the paper reports (section 6.1).
        let relative = if shape.relative_depth > 0 && choice.free != 0 && draw.chance(1, 5) {
            Some(Box::new(Relative::draw(draw, words, choice, shape)?))
        } else {
            None
        };
        Some(Self { list, relative })
    }
}

impl NounPhrase {
    fn each_wording(&mut self, visit: &mut impl FnMut(Group, &mut WordingIndex)) {
        match self.relative.as_deref_mut() {
            Some(Relative::Ordered { direction, link, object }) => {
                link.each_wording(*direction, visit);
                object.each_wording(visit);
            }
            Some(Relative::Bounded(bound)) => bound.each_wording(false, visit),
            None => {}
        }
    }
}

impl Relative {
    fn draw(draw: &mut Draw, words: &Wordings, choice: &mut ActionChoice, shape: Shape) -> Option<Self> {
        let direction = direction(draw);
        // In the basic form this draws nothing, so its stream is the same as before there was a time form.
        if let Some(minute) = shape.draw_clock(draw) {
            let is_verb = draw.chance(1, 2);
            let link = if is_verb {
                ClockLink::verb(draw, words, direction)
            } else {
                ClockLink::adverbial(draw, words, direction)
            };
            return Some(Self::Bounded(ClockBound { direction, link, minute }));
        }
        let link = if draw.chance(1, 2) {
            Link::verb(draw, words, direction)
        } else {
            Link::adverbial(draw, words, direction)
        };
        // A noun phrase draws a relative clause only if the depth is above 0.
        let inner = Shape { relative_depth: shape.relative_depth - 1, ..shape };
        let object = NounPhrase::draw(draw, words, choice, inner)?;
        Some(Self::Ordered { direction, link, object })
    }
}

impl ClockBound {
    /// Its demand on each action of its subject.
    pub(crate) fn bound(self) -> Bound {
        match self.direction {
            Direction::Before => Bound::EndsBy(self.minute),
            Direction::After => Bound::StartsFrom(self.minute),
        }
    }

    fn each_wording(&mut self, fronted: bool, visit: &mut impl FnMut(Group, &mut WordingIndex)) {
        let direction = self.direction;
        match &mut self.link {
            ClockLink::Verb { verb } => visit(Group::ClockVerb(direction), verb),
            ClockLink::Adverbial { boundary, preposition } => {
                visit(Group::Boundary(direction), boundary);
                let group = if fronted { Group::ClockFront } else { Group::ClockPreposition };
                visit(group(direction), preposition);
            }
        }
    }
}

impl ClockLink {
    pub(crate) fn verb(draw: &mut Draw, words: &Wordings, direction: Direction) -> Self {
        Self::Verb { verb: draw.place(words.clock_verbs(direction).len()) as u8 }
    }

    pub(crate) fn adverbial(draw: &mut Draw, words: &Wordings, direction: Direction) -> Self {
        Self::Adverbial {
            boundary: draw.place(words.boundaries(direction).len()) as u8,
            preposition: draw.place(words.clock_prepositions(direction).len()) as u8,
        }
    }

    pub(crate) fn fronted(draw: &mut Draw, words: &Wordings, direction: Direction) -> Self {
        Self::Adverbial {
            boundary: draw.place(words.boundaries(direction).len()) as u8,
            preposition: draw.place(words.clock_fronts(direction).len()) as u8,
        }
    }
}

impl Link {
    fn each_wording(&mut self, direction: Direction, visit: &mut impl FnMut(Group, &mut WordingIndex)) {
        match self {
            Self::Verb { verb } => visit(Group::Verb(direction), verb),
            Self::Adverbial { neutral, preposition } => {
                visit(Group::Neutral, neutral);
                visit(Group::Preposition(direction), preposition);
            }
        }
    }

    pub(crate) fn verb(draw: &mut Draw, words: &Wordings, direction: Direction) -> Self {
        Self::Verb { verb: draw.place(words.verbs(direction).len()) as u8 }
    }

    pub(crate) fn adverbial(draw: &mut Draw, words: &Wordings, direction: Direction) -> Self {
        Self::Adverbial {
            neutral: draw.place(words.neutrals().len()) as u8,
            preposition: draw.place(words.prepositions(direction).len()) as u8,
        }
    }
}

impl NeutralClause {
    fn draw(draw: &mut Draw, words: &Wordings, choice: &mut ActionChoice, shape: Shape) -> Option<Self> {
        let subject = NounPhrase::draw(draw, words, choice, shape)?;
        Some(Self { subject, neutral: draw.place(words.neutrals().len()) as u8 })
    }
}

impl SubSentence {
    /// Expands the grammar at random, each production equally likely. `None` when the actions ran out.
    pub(crate) fn draw(
        draw: &mut Draw,
        words: &Wordings,
        choice: &mut ActionChoice,
        shape: Shape,
    ) -> Option<Self> {
        // Verb, adverbial, fronted adverbial, clauses, fronted clauses: the golden cases fix these numbers.
        let form = draw.below(5);
        let direction = direction(draw);
        if form < 3 {
            let subject = NounPhrase::draw(draw, words, choice, shape)?;
            if let Some(minute) = shape.draw_clock(draw) {
                let link = match form {
                    0 => ClockLink::verb(draw, words, direction),
                    1 => ClockLink::adverbial(draw, words, direction),
                    _ => ClockLink::fronted(draw, words, direction),
                };
                let bound = ClockBound { direction, link, minute };
                // A clock time takes the place of the object, so a list is drawn for the subject alone.
                return Some(Self::Bounded { subject, bound, fronted: form == 2 });
            }
            let link = if form == 0 {
                Link::verb(draw, words, direction)
            } else {
                Link::adverbial(draw, words, direction)
            };
            let object = NounPhrase::draw(draw, words, choice, shape)?;
            Some(Self::Independent { subject, direction, link, object, fronted: form == 2 })
        } else {
            let main = NeutralClause::draw(draw, words, choice, shape)?;
            let conjunction = draw.place(words.conjunctions(direction).len()) as u8;
            let other = NeutralClause::draw(draw, words, choice, shape)?;
            Some(Self::Clauses { main, direction, conjunction, other, fronted: form == 4 })
        }
    }

    /// Whether a comma and a conjunction between it and `next` would give the text two readings.
    pub(crate) fn blurs_into(&self, next: &Self) -> bool {
        self.ends_in_relative() || next.opens_like_clause()
    }

    /// Whether its last words are a relative clause. A sub-sentence joined by a comma and a conjunction could
    /// continue that clause.
    fn ends_in_relative(&self) -> bool {
        match self {
            Self::Independent { object, fronted: false, .. } => object.relative.is_some(),
            Self::Independent { .. } | Self::Bounded { .. } | Self::Clauses { .. } => false,
        }
    }

    /// Whether it begins with a preposition, one action, and a list: "Before A, B and C happen". After another
    /// sub-sentence it can be read as a clause about the previous subject, in which all three happen: "D follows E,
    /// and before A, B and C happen". A few prepositions take no clause; the rule ignores that, because it should
    /// stay simple and wordings can be replaced.
    fn opens_like_clause(&self) -> bool {
        match self {
            Self::Independent { subject, object, fronted: true, .. } => {
                subject.list.is_plural() && !object.list.is_plural()
            }
            Self::Independent { .. } | Self::Bounded { .. } | Self::Clauses { .. } => false,
        }
    }

    /// Whether commas of lists and of relative clauses occur in one fronted phrase and its subject, with no verb
    /// between them: "After A, B, and C, which follow D, E and F happen" can be divided in more than one place. Such
    /// a draw is always refused, even if it has just one reading, because the rule is simple and people stumble too.
    /// A fronted clock time ends with its comma, so a list cannot continue after it.
    pub(crate) fn mixes_commas(&self) -> bool {
        fn plural(phrase: &NounPhrase) -> bool {
            phrase.list.is_plural()
                || match phrase.relative.as_deref() {
                    Some(Relative::Ordered { object, .. }) => plural(object),
                    Some(Relative::Bounded(_)) | None => false,
                }
        }
        match self {
            Self::Independent { subject, object, fronted: true, .. } => {
                (subject.relative.is_some() || object.relative.is_some())
                    && (plural(subject) || plural(object))
            }
            Self::Independent { .. } | Self::Bounded { .. } | Self::Clauses { .. } => false,
        }
    }

    /// Calls `visit(subject, object, direction)` for each relation between actions that the sub-sentence states.
    pub(crate) fn each_relation(&self, visit: &mut impl FnMut(&ActionList, &ActionList, Direction)) {
        fn relatives(phrase: &NounPhrase, visit: &mut impl FnMut(&ActionList, &ActionList, Direction)) {
            // The antecedent is the whole list before the clause, pair by pair.
            if let Some(Relative::Ordered { direction, object, .. }) = phrase.relative.as_deref() {
                visit(&phrase.list, &object.list, *direction);
                relatives(object, visit);
            }
        }
        let (subject, object, direction) = match self {
            Self::Independent { subject, direction, object, .. } => (subject, object, *direction),
            Self::Bounded { subject, .. } => return relatives(subject, visit),
            Self::Clauses { main, direction, other, .. } => (&main.subject, &other.subject, *direction),
        };
        visit(&subject.list, &object.list, direction);
        relatives(subject, visit);
        relatives(object, visit);
    }

    fn each_wording(&mut self, visit: &mut impl FnMut(Group, &mut WordingIndex)) {
        match self {
            Self::Independent { subject, direction, link, object, .. } => {
                subject.each_wording(visit);
                link.each_wording(*direction, visit);
                object.each_wording(visit);
            }
            Self::Bounded { subject, bound, fronted } => {
                subject.each_wording(visit);
                bound.each_wording(*fronted, visit);
            }
            Self::Clauses { main, direction, conjunction, other, .. } => {
                for clause in [main, other] {
                    clause.subject.each_wording(visit);
                    visit(Group::Neutral, &mut clause.neutral);
                }
                visit(Group::Conjunction(*direction), conjunction);
            }
        }
    }

    /// Calls `visit(subject, bound)` for each clock time that the sub-sentence binds actions to.
    pub(crate) fn each_bound(&self, visit: &mut impl FnMut(&ActionList, Bound)) {
        fn relatives(phrase: &NounPhrase, visit: &mut impl FnMut(&ActionList, Bound)) {
            match phrase.relative.as_deref() {
                Some(Relative::Ordered { object, .. }) => relatives(object, visit),
                Some(Relative::Bounded(bound)) => visit(&phrase.list, bound.bound()),
                None => {}
            }
        }
        match self {
            Self::Independent { subject, object, .. } => {
                relatives(subject, visit);
                relatives(object, visit);
            }
            Self::Bounded { subject, bound, .. } => {
                visit(&subject.list, bound.bound());
                relatives(subject, visit);
            }
            Self::Clauses { main, other, .. } => {
                relatives(&main.subject, visit);
                relatives(&other.subject, visit);
            }
        }
    }
}

/// Number of ways to expand one sub-sentence `s`.
///
/// Counting rule: two expansions differ if they use other productions or other directions (`<`, `>`) anywhere;
/// wordings and the actions and lengths of lists `a+` are not distinguished. `relative_depth` bounds the nesting of
/// relative clauses. The paper states 340 for its grammar without saying how it counts. With `is_timed`, objects can
/// be clock times, which are not distinguished either.
pub fn count_expansions(relative_depth: u8, is_timed: bool) -> u64 {
    // A noun phrase is plain, or has one of four relative clauses (verb or adverbial, two directions each) around a
    // noun phrase with one level less, or around a clock time. Each of the five forms has two directions; the two
    // with clauses have two noun phrases, the other three a noun phrase and an object.
    let clock = u64::from(is_timed);
    let mut phrases = 1u64;
    for _ in 0..relative_depth.min(RELATIVE_DEPTH_MAX) {
        phrases = 1 + 4 * (phrases + clock);
    }
    3 * 2 * phrases * (phrases + clock) + 2 * 2 * phrases * phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists every expansion as text, straight from the productions, and counts the distinct ones.
    fn enumerate(depth: u8, is_timed: bool) -> usize {
        fn objects(depth: u8, is_timed: bool) -> Vec<String> {
            let clock = is_timed.then(|| "t".to_owned());
            phrases(depth, is_timed).into_iter().chain(clock).collect()
        }
        fn phrases(depth: u8, is_timed: bool) -> Vec<String> {
            let mut all = vec!["a".to_owned()];
            if depth > 0 {
                for object in objects(depth - 1, is_timed) {
                    for link in ["VP<", "VP>", "VP0 P<", "VP0 P>"] {
                        all.push(format!("a, which {link} {object},"));
                    }
                }
            }
            all
        }
        let mut all = std::collections::BTreeSet::new();
        for subject in phrases(depth, is_timed) {
            for object in objects(depth, is_timed) {
                for d in ["<", ">"] {
                    all.insert(format!("{subject} VP{d} {object}"));
                    all.insert(format!("{subject} VP0 P{d} {object}"));
                    all.insert(format!("P{d} {object}, {subject} VP0"));
                }
            }
            for object in phrases(depth, is_timed) {
                for d in ["<", ">"] {
                    all.insert(format!("{subject} VP0 SC{d} {object} VP0"));
                    all.insert(format!("SC{d} {object} VP0, {subject} VP0"));
                }
            }
        }
        all.len()
    }

    #[test]
    fn the_count_is_the_enumeration() {
        for depth in 0..=2 {
            for is_timed in [false, true] {
                let enumerated = enumerate(depth, is_timed) as u64;
                assert_eq!(count_expansions(depth, is_timed), enumerated, "depth {depth}, {is_timed}");
            }
        }
        assert_eq!(count_expansions(1, false), 250);
        assert_eq!(count_expansions(1, true), 864);
    }
}
