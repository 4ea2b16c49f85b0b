//! Plans in the formats of the paper (its sections 3.2.1 to 3.2.5), compared with the planned one.

use serde_json::Value;

use crate::evaluation::PaperEvaluation;
use crate::fault::OutputFault;
use crate::literal;
use crate::question::GoldStep;
use crate::tool::ToolName;
use crate::words::{missing_fact, words};

/// Most steps of a plan that are considered.
pub const PLAN_STEPS_MAX: usize = 100;

/// A step as an agent planned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// The name of the tool, as it was written.
    pub tool: String,
    /// What it is to do; `None` in a plan of tools alone.
    pub subtask: Option<String>,
}

/// Reads a plan from a model's output. `texts` are its turns for [`PaperEvaluation::SequentialPairs`], of which those
/// without braces say that it is done, and otherwise its only text.
///
/// # Errors
/// It does not have the form that the evaluation requires.
pub fn read(evaluation: PaperEvaluation, texts: &[&str]) -> Result<Vec<PlannedStep>, OutputFault> {
    let text = texts.last().copied().unwrap_or_default();
    let steps = match evaluation {
        PaperEvaluation::ToolOrder => tools(&list(text)?)?,
        PaperEvaluation::ToolSubtaskLists => two_lists(text)?,
        PaperEvaluation::SequentialPairs => one_a_turn(texts)?,
        _ => pairs(&list(text)?)?,
    };
    match steps.len() {
        0 => Err(OutputFault::NoList { what: "it is empty".to_owned() }),
        count if count > PLAN_STEPS_MAX => {
            Err(OutputFault::NoList { what: format!("it has more than {PLAN_STEPS_MAX} steps") })
        }
        _ => Ok(steps),
    }
}

/// The faults of a plan, in the order of its steps; empty if it is right: the planned tools in order, and sub-tasks
/// that name their facts.
pub fn judge(plan: &[PlannedStep], right: &[GoldStep]) -> Vec<OutputFault> {
    let mut faults = Vec::new();
    for (index, step) in plan.iter().enumerate() {
        let place = index + 1;
        // A step has at most one fault, and repetition comes first. Without a sub-task, the same tool again is no
        // repetition.
        let repeats =
            step.subtask.as_ref().and_then(|_| plan[..index].iter().position(|it| is_same(it, step)));
        if let Some(of) = repeats {
            faults.push(OutputFault::Repeated { place, of: of + 1 });
            continue;
        }
        let Some(tool) = ToolName::find(&step.tool) else {
            faults.push(OutputFault::UnknownTool { place, name: step.tool.clone() });
            continue;
        };
        if tool.is_unrelated() {
            faults.push(OutputFault::Distractor { place, name: tool.title().to_owned() });
            continue;
        }
        let Some(wanted) = right.get(index) else {
            // An additional step with the sub-task of an earlier one in other words solves that again.
            let solves = |it: &GoldStep| it.tool == tool && !it.facts.is_empty() && names(step, it);
            let of = right.iter().position(solves);
            faults.push(
                of.map_or(OutputFault::ExtraStep { place }, |of| OutputFault::Repeated { place, of: of + 1 }),
            );
            continue;
        };
        if tool != wanted.tool {
            let (wanted, found) = (wanted.tool.title().to_owned(), tool.title().to_owned());
            faults.push(OutputFault::WrongTool { place, wanted, found });
        } else if let Some(fact) = step.subtask.as_ref().and_then(|text| missing_fact(&wanted.facts, text)) {
            faults.push(OutputFault::WrongSubtask { place, fact: fact.to_owned() });
        }
    }
    for (index, step) in right.iter().enumerate().skip(plan.len()) {
        faults.push(OutputFault::MissingStep { place: index + 1, tool: step.tool.title().to_owned() });
    }
    faults
}

fn names(step: &PlannedStep, right: &GoldStep) -> bool {
    step.subtask.as_ref().is_some_and(|text| missing_fact(&right.facts, text).is_none())
}

/// Whether two steps with the same tool do the same, in the same words.
fn is_same(a: &PlannedStep, b: &PlannedStep) -> bool {
    let text = |step: &PlannedStep| step.subtask.as_deref().map(words);
    let tool = |step: &PlannedStep| ToolName::find(&step.tool).ok_or_else(|| step.tool.clone());
    tool(a) == tool(b) && text(a) == text(b)
}

/// The plan of a question in the format of a perfect agent.
pub fn written(evaluation: PaperEvaluation, plan: &[GoldStep]) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let join = |texts: Vec<String>, between: &str| texts.join(between);
    let tools = || plan.iter().map(|step| quoted(step.tool.title())).collect::<Vec<_>>();
    let subtasks = || plan.iter().map(|step| quoted(&step.subtask)).collect::<Vec<_>>();
    let pairs = || -> Vec<String> {
        tools().into_iter().zip(subtasks()).map(|(tool, subtask)| format!("{{{tool}: {subtask}}}")).collect()
    };
    match evaluation {
        PaperEvaluation::ToolOrder => format!("[{}]", join(tools(), ", ")),
        PaperEvaluation::ToolSubtaskLists => {
            format!("[{}]\n[{}]", join(tools(), ", "), join(subtasks(), ", "))
        }
        PaperEvaluation::SequentialPairs => join(pairs(), "\n"),
        _ => format!("[{}]", join(pairs(), ", ")),
    }
}

