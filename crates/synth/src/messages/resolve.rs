//! Checks turns from a file against the case that they are about.

use super::{ChangeKind, MESSAGES_MAX, OrderTurns, TurnChange, due_turns, take_out};
use crate::case::{ACTIONS_MAX, ConstraintId, PlanningCase, StatedConstraint};
use crate::infeasible::sentence_spans;

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
