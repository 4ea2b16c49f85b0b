//! Another paragraph with equivalent constraints.
//!
//! It is constructed instead of drawn and rejected, because few of the paragraphs over some actions mean a given
//! order. Each sub-sentence states a missing pair, and perhaps more that follow from the order; when all pairs of the
//! transitive reduction are stated, the closure is the order. For the clock times, the tightest ones of each action
//! are stated again. The new paragraph avoids the productions of the old one, as far as others are left and it does
//! not grow too long.

use std::collections::BTreeSet;

use planproof_constraint::{Order, Variable};

use crate::case::{CaseOptions, PlanningCase};
use crate::clock::Bound;
use crate::grammar::{
    ActionList, ClockBound, ClockLink, Direction, JOINER_WORDS, Joiner, Link, NeutralClause, NounPhrase,
    Relative, Sentences, SubSentence, each_wording,
};
use crate::wording::Wordings;
use planproof_trace::Draw;

/// Most paragraphs that are constructed before giving up.
pub const STRUCTURE_DRAWS_MAX: u32 = 120;

/// The productions of a sub-sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Verb,
    Adverbial,
    Fronted,
    Clauses,
    FrontedClauses,
}

const FORMS: [Form; 5] = [Form::Verb, Form::Adverbial, Form::Fronted, Form::Clauses, Form::FrontedClauses];
/// Those for an object that is a clock time.
const CLOCK_FORMS: [Form; 3] = [Form::Verb, Form::Adverbial, Form::Fronted];

/// Which productions a paragraph uses.
#[derive(Debug, Default)]
struct Used {
    forms: BTreeSet<(Form, bool)>,
    clock_forms: BTreeSet<(Form, bool)>,
    lists: bool,
    relatives: bool,
    joiners: bool,
}

/// What a new paragraph may use.
struct Allowed {
    forms: Vec<(Form, Direction)>,
    clock_forms: Vec<(Form, Direction)>,
    lists: bool,
    relatives: bool,
    joiners: bool,
}

/// Draws an equivalent paragraph with another structure. `None` after [`STRUCTURE_DRAWS_MAX`] draws.
pub(super) fn equivalent(
    case: &PlanningCase,
    tree: &Sentences,
    words: &Wordings,
    draw: &mut Draw,
) -> Option<Sentences> {
    let target = Target::of(case, words)?;
    let used = Used::of(tree);
    let shape = shape_of(tree);
    for place in 0..STRUCTURE_DRAWS_MAX {
        // Productions whose absence makes paragraphs long are allowed again first.
        let relaxed = place * 3 / STRUCTURE_DRAWS_MAX;
        let allowed = used.others(draw, relaxed);
        if let Some(other) = target.draw(&allowed, draw)
            // Where few productions are left, the same structure can be drawn again.
            && shape_of(&other) != shape
        {
            return Some(other);
        }
    }
    None
}

/// A paragraph without its words.
fn shape_of(tree: &Sentences) -> Sentences {
    let mut shape = tree.clone();
    each_wording(&mut shape, &mut |_, index| *index = 0);
    shape
}

/// A form and its direction, in a sortable form.
fn key(form: Form, direction: Direction) -> (Form, bool) {
    (form, direction == Direction::After)
}

impl Used {
    fn of(tree: &Sentences) -> Self {
        let mut used = Self::default();
        for (joiner, sub_sentence) in tree {
            used.joiners |= *joiner != Joiner::Start;
            let (subject, object) = match sub_sentence {
                SubSentence::Independent { subject, direction, link, object, fronted } => {
                    let form = match (link, fronted) {
                        // Only an adverbial can be fronted.
                        (Link::Verb { .. }, _) => Form::Verb,
                        (Link::Adverbial { .. }, false) => Form::Adverbial,
                        (Link::Adverbial { .. }, true) => Form::Fronted,
                    };
                    used.forms.insert(key(form, *direction));
                    (subject, Some(object))
                }
                SubSentence::Clauses { main, direction, other, fronted, .. } => {
                    let form = if *fronted { Form::FrontedClauses } else { Form::Clauses };
                    used.forms.insert(key(form, *direction));
                    (&main.subject, Some(&other.subject))
                }
                SubSentence::Bounded { subject, bound, fronted } => {
                    let form = match (bound.link, fronted) {
                        (ClockLink::Verb { .. }, _) => Form::Verb,
                        (ClockLink::Adverbial { .. }, false) => Form::Adverbial,
                        (ClockLink::Adverbial { .. }, true) => Form::Fronted,
                    };
                    used.clock_forms.insert(key(form, bound.direction));
                    (subject, None)
                }
            };
            for phrase in std::iter::once(subject).chain(object) {
                used.phrase(phrase);
            }
        }
        used
    }

