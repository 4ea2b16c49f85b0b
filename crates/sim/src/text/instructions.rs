//! The content of a request's instructions: the sections, their order, and the tools.

use std::sync::Arc;

use planproof_trace::{Tool, WrittenObject};
use serde_json::json;

use super::order::{Kind, Order, Role};
use super::outline::Outline;

const TOOLS_LINE: &str = "Tools:";
const NO_TOOLS_LINE: &str = "Tools: none";
const REQUIREMENTS_LINE: &str = "Requirements";
const EXAMPLES_BEGIN: &str = "Examples of whole texts";
const EXAMPLES_END: &str = "These were the examples.";
const PARAMETERS: &str = "  Parameters: ";

/// The instructions for a model.
#[derive(Debug)]
pub(super) struct Instructions {
    pub(super) sections: Vec<Section>,
    pub(super) order: Order,
    pub(super) tools: Arc<[Tool]>,
}

/// A kind of section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) mark: String,
    pub(super) role: Role,
    /// Holds a label for the next call.
    pub(super) is_label: bool,
    pub(super) is_question: bool,
}

impl Instructions {
    /// Finds instructions in a text, and returns the text after them: from the first mark that begins a line, if
    /// there is one. `None` if there are no instructions that it understands.
    pub(super) fn find(text: &str) -> Option<(Self, &str)> {
        let (Outline { sections, order }, at) = Outline::find(text)?;
        let marks: Vec<&str> = sections.iter().map(|section| section.mark.as_str()).collect();
        let order = Order::new(&order)?;
        let mut lines = Lines { text, at };
        let tools = match tools_line(&mut lines, &marks) {
            Some(TOOLS_LINE) => read_tools(&mut lines),
            Some(NO_TOOLS_LINE) => Vec::new(),
            // A model that is to name a tool gets a list of them, or reads that there are none.
            _ if sections.iter().any(|section| section.role == Role::Tool) => return None,
            _ => Vec::new(),
        };
        pass_examples(&mut lines);
        let rest = &text[lines.at..];
        let begins = |line: &str| sections.iter().any(|section| line.starts_with(section.mark.as_str()));
        let mut lines = Lines { text: rest, at: 0 };
        let begin = loop {
            let at = lines.at;
            match lines.next() {
                None => break rest.len(),
                Some(line) if begins(line) => break at,
                Some(_) => {}
            }
        };
        Some((Self { sections, order, tools: tools.into() }, &rest[begin..]))
    }

    /// Whether the text begins with the question under its mark. Otherwise the question is a message of its own.
    pub(super) fn lists_question(&self) -> bool {
        self.sections.iter().any(|section| section.is_question)
    }

    pub(super) fn role(&self, kind: Kind) -> Role {
        self.sections[kind].role
    }

    pub(super) fn mark(&self, kind: Kind) -> &str {
        &self.sections[kind].mark
    }

    /// The mark at the beginning of a text; the longest one if there are several.
    pub(super) fn mark_at(&self, text: &str) -> Option<Kind> {
        let here = |(kind, section): (Kind, &Section)| {
            text.starts_with(section.mark.as_str()).then_some((section.mark.len(), kind))
        };
        self.sections.iter().enumerate().filter_map(here).max().map(|(_, kind)| kind)
    }

    /// Whether a longer mark begins with this one, so that the following text decides which one it is.
    pub(super) fn begins_another(&self, kind: Kind) -> bool {
        let mark = self.mark(kind);
        self.sections.iter().any(|other| other.mark.len() > mark.len() && other.mark.starts_with(mark))
    }

    /// Separates a mark from content, so that the two cannot form another mark.
    pub(super) fn separator(&self, kind: Kind) -> char {
        if self.begins_another(kind) { '\n' } else { ' ' }
    }

    /// Words without a mark, whatever tasks are called.
    pub(super) fn without_marks(&self, words: String) -> String {
        let is_marked = self.sections.iter().any(|it| words.contains(it.mark.as_str()));
        if is_marked { "Let me go on.".to_owned() } else { words }
    }
}

/// The lines of a text, with the position of the next one.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        self.at += length;
        Some(rest[..length].trim_end_matches(['\n', '\r']))
    }
}

