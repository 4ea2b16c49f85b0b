//! Plans in the formats of the paper (its sections 3.2.1 to 3.2.5), compared with the planned one.

use serde_json::Value;

use crate::evaluation::Evaluation;
use crate::fault::Fault;
use crate::literal;
use crate::question::Step;
use crate::tool::ToolName;
use crate::words::{missing_fact, words};

/// Most steps of a plan that are considered.
pub const PLAN_STEPS_MAX: usize = 100;

/// A step as an agent planned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The name of the tool, as it was written.
    pub tool: String,
    /// What it is to do; `None` in a plan of tools alone.
    pub subtask: Option<String>,
}

/// Reads a plan from a model's output. `texts` are its turns for [`Evaluation::SequentialPairs`], of which those
/// without braces say that it is done, and otherwise its only text.
///
/// # Errors
/// It does not have the form that the evaluation requires.
pub fn read(evaluation: Evaluation, texts: &[&str]) -> Result<Vec<Planned>, Fault> {
    let text = texts.last().copied().unwrap_or_default();
    let steps = match evaluation {
        Evaluation::ToolOrder => tools(&list(text)?)?,
        Evaluation::ToolSubtaskLists => two_lists(text)?,
        Evaluation::SequentialPairs => one_a_turn(texts)?,
        _ => pairs(&list(text)?)?,
    };
    match steps.len() {
        0 => Err(Fault::NoList { what: "it is empty".to_owned() }),
        count if count > PLAN_STEPS_MAX => {
            Err(Fault::NoList { what: format!("it has more than {PLAN_STEPS_MAX} steps") })
        }
        _ => Ok(steps),
    }
}

/// The faults of a plan, in the order of its steps; empty if it is right: the planned tools in order, and sub-tasks
/// that name their facts.
pub fn judge(plan: &[Planned], right: &[Step]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, step) in plan.iter().enumerate() {
        let place = index + 1;
        let repeats =
            step.subtask.as_ref().and_then(|_| plan[..index].iter().position(|it| is_same(it, step)));
        if let Some(of) = repeats {
            faults.push(Fault::Repeated { place, of: of + 1 });
            continue;
        }
        let Some(tool) = ToolName::find(&step.tool) else {
            faults.push(Fault::UnknownTool { place, name: step.tool.clone() });
            continue;
        };
        if tool.is_unrelated() {
            faults.push(Fault::Distractor { place, name: tool.title().to_owned() });
            continue;
        }
        let Some(wanted) = right.get(index) else {
            // An additional step with the sub-task of an earlier one in other words solves that again.
            let solves = |it: &Step| it.tool == tool && !it.facts.is_empty() && names(step, it);
            let of = right.iter().position(solves);
            faults.push(of.map_or(Fault::ExtraStep { place }, |of| Fault::Repeated { place, of: of + 1 }));
            continue;
        };
        if tool != wanted.tool {
            let (wanted, found) = (wanted.tool.title().to_owned(), tool.title().to_owned());
            faults.push(Fault::WrongTool { place, wanted, found });
        } else if let Some(fact) = step.subtask.as_ref().and_then(|text| missing_fact(&wanted.facts, text)) {
            faults.push(Fault::WrongSubtask { place, fact: fact.to_owned() });
        }
    }
    for (index, step) in right.iter().enumerate().skip(plan.len()) {
        faults.push(Fault::MissingStep { place: index + 1, tool: step.tool.title().to_owned() });
    }
    faults
}

fn names(step: &Planned, right: &Step) -> bool {
    step.subtask.as_ref().is_some_and(|text| missing_fact(&right.facts, text).is_none())
}

/// Whether two steps with the same tool do the same, in the same words.
fn is_same(a: &Planned, b: &Planned) -> bool {
    let text = |step: &Planned| step.subtask.as_deref().map(words);
    let tool = |step: &Planned| ToolName::find(&step.tool).ok_or_else(|| step.tool.clone());
    tool(a) == tool(b) && text(a) == text(b)
}

