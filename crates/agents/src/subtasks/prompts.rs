//! The prompts. The wording is ours: the paper shows its prompts as pictures (figures 17 and 18).

use std::fmt::Write as _;

use planproof_plan::subtasks::{Asking, DONE, Pair, headings};
use planproof_trace::Tool;
use serde_json::Value;

use super::RESULT_CHARACTERS_MAX;
use super::steps::StepEnd;

/// How a task is to be divided, in all prompts for sub-tasks.
const DIVISION: &str = "Each sub-task is what one tool does in one call. Its text says all that has to be known for the \
                        call: names, numbers, conditions. Use no more sub-tasks than the task needs, and never one twice.";

/// Asks for all sub-tasks.
pub(super) fn plan(task: &str, tools: &[Tool], lessons: &str) -> String {
    begin(Asking::Plan, DIVISION)
        .section(headings::TOOLS, &listed(tools))
        .section(headings::TASK, task)
        .lessons(lessons)
        .section(
            headings::REPLY,
            "Reply with one JSON list of pairs of a tool and its sub-task, in the order in which they are carried out. A later \
             sub-task may need what an earlier one gives. Name tools exactly as they are listed above, whatever the task calls \
             them. For example, with other tools:\n\
             [{\"map\": \"Find the distance from Bonn to Trier in km\"}, {\"converter\": \"Convert the distance from km to miles\"}]\n\
             Reply [] if no tool is needed.",
        )
        .0
}

/// What sub-tasks are asked for from.
pub(super) struct Whole<'a> {
    pub(super) task: &'a str,
    pub(super) tools: &'a [Tool],
    /// The group whose sub-tasks are requested, if there are groups.
    pub(super) group: Option<&'a str>,
    /// The lessons of earlier runs; may be empty.
    pub(super) lessons: &'a str,
}

/// Asks for the next sub-task.
pub(super) fn next(whole: &Whole<'_>, earlier: &str, dropped: &[Pair]) -> String {
    let Whole { task, tools, group, lessons } = *whole;
    let mut prompt =
        begin(Asking::Next, DIVISION).section(headings::TOOLS, &listed(tools)).section(headings::TASK, task);
    if let Some(group) = group {
        prompt = prompt
            .section(headings::GROUP, &format!("{group}\n\nOnly the sub-tasks of this group are wanted."));
    }
    if !earlier.is_empty() {
        prompt = prompt.section(headings::RESULTS, earlier);
    }
    let mut reply = format!(
        "Reply with one JSON object: the tool and the next sub-task. Its result comes back to you before you write the next \
         one. Name tools exactly as they are listed above, whatever the task calls them. For example, with another tool:\n\
         {{\"map\": \"Find the distance from Bonn to Trier in km\"}}\n\
         Reply {DONE} alone once nothing is left to do; the answer is written later."
    );
    for pair in dropped {
        let _ = write!(
            reply,
            "\nA person has taken this sub-task out, so do not write it again: {}",
            pair.to_json()
        );
    }
    prompt.lessons(lessons).section(headings::REPLY, &reply).0
}

/// Asks for groups.
pub(super) fn groups(task: &str, tools: &[Tool], lessons: &str) -> String {
    begin(Asking::Groups, "A group is a part of the task that can be worked on by itself. Its sub-tasks are chosen later.")
        .section(headings::TOOLS, &listed(tools))
        .section(headings::TASK, task)
        .lessons(lessons)
        .section(
            headings::REPLY,
            "Reply with one JSON list of texts, one for each group, in the order in which they are worked on. A later group may \
             need what an earlier one gives. Use as few groups as make sense; one is enough for a small task. For example:\n\
             [\"Find out how far it is\", \"Find out what the journey costs\"]",
        )
        .0
}

/// Asks for the arguments of a call.
pub(super) fn call(task: &str, tool: &Tool, pair: &Pair, earlier: &str, lessons: &str) -> String {
    let about = format!(
        "- {}: {}\nIts arguments, as a JSON schema: {}",
        tool.name,
        tool.description,
        Value::Object((*tool.input_schema).clone())
    );
    let mut prompt = begin(
        Asking::Call,
        "Do the sub-task below and nothing else. The whole task stands here for what the sub-task takes from it.",
    )
    .section(headings::TASK, task);
    if !earlier.is_empty() {
        prompt = prompt.section(headings::RESULTS, earlier);
    }
    prompt
        .section(headings::TOOL, &about)
        .section(headings::SUB_TASK, &pair.text)
        .lessons(lessons)
        .section(
            headings::REPLY,
            "Reply with one JSON object, which holds the arguments of the tool. Write values that earlier sub-tasks gave as they \
             are above. If the only argument is a text, such as code or a statement, a fenced block with that text will do.",
        )
        .0
}

/// Asks for the answer.
pub(super) fn summary(task: &str, results: &str) -> String {
    let results = if results.is_empty() { "There were no sub-tasks." } else { results };
    begin(
        Asking::Summary,
        "Take what they gave instead of what you know by heart, and leave out no part of the task.",
    )
    .section(headings::TASK, task)
    .section(headings::RESULTS, results)
    .section(headings::REPLY, "Reply with the answer to the whole task, in the form that it asks for.")
    .0
}

/// What a sub-task gave, for a prompt.
pub(super) fn result(number: usize, pair: &Pair, end: &StepEnd) -> String {
    let failed = if end.is_failure { " (failed)" } else { "" };
    format!("{}{number}{failed} {}\n{}", headings::RESULT_OF, pair.to_json(), shortened(&end.text))
}

/// The result of a sub-task, for a model that is asked for the next one.
pub(super) fn observation(number: usize, pair: &Pair, end: &StepEnd) -> String {
    let result = result(number, pair, end);
    format!("{result}\n\nReply with the next sub-task, or {DONE} if nothing is left to do.")
}

/// Says what is wrong with a reply.
pub(super) fn mend(fault: &str) -> String {
    format!("This does not work: {fault}\n\nReply again in the form that was asked for, without this fault.")
}

struct Prompt(String);

fn begin(asking: Asking, about: &str) -> Prompt {
    Prompt(format!("{} {about}\n", asking.mark()))
}

impl Prompt {
    fn section(mut self, heading: &str, text: &str) -> Self {
        // Writing to a text cannot fail.
        let _ = write!(self.0, "\n{heading}\n{}\n", text.trim());
        self
    }

    /// Adds the lessons of earlier runs, if there are any.
    fn lessons(self, lessons: &str) -> Self {
        if lessons.is_empty() {
            return self;
        }
        let text = format!(
            "{lessons}\n\nThey may be of other tasks: take over no value that this one does not have."
        );
        self.section(headings::LESSONS, &text)
    }
}

fn listed(tools: &[Tool]) -> String {
    if tools.is_empty() {
        return "There are none.".to_owned();
    }
    let tool = |tool: &Tool| format!("- {}: {}", tool.name, tool.description);
    tools.iter().map(tool).collect::<Vec<_>>().join("\n")
}

/// At most [`RESULT_CHARACTERS_MAX`] characters, half from the beginning and half from the end.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= RESULT_CHARACTERS_MAX {
        return text.to_owned();
    }
    let half = RESULT_CHARACTERS_MAX / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}\n[... {} characters left out ...]\n{end}", count - 2 * half)
}
