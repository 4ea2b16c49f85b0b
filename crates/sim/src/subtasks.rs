//! Sub-tasks with their tools, if the right calls and the right answer are known from a key: all at once, one by one
//! and by groups, the arguments of their calls, and the answer. The failures that can be planted are those of section
//! 3.4 of the paper on TPTU. The sub-tasks of models that understand synthesised tasks are in
//! `subtasks/understood.rs`.

mod understood;

use std::collections::BTreeSet;
use std::fmt;

use planproof_model::{ChatRequest, Message};
use planproof_plan::entailing;
use planproof_plan::subtasks::{Asking, DONE, Pair, PlanForm, headings, judging};
use planproof_suite::{GoldCall, GoldSubTask};
use planproof_trace::CallId;
use serde_json::Value as Json;

use crate::handed::Handed;
use crate::planning::filled_in;

/// How many sub-tasks a group has.
const GROUP_SIZE: usize = 2;

/// A mistake of a model that writes sub-tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubTaskFault {
    /// The first sub-task has another tool.
    WrongTool,
    /// The sub-tasks come in the opposite order.
    WrongOrder,
    /// The last sub-task comes again and again.
    Repeated,
    /// The answer leaves out all parts but the first, or is empty.
    NoSummary,
    /// Plans are cut off, and stay so.
    WrongFormat,
    /// The first argument of each call has another name, until an error or a lesson of earlier runs points it out.
    WrongCall,
}

impl SubTaskFault {
    pub const ALL: [Self; 6] = [
        Self::WrongTool,
        Self::WrongOrder,
        Self::Repeated,
        Self::NoSummary,
        Self::WrongFormat,
        Self::WrongCall,
    ];

    /// The word used in names of models.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WrongTool => "wrong-tool",
            Self::WrongOrder => "wrong-order",
            Self::Repeated => "repeated",
            Self::NoSummary => "no-summary",
            Self::WrongFormat => "wrong-format",
            Self::WrongCall => "wrong-call",
        }
    }
}

impl fmt::Display for SubTaskFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request to a model that writes sub-tasks.
pub(crate) struct Request<'r> {
    asking: Asking,
    text: &'r str,
    /// How many sub-tasks of this conversation have ended.
    ended: usize,
    /// Whether a reply was to be corrected.
    was_corrected: bool,
}

impl<'r> Request<'r> {
    /// Recognises a request; `None` for any other.
    pub(crate) fn of(request: &'r ChatRequest) -> Option<Self> {
        let mut users = request.messages.iter().filter_map(|message| match message {
            Message::User { text } => Some(text.as_str()),
            _ => None,
        });
        let text = users.next()?;
        let asking = Asking::ALL.into_iter().find(|asking| text.starts_with(asking.mark()))?;
        // What is not a result asks for a correction.
        let (ended, others): (Vec<&str>, Vec<&str>) =
            users.partition(|text| text.starts_with(headings::RESULT_OF));
        Some(Self { asking, text, ended: ended.len(), was_corrected: !others.is_empty() })
    }

    /// The reply of a model that knows what is right, with the planted mistake.
    pub(crate) fn reply(&self, handed: &Handed, planted: Option<SubTaskFault>) -> String {
        // A randomly wrong answer comes from a wrong plan.
        let fault = planted.or_else(|| handed.strike.map(|_| SubTaskFault::WrongTool));
        match self.asking {
            Asking::Plan => cut_off(self.written(&self.pairs(handed, fault)), fault),
            Asking::Next => {
                let pairs = self.pairs(handed, fault);
                // Within a group, only its own sub-tasks are due.
                let range = self.group().unwrap_or(0..pairs.len());
                let is_endless = fault == Some(SubTaskFault::Repeated);
                let wanted = match pairs.get(range.start + self.ended) {
                    Some(pair) if range.contains(&(range.start + self.ended)) => Some(pair),
                    _ if is_endless => pairs.last(),
                    _ => None,
                };
                wanted.map_or_else(|| DONE.to_owned(), |pair| cut_off(pair.to_json().to_string(), fault))
            }
            Asking::Groups => {
                let count = known(handed).len();
                let groups = (0..count.max(1)).step_by(GROUP_SIZE).map(|first| {
                    let last = (first + GROUP_SIZE).min(count);
                    Json::from(format!("Sub-tasks {} to {last}", first + 1))
                });
                cut_off(groups.collect::<Json>().to_string(), fault)
            }
            Asking::Call => self.arguments(handed, fault),
            Asking::Summary => match fault {
                // With a random mistake, `answer` is wrong by itself; with a planted one, it is still the right one.
                Some(SubTaskFault::WrongTool) if handed.strike.is_none() => handed.other_answer.clone(),
                Some(SubTaskFault::NoSummary) => first_part(&handed.answer),
                _ => handed.answer.clone(),
            },
        }
    }