    fn phrase(&mut self, phrase: &NounPhrase) {
        self.lists |= phrase.list.is_plural();
        self.relatives |= phrase.relative.is_some();
        if let Some(Relative::Ordered { object, .. }) = phrase.relative.as_deref() {
            self.phrase(object);
        }
    }

    /// The unused ones; if there are none, a drawn half of the used ones.
    fn others(&self, draw: &mut Draw, relaxed: u32) -> Allowed {
        let mut rest = |all: &[Form], directions: &[Direction], used: &BTreeSet<(Form, bool)>| {
            let all =
                || all.iter().flat_map(|form| directions.iter().map(move |direction| (*form, *direction)));
            let free: Vec<_> =
                all().filter(|(form, direction)| !used.contains(&key(*form, *direction))).collect();
            if !free.is_empty() {
                return free;
            }
            let half: Vec<_> = all().filter(|_| draw.chance(1, 2)).collect();
            if half.is_empty() { all().collect() } else { half }
        };
        let both = [Direction::Before, Direction::After];
        let forms = rest(&FORMS, &both, &self.forms);
        let mut clock_forms = Vec::new();
        // Separately for each direction, because a bound can be stated in one of them only.
        for direction in both {
            clock_forms.extend(rest(&CLOCK_FORMS, &[direction], &self.clock_forms));
        }
        Allowed {
            forms,
            clock_forms,
            lists: !self.lists || relaxed >= 2,
            relatives: !self.relatives,
            joiners: !self.joiners || relaxed >= 1,
        }
    }
}

/// What a new paragraph has to mean.
struct Target<'a> {
    options: CaseOptions,
    order: Order,
    /// The pairs of the order that do not follow from others.
    reduction: Vec<(u8, u8)>,
    /// The tightest clock times.
    bounds: Vec<(u8, Bound)>,
    words: &'a Wordings,
}

/// A set of actions without a list's member.
fn without(set: u64, list: &[u8]) -> u64 {
    list.iter().fold(set, |set, action| set & !(1 << action))
}

impl<'a> Target<'a> {
    fn of(case: &PlanningCase, words: &'a Wordings) -> Option<Self> {
        let order = case.problem().order().ok()?;
        let variables = 0..case.actions.len();
        let after = |index: usize| order.successors(Variable::new(index));
        let is_direct = |first: usize, second: usize| {
            // A pair is in the reduction if nothing lies between its two actions.
            after(first) >> second & 1 == 1 && after(first) & order.predecessors(Variable::new(second)) == 0
        };
        let pairs = variables.clone().flat_map(|first| variables.clone().map(move |second| (first, second)));
        let reduction = pairs
            .filter(|(first, second)| is_direct(*first, *second))
            .map(|(first, second)| (first as u8, second as u8))
            .collect();
        let mut bounds = Vec::new();
        for action in variables {
            let stated = case.time.iter().flat_map(|time| &time.bounds);
            let of = stated.filter(|stated| stated.action == action).map(|stated| stated.bound);
            let ends = of.clone().filter(|bound| matches!(bound, Bound::EndsBy(_)));
            let starts = of.filter(|bound| matches!(bound, Bound::StartsFrom(_)));
            // A looser bound follows from the tightest one, so only that has to be stated.
            let tightest = ends.min_by_key(|bound| bound.minute()).into_iter();
            let tightest = tightest.chain(starts.max_by_key(|bound| bound.minute()));
            bounds.extend(tightest.map(|bound| (action as u8, bound)));
        }
        Some(Self { options: case.options, order, reduction, bounds, words })
    }

