//! Divides drawn cases into messages, and draws what messages change.

use planproof_trace::Draw;

use super::{ChangeKind, OrderTurns, TurnChange, difficulty, due_turns, take_out};
use crate::case::{ConstraintId, PlanningCase, StatedConstraint};
use crate::infeasible::sentence_spans;
use crate::synthesis::{FINISH, numbered, whole_query};
use crate::text::CharRange;

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
