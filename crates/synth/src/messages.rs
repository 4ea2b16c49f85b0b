//! Cases whose text arrives in several messages, with changes of what was said before. **(ours)**
//!
//! The sentences of the paragraph are spread over the messages. A task is *due* in the turn after one of them: that
//! which first names it, or a later one, until which the agent is told to wait. A change reverses or drops an order, or
//! drops a task; the tasks that it is about wait for it.
//!
//! An agent that does in each turn what is due, in an order that keeps to everything said so far, is always right, so
//! no case asks for more than can be known ([`due_turns`]): a demand on a task comes no later than the message in whose
//! turn the task is due, and no task is due before one that has to precede it.

use planproof_constraint::{Constraint, Order, Problem, Relation, Variable};
use planproof_trace::Draw;

use crate::case::{ACTIONS_MAX, ConstraintId, Difficulty, PlanningCase, StatedConstraint};
use crate::infeasible::sentence_spans;
use crate::synthesis::{FINISH, numbered, whole_query};
use crate::text::CharRange;

/// Most messages of a case, the query included.
pub const MESSAGES_MAX: u32 = 5;

/// Replaces the end of a query that is not the only message.
const FINISH_TURN: &str = "This is the first of several messages. When you have done every task that you need not wait \
                           with, finish with a short answer, and the next message follows. A later message can name more \
                           tasks and change what was said before.";

/// The words that reverse an order; the new one is `{first}` before `{second}`.
const REVERSED: [&str; 3] = [
    "No, the other way round: {first} comes before {second}.",
    "I was wrong there: {second} comes after {first}, not before it.",
    "Correction: {first} has to be done before {second}, not after it.",
];

/// The words that drop the order of `{first}` before `{second}`.
const ORDER_DROPPED: [&str; 2] = [
    "Forget that {second} comes after {first}, their order does not matter.",
    "It no longer matters whether {first} comes before {second}.",
];

/// The words that drop a task.
const TASK_DROPPED: [&str; 3] = [
    "Leave out {first} after all.",
    "There is no need for {first} any more, so do not do it.",
    "Forget about {first}, which nobody needs any more.",
];

/// The messages of a case. Messages and turns are numbered from 1, which is the query with the turn that follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderTurns {
    /// What the user says after the query, each when the agent has ended its turn.
    pub later: Vec<String>,
    /// The part of the paragraph in each message, the query first, as characters. A later message may have none.
    pub parts: Vec<CharRange>,
    /// For each action, the turn in which it is due; for a dropped task `None`.
    pub due: Vec<Option<u32>>,
    /// What later messages change, in their order.
    pub changes: Vec<TurnChange>,
    /// The constraints that the paragraph states and a later message reverses or drops, each with its place among those
    /// that the paragraph states. They bind nothing, because their tasks wait for the change.
    pub replaced: Vec<(usize, StatedConstraint)>,
    /// The turns that tasks belong to, as requirements. They follow from the other fields.
    pub demands: Vec<StatedTurn>,
}

/// A change of what an earlier message said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnChange {
    /// The message that says so.
    pub message: u32,
    pub kind: ChangeKind,
    /// Its sentence.
    pub words: String,
}

/// What a message changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// A constraint is reversed.
    Reversed {
        /// The id of the constraint that no longer holds.
        old: ConstraintId,
        /// The id of the constraint that replaces it.
        new: ConstraintId,
    },
    /// A constraint is dropped.
    OrderDropped { old: ConstraintId },
    /// A task is dropped, and with it all constraints that it takes part in.
    TaskDropped {
        /// Its index among the actions.
        action: usize,
    },
}

/// The turn that a task belongs to, as a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedTurn {
    pub id: ConstraintId,
    /// The index of the action.
    pub action: usize,
    pub kind: TurnDemand,
    /// The sentence that says so; empty if none does.
    pub words: String,
}

