//! Smaller trees.
//!
//! The pieces of each kind are numbered in the order of the tree, so a set of numbers defines what to remove.

use std::collections::BTreeSet;

use super::Reduction;
use crate::grammar::{
    ActionList, ClockBound, ClockLink, Group, Joiner, Link, NeutralClause, NounPhrase, Relative, Sentences,
    SubSentence, WordingIndex, each_wording,
};
use crate::wording::Wordings;

/// The actions that the tree mentions, in rising order.
pub(super) fn mentioned(tree: &Sentences) -> Vec<u8> {
    let mut found = BTreeSet::new();
    let mut tree = tree.clone();
    each_list(&mut tree, &mut |list| found.extend(list.as_slice().iter().copied()));
    found.into_iter().collect()
}

/// The tree with each action named by its place in `kept`.
pub(super) fn renumbered(tree: &Sentences, kept: &[u8]) -> Sentences {
    let mut tree = tree.clone();
    each_list(&mut tree, &mut |list| {
        let places = list.as_slice().iter().filter_map(|action| kept.iter().position(|kept| kept == action));
        *list = of_actions(places.map(|place| place as u8));
    });
    tree
}

/// How many pieces of a kind there are.
pub(super) fn count(tree: &Sentences, reduction: Reduction, words: &Wordings) -> usize {
    match reduction {
        Reduction::Actions => mentioned(tree).len(),
        Reduction::Clauses => {
            let none = BTreeSet::new();
            let mut filter = Filter::new(&none);
            filter.tree(tree);
            filter.relations.next
        }
        Reduction::Mentions => {
            let mut count = 0;
            each_list(&mut tree.clone(), &mut |list| count += mentions(list));
            count
        }
        Reduction::Forms => plainer(tree, &BTreeSet::new(), words).1,
        Reduction::Words => reworded(tree, &BTreeSet::new(), words).1,
    }
}

/// The tree without these pieces of a kind.
pub(super) fn without(
    tree: &Sentences,
    reduction: Reduction,
    removed: &BTreeSet<usize>,
    words: &Wordings,
) -> Sentences {
    match reduction {
        Reduction::Actions => {
            let mentioned = mentioned(tree);
            let removed: BTreeSet<u8> = removed.iter().map(|place| mentioned[*place]).collect();
            let mut tree = tree.clone();
            each_list(&mut tree, &mut |list| keep_in(list, |action| !removed.contains(&action)));
            // Removes nothing by number, but every requirement that has lost one of its sides.
            Filter::new(&BTreeSet::new()).tree(&tree)
        }
        Reduction::Clauses => Filter::new(removed).tree(tree),
        Reduction::Mentions => {
            let mut tree = tree.clone();
            let mut next = 0;
            each_list(&mut tree, &mut |list| {
                // A sole mention is not a piece: without it the requirement would be gone,
                // which is another kind of reduction.
                if mentions(list) > 0 {
                    keep_in(list, |_| {
                        next += 1;
                        !removed.contains(&(next - 1))
                    });
                }
            });
            Filter::new(&BTreeSet::new()).tree(&tree)
        }
        Reduction::Forms => plainer(tree, removed, words).0,
        Reduction::Words => reworded(tree, removed, words).0,
    }
}

/// The mentions in a list with other members.
fn mentions(list: &ActionList) -> usize {
    if list.is_plural() { list.as_slice().len() } else { 0 }
}

fn of_actions(actions: impl Iterator<Item = u8>) -> ActionList {
    let mut list = ActionList::new();
    actions.for_each(|action| list.push(action));
    list
}

fn keep_in(list: &mut ActionList, mut keep: impl FnMut(u8) -> bool) {
    let old = *list;
    *list = of_actions(old.as_slice().iter().copied().filter(|action| keep(*action)));
}

fn each_list(tree: &mut Sentences, visit: &mut impl FnMut(&mut ActionList)) {
    fn phrase(it: &mut NounPhrase, visit: &mut impl FnMut(&mut ActionList)) {
        visit(&mut it.list);
        if let Some(Relative::Ordered { object, .. }) = it.relative.as_deref_mut() {
            phrase(object, visit);
        }
    }
    for (_, sub_sentence) in tree {
        match sub_sentence {
            SubSentence::Independent { subject, object, .. } => {
                phrase(subject, visit);
                phrase(object, visit);
            }
            SubSentence::Bounded { subject, .. } => phrase(subject, visit),
            SubSentence::Clauses { main, other, .. } => {
                phrase(&mut main.subject, visit);
                phrase(&mut other.subject, visit);
            }
        }
    }
}

/// Numbers pieces, and decides which of them to remove.
struct Numbered<'a> {
    removed: &'a BTreeSet<usize>,
    next: usize,
}