/// The first line of the tools, after the requirements; `None` if something else comes first.
fn tools_line<'t>(lines: &mut Lines<'t>, marks: &[&str]) -> Option<&'t str> {
    loop {
        let before = lines.at;
        let line = lines.next()?;
        // The requirements, if there are any, are a list before the tools.
        let is_passed = line.is_empty() || line.starts_with(REQUIREMENTS_LINE) || line.starts_with("- ");
        if line.starts_with(TOOLS_LINE) {
            return Some(line.trim_end());
        }
        if !is_passed || marks.iter().any(|mark| line.starts_with(mark)) {
            lines.at = before;
            return None;
        }
    }
}

/// Goes past examples, if there are any.
fn pass_examples(lines: &mut Lines<'_>) {
    let before = lines.at;
    let begin = lines.find(|line| !line.is_empty());
    let is_passed = begin.is_some_and(|line| line.starts_with(EXAMPLES_BEGIN))
        && lines.any(|line| line.trim_end() == EXAMPLES_END);
    if !is_passed {
        lines.at = before;
    }
}

fn read_tools(lines: &mut Lines<'_>) -> Vec<Tool> {
    let mut tools = Vec::new();
    loop {
        let before = lines.at;
        let tool = lines.next().and_then(|line| line.strip_prefix("- "));
        let parameters = lines.next().and_then(|line| line.strip_prefix(PARAMETERS));
        let (Some(tool), Some(parameters)) = (tool, parameters) else {
            lines.at = before;
            return tools;
        };
        let (name, description) =
            tool.split_once(": ").unwrap_or_else(|| (tool.strip_suffix(':').unwrap_or(tool), ""));
        let schema = WrittenObject::read(parameters);
        let input_schema = schema.unwrap_or_else(|_| json!({"type": "object"}).into());
        tools.push(Tool { name: name.to_owned(), description: description.to_owned(), input_schema });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACT: &str = "\
Write your reply in sections, exactly as it stands here, like this:
[Question] <the question, given to you>
[Act] <the name of one of the tools, and nothing else>
[Act In] <the arguments of the tool as a JSON object, {} if it has no parameters>
[Obs] <filled in for you>
Repeat the last 3 sections, from [Act] to [Obs], as often as needed. Then write:
[Answer] <the name of no tool>

Tools:
- look_up: Looks up: a word.
  Parameters: {\"type\":\"object\",\"properties\":{\"word\":{\"type\":\"string\"}}}
- rest:
  Parameters: none

[Question] Why?
- x: y
  Parameters: none
";

    #[test]
    fn instructions_are_understood() {
        let (instructions, text) = Instructions::find(REACT).expect("they are instructions");
        let roles: Vec<Role> = instructions.sections.iter().map(|section| section.role).collect();
        assert_eq!(roles, [Role::Given, Role::Tool, Role::Arguments, Role::Given, Role::Other]);
        assert_eq!(text, "[Question] Why?\n- x: y\n  Parameters: none\n");
        let tools = &instructions.tools;
        assert_eq!(tools.len(), 2);
        assert_eq!((tools[0].name.as_str(), tools[0].description.as_str()), ("look_up", "Looks up: a word."));
        assert!(tools[0].input_schema.contains_key("properties"));
        assert_eq!((tools[1].name.as_str(), tools[1].description.as_str()), ("rest", ""));
        assert!(instructions.mark_at("[Act In] x").is_some_and(|kind| instructions.mark(kind) == "[Act In]"));
        assert_eq!(instructions.mark_at("[Ac"), None);
        assert!(instructions.lists_question());

        let without = REACT.replace("Tools:\n", "Tools: none\n");
        let (instructions, text) = Instructions::find(&without).expect("they are instructions");
        assert!(instructions.tools.is_empty() && text.starts_with("[Question] Why?"));

        let (before, _) = REACT.split_once("\n[Question] Why?").expect("it has a question");
        let chat = before.replace("[Question] <the question, given to you>\n", "");
        let (instructions, text) = Instructions::find(&chat).expect("they are instructions");
        assert!(!instructions.lists_question() && text.is_empty());
    }

    #[test]
    fn other_texts_are_no_instructions() {
        for text in
            ["", "Why?", "exactly as it stands here, like this:\n\n", &REACT.replace("[Obs] <", "[Obs] (")]
        {
            assert!(Instructions::find(text).is_none(), "{text}");
        }
    }
}