/// What is demanded of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnDemand {
    /// Not before this message.
    NotBefore(u32),
    /// In the turn of this message or before, which another message follows.
    ByTurn(u32),
    /// Not at all, as this message says.
    Never(u32),
}

/// The numbers of messages to draw from, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRange {
    pub min: u32,
    pub max: u32,
}

impl OrderTurns {
    /// How many messages there are, the query included.
    pub fn messages(&self) -> u32 {
        u32::try_from(self.parts.len()).unwrap_or(u32::MAX)
    }

    /// The message that states a place of the paragraph.
    fn message_of(&self, character: u32) -> u32 {
        let place = self.parts.iter().position(|part| part.start <= character && character < part.end);
        place.and_then(|place| u32::try_from(place).ok()).map_or(1, |place| place + 1)
    }

    /// The message from which on a constraint binds: the first that states it, that which reverses another into it, or
    /// the query for a rule.
    pub fn arrival(&self, stated: &StatedConstraint) -> u32 {
        let of_change = self.changes.iter().find_map(|change| match &change.kind {
            ChangeKind::Reversed { new, .. } if *new == stated.id => Some(change.message),
            _ => None,
        });
        let of_text = || stated.sources.iter().map(|source| self.message_of(source.start)).min();
        of_change.or_else(of_text).unwrap_or(1)
    }

    /// The change that a constraint comes from, if it does not stand in the paragraph.
    pub fn change_to(&self, id: &ConstraintId) -> Option<&TurnChange> {
        let is_it =
            |change: &&TurnChange| matches!(&change.kind, ChangeKind::Reversed { new, .. } if new == id);
        self.changes.iter().find(is_it)
    }

    /// Whether a message drops this task.
    pub fn is_dropped(&self, action: usize) -> bool {
        self.due.get(action) == Some(&None)
    }

    /// The tasks that a message tells to wait with, of those that were named by then: all that are due later, or are
    /// dropped later.
    fn waiting(&self, named: &[u32], message: u32) -> Vec<usize> {
        let until = |action: usize| match self.due[action] {
            Some(due) => due,
            None => self.dropped_by(action).unwrap_or(1),
        };
        (0..self.due.len()).filter(|action| named[*action] <= message && message < until(*action)).collect()
    }

    fn dropped_by(&self, action: usize) -> Option<u32> {
        let of = |change: &TurnChange| match change.kind {
            ChangeKind::TaskDropped { action: dropped } if dropped == action => Some(change.message),
            _ => None,
        };
        self.changes.iter().find_map(of)
    }

    /// The message that first names each action.
    fn named(&self, actions: usize, constraints: &[StatedConstraint]) -> Vec<u32> {
        let mut named = vec![u32::MAX; actions];
        for stated in constraints.iter().chain(self.replaced.iter().map(|(_, stated)| stated)) {
            for message in stated.sources.iter().map(|source| self.message_of(source.start)) {
                for action in [stated.first, stated.second] {
                    named[action] = named[action].min(message);
                }
            }
        }
        // What only a rule names is named by the query.
        named.into_iter().map(|message| if message == u32::MAX { 1 } else { message }).collect()
    }

    /// The requirements that follow from the turns.
    fn demands_of(&self, case: &PlanningCase) -> Vec<StatedTurn> {
        let named = self.named(case.actions.len(), &case.constraints);
        let last = self.messages();
        let mut demands = Vec::new();
        for (action, due) in self.due.iter().enumerate() {
            let mut add = |kind, end: &str, words: String| {
                let id = ConstraintId([case.actions[action].id.as_str(), end].concat());
                demands.push(StatedTurn { id, action, kind, words });
            };
            match *due {
                Some(due) => {
                    if due > 1 {
                        let is_waiting = named[action] < due;
                        let words = is_waiting.then(|| self.wait_sentence(case, &named, due - 1)).flatten();
                        add(TurnDemand::NotBefore(due), ".from", words.unwrap_or_default());
                    }
                    if due < last {
                        add(TurnDemand::ByTurn(due), ".by", String::new());
                    }
                }
                None => {
                    let is_it = |change: &&TurnChange| matches!(change.kind, ChangeKind::TaskDropped { action: dropped } if dropped == action);
                    if let Some(change) = self.changes.iter().find(is_it) {
                        add(TurnDemand::Never(change.message), ".never", change.words.clone());
                    }
                }
            }
        }
        demands
    }

