//! The prompts. The wording is ours: the paper shows its prompts as pictures (figures 17 and 18).

use std::fmt::Write as _;

use planproof_plan::subtasks::{Asking, Division, Pair, PlanForm, headings};
use planproof_trace::Tool;
use planproof_trace::template::fill;

use super::options::{RESULT_CHARACTERS_MAX, SubTaskOptions};
use super::steps::StepEnd;
use crate::template::{Placeholder, PromptTemplate};

/// What the template of a planner's prompt can have.
pub(super) fn placeholders(division: Division, options: SubTaskOptions) -> Vec<Placeholder> {
    let lessons = "the lessons of earlier runs";
    let mut all = vec![
        Placeholder::needed("tools", "the list of tools"),
        Placeholder::needed("task", "the task"),
        match options.remembers {
            true => Placeholder::needed("lessons", lessons),
            false => Placeholder::optional("lessons", lessons),
        },
    ];
    if division == Division::Grouped {
        all.push(Placeholder::needed("group", "the group whose sub-tasks are wanted"));
        all.push(Placeholder::optional("results", "what earlier groups gave"));
    }
    if division != Division::AtOnce {
        all.push(Placeholder::optional(DROPPED, "the sub-tasks that a person took out"));
    }
    all
}

/// The placeholder for sub-tasks that a person took out. Without it they stand at the end.
const DROPPED: &str = "dropped";

/// The prompt that a planner is asked for sub-tasks with, as a template.
pub(super) fn template(division: Division, form: PlanForm) -> String {
    let (asking, text, sections, last) = match division {
        Division::AtOnce => (Asking::Plan, of_form(form), "{{lessons}}", ""),
        Division::OneByOne => (Asking::Next, NEXT, "{{lessons}}", "{{dropped}}"),
        Division::Grouped => (Asking::Next, NEXT, "{{group}}{{results}}{{lessons}}", "{{dropped}}"),
    };
    let (Prompt(begun), reply) = begin(asking, text);
    format!(
        "{begun}\n{}\n{{{{tools}}}}\n\n{}\n{{{{task}}}}\n{sections}\n{}\n{}{last}\n",
        headings::TOOLS,
        headings::TASK,
        headings::REPLY,
        reply.trim()
    )
}

const NEXT: &str = include_str!("../../prompts/subtasks/next.txt");

fn of_form(form: PlanForm) -> &'static str {
    match form {
        PlanForm::Pairs => include_str!("../../prompts/subtasks/plan.txt"),
        PlanForm::Lists => include_str!("../../prompts/subtasks/plan_lists.txt"),
        PlanForm::Tools => include_str!("../../prompts/subtasks/plan_tools.txt"),
    }
}

/// What sub-tasks are asked for from.
#[derive(Default)]
pub(super) struct Whole<'a> {
    pub(super) task: &'a str,
    pub(super) tools: &'a [Tool],
    /// The group whose sub-tasks are requested, if there are groups.
    pub(super) group: Option<&'a str>,
    /// The lessons of earlier runs; may be empty.
    pub(super) lessons: &'a str,
}

/// Asks for all sub-tasks, or for the next one: the template with this in it.
pub(super) fn planner(
    template: &PromptTemplate,
    whole: &Whole<'_>,
    earlier: &str,
    dropped: &[Pair],
) -> String {
    let Whole { task, tools, group, lessons } = *whole;
    let section = |heading: &str, text: &str| Prompt::default().section(heading, text).0;
    let group = group.map_or_else(String::new, |group| {
        section(
            headings::GROUP,
            &fill(include_str!("../../prompts/subtasks/of_group.txt"), &[("group", group)]),
        )
    });
    let earlier = if earlier.is_empty() { String::new() } else { section(headings::RESULTS, earlier) };
    let taken_out: String = dropped
        .iter()
        .map(|pair| {
            let template = include_str!("../../prompts/subtasks/dropped.txt").trim_end();
            format!("\n{}", fill(template, &[("sub_task", &pair.to_json().to_string())]))
        })
        .collect();
    let filled = template.filled(&[
        ("tools", listed(tools).trim()),
        ("task", task.trim()),
        ("group", &group),
        ("results", &earlier),
        ("lessons", &Prompt::default().lessons(lessons).0),
        (DROPPED, &taken_out),
    ]);
    if template.has(DROPPED) { filled } else { filled + &taken_out }
}

/// Asks for groups.
pub(super) fn groups(task: &str, tools: &[Tool], lessons: &str) -> String {
    let (begun, reply) = begin(Asking::Groups, include_str!("../../prompts/subtasks/groups.txt"));
    begun
        .section(headings::TOOLS, &listed(tools))
        .section(headings::TASK, task)
        .lessons(lessons)
        .section(headings::REPLY, reply)
        .0
}

/// Asks for the arguments of a call.
pub(super) fn call(task: &str, tool: &Tool, pair: &Pair, earlier: &str, lessons: &str) -> String {
    let about = format!(
        "- {}: {}\nIts arguments, as a JSON schema: {}",
        tool.name, tool.description, tool.input_schema
    );
    let (begun, reply) = begin(Asking::Call, include_str!("../../prompts/subtasks/call.txt"));
    let mut prompt = begun.section(headings::TASK, task);
    if !earlier.is_empty() {
        prompt = prompt.section(headings::RESULTS, earlier);
    }
    prompt
        .section(headings::TOOL, &about)
        .section(headings::SUB_TASK, &pair.text)
        .lessons(lessons)
        .section(headings::REPLY, reply)
        .0
}

/// Asks for the answer.
pub(super) fn summary(task: &str, results: &str) -> String {
    let results = if results.is_empty() { "There were no sub-tasks." } else { results };
    let (begun, reply) = begin(Asking::Summary, include_str!("../../prompts/subtasks/summary.txt"));
    begun.section(headings::TASK, task).section(headings::RESULTS, results).section(headings::REPLY, reply).0
}

/// What a sub-task gave, for a prompt.
pub(super) fn result(number: usize, pair: &Pair, end: &StepEnd) -> String {
    let failed = if end.is_failure { " (failed)" } else { "" };
    format!("{}{number}{failed} {}\n{}", headings::RESULT_OF, pair.to_json(), shortened(&end.text))
}

/// The result of a sub-task, for a model that is asked for the next one.
pub(super) fn observation(number: usize, pair: &Pair, end: &StepEnd) -> String {
    let template = include_str!("../../prompts/subtasks/observation.txt").trim_end();
    fill(template, &[("result", &result(number, pair, end))])
}

/// Says what is wrong with a reply.
pub(super) fn mend(fault: &str) -> String {
    fill(include_str!("../../prompts/subtasks/mend.txt").trim_end(), &[("fault", fault)])
}

#[derive(Default)]
struct Prompt(String);

/// A prompt's beginning, and what to reply: the two parts of its text.
fn begin(asking: Asking, text: &'static str) -> (Prompt, &'static str) {
    let heading = format!("\n{}\n", headings::REPLY);
    let (about, reply) = text.split_once(&heading).unwrap_or((text, ""));
    (Prompt(format!("{} {}\n", asking.mark(), about.trim_end())), reply)
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
        let text = fill(include_str!("../../prompts/subtasks/lessons.txt"), &[("lessons", lessons)]);
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