impl Numbered<'_> {
    fn is_removed(&mut self) -> bool {
        self.next += 1;
        self.removed.contains(&(self.next - 1))
    }
}

/// Removes requirements: those that are selected, and those that have lost all actions of one of their sides.
/// Relative clauses that lose their antecedent become sentences of their own.
struct Filter<'a> {
    relations: Numbered<'a>,
    /// Relative clauses that have become sentences.
    freed: Vec<SubSentence>,
}

impl<'a> Filter<'a> {
    fn new(removed: &'a BTreeSet<usize>) -> Self {
        Self { relations: Numbered { removed, next: 0 }, freed: Vec::new() }
    }

    fn tree(&mut self, tree: &Sentences) -> Sentences {
        let mut left = Sentences::new();
        let mut is_begun = false;
        for (joiner, sub_sentence) in tree {
            // If the first sub-sentence of a sentence is gone, the next one has to begin it.
            is_begun &= *joiner != Joiner::Start;
            let kept = self.sub_sentence(sub_sentence);
            if let Some(kept) = kept {
                left.push((if is_begun { *joiner } else { Joiner::Start }, kept));
                is_begun = true;
            }
            for freed in self.freed.drain(..) {
                left.push((Joiner::Start, freed));
                // The following sub-sentence would be joined to a different one than before.
                is_begun = false;
            }
        }
        separate(&mut left);
        left
    }

    fn sub_sentence(&mut self, sub_sentence: &SubSentence) -> Option<SubSentence> {
        // Asked before the parts, so that requirements are numbered in the order of the tree.
        let is_removed = self.relations.is_removed();
        match sub_sentence.clone() {
            SubSentence::Independent { subject, direction, link, object, fronted } => {
                let (subject, object) = self.sides(is_removed, subject, object)?;
                Some(SubSentence::Independent { subject, direction, link, object, fronted })
            }
            SubSentence::Bounded { subject, bound, fronted } => {
                let subject = self.phrase(subject);
                // A relative clause on the subject says something else, and stays as a sentence.
                if is_removed || subject.list.as_slice().is_empty() {
                    self.free(subject);
                    return None;
                }
                Some(SubSentence::Bounded { subject, bound, fronted })
            }
            SubSentence::Clauses { main, direction, conjunction, other, fronted } => {
                let (subject, object) = self.sides(is_removed, main.subject, other.subject)?;
                let main = NeutralClause { subject, neutral: main.neutral };
                let other = NeutralClause { subject: object, neutral: other.neutral };
                Some(SubSentence::Clauses { main, direction, conjunction, other, fronted })
            }
        }
    }

    /// Both sides of a requirement, if it stays.
    fn sides(
        &mut self,
        is_removed: bool,
        subject: NounPhrase,
        object: NounPhrase,
    ) -> Option<(NounPhrase, NounPhrase)> {
        let (subject, object) = (self.phrase(subject), self.phrase(object));
        if is_removed || subject.list.as_slice().is_empty() || object.list.as_slice().is_empty() {
            self.free(subject);
            self.free(object);
            return None;
        }
        Some((subject, object))
    }

    /// The rest of a noun phrase; its list may be empty, and has no relative clause then.
    fn phrase(&mut self, phrase: NounPhrase) -> NounPhrase {
        let NounPhrase { list, relative } = phrase;
        let Some(relative) = relative else { return NounPhrase { list, relative: None } };
        let is_removed = self.relations.is_removed();
        let goes = is_removed || list.as_slice().is_empty();
        let relative = match *relative {
            Relative::Bounded(bound) => (!goes).then_some(Relative::Bounded(bound)),
            Relative::Ordered { direction, link, object } => {
                let object = self.phrase(object);
                if goes || object.list.as_slice().is_empty() {
                    self.free(object);
                    None
                } else {
                    Some(Relative::Ordered { direction, link, object })
                }
            }
        };
        NounPhrase { list, relative: relative.map(Box::new) }
    }

    /// Makes a sentence of the relative clause of a noun phrase, if it has one.
    fn free(&mut self, phrase: NounPhrase) {
        let NounPhrase { list, relative } = phrase;
        let subject = NounPhrase { list, relative: None };
        match relative.map(|relative| *relative) {
            Some(Relative::Ordered { direction, link, object }) => {
                self.freed.push(SubSentence::Independent {
                    subject,
                    direction,
                    link,
                    object,
                    fronted: false,
                });
            }
            Some(Relative::Bounded(bound)) => {
                self.freed.push(SubSentence::Bounded { subject, bound, fronted: false });
            }
            None => {}
        }
    }
}

