//! Complete content: whether it satisfies the rules of its state, and its meaning.

use std::sync::Arc;

use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::Value;

use super::tools::arguments_to_come;
use super::{Author, Call, Fault, Monitor, Violation, content, match_tool};
use crate::{Compat, ContentRule, Entered, Fate, StateId};

impl Monitor {
    /// Checks content that ends before byte `end`, and records its meaning. The error says up to which byte the text
    /// can stay.
    pub(super) fn complete(&mut self, end: usize) -> Result<(), (usize, Violation)> {
        let Some(part) = self.sections.last().filter(|part| part.author == Author::Model) else {
            return Ok(());
        };
        let (id, start) = (part.state, part.content.start);
        let shared = Arc::clone(&self.shared);
        let state = shared.automaton.state(id);
        let content = self.text[start..end].trim();
        let broken = |fault| (start, Violation::Content { state: id, fault });
        if let Some(pattern) = content::pattern(state)
            && !pattern.matches(content)
        {
            // What was read can still begin a match, so it is kept, and the model continues it.
            let kept = start + self.text[start..end].trim_end().len();
            let fault = Fault::Pattern { pattern: pattern.as_str().to_owned() };
            return Err((kept, Violation::Content { state: id, fault }));
        }
        let (mut label, mut tool, mut call, mut fate) = (None, None, None, Fate::Written);
        for rule in &state.content {
            match &rule.value {
                ContentRule::Json(schema) => {
                    self.check_json(schema, content).map_err(|what| broken(Fault::Json { what }))?;
                }
                ContentRule::Tool => tool = Some(self.tool_named(content).map_err(broken)?),
                ContentRule::Label => label = Some(content.to_owned()),
                ContentRule::Arguments => {
                    let (with, is_open) = self.call_with(content).map_err(broken)?;
                    fate = if is_open { Fate::Open } else { Fate::Written };
                    call = Some(with);
                }
                ContentRule::Matches(_) | ContentRule::MaxLength(_) => {}
            }
        }
        // Only now does the run enter the state: which symbol is read depends on the call.
        if state.completes_call() {
            let entered = Entered { fate, ..Entered::with(id, call.as_ref()) };
            let position = shared.automaton.after(self.position, entered);
            // A call that can be written but never executed is useless.
            let position = position.filter(|_| shared.automaton.can_execute(self.position, entered));
            let Some(position) = position else {
                let requirement = self.broken_by_call(entered);
                let tool = call.map(|call| call.name).unwrap_or_default();
                return Err(broken(Fault::Forbidden { tool, requirement }));
            };
            self.position = position;
        }
        // Only after all checks, so that a refused call leaves nothing behind.
        if let Some(call) = call {
            let input = content.to_owned();
            let label = self.label.take();
            self.labels.add(label.as_deref(), self.calls.len() + 1);
            self.calls.push(Call { label, call, input, fate, is_waiting: true });
            self.tool = None;
            let number = self.calls.len() - 1;
            if let Some(part) = self.sections.last_mut() {
                part.call = Some(number);
            }
        }
        // A label and a tool wait for the next call, whatever states lie between.
        self.label = label.or_else(|| self.label.take());
        self.tool = tool.or_else(|| self.tool.take());
        Ok(())
    }

    pub(super) fn check_json(&self, schema: &Value, content: &str) -> Result<(), String> {
        let instance: Value = planproof_trace::json::read(content.as_bytes())
            .map_err(|error| format!("it is no JSON: {error}"))?;
        self.shared.options.validator.as_ref().map_or(Ok(()), |validator| validator.check(schema, &instance))
    }

    /// The names of the tools that could be called next.
    fn callable(&self) -> Option<Vec<&str>> {
        let tools = self.shared.options.tools.as_ref()?;
        let names = tools.iter().map(|tool| tool.name.as_str());
        Some(names.filter(|name| self.automaton().can_call(self.position, name)).collect())
    }

    /// The tool named by a content, if it may be called.
    fn tool_named(&self, content: &str) -> Result<String, Fault> {
        let compat = self.shared.options.compat;
        let name = match &self.shared.options.tools {
            None => Some(content).filter(|name| !name.is_empty()),
            Some(tools) => {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
                let found = match_tool(content, &names, compat).map(|index| names[index]);
                // The published code takes the first tool if none is found.
                found.or_else(|| names.first().copied().filter(|_| compat == Compat::Original))
            }
        };
        // On demand, because each tool takes a search in the automaton.
        let callable = || Some(self.callable()?.into_iter().map(str::to_owned).collect());
        match name {
            None => Err(Fault::UnknownTool { written: content.to_owned(), callable: callable() }),
            Some(name) if !self.automaton().can_call(self.position, name) => {
                Err(Fault::ForbiddenTool { tool: name.to_owned(), callable: callable() })
            }
            Some(name) => Ok(name.to_owned()),
        }
    }

    /// The call of the last named tool with this content, and whether its arguments are unresolved.
    fn call_with(&self, content: &str) -> Result<(ToolCall, bool), Fault> {
        let tools = self.shared.options.tools.as_deref();
        let only = match tools {
            // If there is only one tool, no state has to name it.
            Some([tool]) => tool.name.as_str(),
            _ => "",
        };
        let name = self.tool.as_deref().unwrap_or(only);
        // All calls are executed when the plan is solved, with labels replaced by evidence.
        let is_open = |argument: &Value| self.shared.is_solved && self.labels.stand_in(argument);
        let (arguments, is_open) = match tools.and_then(|tools| tools.iter().find(|tool| tool.name == name)) {
            Some(tool) => {
                let validator = self.shared.options.validator.as_deref();
                arguments_to_come(tool, content, validator, &is_open)
                    .map_err(|what| Fault::Arguments { what })?
            }
            None => {
                let arguments = Arguments::from_text(content);
                let is_open = arguments.as_object().is_some_and(|object| object.values().any(is_open));
                (arguments, is_open)
            }
        };
        let id = CallId::new(format!("c{}", self.calls.len() + 1));
        Ok((ToolCall { id, name: name.to_owned(), arguments }, is_open))
    }

    /// The requirement that forbids a state to come next, if a single one is responsible.
    pub(super) fn broken_by(&self, state: StateId) -> Option<usize> {
        self.automaton().broken_requirement(self.word().chain([Entered::from(state)]))
    }

    /// The requirement that forbids the call completed by the last section, if a single one is responsible.
    fn broken_by_call(&self, entered: Entered<'_>) -> Option<usize> {
        let before = self.sections.len().saturating_sub(1);
        self.automaton().broken_requirement(self.word().take(before).chain([entered]))
    }
}