    /// A plan in the form that is asked for.
    fn written(&self, pairs: &[Pair]) -> String {
        let asked = self.section(headings::REPLY);
        let names = || pairs.iter().map(|pair| pair.tool.as_str()).collect::<Json>();
        match PlanForm::ALL.into_iter().find(|form| asked.starts_with(form.mark())).unwrap_or_default() {
            PlanForm::Pairs => pairs.iter().map(Pair::to_json).collect::<Json>().to_string(),
            PlanForm::Tools => names().to_string(),
            PlanForm::Lists => {
                format!("{}\n{}", names(), pairs.iter().map(|pair| pair.text.as_str()).collect::<Json>())
            }
        }
    }

    /// All sub-tasks, with the planted mistake.
    fn pairs(&self, handed: &Handed, fault: Option<SubTaskFault>) -> Vec<Pair> {
        let known = known(handed).into_iter();
        let mut pairs: Vec<Pair> = known.map(|it| Pair { tool: it.call.tool, text: it.text }).collect();
        match fault {
            Some(SubTaskFault::WrongTool) => {
                if let Some(first) = pairs.first_mut()
                    && let Some(other) = self.tools().find(|tool| *tool != first.tool)
                {
                    other.clone_into(&mut first.tool);
                }
            }
            Some(SubTaskFault::WrongOrder) => pairs.reverse(),
            Some(SubTaskFault::Repeated) => pairs.extend(pairs.last().cloned()),
            _ => {}
        }
        pairs
    }

    /// The tools that the prompt lists.
    fn tools(&self) -> impl Iterator<Item = &'r str> {
        self.section(headings::TOOLS).lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("- ")?.split_once(':')?;
            Some(name)
        })
    }

    /// The places of the sub-tasks of the group, from 0.
    fn group(&self) -> Option<std::ops::Range<usize>> {
        let line = self.section(headings::GROUP).lines().next()?;
        let (first, last) = line.strip_prefix("Sub-tasks ")?.split_once(" to ")?;
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(first.checked_sub(1)?..last)
    }

    /// The arguments of the call for the sub-task; empty if the key has no such call.
    fn arguments(&self, handed: &Handed, fault: Option<SubTaskFault>) -> String {
        let wanted = self.section(headings::SUB_TASK);
        let tool = self.section(headings::TOOL);
        let is_wanted =
            |it: &GoldSubTask| it.text.trim() == wanted && tool.starts_with(&format!("- {}:", it.call.tool));
        let Some(found) = known(handed).into_iter().find(is_wanted) else { return "{}".to_owned() };
        let results = self.results();
        let mut arguments = found.call.arguments;
        // Sub-tasks in words refer to earlier values as `$1`. The calls of a key refer to steps, which are replaced
        // below.
        if !handed.sub_tasks.is_empty() {
            for value in arguments.values_mut() {
                if let Json::String(text) = value {
                    *text = with_values(text, &results);
                }
            }
        }
        let message = |text: &String| Message::Tool { id: CallId::new(""), text: text.clone() };
        let given: Vec<Message> = results.iter().map(message).collect();
        let mut arguments = filled_in(&arguments, &given);
        let knows_better = self.was_corrected || !self.section(headings::LESSONS).is_empty();
        if fault == Some(SubTaskFault::WrongCall)
            && !knows_better
            && let Some(name) = arguments.keys().next().cloned()
            && let Some(value) = arguments.remove(&name)
        {
            arguments.insert(format!("{name}_"), value);
        }
        Json::Object(arguments).to_string()
    }

    /// The results of earlier sub-tasks, in order.
    fn results(&self) -> Vec<String> {
        let mut results: Vec<String> = Vec::new();
        for line in self.section(headings::RESULTS).lines() {
            // A result may contain lines that look like headings, so only the next number counts.
            let is_of_next = line
                .strip_prefix(headings::RESULT_OF)
                .and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok())
                .is_some_and(|number| number == results.len() + 1);
            if is_of_next {
                results.push(String::new());
            } else if let Some(text) = results.last_mut() {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(line);
            }
        }
        results
    }

    /// The text under a heading, up to the next one: the last heading with that name, because a task may contain such
    /// headings, too.
    fn section(&self, heading: &str) -> &'r str {
        let Some((_, rest)) = self.text.rsplit_once(&format!("\n{heading}\n")) else { return "" };
        rest.split("\n# ").next().unwrap_or(rest).trim()
    }
}