    /// "Wait with A, B, and C until my next message."
    fn wait_sentence(&self, case: &PlanningCase, named: &[u32], message: u32) -> Option<String> {
        let mut waiting = self.waiting(named, message);
        let mention = case.order_of_mention();
        waiting.sort_by_key(|action| mention.iter().position(|it| it == action));
        let texts: Vec<&str> = waiting.iter().map(|action| case.actions[*action].text.as_str()).collect();
        let list = match texts.as_slice() {
            [] => return None,
            [one] => (*one).to_owned(),
            [one, two] => format!("{one} and {two}"),
            [first @ .., last] => format!("{}, and {last}", first.join(", ")),
        };
        Some(format!("Wait with {list} until my next message."))
    }

    /// What a message has to say: the sentences of its changes, its part of the paragraph, and what to wait with.
    pub fn said(&self, case: &PlanningCase, message: u32) -> Vec<String> {
        let named = self.named(case.actions.len(), &case.constraints);
        let changes = self.changes.iter().filter(|change| change.message == message);
        let changes: Vec<&str> = changes.map(|change| change.words.as_str()).collect();
        let part =
            self.parts.get(message as usize - 1).map(|part| case.words_between(*part)).unwrap_or_default();
        let wait = self.wait_sentence(case, &named, message).unwrap_or_default();
        [changes.join(" "), part.to_owned(), wait].into_iter().filter(|block| !block.is_empty()).collect()
    }
}

impl PlanningCase {
    /// All requirements on the order of a run as a problem for the solver. Without turns it is
    /// [`problem`](Self::problem). With them it has one more variable for each later message, in order behind the
    /// actions, and one behind these for the time after the run if a task is dropped. The source of a constraint is its
    /// index in [`constraint_ids`](Self::constraint_ids), or a larger number.
    ///
    /// # Panics
    /// Never for a synthesised case or one from a file.
    pub fn turn_problem(&self) -> Problem<usize> {
        let Some(turns) = &self.turns else { return self.problem() };
        let before = |(source, (first, second))| Constraint {
            relation: Relation::Before { first: Variable::new(first), second: Variable::new(second) },
            source,
        };
        let actions = self.actions.len();
        let message = |number: u32| actions + number as usize - 2;
        let end = message(turns.messages() + 1);
        let pairs = self.constraints.iter().map(|stated| (stated.first, stated.second));
        let demands = turns.demands.iter().map(|demand| match demand.kind {
            TurnDemand::NotBefore(due) => (message(due), demand.action),
            TurnDemand::ByTurn(due) => (demand.action, message(due + 1)),
            TurnDemand::Never(_) => (end, demand.action),
        });
        let variables = if turns.due.contains(&None) { end + 1 } else { end };
        let chain = (actions + 1..variables).map(|later| (later - 1, later));
        // What is due in the last turn comes before the end as well.
        let is_last = |action: &usize| turns.due[*action] == Some(turns.messages()) && variables > end;
        let last = (0..actions).filter(is_last).map(|action| (action, end));
        let constraints = pairs.chain(demands).chain(chain).chain(last).enumerate().map(before).collect();
        Problem::new(variables, constraints).expect("a case has at most 64 actions and messages")
    }

    /// The variable of a later message in [`turn_problem`](Self::turn_problem).
    pub fn message_variable(&self, message: u32) -> Variable {
        Variable::new(self.actions.len() + (message as usize).saturating_sub(2))
    }

