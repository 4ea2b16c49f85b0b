//! `planproof spec step`: a walk through a specification.

use planproof_assembly::specifications::SpecSource;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_spec::{Automaton, Compat, Entered, Loaded, StateId, Walk};
use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::{Map, Value, json};

/// A proposed state, as it was written, with the call that it completes.
struct Proposal<'t> {
    text: &'t str,
    state: StateId,
    call: Option<ToolCall>,
}

pub(super) fn step(file: &str, states: &str, compat: Compat) -> Result<ExitCode, Failure> {
    let source = SpecSource::find(file)?;
    let Loaded { automaton, .. } = source.load_or_explain(compat, false)?;
    let proposals = proposals(&automaton, states)?;
    let mut walk = Walk::new(&automaton, compat);
    let mut passed: Vec<&Proposal<'_>> = Vec::new();
    for proposal in &proposals {
        let mut line = position(&automaton, &walk);
        let accepted = walk.enter(proposal.entered());
        line["proposed"] = json!(proposal.text);
        line["accepted"] = json!(accepted);
        if accepted {
            passed.push(proposal);
        } else {
            // A refused state does not count, so the requirement is broken by the accepted ones with this one after
            // them.
            let word = passed.iter().copied().chain([proposal]).map(Proposal::entered);
            if let Some(requirement) = automaton.broken_requirement(word) {
                line["forbidden_by"] = json!(automaton.spec().requirements[requirement].to_string());
            }
        }
        print_json(&line)?;
    }
    print_json(&position(&automaton, &walk))?;
    Ok(ExitCode::Passed)
}

impl Proposal<'_> {
    fn entered(&self) -> Entered<'_> {
        Entered::with(self.state, self.call.as_ref())
    }
}

/// The position of a walk: the possible next states, and whether it may end.
fn position(automaton: &Automaton, walk: &Walk<'_>) -> Value {
    let valid: Vec<&str> =
        walk.valid().iter().map(|state| automaton.state(*state).name.value.as_str()).collect();
    json!({ "valid": valid, "may_end": walk.may_end() })
}

/// Reads `STATE,STATE=TOOL,STATE=TOOL{"ARGUMENT": VALUE}`.
fn proposals<'t>(automaton: &Automaton, text: &'t str) -> Result<Vec<Proposal<'t>>, Failure> {
    let mut proposals = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find([',', '{']).unwrap_or(rest.len());
        let (name, tool) = match rest[..end].split_once('=') {
            Some((name, tool)) => (name.trim(), Some(tool.trim())),
            None => (rest[..end].trim(), None),
        };
        let state = automaton.state_named(name).ok_or_else(|| {
            let names: Vec<&str> =
                automaton.spec().states.iter().map(|state| state.name.value.as_str()).collect();
            Failure::usage(format!("there is no state \"{name}\"; there are {}", names.join(", ")))
        })?;
        let mut arguments = Map::new();
        let mut length = end;
        if rest[end..].starts_with('{') {
            // A stream deserialiser says where the object ends, so commas and braces in its strings need no care.
            let mut objects =
                serde_json::Deserializer::from_str(&rest[end..]).into_iter::<Map<String, Value>>();
            let fail = |what: String| {
                Failure::usage(format!(
                    "--states: the arguments of \"{}\" are no JSON object: {what}",
                    rest[..end].trim()
                ))
            };
            arguments = match objects.next() {
                Some(Ok(object)) => object,
                Some(Err(error)) => return Err(fail(error.to_string())),
                None => return Err(fail("there is nothing".to_owned())),
            };
            length += objects.byte_offset();
        }
        let after = rest[length..].trim_start();
        if !after.is_empty() && !after.starts_with(',') {
            return Err(Failure::usage(format!(
                "--states: after \"{}\" a comma is missing before \"{after}\"",
                &rest[..length]
            )));
        }
        if tool.is_none_or(str::is_empty) && length > end {
            return Err(Failure::usage(format!(
                "--states: \"{name}\" has arguments but no tool: write {name}=TOOL{{...}}"
            )));
        }
        // The id is never looked at: requirements are about tools and their arguments.
        let call = tool.map(|tool| ToolCall {
            id: CallId::new("1"),
            name: tool.to_owned(),
            arguments: Arguments::Object(arguments),
        });
        // Elsewhere the call would count for nothing, and the answer would seem to be about it.
        if call.is_some() && !automaton.state(state).completes_call() {
            return Err(Failure::usage(format!(
                "--states: \"{name}\" completes no call: the tool belongs to the state with (:content arguments)"
            )));
        }
        proposals.push(Proposal { text: rest[..length].trim(), state, call });
        rest = after.strip_prefix(',').unwrap_or_default().trim_start();
    }
    Ok(proposals)
}