/// The plan of a question in the format of a perfect agent.
pub fn written(evaluation: Evaluation, plan: &[Step]) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let join = |texts: Vec<String>, between: &str| texts.join(between);
    let tools = || plan.iter().map(|step| quoted(step.tool.title())).collect::<Vec<_>>();
    let subtasks = || plan.iter().map(|step| quoted(&step.subtask)).collect::<Vec<_>>();
    let pairs = || -> Vec<String> {
        tools().into_iter().zip(subtasks()).map(|(tool, subtask)| format!("{{{tool}: {subtask}}}")).collect()
    };
    match evaluation {
        Evaluation::ToolOrder => format!("[{}]", join(tools(), ", ")),
        Evaluation::ToolSubtaskLists => format!("[{}]\n[{}]", join(tools(), ", "), join(subtasks(), ", ")),
        Evaluation::SequentialPairs => join(pairs(), "\n"),
        _ => format!("[{}]", join(pairs(), ", ")),
    }
}

fn no_list(what: impl Into<String>) -> Fault {
    Fault::NoList { what: what.into() }
}

/// The first literal that begins with the bracket, which is required.
fn first(text: &str, bracket: char) -> Result<Option<literal::Found>, Fault> {
    literal::first(text, bracket).map_err(|error| no_list(error.to_string()))
}

fn list(text: &str) -> Result<Vec<Value>, Fault> {
    let found = first(text, '[')?;
    match found.map(|found| found.value) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(no_list("there is none")),
    }
}

fn texts(items: &[Value], wanted: &str) -> Result<Vec<String>, Fault> {
    let text = |(index, item): (usize, &Value)| match item {
        Value::String(text) => Ok(text.clone()),
        _ => Err(Fault::WrongItem { place: index + 1, wanted: wanted.to_owned() }),
    };
    items.iter().enumerate().map(text).collect()
}

fn tools(items: &[Value]) -> Result<Vec<Planned>, Fault> {
    let names = texts(items, "name of a tool")?;
    Ok(names.into_iter().map(|tool| Planned { tool, subtask: None }).collect())
}

/// One list after the other, or both in one.
fn two_lists(text: &str) -> Result<Vec<Planned>, Fault> {
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
        return Err(Fault::Lengths { tools: tools.len(), subtasks: subtasks.len() });
    }
    let planned = |(tool, subtask)| Planned { tool, subtask: Some(subtask) };
    Ok(tools.into_iter().zip(subtasks).map(planned).collect())
}

fn pair(place: usize, item: &Value) -> Result<Planned, Fault> {
    let refuse = || Fault::WrongItem { place, wanted: "{tool: sub-task}".to_owned() };
    let Value::Object(members) = item else { return Err(refuse()) };
    match (members.len(), members.iter().next()) {
        (1, Some((tool, Value::String(subtask)))) => {
            Ok(Planned { tool: tool.clone(), subtask: Some(subtask.clone()) })
        }
        _ => Err(refuse()),
    }
}

fn pairs(items: &[Value]) -> Result<Vec<Planned>, Fault> {
    items.iter().enumerate().map(|(index, item)| pair(index + 1, item)).collect()
}

/// One pair per turn; in a single text one pair per line.
fn one_a_turn(turns: &[&str]) -> Result<Vec<Planned>, Fault> {
    let turns: Vec<&str> = turns.iter().copied().filter(|text| text.contains('{')).collect();
    let is_single = turns.len() == 1;
    let mut steps = Vec::new();
    for (index, text) in turns.into_iter().enumerate() {
        let of_turn = steps_in(text, steps.len())?;
        let alone = |(_, is_on_new_line): &&(Planned, bool)| is_single && *is_on_new_line;
        let count = of_turn.len() - of_turn.iter().skip(1).filter(alone).count();
        if count > 1 {
            return Err(Fault::SeveralInTurn { turn: index + 1, steps: count });
        }
        steps.extend(of_turn.into_iter().map(|(step, _)| step));
    }
    Ok(steps)
}

/// All steps of a text, each with whether a line ends between it and the one before.
fn steps_in(text: &str, before: usize) -> Result<Vec<(Planned, bool)>, Fault> {
    let mut steps: Vec<(Planned, bool)> = Vec::new();
    let mut rest = text;
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