    /// The order within each turn, over the tasks that are due in it; without turns, that of all tasks. Empty if the
    /// requirements cannot all hold.
    pub fn orders_by_turn(&self) -> Vec<Order> {
        let last = self.turns.as_ref().map_or(1, OrderTurns::messages);
        let in_turn = |turn: u32| {
            let due = |action: usize| self.turns.as_ref().map_or(Some(1), |turns| turns.due[action]);
            let tasks: Vec<usize> = (0..self.actions.len()).filter(|it| due(*it) == Some(turn)).collect();
            let mut order = Order::new(tasks.len())?;
            let place = |action: usize| tasks.iter().position(|task| *task == action).map(Variable::new);
            for stated in &self.constraints {
                if let (Some(first), Some(second)) = (place(stated.first), place(stated.second)) {
                    order.try_before(first, second).ok()?;
                }
            }
            Some(order)
        };
        (1..=last).map(in_turn).collect::<Option<Vec<Order>>>().unwrap_or_default()
    }

    /// The text of a part of the paragraph.
    pub fn words_between(&self, part: CharRange) -> &str {
        let CharRange { start, end } = part;
        self.words_at(&crate::text::Source { sentence: 0, sub_sentence: 0, start, end })
    }
}

/// The difficulty of a case with turns: a right plan is a right order of the tasks of each turn.
pub(crate) fn difficulty(case: &PlanningCase) -> Difficulty {
    let orders = case.orders_by_turn();
    let mut counts = orders.iter().map(Order::count_sequences);
    let correct = counts.try_fold(1u128, |all, count| all.checked_mul(count?));
    let mut difficulty = Difficulty::new(case.actions.len(), case.constraints.len(), correct);
    let all: f64 = orders.iter().flat_map(|order| 1..=order.len()).map(|n| n as f64).product();
    difficulty.bits = correct.map(|correct| ((all / correct as f64).log2() * 1e6).round() / 1e6 + 0.0);
    difficulty
}

/// Divides a drawn case into so many messages, with changes. `None` if this paragraph and these draws leave no room.
///
/// `messages` is the number of messages, at least 2.
pub(crate) fn divide(draw: &mut Draw, case: PlanningCase, messages: u32) -> Option<PlanningCase> {
    let parts = drawn_parts(draw, &sentence_spans(&case.paragraph), messages);
    let mut case = case;
    let due = vec![Some(1); case.actions.len()];
    let (later, changes, replaced, demands) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut turns = OrderTurns { later, parts, due, changes, replaced, demands };
    for message in 2..=messages {
        draw_change(draw, &mut case, &mut turns, message)?;
    }
    turns.due = due_turns(&case, &turns)?;
    if !are_free(&case, &turns) {
        return None;
    }
    // A message that says nothing, or a turn in which nothing is due, would be idle.
    let is_said = |message: u32| {
        turns.parts[message as usize - 1].start < turns.parts[message as usize - 1].end
            || turns.changes.iter().any(|change| change.message == message)
    };
    let is_due = |turn: u32| turns.due.contains(&Some(turn));
    if !(1..=messages).all(|message| is_said(message) && is_due(message)) {
        return None;
    }
    finish(&mut case, turns);
    Some(case)
}

/// Whether tasks whose order is dropped can come in either order, as the words say.
fn are_free(case: &PlanningCase, turns: &OrderTurns) -> bool {
    let Ok(order) = case.problem().order() else { return false };
    turns.changes.iter().all(|change| {
        let ChangeKind::OrderDropped { old } = &change.kind else { return true };
        let dropped = turns.replaced.iter().find(|(_, stated)| stated.id == *old);
        dropped.is_some_and(|(_, stated)| {
            let (first, second) = stated.pair();
            !order.is_before(first, second) && !order.is_before(second, first)
        })
    })
}

