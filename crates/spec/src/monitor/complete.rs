//! Content that has come to its end: whether it keeps the rules of its state, and what it means.

use std::sync::Arc;

use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::Value;

use super::{Author, Call, Fault, Monitor, Violation, arguments_from, content, match_tool};
use crate::{Compat, ContentRule, Entered, StateId};

impl Monitor {
    /// Checks content that ends before byte `end`, and notes what it means. The error says up to which byte the text can
    /// stay.
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
            let kept = start + self.text[start..end].trim_end().len();
            let fault = Fault::Pattern { pattern: pattern.as_str().to_owned() };
            return Err((kept, Violation::Content { state: id, fault }));
        }
        let (mut label, mut tool, mut call) = (None, None, None);
        for rule in &state.content {
            match &rule.value {
                ContentRule::Json(schema) => {
                    self.check_json(schema, content).map_err(|what| broken(Fault::Json { what }))?;
                }
                ContentRule::Tool => tool = Some(self.tool_named(content).map_err(broken)?),
                ContentRule::Label => label = Some(content.to_owned()),
                ContentRule::Arguments => call = Some(self.call_with(content).map_err(broken)?),
                ContentRule::Matches(_) | ContentRule::MaxLength(_) => {}
            }
        }
        if state.completes_call() {
            let entered = Entered { state: id, call: call.as_ref() };
            let Some(position) = shared.automaton.after(self.position, entered) else {
                let tool = call.map(|call| call.name).unwrap_or_default();
                let requirement = self.broken_by_call(id, content);
                return Err(broken(Fault::Forbidden { tool, requirement }));
            };
            self.position = position;
        }
        if let Some(call) = call {
            let input = content.to_owned();
            self.calls.push(Call { label: self.label.take(), call, input });
            self.tool = None;
            let number = self.calls.len() - 1;
            if let Some(part) = self.sections.last_mut() {
                part.call = Some(number);
            }
        }
        self.label = label.or_else(|| self.label.take());
        self.tool = tool.or_else(|| self.tool.take());
        Ok(())
    }

    fn check_json(&self, schema: &Value, content: &str) -> Result<(), String> {
        let instance: Value =
            serde_json::from_str(content).map_err(|error| format!("it is no JSON: {error}"))?;
        self.shared.options.validator.as_ref().map_or(Ok(()), |validator| validator.check(schema, &instance))
    }

    /// The names of the tools that could be called next.
    fn callable(&self) -> Option<Vec<&str>> {
        let tools = self.shared.options.tools.as_ref()?;
        let names = tools.iter().map(|tool| tool.name.as_str());
        Some(names.filter(|name| self.automaton().can_call(self.position, name)).collect())
    }

    /// The tool that a content names, if it may be called.
    fn tool_named(&self, content: &str) -> Result<String, Fault> {
        let compat = self.shared.options.compat;
        let name = match &self.shared.options.tools {
            None => Some(content).filter(|name| !name.is_empty()),
            Some(tools) => {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
                let found = match_tool(content, &names, compat).map(|index| names[index]);
                found.or_else(|| names.first().copied().filter(|_| compat == Compat::Original))
            }
        };
        let callable = || Some(self.callable()?.into_iter().map(str::to_owned).collect());
        match name {
            None => Err(Fault::UnknownTool { written: content.to_owned(), callable: callable() }),
            Some(name) if !self.automaton().can_call(self.position, name) => {
                Err(Fault::ForbiddenTool { tool: name.to_owned(), callable: callable() })
            }
            Some(name) => Ok(name.to_owned()),
        }
    }

    /// The call of the tool that was named last with this content.
    fn call_with(&self, content: &str) -> Result<ToolCall, Fault> {
        let tools = self.shared.options.tools.as_deref();
        let only = match tools {
            Some([tool]) => tool.name.as_str(),
            _ => "",
        };
        let name = self.tool.as_deref().unwrap_or(only);
        let arguments = match tools.and_then(|tools| tools.iter().find(|tool| tool.name == name)) {
            Some(tool) => arguments_from(tool, content, self.shared.options.validator.as_deref())
                .map_err(|what| Fault::Arguments { what })?,
            None => Arguments::from_text(content),
        };
        Ok(ToolCall {
            id: CallId::new(format!("c{}", self.calls.len() + 1)),
            name: name.to_owned(),
            arguments,
        })
    }

    /// The requirement that forbids a state to come next, if one alone does.
    pub(super) fn broken_by(&self, state: StateId) -> Option<usize> {
        self.automaton().broken_requirement(self.word().chain([Entered::from(state)]))
    }

    /// The requirement that forbids the call that this content of the last section would complete, if one alone does.
    fn broken_by_call(&self, state: StateId, content: &str) -> Option<usize> {
        let call = self.call_with(content).ok()?;
        let before = self.sections.len().saturating_sub(1);
        let last = Entered { state, call: Some(&call) };
        self.automaton().broken_requirement(self.word().take(before).chain([last]))
    }
}
