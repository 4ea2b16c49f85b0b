//! A simulated model in a conversation of calls and results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_model::simulated::{FOREIGN_TURNS, NO_TASKS};
use planproof_model::{ChatRequest, Message};
use planproof_synth::ReadRule;
use planproof_trace::ToolCall;

use crate::report::REPORTED;
use crate::script::{self, Script};
use crate::step::{ALL_DONE, Step};
use crate::writing::write_call;
use crate::{SimKind, flows, tools};

/// Most scripts kept between the turns of runs; beyond that they are computed again.
const SCRIPTS_KEPT_MAX: usize = 8192;

/// The calls of a simulated model of one kind. It keeps the scripts of runs, which it would otherwise compute in
/// every turn.
#[derive(Debug)]
pub(crate) struct Calling {
    pub(crate) kind: SimKind,
    /// By [`script::seen`].
    known: Mutex<HashMap<u64, Arc<Known>>>,
}

/// Everything that determines a conversation, known from its first turn on.
#[derive(Debug)]
pub(crate) struct Known {
    /// By [`script::key`], which the script's draws depend on.
    pub(crate) key: u64,
    pub(crate) script: Script,
    /// The rules that the user states.
    rules: Vec<ReadRule>,
    of_framework: tools::OfFramework,
}

impl Calling {
    pub(crate) fn new(kind: SimKind) -> Self {
        Self { kind, known: Mutex::default() }
    }

    /// The reply in a conversation of calls and results.
    pub(crate) fn text_and_calls(&self, request: &ChatRequest) -> (String, Vec<ToolCall>) {
        if has_foreign_turns(request) {
            return (FOREIGN_TURNS.to_owned(), Vec::new());
        }
        let written = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let known = self.known(request);
        // `made` is the position in the script, which knows nothing of a framework's own tools. `number` counts all
        // calls, because it makes their ids.
        let (mut made, mut number) = (0, 1);
        for call in written {
            made += usize::from(!known.of_framework.has(&request.tools, &call.name));
            number += 1;
        }
        let steps = known.script.steps(self.kind, made, request, known.key);
        let mut calls = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Call { tool, start, slip, sentences } => {
                    let mut call = write_call(&request.tools, tool, (start, sentences), slip, number);
                    flows::fill((self.kind, known.key), &known.rules, request, tool, slip, &mut call);
                    calls.push(call);
                    number += 1;
                }
                Step::Say(NO_TASKS) => {
                    // A framework may offer a search instead of the tools themselves, so the tools may still be found.
                    let search = tools::search(&request.tools, &request.messages, number);
                    let text = if search.is_some() { "" } else { NO_TASKS };
                    return (text.to_owned(), search.into_iter().collect());
                }
                // Some frameworks end a run with a call that holds the answer.
                Step::Say(text) => match tools::last_words(&request.tools, text, number) {
                    Some(call) => calls.push(call),
                    None => return (text.to_owned(), calls),
                },
            }
        }
        (String::new(), calls)
    }

    /// The script of a request, and everything else that is the same in all turns of its conversation.
    pub(crate) fn known(&self, request: &ChatRequest) -> Arc<Known> {
        let seen = script::seen(request);
        // A panic while the lock is held leaves complete entries only, so the map stays usable.
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&seen) {
            return Arc::clone(known);
        }
        drop(all);
        // Reading a paragraph takes long, so the lock is not held meanwhile. Two turns may write the same script; it is
        // the same each time.
        let key = script::key(request);
        let script = Script::write(self.kind, request, key);
        let of_framework = tools::OfFramework::among(&request.tools);
        let known = Arc::new(Known { key, script, rules: flows::rules(request), of_framework });
        all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SCRIPTS_KEPT_MAX {
            all.clear();
        }
        all.insert(seen, Arc::clone(&known));
        known
    }
}

/// Whether its own turns in a conversation with tools hold no calls, but words that it never wrote: probably calls,
/// in a format that it does not know.
fn has_foreign_turns(request: &ChatRequest) -> bool {
    let has_calls = |it: &Message| matches!(it, Message::Assistant { calls, .. } if !calls.is_empty());
    let is_foreign = |it: &Message| match it {
        Message::Assistant { text, calls, .. } => {
            calls.is_empty() && !text.trim().is_empty() && !is_own(text)
        }
        _ => false,
    };
    !request.tools.is_empty()
        && !request.messages.iter().any(has_calls)
        && request.messages.iter().any(is_foreign)
}

/// Whether it writes this at the end of a run.
fn is_own(text: &str) -> bool {
    [ALL_DONE, REPORTED, NO_TASKS, FOREIGN_TURNS].contains(&text.trim())
}