    /// Constructs one paragraph; `None` if it grows too long.
    fn draw(&self, allowed: &Allowed, draw: &mut Draw) -> Option<Sentences> {
        let mut pairs = self.reduction.clone();
        let mut bounds = self.bounds.clone();
        let mut sentences = Sentences::new();
        let (mut begun, mut within) = (0, 0);
        while pairs.len() + bounds.len() > 0 {
            let can_join = allowed.joiners && within > 0 && within < self.options.sub_sentences_max;
            let can_begin = begun < self.options.sentences_max;
            // No sentence is left for the remaining statements; the next draw may need fewer.
            if !can_join && !can_begin {
                return None;
            }
            let place = draw.place(pairs.len() + bounds.len());
            let next = match pairs.get(place) {
                Some(pair) => self.order_sentence(*pair, allowed, draw),
                None => self.clock_sentence(bounds[place - pairs.len()], allowed, draw),
            };
            // A sub-sentence can state more than the pair that it was made for; all that it states is done.
            next.each_relation(&mut |subject, object, direction| {
                let (firsts, seconds) = match direction {
                    Direction::Before => (subject, object),
                    Direction::After => (object, subject),
                };
                let is_stated = |(first, second): &(u8, u8)| {
                    firsts.as_slice().contains(first) && seconds.as_slice().contains(second)
                };
                pairs.retain(|pair| !is_stated(pair));
            });
            next.each_bound(&mut |subject, bound| {
                bounds.retain(|(action, other)| *other != bound || !subject.as_slice().contains(action));
            });
            let joiner = if can_join && (!can_begin || draw.chance(1, 2)) {
                within += 1;
                let blurs = sentences.last().is_some_and(|(_, before)| before.blurs_into(&next));
                // The same shares as in synthesis, but an ambiguous comma becomes a semicolon instead of a new draw.
                match draw.below(3) {
                    0 => Joiner::Semicolon,
                    _ if blurs => Joiner::Semicolon,
                    _ => Joiner::Comma(draw.below(JOINER_WORDS.len() as u32) as u8),
                }
            } else {
                (begun, within) = (begun + 1, 1);
                Joiner::Start
            };
            sentences.push((joiner, next));
        }
        Some(sentences)
    }

    /// The actions before all of a list, or after all of it.
    fn around(&self, list: &[u8], direction: Direction) -> u64 {
        list.iter().fold(u64::MAX, |set, action| {
            let variable = Variable::new(usize::from(*action));
            set & match direction {
                Direction::Before => self.order.successors(variable),
                Direction::After => self.order.predecessors(variable),
            }
        })
    }

    /// Extends a list by drawn members of `more`.
    fn grow(&self, list: &mut Vec<u8>, more: u64, allowed: &Allowed, draw: &mut Draw) {
        if !allowed.lists {
            return;
        }
        let mut more = without(more, list);
        let length = 1 + draw.below(u32::from(self.options.list_max)) as usize;
        while list.len() < length
            && let Some(action) = draw.bit(more)
        {
            list.push(action);
            more &= !(1 << action);
        }
        // Otherwise the action that began the list would always come first.
        draw.shuffle(list);
    }

    fn order_sentence(&self, (first, second): (u8, u8), allowed: &Allowed, draw: &mut Draw) -> SubSentence {
        let (mut firsts, mut seconds) = (vec![first], vec![second]);
        // An action before all of the later ones is none of them, and vice versa.
        self.grow(&mut firsts, self.around(&seconds, Direction::After), allowed, draw);
        self.grow(&mut seconds, self.around(&firsts, Direction::Before), allowed, draw);
        let (form, direction) = allowed.forms[draw.place(allowed.forms.len())];
        let (subject, object) = match direction {
            Direction::Before => (firsts, seconds),
            Direction::After => (seconds, firsts),
        };
        let mut free = without(without(u64::MAX, &subject), &object);
        let mut subject = self.phrase(&subject, &mut free, allowed, draw);
        let mut object = self.phrase(&object, &mut free, allowed, draw);
        let words = self.words;
        let neutral = |draw: &mut Draw| draw.place(words.neutrals().len()) as u8;
        if let Form::Clauses | Form::FrontedClauses = form {
            let main = NeutralClause { subject, neutral: neutral(draw) };
            let other = NeutralClause { subject: object, neutral: neutral(draw) };
            let conjunction = draw.place(words.conjunctions(direction).len()) as u8;
            return SubSentence::Clauses {
                main,
                direction,
                conjunction,
                other,
                fronted: form == Form::FrontedClauses,
            };
        }
        let fronted = form == Form::Fronted;
        if fronted && (subject.list.is_plural() || object.list.is_plural()) {
            // Commas of lists and of relative clauses together could be ambiguous.
            (subject.relative, object.relative) = (None, None);
        }
        let link = match form {
            Form::Verb => Link::verb(draw, words, direction),
            _ => Link::adverbial(draw, words, direction),
        };
        let sentence = SubSentence::Independent { subject, direction, link, object, fronted };
        debug_assert!(!sentence.mixes_commas(), "{sentence:?}");
        sentence
    }

