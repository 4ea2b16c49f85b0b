//! The messages of a case in its file.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::case::{ConstraintId, PlanningCase};
use crate::messages::{ChangeKind, OrderTurns, TurnChange};
use crate::text::CharRange;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnsFile {
    /// The query first.
    messages: Vec<MessageFile>,
    /// The turn of each action, `null` for a dropped task.
    due: BTreeMap<String, Option<u32>>,
    changes: Vec<ChangeFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageFile {
    /// Missing in the first one, which is the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Its part of the paragraph, as characters.
    start: u32,
    end: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeFile {
    message: u32,
    words: String,
    /// The constraint that no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drops: Option<String>,
    /// The id of its reverse, which holds instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reverse: Option<String>,
    /// The task that is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<String>,
}

impl TurnsFile {
    pub(super) fn of(case: &PlanningCase, turns: &OrderTurns) -> Self {
        let texts = std::iter::once(None).chain(turns.later.iter().cloned().map(Some));
        let messages = texts.zip(&turns.parts);
        let messages = messages.map(|(text, part)| MessageFile { text, start: part.start, end: part.end });
        let id = |action: usize| case.actions[action].id.as_str().to_owned();
        let change = |change: &TurnChange| {
            let text = |id: &ConstraintId| Some(id.as_str().to_owned());
            let (drops, reverse, action) = match &change.kind {
                ChangeKind::Reversed { old, new } => (text(old), text(new), None),
                ChangeKind::OrderDropped { old } => (text(old), None, None),
                ChangeKind::TaskDropped { action } => (None, None, Some(id(*action))),
            };
            ChangeFile { message: change.message, words: change.words.clone(), drops, reverse, action }
        };
        Self {
            messages: messages.collect(),
            due: turns.due.iter().enumerate().map(|(action, due)| (id(action), *due)).collect(),
            changes: turns.changes.iter().map(change).collect(),
        }
    }

    /// The turns, before anything about them is checked but ids and forms.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn read(self, place_of: &HashMap<String, usize>) -> Result<OrderTurns, String> {
        let mut due = vec![None; place_of.len()];
        if self.due.len() != place_of.len() {
            return Err("`turns.due` has not one entry for each action".into());
        }
        let place = |id: &str| {
            place_of
                .get(id)
                .copied()
                .ok_or_else(|| format!("turns names action \"{id}\", which is not there"))
        };
        for (id, turn) in self.due {
            due[place(&id)?] = turn;
        }
        let change = |ChangeFile { message, words, drops, reverse, action }: ChangeFile| {
            let kind = match (drops, reverse, action) {
                (Some(old), Some(new), None) => {
                    ChangeKind::Reversed { old: ConstraintId(old), new: ConstraintId(new) }
                }
                (Some(old), None, None) => ChangeKind::OrderDropped { old: ConstraintId(old) },
                (None, None, Some(action)) => ChangeKind::TaskDropped { action: place(&action)? },
                _ => {
                    return Err("a change has `drops`, perhaps with its `reverse`, or an `action`".to_owned());
                }
            };
            Ok(TurnChange { message, kind, words })
        };
        let changes = self.changes.into_iter().map(change).collect::<Result<Vec<_>, String>>()?;
        let (mut later, mut parts) = (Vec::new(), Vec::new());
        for (number, MessageFile { text, start, end }) in self.messages.into_iter().enumerate() {
            if text.is_some() != (number > 0) {
                return Err("each message has a `text`, but for the first one, which is the query".into());
            }
            later.extend(text);
            parts.push(CharRange { start, end });
        }
        Ok(OrderTurns { later, parts, due, changes, replaced: Vec::new(), demands: Vec::new() })
    }
}
