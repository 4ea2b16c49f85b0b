//! Continuing a text if the answer is known from a key.

use planproof_suite::GoldCall;
use planproof_trace::Tool;
use serde_json::Value;

use super::going_on::{Author, Plan};
use super::instructions::Instructions;
use super::order::{Given, Goal, Kind, Place, Role};
use crate::handed::Handed;

/// A text that is being written.
pub(super) struct KeyWriter<'a> {
    instructions: &'a Instructions,
    handed: &'a Handed,
    /// The calls that the tools allow, each with its tool.
    calls: Vec<(&'a Tool, &'a GoldCall)>,
    place: Place,
    /// The tool of the next call has been named.
    is_named: bool,
    made: usize,
    /// Calls without a result.
    pending: usize,
}

impl<'a> KeyWriter<'a> {
    pub(super) fn new(instructions: &'a Instructions, handed: &'a Handed) -> Self {
        let calls = handed.calls_with(&instructions.tools).collect();
        let place = instructions.order.start();
        Self { instructions, handed, calls, place, is_named: false, made: 0, pending: 0 }
    }

    fn has(&self, role: Role) -> bool {
        self.instructions.sections.iter().any(|section| section.role == role)
    }

    fn words(&self, kind: Kind, plan: &Plan<Option<usize>>) -> String {
        if let (Goal::Call, Some((tool, call))) = (plan.goal, plan.next.and_then(|next| self.calls.get(next)))
        {
            return format!("Next I call {} with {}.", tool.name, Value::Object(call.arguments.clone()));
        }
        let mark = self.instructions.mark(kind).to_ascii_lowercase();
        if plan.way == [kind] || mark.contains("answer") {
            return self.handed.answer.clone();
        }
        // A model that calls tools has shown how it finds its answer.
        let is_told = self.made > 0 || self.handed.reasoning.is_empty();
        if is_told { "Nothing is missing any more.".to_owned() } else { self.handed.reasoning.clone() }
    }
}

impl Author for KeyWriter<'_> {
    /// The number of the next call.
    type Next = Option<usize>;

    fn instructions(&self) -> &Instructions {
        self.instructions
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn plan(&self) -> Option<Plan<Option<usize>>> {
        let is_named = self.is_named || !self.has(Role::Tool);
        let way = |goal, given| {
            let role = |kind| self.instructions.role(kind);
            self.instructions.order.way(&self.place, goal, given, is_named, role)
        };
        if self.made < self.calls.len() {
            // Calls of a key do not need each other's results, so they are written side by side if the order allows
            // that.
            let given = if self.pending == 0 { Given::Free } else { Given::Avoid };
            if let Some(way) = way(Goal::Call, given) {
                return Some(Plan { next: Some(self.made), goal: Goal::Call, way });
            }
        }
        // Calls without a result are carried out before the end, if the order allows that.
        let passing = if self.pending > 0 { Given::Pass } else { Given::Free };
        let way = way(Goal::End, passing).or_else(|| way(Goal::End, Given::Free))?;
        Some(Plan { next: None, goal: Goal::End, way })
    }

    fn content(&self, kind: Kind, plan: &Plan<Option<usize>>, _again: bool) -> String {
        let call = plan.next.and_then(|next| self.calls.get(next));
        let words = match self.instructions.role(kind) {
            Role::Given => String::new(),
            // A text that needs a call to end gets the first tool of the list.
            Role::Tool => {
                let tool = call.map(|(tool, _)| *tool).or(self.instructions.tools.first());
                return tool.map_or("none", |tool| &tool.name).to_owned();
            }
            Role::Arguments => {
                return Value::Object(call.map(|(_, call)| call.arguments.clone()).unwrap_or_default())
                    .to_string();
            }
            Role::Other if self.instructions.sections[kind].is_label => format!("#E{}", self.made + 1),
            Role::Other => self.words(kind, plan),
        };
        self.instructions.without_marks(words)
    }

    fn enter(&mut self, kind: Kind, _content: &str) {
        self.place = self.instructions.order.after(&self.place, kind);
        match self.instructions.role(kind) {
            Role::Tool => self.is_named = true,
            Role::Arguments => {
                self.is_named = false;
                self.made += 1;
                self.pending += 1;
            }
            Role::Given => self.pending = 0,
            Role::Other => {}
        }
    }
}
