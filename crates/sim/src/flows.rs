//! The values from tool results that a simulated model passes on, if the rules of the query require it.
//!
//! It does so in conversations of calls and results. A careless model makes some values up; a model that forgets
//! arguments forgets these, too.

use planproof_model::{ChatRequest, Message};
use planproof_synth::{Draw, ReadRule, read_rules, returned_value};
use planproof_trace::{Arguments, ToolCall};
use serde_json::Value;

use crate::SimKind;
use crate::reading::{task_of, user_texts};
use crate::step::Slip;

/// Puts the values into a call of the tool at that index. `rules` are those of the request.
pub(crate) fn fill(
    (kind, key): (SimKind, u64),
    rules: &[ReadRule],
    request: &ChatRequest,
    tool: u16,
    slip: Slip,
    call: &mut ToolCall,
) {
    let Arguments::Object(arguments) = &mut call.arguments else { return };
    // This mistake leaves out a tool's own arguments, and these values are among them.
    if slip == Slip::ExtraArgument {
        return;
    }
    for (number, ReadRule { first, second, argument }) in (0_u64..).zip(rules) {
        let Some(argument) = argument.as_ref().filter(|_| *second == usize::from(tool)) else { continue };
        let seed = request.settings.seed.unwrap_or_default();
        // A stream for each rule, so that the model makes the same choice in every turn.
        let is_careless = kind == SimKind::Careless
            && Draw::new(seed, key ^ number, "sim-flow/1").unit() < kind.mistake_chance(request.tools.len());
        if !is_careless && let Some(value) = returned(request, *first, argument) {
            arguments.insert(argument.clone(), value);
        }
    }
}

/// The rules that the user states, about the tasks of the request's tools.
pub(crate) fn rules(request: &ChatRequest) -> Vec<ReadRule> {
    let texts: Vec<&str> = request.tools.iter().map(task_of).collect();
    let blocks = user_texts(request).flat_map(|text| text.split("\n\n"));
    blocks.map(|block| read_rules(block, &texts)).find(|rules| !rules.is_empty()).unwrap_or_default()
}

/// The latest value that the tool at that index returned for this argument.
fn returned(request: &ChatRequest, tool: usize, argument: &str) -> Option<Value> {
    let name = &request.tools.get(tool)?.name;
    let calls = request.messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let ids: Vec<_> = calls.filter(|call| call.name == *name).map(|call| &call.id).collect();
    request.messages.iter().rev().find_map(|message| match message {
        Message::Tool { id, text } if ids.contains(&id) => returned_value(text, argument),
        _ => None,
    })
}