fn no_list(what: impl Into<String>) -> OutputFault {
    OutputFault::NoList { what: what.into() }
}

/// The first literal that begins with the bracket, which is required.
fn first(text: &str, bracket: char) -> Result<Option<literal::FoundLiteral>, OutputFault> {
    literal::first(text, bracket).map_err(|error| no_list(error.to_string()))
}

fn list(text: &str) -> Result<Vec<Value>, OutputFault> {
    let found = first(text, '[')?;
    match found.map(|found| found.value) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(no_list("there is none")),
    }
}

fn texts(items: &[Value], wanted: &str) -> Result<Vec<String>, OutputFault> {
    let text = |(index, item): (usize, &Value)| match item {
        Value::String(text) => Ok(text.clone()),
        _ => Err(OutputFault::WrongItem { place: index + 1, wanted: wanted.to_owned() }),
    };
    items.iter().enumerate().map(text).collect()
}

fn tools(items: &[Value]) -> Result<Vec<PlannedStep>, OutputFault> {
    let names = texts(items, "name of a tool")?;
    Ok(names.into_iter().map(|tool| PlannedStep { tool, subtask: None }).collect())
}

/// One list after the other, or both in one.
fn two_lists(text: &str) -> Result<Vec<PlannedStep>, OutputFault> {
    let tools = first(text, '[')?.ok_or_else(|| no_list("there is none"))?;
    let (tools, subtasks) = match tools.value {
        Value::Array(both) if both.iter().all(Value::is_array) && both.len() == 2 => {
            let mut lists = both.into_iter().filter_map(|list| match list {
                Value::Array(items) => Some(items),
                _ => None,
            });
            (lists.next().unwrap_or_default(), lists.next().unwrap_or_default())
        }
        Value::Array(items) => {
            let rest = text.get(tools.end..).unwrap_or_default();
            let second = first(rest, '[')?;
            match second.map(|found| found.value) {
                Some(Value::Array(subtasks)) => (items, subtasks),
                _ => return Err(no_list("the list of sub-tasks is missing")),
            }
        }
        _ => return Err(no_list("there is none")),
    };
    let (tools, subtasks) = (texts(&tools, "name of a tool")?, texts(&subtasks, "text of a sub-task")?);
    if tools.len() != subtasks.len() {
        return Err(OutputFault::Lengths { tools: tools.len(), subtasks: subtasks.len() });
    }
    let planned = |(tool, subtask)| PlannedStep { tool, subtask: Some(subtask) };
    Ok(tools.into_iter().zip(subtasks).map(planned).collect())
}

fn pair(place: usize, item: &Value) -> Result<PlannedStep, OutputFault> {
    let refuse = || OutputFault::WrongItem { place, wanted: "{tool: sub-task}".to_owned() };
    let Value::Object(members) = item else { return Err(refuse()) };
    match (members.len(), members.iter().next()) {
        (1, Some((tool, Value::String(subtask)))) => {
            Ok(PlannedStep { tool: tool.clone(), subtask: Some(subtask.clone()) })
        }
        _ => Err(refuse()),
    }
}

fn pairs(items: &[Value]) -> Result<Vec<PlannedStep>, OutputFault> {
    items.iter().enumerate().map(|(index, item)| pair(index + 1, item)).collect()
}

/// One pair per turn; in a single text one pair per line.
fn one_a_turn(turns: &[&str]) -> Result<Vec<PlannedStep>, OutputFault> {
    let turns: Vec<&str> = turns.iter().copied().filter(|text| text.contains('{')).collect();
    let is_single = turns.len() == 1;
    let mut steps = Vec::new();
    for (index, text) in turns.into_iter().enumerate() {
        let of_turn = steps_in(text, steps.len())?;
        // A model with a single turn may write one pair per line, so these do not count as several in a turn.
        let alone = |(_, is_on_new_line): &&(PlannedStep, bool)| is_single && *is_on_new_line;
        let count = of_turn.len() - of_turn.iter().skip(1).filter(alone).count();
        if count > 1 {
            return Err(OutputFault::SeveralInTurn { turn: index + 1, steps: count });
        }
        steps.extend(of_turn.into_iter().map(|(step, _)| step));
    }
    Ok(steps)
}

/// All steps of a text, each with whether a line ends between it and the one before.
fn steps_in(text: &str, before: usize) -> Result<Vec<(PlannedStep, bool)>, OutputFault> {
    let mut steps: Vec<(PlannedStep, bool)> = Vec::new();
    let mut rest = text;
    // One more than the limit, so that `read` notices.
    while steps.len() <= PLAN_STEPS_MAX {
        let found = first(rest, '{');
        // Unreadable text after a step counts as words of the model.
        let Some(found) = (if steps.is_empty() { found? } else { found.unwrap_or(None) }) else {
            break;
        };
        let gap = rest.split('{').next().unwrap_or_default();
        steps.push((pair(before + steps.len() + 1, &found.value)?, gap.contains('\n')));
        rest = rest.get(found.end..).unwrap_or_default();
    }
    Ok(steps)
}

#[cfg(test)]
mod tests;