/// Puts the turns into a case, and what follows from them: its texts, requirements and difficulty.
fn finish(case: &mut PlanningCase, mut turns: OrderTurns) {
    turns.demands = turns.demands_of(case);
    let messages = turns.messages();
    let first = turns.said(case, 1).join("\n\n");
    turns.later = (2..=messages).map(|message| turns.said(case, message).join("\n\n")).collect();
    let rules = case.rules_text();
    let query = whole_query(&case.topic, (first.as_str(), rules.as_deref()), &case.tools, None, false);
    case.query = query.replacen(FINISH, FINISH_TURN, 1);
    case.turns = Some(turns);
    case.difficulty = difficulty(case);
}

/// The parts of the paragraph, which end with sentences. The query has at least one; a later message may have none.
fn drawn_parts(draw: &mut Draw, sentences: &[(u32, u32)], messages: u32) -> Vec<CharRange> {
    let count = sentences.len();
    let mut cuts: Vec<usize> = (1..messages).map(|_| 1 + draw.place(count)).collect();
    cuts.sort_unstable();
    let begins = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([count]);
    let part = |(begin, end): (usize, usize)| {
        let at = |place: usize| sentences.get(place).copied();
        match (begin < end, at(begin), end.checked_sub(1).and_then(at)) {
            (true, Some((start, _)), Some((_, end))) => CharRange { start, end },
            // Behind the sentence before it.
            _ => {
                let place = begin.checked_sub(1).and_then(at).map_or(0, |(_, end)| end);
                CharRange { start: place, end: place }
            }
        }
    };
    begins.zip(ends).map(part).collect()
}

/// Draws the change of a message, if it has one: for one in four none, for two an order that is reversed, for one an
/// order or a task that is dropped. `None` if there is nothing to change.
fn draw_change(draw: &mut Draw, case: &mut PlanningCase, turns: &mut OrderTurns, message: u32) -> Option<()> {
    let kind = draw.below(4);
    if kind == 0 {
        return Some(());
    }
    // What this message or a later one says again cannot be changed by it.
    let is_earlier = |stated: &StatedConstraint| {
        !stated.sources.is_empty()
            && stated.sources.iter().all(|source| turns.message_of(source.start) < message)
    };
    let earlier: Vec<usize> =
        (0..case.constraints.len()).filter(|it| is_earlier(&case.constraints[*it])).collect();
    if earlier.is_empty() {
        return None;
    }
    let place = earlier[draw.place(earlier.len())];
    let StatedConstraint { id: old, first, second, .. } = case.constraints[place].clone();
    let (wordings, kind, texts) = match kind {
        1 | 2 => {
            // The numbers of the paragraph's constraints are used, also those of replaced ones.
            let number = case.constraints.len() + turns.replaced.len() + 1;
            let new = ConstraintId(numbered('c', number));
            let stated = StatedConstraint {
                id: new.clone(),
                first: second,
                second: first,
                sources: Vec::new(),
                rule: None,
            };
            take_out(case, turns, |it| it.id == old);
            case.constraints.push(stated);
            (&REVERSED[..], ChangeKind::Reversed { old, new }, (second, first))
        }
        _ if draw.chance(1, 2) => {
            take_out(case, turns, |it| it.id == old);
            (&ORDER_DROPPED[..], ChangeKind::OrderDropped { old }, (first, second))
        }
        _ => {
            let action = if draw.chance(1, 2) { first } else { second };
            let is_of = |it: &StatedConstraint| it.first == action || it.second == action;
            // One task is enough, and it must not be one that a rule or a later sentence speaks of.
            let is_bound = |it: &StatedConstraint| is_of(it) && !is_earlier(it);
            if turns.due.contains(&None) || case.constraints.iter().any(is_bound) {
                return None;
            }
            turns.due[action] = None;
            take_out(case, turns, is_of);
            (&TASK_DROPPED[..], ChangeKind::TaskDropped { action }, (action, action))
        }
    };
    let words = wordings[draw.place(wordings.len())];
    let [first, second] = [texts.0, texts.1].map(|action| case.actions[action].text.as_str());
    let words = words.replace("{first}", first).replace("{second}", second);
    turns.changes.push(TurnChange { message, kind, words });
    Some(())
}

