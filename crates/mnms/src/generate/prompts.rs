//! Prompts for models. The templates are ours, in `prompts/`; `{{name}}` is a placeholder.

use planproof_plan::Plan;
use planproof_trace::template::fill;
use planproof_trace::{Catalogue, Signature};

use super::published::written_json;
use super::{Input, InputKind, Pairing};

/// Longest query, in characters.
pub const QUERY_CHARACTERS_MAX: usize = 1000;
/// Longest rewritten text, in characters.
pub const REWRITTEN_CHARACTERS_MAX: usize = 600;

/// A template of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// Asks for queries that a plan solves.
    Queries,
    /// Asks for rewritten texts that are faithful to a query.
    Rewriting,
    /// Asks for tools that do the same as another.
    Alternatives,
}

impl Template {
    /// All templates.
    pub const ALL: [Self; 3] = [Self::Queries, Self::Rewriting, Self::Alternatives];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queries => "queries",
            Self::Rewriting => "rewriting",
            Self::Alternatives => "alternatives",
        }
    }

    /// The text with its placeholders.
    pub fn text(self) -> &'static str {
        match self {
            Self::Queries => include_str!("../../prompts/queries.txt"),
            Self::Rewriting => include_str!("../../prompts/rewriting.txt"),
            Self::Alternatives => include_str!("../../prompts/alternatives.txt"),
        }
    }

    /// Fills the placeholders in one pass: inserted text is not scanned again.
    fn fill(self, values: &[(&str, &str)]) -> String {
        fill(self.text(), values)
    }
}

/// Describes a tool in one line: its name, its arguments and results, and what it does.
fn tool_line(tool: &Signature) -> String {
    let names = |ports: &[planproof_trace::Port]| {
        ports.iter().map(|port| format!("{} ({})", port.name, port.kind)).collect::<Vec<_>>().join(", ")
    };
    format!(
        "- {}: {} Takes {}. Gives {}.",
        tool.name,
        tool.description,
        names(&tool.arguments),
        names(&tool.outputs)
    )
}

fn tool_lines<'t>(tools: impl Iterator<Item = &'t Signature>) -> String {
    tools.map(tool_line).collect::<Vec<_>>().join("\n")
}

/// Asks for `count` queries that the plan of a pairing solves.
pub fn ask_for_queries(catalogue: &Catalogue, pairing: &Pairing, plan: &Plan, count: usize) -> String {
    let Pairing { sequence, input, kind } = pairing;
    let mut places = sequence.clone();
    places.sort_unstable();
    places.dedup();
    let tools = tool_lines(places.iter().filter_map(|place| catalogue.signatures().get(*place)));
    Template::Queries.fill(&[
        ("tools", &tools),
        ("plan", &written_json(plan).to_string()),
        ("input", &described(input, *kind)),
        ("needs", &needs(*kind)),
        ("count", &count.to_string()),
        ("characters", &QUERY_CHARACTERS_MAX.to_string()),
    ])
}

/// Asks for new wordings of the texts in these steps.
pub(super) fn ask_for_rewriting(query: &str, plan: &Plan, steps: &[u64]) -> String {
    let calls: Vec<String> = steps.iter().map(|step| format!("call {step}")).collect();
    Template::Rewriting.fill(&[
        ("query", query),
        ("plan", &written_json(plan).to_string()),
        ("calls", &calls.join(", ")),
        ("characters", &REWRITTEN_CHARACTERS_MAX.to_string()),
    ])
}

/// Asks for tools that do the same as a tool.
pub fn ask_for_alternatives(catalogue: &Catalogue, tool: &Signature) -> String {
    let others = catalogue.signatures().iter().filter(|other| other.name != tool.name);
    let tools = [tool_line(tool), tool_lines(others)].join("\n");
    Template::Alternatives.fill(&[("tools", &tools), ("tool", &tool.name)])
}

/// Describes an input for the model that writes a query.
fn described(input: &Input, kind: InputKind) -> String {
    let mut lines = vec![format!("kind: {}", kind.as_str())];
    lines.extend(input.values.iter().map(|(argument, value)| format!("{argument}: {value}")));
    if !input.about.is_empty() {
        lines.push(format!("what it is: {}", input.about));
    }
    if !input.labels.is_empty() {
        lines.push(format!("objects in it: {}", input.labels.join(", ")));
    }
    lines.join("\n")
}

fn needs(kind: InputKind) -> String {
    match kind {
        InputKind::Image | InputKind::Audio => {
            "the name of the file as it is, and any question, change, object or emoji"
        }
        InputKind::Text => "the passage word for word, and any question",
        _ => "the values that the calls are given, such as names, numbers and questions",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn every_gap_of_every_template_is_filled() {
        let catalogue = catalogue();
        let kind = InputKind::Image;
        let input = crate::generate::Inputs::own().of_kind(kind)[0].clone();
        let plan = Plan::default();
        let pairing = Pairing { sequence: vec![5, 0], input, kind };
        let asked = [
            ask_for_queries(catalogue, &pairing, &plan, 2),
            ask_for_rewriting("{{plan}} of mine", &plan, &[0, 2]),
            ask_for_alternatives(catalogue, &catalogue.signatures()[7]),
        ];
        for (template, asked) in Template::ALL.into_iter().zip(&asked) {
            let gaps = template.text().matches("{{").count();
            assert!(gaps >= 2 && asked.len() > template.text().len() / 2, "{}", template.as_str());
            assert!(!asked.replace("{{plan}} of mine", "").contains("{{"), "{asked}");
        }
        assert!(asked[0].contains("harbour.jpg") && asked[0].contains("three boats and a lighthouse"));
        assert!(asked[0].contains("- image captioning: Describes") && !asked[0].contains("- count:"));
        assert!(asked[1].contains("call 0, call 2"));
        assert!(asked[2].contains("work of \"image classification\"") && asked[2].contains("- count: "));
    }

    /// Simulated models recognize the prompts by these marks.
    #[test]
    fn prompts_have_the_marks_by_which_they_are_known() {
        use planproof_plan::data_prompts::{
            ALTERNATIVES, CALLS, COUNT, KEYS, PLAN, QUERIES, QUERY, REPLACED, REWRITING, TAKES_AND_GIVES,
            TOOL, WANTED,
        };
        for (template, begins, marks) in [
            (Template::Queries, QUERIES, &[PLAN, COUNT[0], COUNT[1]][..]),
            (Template::Rewriting, REWRITING, &[QUERY, CALLS, PLAN, WANTED[0], WANTED[1]]),
            (Template::Alternatives, ALTERNATIVES, &REPLACED),
        ] {
            let text = template.text();
            assert!(text.starts_with(begins), "{}", template.as_str());
            for mark in marks {
                assert_eq!(text.matches(mark).count(), 1, "{}: {mark:?}", template.as_str());
            }
        }
        for (template, key) in Template::ALL.into_iter().zip(KEYS) {
            assert!(template.text().contains(&format!("{{\"{key}\": ")), "{}", template.as_str());
        }
        let line = tool_line(&catalogue().signatures()[0]);
        assert!(line.starts_with(TOOL) && TAKES_AND_GIVES.iter().all(|mark| line.contains(mark)), "{line}");
    }
}
