//! Plans in the formats of the paper (its sections 3.2.1 to 3.2.5), compared with the planned one.

use planproof_suite::Unscored;
use serde_json::Value;

use crate::evaluation::PaperEvaluation;
use crate::fault::OutputFault;
use crate::literal;
use crate::question::GoldStep;
use crate::sub_task::{ReturnedCall, RightPlan};
use crate::tool::ToolName;
use crate::words::words;

/// Most brackets at which a list of names without quotes is looked for.
const NAMES_TRIED_MAX: usize = 200;
/// Most steps of a plan that are considered.
pub const PLAN_STEPS_MAX: usize = 100;

/// A step as an agent planned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// The name of the tool, as it was written.
    pub tool: String,
    /// What it is to do; `None` in a plan of tools alone.
    pub subtask: Option<String>,
    /// The call that was made for it and returned something; `None` in a plan that is only written.
    pub returned: Option<ReturnedCall>,
}

/// A plan, compared with the right one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedPlan {
    /// The faults, in the order of the steps; empty if it is right.
    pub faults: Vec<OutputFault>,
    /// The steps, from 1, whose sub-task was judged by its words alone.
    pub by_words: Vec<usize>,
}

/// Reads a plan from a model's output. `texts` are its turns for [`PaperEvaluation::SequentialPairs`], of which those
/// without braces say that it is done, and otherwise its only text.
///
/// # Errors
/// It does not have the form that the evaluation requires.
pub fn read(evaluation: PaperEvaluation, texts: &[&str]) -> Result<Vec<PlannedStep>, OutputFault> {
    let text = texts.last().copied().unwrap_or_default();
    let steps = match evaluation {
        PaperEvaluation::ToolOrder => tools(&names(text)?.0)?,
        PaperEvaluation::ToolSubtaskLists => two_lists(text)?,
        PaperEvaluation::SequentialPairs => one_a_turn(texts)?,
        _ => match dictionary(text) {
            Some(steps) => steps,
            None => pairs(&list(text)?)?,
        },
    };
    match steps.len() {
        0 => Err(OutputFault::NoList { what: "it is empty".to_owned() }),
        count if count > PLAN_STEPS_MAX => {
            Err(OutputFault::NoList { what: format!("it has more than {PLAN_STEPS_MAX} steps") })
        }
        _ => Ok(steps),
    }
}

