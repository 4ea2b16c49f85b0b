//! A simulated model in a conversation of calls and results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_model::simulated::{FOREIGN_TURNS, NO_TASKS};
use planproof_model::{ChatRequest, Message};
use planproof_trace::ToolCall;

use crate::report::REPORTED;
use crate::script::{self, Script};
use crate::step::{ALL_DONE, Step};
use crate::writing::write_call;
use crate::{SimKind, tools};

/// Most scripts kept between the turns of runs; beyond that they are worked out again.
const SCRIPTS_KEPT_MAX: usize = 8192;

/// What a simulated model of one kind calls. It keeps the scripts of runs, which it would otherwise work out in every turn.
#[derive(Debug)]
pub(crate) struct Calling {
    pub(crate) kind: SimKind,
    scripts: Mutex<HashMap<u64, Arc<Script>>>,
}

impl Calling {
    pub(crate) fn new(kind: SimKind) -> Self {
        Self { kind, scripts: Mutex::default() }
    }

    /// What it replies in a conversation of calls and results.
    pub(crate) fn text_and_calls(&self, request: &ChatRequest) -> (String, Vec<ToolCall>) {
        if has_foreign_turns(request) {
            return (FOREIGN_TURNS.to_owned(), Vec::new());
        }
        let written = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let (mut made, mut number) = (0, 1);
        for call in written {
            made += usize::from(!tools::is_of_framework(&request.tools, &call.name));
            number += 1;
        }
        let (_, script) = self.script(request);
        let steps = script.steps(self.kind, made, request);
        let mut calls = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Call { tool, start, slip, sentences } => {
                    calls.push(write_call(&request.tools, tool, (start, sentences), slip, number));
                    number += 1;
                }
                Step::Say(NO_TASKS) => {
                    let search = tools::search(&request.tools, &request.messages, number);
                    let text = if search.is_some() { "" } else { NO_TASKS };
                    return (text.to_owned(), search.into_iter().collect());
                }
                Step::Say(text) => match tools::last_words(&request.tools, text, number) {
                    Some(call) => calls.push(call),
                    None => return (text.to_owned(), calls),
                },
            }
        }
        (String::new(), calls)
    }

    /// The script of a request, with the request's key.
    pub(crate) fn script(&self, request: &ChatRequest) -> (u64, Arc<Script>) {
        let key = script::key(request);
        // A panic while the lock is held leaves whole entries only, so the map stays usable.
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(script) = scripts.get(&key) {
            return (key, Arc::clone(script));
        }
        drop(scripts);
        let script = Arc::new(Script::write(self.kind, request, key));
        scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if scripts.len() >= SCRIPTS_KEPT_MAX {
            scripts.clear();
        }
        scripts.insert(key, Arc::clone(&script));
        (key, script)
    }
}

/// Whether turns of its own in a conversation with tools hold no calls but words that it never said: calls, in a form that
/// nobody told it of.
fn has_foreign_turns(request: &ChatRequest) -> bool {
    let has_calls = |it: &Message| matches!(it, Message::Assistant { calls, .. } if !calls.is_empty());
    let is_foreign = |it: &Message| match it {
        Message::Assistant { text, calls } => calls.is_empty() && !text.trim().is_empty() && !is_own(text),
        _ => false,
    };
    !request.tools.is_empty()
        && !request.messages.iter().any(has_calls)
        && request.messages.iter().any(is_foreign)
}

/// Whether it says this at the end of a run.
fn is_own(text: &str) -> bool {
    [ALL_DONE, REPORTED, NO_TASKS, FOREIGN_TURNS].contains(&text.trim())
}
