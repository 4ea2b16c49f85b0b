//! The roles of a team, if the right calls and the right answer are known from a key.
//!
//! A sub-task names its steps and contains the whole task, so that its executor finds the key again: `Steps 1 to 2
//! of: ...`.

use planproof_model::{ChatRequest, Message};
use planproof_plan::graph::{SubTask, SubTaskGraph};
use planproof_plan::limits::EXECUTORS_MAX;
use planproof_plan::team::crew::{ComposedExecutor, Crew};
use planproof_plan::team::{Role, headings};
use planproof_suite::GoldCall;
use serde_json::{Value as Json, json};

/// Most characters of an answer that is a candidate for a solver.
const ANSWER_CHARACTERS_MAX: usize = 1_000;

/// A request to a member of a team.
pub(crate) struct Request<'r> {
    pub(crate) role: Role,
    text: &'r str,
}

/// The deliverer's problem for a solver: the answer is the only choice.
pub(crate) fn problem(answer: &str) -> String {
    let text: String = answer.chars().take(ANSWER_CHARACTERS_MAX).collect();
    json!({"slots": {"answer": [{"text": text}]}, "constraints": []}).to_string()
}

impl<'r> Request<'r> {
    /// Recognises a request; `None` if it is not to a member of a team.
    pub(crate) fn of(request: &'r ChatRequest) -> Option<Self> {
        let text = request.messages.iter().find_map(|message| match message {
            Message::User { text } => Some(text.as_str()),
            _ => None,
        })?;
        let role = Role::ALL.into_iter().find(|role| text.starts_with(role.mark()))?;
        Some(Self { role, text })
    }

    /// Whether the manager is asked for executors instead of a graph.
    pub(crate) fn is_about_executors(&self) -> bool {
        self.text.contains(&format!("\n{}\n", headings::TOOLS))
    }

    /// The manager's executors: one for each tool, or one without tools.
    pub(crate) fn crew(&self) -> String {
        let tools = self.section(headings::TOOLS).lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("- ")?.split_once(':')?;
            Some(name)
        });
        let executor = |name: &str, tools: Vec<String>| ComposedExecutor {
            name: name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect(),
            about: format!("It works with {}.", if tools.is_empty() { "words alone" } else { name }),
            prompt: String::new(),
            tools,
        };
        let mut executors: Vec<ComposedExecutor> =
            tools.take(EXECUTORS_MAX).map(|tool| executor(tool, vec![tool.to_owned()])).collect();
        if executors.is_empty() {
            executors.push(executor("writer", Vec::new()));
        }
        serde_json::to_string(&Crew { executors }).unwrap_or_default()
    }

    /// The manager's graph: each call is a sub-task after the previous one; a single sub-task if later calls need the
    /// results of earlier ones, or if there are no calls.
    pub(crate) fn graph(&self, task: &str, calls: &[GoldCall]) -> String {
        let refers = |value: &Json| value.as_str().is_some_and(|text| text.contains("<node-"));
        let is_one = calls.iter().any(|call| call.arguments.values().any(refers));
        let steps: Vec<(usize, usize)> = match is_one || calls.is_empty() {
            true => vec![(1, calls.len())],
            false => (1..=calls.len()).map(|step| (step, step)).collect(),
        };
        let sub_task = |(place, (first, last)): (usize, &(usize, usize))| SubTask {
            id: format!("step-{}", place + 1),
            task: format!("Steps {first} to {last} of: {task}"),
            executor: self.executor(calls.get(*first - 1).map(|call| call.tool.as_str())),
            after: if place > 0 { vec![format!("step-{place}")] } else { Vec::new() },
            constraints: Vec::new(),
        };
        let sub_tasks = steps.iter().enumerate().map(sub_task).collect();
        let graph = SubTaskGraph { sub_tasks, constraints: Vec::new() };
        // Texts are written as JSON into memory, which cannot fail.
        serde_json::to_string(&graph).unwrap_or_default()
    }

    /// The first executor of the list that has the tool, or the first of all.
    fn executor(&self, tool: Option<&str>) -> String {
        let (mut first, mut current) = (None, "");
        for line in self.section(headings::EXECUTORS).lines() {
            if let Some((name, _)) = line.strip_prefix("- ").and_then(|rest| rest.split_once(':')) {
                current = name;
                first.get_or_insert(name);
            } else if let Some((name, _)) = line.strip_prefix("  - ").and_then(|rest| rest.split_once(':'))
                && tool == Some(name)
            {
                return current.to_owned();
            }
        }
        first.unwrap_or_default().to_owned()
    }

    /// Whether the deliverer is asked for candidates and constraints instead of an answer.
    pub(crate) fn is_for_solver(&self, request: &ChatRequest) -> bool {
        let has_replied = request.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
        !has_replied && self.section(headings::REPLY).contains("\"slots\"")
    }

    /// The sub-task as the supervisor passes it on.
    pub(crate) fn sub_task(&self) -> &'r str {
        self.section(headings::SUB_TASK)
    }

    /// The calls of the sub-task, as indices from 0.
    pub(crate) fn steps(&self) -> Option<std::ops::Range<usize>> {
        let (steps, _) = self.sub_task().strip_prefix("Steps ")?.split_once(" of: ")?;
        let (first, last) = steps.split_once(" to ")?;
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(first.checked_sub(1)?..last)
    }

    /// The text under a heading, up to the next one.
    fn section(&self, heading: &str) -> &'r str {
        let Some((_, rest)) = self.text.split_once(&format!("\n{heading}\n")) else { return "" };
        rest.split("\n# ").next().unwrap_or(rest).trim()
    }
}
