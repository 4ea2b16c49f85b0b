//! Cases whose text arrives in several messages, with changes of what was said before. **(ours)**
//!
//! The sentences of the paragraph are spread over the messages. A task is *due* in the turn after one of them: that
//! which first names it, or a later one, until which the agent is told to wait. A change reverses or drops an order, or
//! drops a task; the tasks that it is about wait for it.
//!
//! An agent that does in each turn what is due, in an order that keeps to everything said so far, is always right, so
//! no case asks for more than can be known ([`due_turns`]): a demand on a task comes no later than the message in whose
//! turn the task is due, and no task is due before one that has to precede it.

mod divide;
mod resolve;

use planproof_constraint::{Constraint, Order, Problem, Relation, Variable};

use crate::case::{ConstraintId, Difficulty, PlanningCase, StatedConstraint};
use crate::text::CharRange;

pub(crate) use divide::divide;
pub(crate) use resolve::resolve;

/// Most messages of a case, the query included.
pub const MESSAGES_MAX: u32 = 5;

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
/// task that has to precede it, and a change of an order that it takes part in. The tasks of a reversed order are due
/// in one turn, so that the order matters.
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