    fn clock_sentence(
        &self,
        (action, bound): (u8, Bound),
        allowed: &Allowed,
        draw: &mut Draw,
    ) -> SubSentence {
        let mut subject = vec![action];
        // Any action with the same bound may join the list, also one whose bound is already stated.
        let same = self.bounds.iter().filter(|(_, other)| *other == bound);
        let same = same.fold(0, |set, (action, _)| set | 1 << action);
        self.grow(&mut subject, same, allowed, draw);
        let mut free = without(u64::MAX, &subject);
        let subject = self.phrase(&subject, &mut free, allowed, draw);
        let direction = direction_of(bound);
        let forms: Vec<Form> =
            allowed.clock_forms.iter().filter(|(_, it)| *it == direction).map(|(form, _)| *form).collect();
        let form = forms[draw.place(forms.len())];
        let link = match form {
            Form::Verb => ClockLink::verb(draw, self.words, direction),
            Form::Fronted => ClockLink::fronted(draw, self.words, direction),
            _ => ClockLink::adverbial(draw, self.words, direction),
        };
        let bound = ClockBound { direction, link, minute: bound.minute() };
        SubSentence::Bounded { subject, bound, fronted: form == Form::Fronted }
    }

    /// A list, with a relative clause in one of four cases if one is allowed and has a statement to make.
    fn phrase(&self, list: &[u8], free: &mut u64, allowed: &Allowed, draw: &mut Draw) -> NounPhrase {
        let may = allowed.relatives && self.options.relative_depth > 0;
        let relative = if may && draw.chance(1, 4) { self.relative(list, free, draw) } else { None };
        NounPhrase { list: action_list(list), relative: relative.map(Box::new) }
    }

    fn relative(&self, list: &[u8], free: &mut u64, draw: &mut Draw) -> Option<Relative> {
        let shared = |bound: &Bound| list.iter().all(|action| self.bounds.contains(&(*action, *bound)));
        let bound = self.bounds.iter().map(|(_, bound)| *bound).find(shared);
        if let Some(bound) = bound.filter(|_| draw.chance(1, 2)) {
            let direction = direction_of(bound);
            let link = if draw.chance(1, 2) {
                ClockLink::verb(draw, self.words, direction)
            } else {
                ClockLink::adverbial(draw, self.words, direction)
            };
            return Some(Relative::Bounded(ClockBound { direction, link, minute: bound.minute() }));
        }
        let direction = if draw.chance(1, 2) { Direction::Before } else { Direction::After };
        // The whole list must be on that side of the object, because a relative clause is about all of it.
        let object = draw.bit(self.around(list, direction) & *free)?;
        *free &= !(1 << object);
        let link = if draw.chance(1, 2) {
            Link::verb(draw, self.words, direction)
        } else {
            Link::adverbial(draw, self.words, direction)
        };
        let object = NounPhrase { list: action_list(&[object]), relative: None };
        Some(Relative::Ordered { direction, link, object })
    }
}

fn direction_of(bound: Bound) -> Direction {
    match bound {
        Bound::EndsBy(_) => Direction::Before,
        Bound::StartsFrom(_) => Direction::After,
    }
}

fn action_list(actions: &[u8]) -> ActionList {
    let mut list = ActionList::new();
    actions.iter().for_each(|action| list.push(*action));
    list
}