/// The reply of a judge that compares words only: two sub-tasks are the same if their texts are equal, and the value
/// of an argument matches the right one if it has all of its words. `None` if neither is asked.
pub(crate) fn judged(request: &ChatRequest) -> Option<String> {
    let Some(Message::User { text }) = request.messages.first() else { return None };
    if let Some((right, planned)) = entailing::texts(text) {
        let words = |text: &str| -> BTreeSet<String> {
            let words = text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect()
        };
        let has_all = words(&planned).is_superset(&words(&right));
        return Some(if has_all { judging::YES } else { judging::NO }.to_owned());
    }
    if !text.starts_with(judging::MARK) {
        return None;
    }
    let section = |heading: &str| {
        let (_, rest) = text.rsplit_once(&format!("\n{heading}\n"))?;
        Some(rest.split("\n# ").next().unwrap_or(rest).trim())
    };
    let is_same = section(judging::RIGHT) == section(judging::PLANNED);
    Some(if is_same { judging::YES } else { judging::NO }.to_owned())
}

/// The sub-tasks of a key: the given ones, or one for each call.
fn known(handed: &Handed) -> Vec<GoldSubTask> {
    if !handed.sub_tasks.is_empty() {
        return handed.sub_tasks.clone();
    }
    let sub_task = |(place, call): (usize, &GoldCall)| GoldSubTask {
        text: format!("Step {}: {} {}", place + 1, call.tool, Json::Object(call.arguments.clone())),
        call: call.clone(),
    };
    handed.calls.iter().enumerate().map(sub_task).collect()
}

/// A text with `$1` and so on replaced by the values of earlier sub-tasks. Without a value they stay.
fn with_values(text: &str, results: &[String]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        // All digits belong to the number: `$10` is the tenth value, not the first one followed by a 0.
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match place.and_then(|place| results.get(place)) {
            Some(result) => out.push_str(value_of(result)),
            None => {
                out.push('$');
                out.push_str(number);
            }
        }
        rest = after;
    }
    out + rest
}

/// The value in a result: the only row of a table, or the last line.
fn value_of(result: &str) -> &str {
    let lines: Vec<&str> = result.trim().lines().collect();
    match lines[..] {
        [_, row, "1 row"] => row,
        [.., last] => last,
        [] => "",
    }
}

/// A list with one item of an answer that is a list of several, else an empty text.
fn first_part(answer: &str) -> String {
    match serde_json::from_str::<Vec<Json>>(answer) {
        Ok(parts) if parts.len() > 1 => Json::from(parts[..1].to_vec()).to_string(),
        _ => String::new(),
    }
}

/// A truncated reply, if that is planted.
fn cut_off(mut text: String, fault: Option<SubTaskFault>) -> String {
    if fault == Some(SubTaskFault::WrongFormat) {
        text.truncate(text.rfind(['}', ']']).unwrap_or(text.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_for_earlier_sub_tasks() {
        let results = ["count(*)\n7\n1 row".to_owned(), "3.5".to_owned()];
        assert_eq!(with_values("$1 * $2 + $3", &results), "7 * 3.5 + $3");
        assert_eq!(with_values("$10 costs $, $0 or 5$", &results), "$10 costs $, $0 or 5$");
        let many: Vec<String> = (1..=11).map(|number| format!("v{number}")).collect();
        assert_eq!(with_values("$1, $10 and $11, not $12", &many), "v1, v10 and v11, not $12");
        // A value is not a text in which others are looked for.
        assert_eq!(with_values("$1", &["$2".to_owned(), "3".to_owned()]), "$2");
    }

    #[test]
    fn results_are_found_in_prompts() {
        let text = format!(
            "{} x\n\n{}\n## 1 {{\"sql\": \"a\"}}\nn\n7\n1 row\n\n## 2 (failed) {{\"sql\": \"b\"}}\nno\n\n{}\n- sql: x\n",
            Asking::Call.mark(),
            headings::RESULTS,
            headings::TOOL
        );
        let asked = Request { asking: Asking::Call, text: &text, ended: 0, was_corrected: false };
        assert_eq!(asked.results().iter().map(|it| value_of(it)).collect::<Vec<_>>(), ["7", "no"]);
        assert_eq!(asked.section(headings::TOOL), "- sql: x");
    }

    #[test]
    fn a_first_part_is_left_of_a_list() {
        assert_eq!(first_part("[1, \"a\"]"), "[1]");
        assert_eq!(first_part("[1]"), "");
        assert_eq!(first_part("12"), "");
    }
}