/// Moves constraints from those that hold to those that were replaced.
fn take_out(case: &mut PlanningCase, turns: &mut OrderTurns, is_out: impl Fn(&StatedConstraint) -> bool) {
    let replaced = restored(&case.constraints, turns);
    let (out, kept) = std::mem::take(&mut case.constraints).into_iter().partition(|it| is_out(it));
    case.constraints = kept;
    let places = |it: StatedConstraint| Some((replaced.iter().position(|stated| stated.id == it.id)?, it));
    turns.replaced.extend(Vec::into_iter(out).filter_map(places));
    turns.replaced.sort_by_key(|(place, _)| *place);
}

/// The constraints as the paragraph and the rules state them, changes aside.
pub(crate) fn restored(constraints: &[StatedConstraint], turns: &OrderTurns) -> Vec<StatedConstraint> {
    let is_stated = |stated: &&StatedConstraint| turns.change_to(&stated.id).is_none();
    let mut all: Vec<StatedConstraint> = constraints.iter().filter(is_stated).cloned().collect();
    for (place, stated) in &turns.replaced {
        all.insert((*place).min(all.len()), stated.clone());
    }
    all
}

/// The earliest turn in which each task can be due; `None` if an order cannot hold.
///
/// A task is due no earlier than the message that names it, the last one that demands another task before it, every
/// task that has to precede it, and a change of an order that it takes part in. The tasks of a reversed order are due in
/// one turn, so that the order matters.
fn due_turns(case: &PlanningCase, turns: &OrderTurns) -> Option<Vec<Option<u32>>> {
    case.problem().order().ok()?;
    let named = turns.named(case.actions.len(), &case.constraints);
    let mut due: Vec<u32> = named;
    let find =
        |id: &ConstraintId| turns.replaced.iter().find(|(_, stated)| stated.id == *id).map(|(_, it)| it);
    let mut together = Vec::new();
    for change in &turns.changes {
        let message = change.message;
        let waits: Vec<usize> = match &change.kind {
            ChangeKind::Reversed { old, .. } | ChangeKind::OrderDropped { old } => {
                let old = find(old)?;
                together.push((old.first, old.second));
                vec![old.first, old.second]
            }
            // What comes after a dropped task waits as long as the task does.
            ChangeKind::TaskDropped { action } => {
                let after =
                    turns.replaced.iter().filter(|(_, it)| it.first == *action).map(|(_, it)| it.second);
                after.collect()
            }
        };
        for action in waits {
            due[action] = due[action].max(message);
        }
    }
    // Each step raises a turn, of which there are few.
    loop {
        let before = due.clone();
        for stated in &case.constraints {
            due[stated.second] = due[stated.second].max(due[stated.first]).max(turns.arrival(stated));
        }
        for (one, other) in &together {
            let later = due[*one].max(due[*other]);
            (due[*one], due[*other]) = (later, later);
        }
        if due == before {
            break;
        }
    }
    let dropped = |action: usize| turns.is_dropped(action);
    Some(due.into_iter().enumerate().map(|(action, due)| (!dropped(action)).then_some(due)).collect())
}