/// Compares a plan with the right one: the planned tools in order, each with a sub-task whose call returned the right
/// result or, if there is none, whose words mean the same.
///
/// # Errors
/// The database cannot be read.
pub fn judge(plan: &[PlannedStep], right: &RightPlan<'_>) -> Result<ComparedPlan, Unscored> {
    let mut compared = ComparedPlan::default();
    let steps = right.steps();
    // Whether the steps so far gave the right result; `None` if that is not known.
    let mut gave: Vec<Option<bool>> = Vec::new();
    for (index, step) in plan.iter().enumerate() {
        let place = index + 1;
        gave.push(None);
        // A step has at most one fault, and repetition comes first. Without a sub-task, the same tool again is no
        // repetition.
        let repeats =
            step.subtask.as_ref().and_then(|_| plan[..index].iter().position(|it| is_same(it, step)));
        if let Some(of) = repeats {
            compared.faults.push(OutputFault::Repeated { place, of: of + 1 });
            continue;
        }
        let Some(tool) = ToolName::find(&step.tool) else {
            compared.faults.push(OutputFault::UnknownTool { place, name: step.tool.clone() });
            continue;
        };
        if tool.is_unrelated() {
            compared.faults.push(OutputFault::Distractor { place, name: tool.title().to_owned() });
            continue;
        }
        let Some(wanted) = steps.get(index) else {
            // An additional step with the sub-task of an earlier one in other words solves that again.
            let mut of = None;
            for (earlier, it) in steps.iter().enumerate() {
                let is_compared = of.is_none() && it.tool == tool && !it.facts.is_empty();
                if let Some(text) = step.subtask.as_ref().filter(|_| is_compared)
                    && right.by_words(earlier, text)?.is_none()
                {
                    of = Some(earlier);
                }
            }
            compared.faults.push(
                of.map_or(OutputFault::ExtraStep { place }, |of| OutputFault::Repeated { place, of: of + 1 }),
            );
            continue;
        };
        if tool != wanted.tool {
            let (wanted, found) = (wanted.tool.title().to_owned(), tool.title().to_owned());
            compared.faults.push(OutputFault::WrongTool { place, wanted, found });
            continue;
        }
        let Some(text) = &step.subtask else { continue };
        let by_result = match &step.returned {
            Some(returned) => right.by_result(index, returned, &gave[..index])?,
            None => None,
        };
        match by_result {
            Some(result) => {
                gave[index] = Some(result.is_ok());
                compared.faults.extend(result.err());
            }
            None => {
                compared.by_words.push(place);
                compared.faults.extend(right.by_words(index, text)?);
            }
        }
    }
    for (index, step) in steps.iter().enumerate().skip(plan.len()) {
        compared
            .faults
            .push(OutputFault::MissingStep { place: index + 1, tool: step.tool.title().to_owned() });
    }
    Ok(compared)
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

/// The first list of names, and the place behind it. Names of tools need no quotes, as in `[Python generator, SQL
/// generator]`.
fn names(text: &str) -> Result<(Vec<Value>, usize), OutputFault> {
    let quoted = first(text, '[');
    let bare = text.match_indices('[').take(NAMES_TRIED_MAX).find_map(|(start, _)| {
        let inside = text[start + 1..].split_once(']')?.0;
        let names: Vec<&str> = inside.split(',').map(str::trim).collect();
        let is_name = |name: &&str| ToolName::find(name).is_some() && !name.contains(['"', '\'']);
        // At least one is a tool, so that a remark in brackets is not taken for a plan.
        names.iter().any(is_name).then(|| {
            let names = names.iter().map(|name| Value::from(*name)).collect();
            (names, start, start + inside.len() + 2)
        })
    });
    match (quoted, bare) {
        (Ok(Some(literal::FoundLiteral { value: Value::Array(items), end, .. })), bare) => match bare {
            // Where both forms occur, the first one counts.
            Some((names, _, behind)) if behind < end => Ok((names, behind)),
            _ => Ok((items, end)),
        },
        (_, Some((names, _, behind))) => Ok((names, behind)),
        (Err(fault), None) => Err(fault),
        (Ok(_), None) => Err(no_list("there is none")),
    }
}

/// The steps of one dictionary of tools and sub-tasks that stands instead of a list; `None` if there is none.
fn dictionary(text: &str) -> Option<Vec<PlannedStep>> {
    let start = text.find('{')?;
    // Within a list, a dictionary is an item.
    if text.find('[').is_some_and(|list| list < start) {
        return None;
    }
    let found = literal::read(text, start).ok()?;
    // One pair alone may be the first of several.
    if found.members.len() < 2 {
        return None;
    }
    let step = |(tool, subtask): (String, Value)| match subtask {
        Value::String(subtask) => Some(PlannedStep { tool, subtask: Some(subtask), returned: None }),
        _ => None,
    };
    let steps: Option<Vec<PlannedStep>> = found.members.into_iter().map(step).collect();
    steps.filter(|steps| steps.iter().any(|step| ToolName::find(&step.tool).is_some()))
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
    Ok(names.into_iter().map(|tool| PlannedStep { tool, subtask: None, returned: None }).collect())
}

/// One list after the other, or both in one.
fn two_lists(text: &str) -> Result<Vec<PlannedStep>, OutputFault> {
    let (tools, end) = names(text)?;
    let (tools, subtasks) = match tools {
        both if both.iter().all(Value::is_array) && both.len() == 2 => {
            let mut lists = both.into_iter().filter_map(|list| match list {
                Value::Array(items) => Some(items),
                _ => None,
            });
            (lists.next().unwrap_or_default(), lists.next().unwrap_or_default())
        }
        items => {
            let rest = text.get(end..).unwrap_or_default();
            let second = first(rest, '[')?;
            match second.map(|found| found.value) {
                Some(Value::Array(subtasks)) => (items, subtasks),
                _ => return Err(no_list("the list of sub-tasks is missing")),
            }
        }
    };
    let (tools, subtasks) = (texts(&tools, "name of a tool")?, texts(&subtasks, "text of a sub-task")?);
    if tools.len() != subtasks.len() {
        return Err(OutputFault::Lengths { tools: tools.len(), subtasks: subtasks.len() });
    }
    let planned = |(tool, subtask)| PlannedStep { tool, subtask: Some(subtask), returned: None };
    Ok(tools.into_iter().zip(subtasks).map(planned).collect())
}

fn pair(place: usize, item: &Value) -> Result<PlannedStep, OutputFault> {
    let refuse = || OutputFault::WrongItem { place, wanted: "{tool: sub-task}".to_owned() };
    let Value::Object(members) = item else { return Err(refuse()) };
    match (members.len(), members.iter().next()) {
        (1, Some((tool, Value::String(subtask)))) => {
            Ok(PlannedStep { tool: tool.clone(), subtask: Some(subtask.clone()), returned: None })
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