/// Replaces a comma and a conjunction that would give the text two readings by a semicolon.
fn separate(tree: &mut Sentences) {
    // A change can bring two sub-sentences together that a comma and a conjunction would blur.
    for place in 1..tree.len() {
        let [(_, before), (joiner, next)] = &mut tree[place - 1..=place] else { continue };
        if matches!(joiner, Joiner::Comma(_)) && before.blurs_into(next) {
            *joiner = Joiner::Semicolon;
        }
    }
}

/// The simplest wording of a group: the shortest, and the first among equals.
fn plainest(group: Group, words: &Wordings) -> WordingIndex {
    let all = 0..words.count(group) as u8;
    all.min_by_key(|index| words.text(group, *index).chars().count()).unwrap_or_default()
}

/// Replaces selected forms by the plain form, and counts all others that are not plain. A fronted phrase is first
/// moved to its normal position, and only then a verb replaces the link between the two: each is a piece of its own.
fn plainer(tree: &Sentences, removed: &BTreeSet<usize>, words: &Wordings) -> (Sentences, usize) {
    let mut pieces = Numbered { removed, next: 0 };
    let mut tree = tree.clone();
    for (joiner, sub_sentence) in &mut tree {
        if *joiner != Joiner::Start && pieces.is_removed() {
            *joiner = Joiner::Start;
        }
        *sub_sentence = plainer_sub_sentence(sub_sentence.clone(), &mut pieces, words);
    }
    separate(&mut tree);
    (tree, pieces.next)
}

fn plainer_sub_sentence(
    sub_sentence: SubSentence,
    pieces: &mut Numbered<'_>,
    words: &Wordings,
) -> SubSentence {
    match sub_sentence {
        SubSentence::Independent { mut subject, direction, mut link, mut object, fronted } => {
            let fronted = fronted && !pieces.is_removed();
            // The piece is counted even if the phrase stays in front, so that numbers do not depend on what is removed.
            if matches!(link, Link::Adverbial { .. }) && pieces.is_removed() && !fronted {
                link = Link::Verb { verb: plainest(Group::Verb(direction), words) };
            }
            plainer_relatives(&mut subject, pieces, words);
            plainer_relatives(&mut object, pieces, words);
            SubSentence::Independent { subject, direction, link, object, fronted }
        }
        SubSentence::Bounded { mut subject, mut bound, fronted } => {
            let mut fronted = fronted;
            if fronted && pieces.is_removed() {
                fronted = false;
                if let ClockLink::Adverbial { preposition, .. } = &mut bound.link {
                    // The prepositions at the head of a clause are different ones.
                    *preposition = plainest(Group::ClockPreposition(bound.direction), words);
                }
            }
            plainer_bound(&mut bound, fronted, pieces, words);
            plainer_relatives(&mut subject, pieces, words);
            SubSentence::Bounded { subject, bound, fronted }
        }
        SubSentence::Clauses { mut main, direction, conjunction, mut other, fronted } => {
            let fronted = fronted && !pieces.is_removed();
            let is_verb = pieces.is_removed() && !fronted;
            plainer_relatives(&mut main.subject, pieces, words);
            plainer_relatives(&mut other.subject, pieces, words);
            if is_verb {
                let link = Link::Verb { verb: plainest(Group::Verb(direction), words) };
                let (subject, object) = (main.subject, other.subject);
                return SubSentence::Independent { subject, direction, link, object, fronted: false };
            }
            SubSentence::Clauses { main, direction, conjunction, other, fronted }
        }
    }
}

fn plainer_bound(bound: &mut ClockBound, fronted: bool, pieces: &mut Numbered<'_>, words: &Wordings) {
    if matches!(bound.link, ClockLink::Adverbial { .. }) && pieces.is_removed() && !fronted {
        bound.link = ClockLink::Verb { verb: plainest(Group::ClockVerb(bound.direction), words) };
    }
}

fn plainer_relatives(phrase: &mut NounPhrase, pieces: &mut Numbered<'_>, words: &Wordings) {
    match phrase.relative.as_deref_mut() {
        Some(Relative::Ordered { direction, link, object }) => {
            if matches!(link, Link::Adverbial { .. }) && pieces.is_removed() {
                *link = Link::Verb { verb: plainest(Group::Verb(*direction), words) };
            }
            plainer_relatives(object, pieces, words);
        }
        Some(Relative::Bounded(bound)) => plainer_bound(bound, false, pieces, words),
        None => {}
    }
}

/// Puts the simplest wording into the selected slots, and counts all slots with another one.
fn reworded(tree: &Sentences, removed: &BTreeSet<usize>, words: &Wordings) -> (Sentences, usize) {
    let mut pieces = Numbered { removed, next: 0 };
    let mut tree = tree.clone();
    each_wording(&mut tree, &mut |group, index| {
        let plain = plainest(group, words);
        if *index != plain && pieces.is_removed() {
            *index = plain;
        }
    });
    (tree, pieces.next)
}