/// Puts turns from a file into a case whose constraints are those of its paragraph, and checks them.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn resolve(case: &mut PlanningCase, mut turns: OrderTurns) -> Result<(), String> {
    let messages = turns.messages();
    if !(2..=MESSAGES_MAX).contains(&messages) || turns.later.len() + 1 != turns.parts.len() {
        return Err(format!("it has {messages} messages; 2 to {MESSAGES_MAX} are possible"));
    }
    if case.time.is_some() || !case.is_feasible() || case.faults.is_some() || case.rewritten.is_some() {
        return Err(
            "`turns` need a feasible case without clock times and faults, in the generator's words".into()
        );
    }
    if case.actions.len() + messages as usize > ACTIONS_MAX {
        return Err(format!("actions and messages together are more than {ACTIONS_MAX}"));
    }
    let spans = sentence_spans(&case.paragraph);
    let mut next = 0;
    for part in &turns.parts {
        if part.start == part.end {
            continue;
        }
        let begin = spans.iter().position(|span| span.0 == part.start);
        let end = spans.iter().position(|span| span.1 == part.end);
        match (begin, end) {
            (Some(begin), Some(end)) if begin == next && begin <= end => next = end + 1,
            _ => {
                return Err(
                    "the messages do not divide the paragraph into its sentences, one after the other".into(),
                );
            }
        }
    }
    if next != spans.len() || turns.parts.first().is_none_or(|part| part.start == part.end) {
        return Err("the messages do not have all sentences of the paragraph, the query at least one".into());
    }
    for change in turns.changes.clone() {
        if !(2..=messages).contains(&change.message) {
            return Err(format!("a change stands in message {}, and there are {messages}", change.message));
        }
        apply(case, &mut turns, &change)?;
    }
    if turns.due.iter().flatten().any(|due| !(1..=messages).contains(due)) {
        return Err(format!("a task is due in a turn that is none of the {messages}"));
    }
    let earliest = due_turns(case, &turns).ok_or("its constraints cannot all hold")?;
    if earliest != turns.due {
        return Err("`due` is not the earliest turn of each task in which it can be right".into());
    }
    turns.demands = turns.demands_of(case);
    for message in 1..=messages {
        let text = match message {
            1 => &case.query,
            later => &turns.later[later as usize - 2],
        };
        if let Some(block) = turns.said(case, message).iter().find(|block| !text.contains(block.as_str())) {
            return Err(format!(
                "message {message} does not hold \"{block}\", so the agent would not know what is judged"
            ));
        }
    }
    case.turns = Some(turns);
    Ok(())
}

/// Applies a change from a file.
fn apply(case: &mut PlanningCase, turns: &mut OrderTurns, change: &TurnChange) -> Result<(), String> {
    let unknown =
        |id: &ConstraintId| format!("a change names constraint \"{id}\", which does not hold by then");
    match &change.kind {
        ChangeKind::Reversed { old, new } => {
            let stated = case.constraints.iter().find(|it| it.id == *old && !it.sources.is_empty());
            let StatedConstraint { first, second, .. } = stated.cloned().ok_or_else(|| unknown(old))?;
            if turns.arrival(&case.constraints[place_of(case, old)]) >= change.message {
                return Err(unknown(old));
            }
            let is_taken = case.constraints.iter().any(|it| it.id == *new)
                || turns.replaced.iter().any(|(_, it)| it.id == *new);
            if is_taken {
                return Err(format!("constraint id \"{new}\" is used twice"));
            }
            take_out(case, turns, |it| it.id == *old);
            let id = new.clone();
            let (first, second) = (second, first);
            case.constraints.push(StatedConstraint { id, first, second, sources: Vec::new(), rule: None });
        }
        ChangeKind::OrderDropped { old } => {
            let is_it = |it: &StatedConstraint| it.id == *old && !it.sources.is_empty();
            if !case.constraints.iter().any(|it| is_it(it) && turns.arrival(it) < change.message) {
                return Err(unknown(old));
            }
            take_out(case, turns, is_it);
        }
        ChangeKind::TaskDropped { action } => {
            if turns.due.get(*action) != Some(&None) {
                return Err("a task that is dropped is due in a turn".into());
            }
            let is_of = |it: &StatedConstraint| it.first == *action || it.second == *action;
            if case
                .constraints
                .iter()
                .any(|it| is_of(it) && (it.sources.is_empty() || turns.arrival(it) >= change.message))
            {
                return Err("a task is dropped that a rule or a later message speaks of".into());
            }
            take_out(case, turns, is_of);
        }
    }
    Ok(())
}

fn place_of(case: &PlanningCase, id: &ConstraintId) -> usize {
    case.constraints.iter().position(|stated| stated.id == *id).unwrap_or_default()
}
