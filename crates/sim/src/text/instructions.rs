//! The content of a request's instructions: the sections, their order, and the tools.

use std::sync::Arc;

use planproof_trace::Tool;
use serde_json::{Map, Value};

use super::order::{Kind, Order, Role};

const ORDER_LINE: &str = "Order of the sections: ";
const SECTIONS_LINE: &str = "Sections:";
const TOOLS_LINE: &str = "Tools:";
const NO_TOOLS_LINE: &str = "Tools: none";
const REQUIREMENTS_LINE: &str = "Requirements";
const EXAMPLES_BEGIN: &str = "Examples of whole texts";
const EXAMPLES_END: &str = "These were the examples.";
const PARAMETERS: &str = "  Parameters: ";

/// The words after a mark and a colon in the list of sections, with whether the model writes such a section.
const WRITERS: [(&str, bool); 3] =
    [(": the question, given to you", false), (": you write it", true), (": written for you", false)];

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
}

impl Instructions {
    /// Finds instructions in a text, and returns the text after them: from the first mark that begins a line, if
    /// there is one. `None` if there are no instructions that it understands.
    pub(super) fn find(text: &str) -> Option<(Self, &str)> {
        let mut lines = Lines { text, at: 0 };
        let formula = lines.find_map(|line| line.strip_prefix(ORDER_LINE))?;
        lines.find(|line| line.trim_end() == SECTIONS_LINE)?;
        let sections = read_sections(&mut lines);
        let marks: Vec<&str> = sections.iter().map(|section| section.mark.as_str()).collect();
        let order = Order::read(formula, &marks)?;
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

/// The list of sections.
fn read_sections(lines: &mut Lines<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    loop {
        let before = lines.at;
        match lines.next().and_then(|line| line.strip_prefix("- ")) {
            Some(line) => sections.extend(read_section(line)),
            None => {
                // The line that ends the list belongs to what follows.
                lines.at = before;
                return sections;
            }
        }
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

fn read_section(line: &str) -> Option<Section> {
    // The earliest of these phrases ends the mark. A later one is in the words of the specification's author.
    let found = WRITERS.iter().filter_map(|(words, is_model)| Some((line.find(words)?, *is_model)));
    let (end, is_model) = found.min()?;
    let (mark, words) = line.split_at(end);
    // The specification author's words about a section follow a semicolon, and do not matter here.
    let words = words.split("; ").next().unwrap_or_default();
    let role = if !is_model {
        Role::Given
    } else if words.contains("the name of one of the tools") {
        Role::Tool
    } else if words.contains("the arguments of the tool") {
        Role::Arguments
    } else {
        Role::Other
    };
    let is_label = role == Role::Other && words.contains("a label");
    (!mark.is_empty()).then(|| Section { mark: mark.to_owned(), role, is_label })
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
        let schema = serde_json::from_str(parameters).ok();
        let schema = schema.unwrap_or_else(|| Map::from_iter([("type".to_owned(), Value::from("object"))]));
        tools.push(Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: Arc::new(schema),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACT: &str = "\
Answer the question by writing sections.

Order of the sections: [Question] ( [Act] [Act In] [Obs] )* [Answer]
( ... )* stands for any number of times, | for one of several.

Sections:
- [Question]: the question, given to you.
- [Act]: you write it: the name of one of the tools, and nothing else.
- [Act In]: you write it: the arguments of the tool, as a JSON object; for a tool with a single text parameter the text alone will do.
- [Obs]: written for you; end your message after its mark.
- [Answer]: you write it; the name of one of the tools is no answer.

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
        assert!(instructions.sections.iter().all(|section| !section.is_label));
        assert_eq!(text, "[Question] Why?\n- x: y\n  Parameters: none\n");
        let tools = &instructions.tools;
        assert_eq!(tools.len(), 2);
        assert_eq!((tools[0].name.as_str(), tools[0].description.as_str()), ("look_up", "Looks up: a word."));
        assert!(tools[0].input_schema.contains_key("properties"));
        assert_eq!((tools[1].name.as_str(), tools[1].description.as_str()), ("rest", ""));
        assert!(instructions.mark_at("[Act In] x").is_some_and(|kind| instructions.mark(kind) == "[Act In]"));
        assert_eq!(instructions.mark_at("[Ac"), None);

        let without = REACT.replace("Tools:\n", "Tools: none\n");
        let (instructions, text) = Instructions::find(&without).expect("they are instructions");
        assert!(instructions.tools.is_empty() && text.starts_with("[Question] Why?"));
    }

    #[test]
    fn marks_may_hold_anything_but_line_breaks() {
        let section = |line| read_section(line).map(|section| section.mark);
        assert_eq!(section("Thought:: you write it."), Some("Thought:".to_owned()));
        assert_eq!(section("a - b: written for you; end."), Some("a - b".to_owned()));
        assert_eq!(section("no section"), None);
        let label = read_section("[L]: you write it: a label for the next call.").expect("a section");
        assert!(label.is_label && label.role == Role::Other);
    }

    #[test]
    fn other_texts_are_no_instructions() {
        for text in ["", "Why?", "Order of the sections: [A]", &REACT.replace("[Obs] )*", "[Obs] ")] {
            assert!(Instructions::find(text).is_none(), "{text}");
        }
    }
}
