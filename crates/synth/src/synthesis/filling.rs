//! Text filling: the actions' texts and tools, constraints with all places that state them, and the agent's
//! instructions.

use crate::case::{CaseTool, ConstraintId, StatedConstraint};
use crate::infeasible::{ANSWER_OR_REPORT, REPORT_RULE, REPORT_TOOL};
use crate::text::{StatedPair, StatedTime};
use crate::time_form::{StatedBound, TimeForm, timed_query};
use crate::topic::Topic;
use planproof_trace::Draw;

/// Only planning is under test: the paragraph names no values, and an agent must not ask for any.
const ANY_ARGUMENTS: &str =
    "Where a tool takes arguments, any that fit its schema will do; make them up, and do not ask for them. ";

/// The end of the instructions where nothing else ends a run.
pub(crate) const FINISH: &str = "When all tasks are done, finish with a short answer.";

/// The places if the same activity is done several times.
pub(crate) const SITES: [&str; 4] = ["one", "two", "three", "four"];

/// Draws the actions' texts. If a case needs more actions than the topic has activities, all of them are spread over
/// numbered sites, so that no text is part of another.
pub(super) fn draw_texts(draw: &mut Draw, topic: &Topic, actions: usize) -> Vec<String> {
    let activities = topic.activities.len();
    let sites = actions.div_ceil(activities);
    let mut places: Vec<usize> = (0..activities * sites).collect();
    draw.shuffle(&mut places);
    // Shuffled over all sites, so that a case need not have all activities of the first site.
    places.iter().take(actions).map(|place| numbered_text(topic, sites, *place)).collect()
}

/// All texts that [`draw_texts`] draws from; empty if there are not enough sites.
pub(crate) fn numbered_texts(topic: &Topic, actions: usize) -> Vec<String> {
    let activities = topic.activities.len();
    let sites = actions.div_ceil(activities);
    let places = if sites <= topic.sites_max() { 0..activities * sites } else { 0..0 };
    places.map(|place| numbered_text(topic, sites, place)).collect()
}

fn numbered_text(topic: &Topic, sites: usize, place: usize) -> String {
    let activities = topic.activities.len();
    let activity = &topic.activities[place % activities].text;
    if sites == 1 { activity.clone() } else { format!("{activity} at site {}", SITES[place / activities]) }
}

/// One constraint for each distinct pair, in the order of first statement, with all its sources.
pub(crate) fn merge_pairs(actions: usize, pairs: &[StatedPair]) -> Vec<StatedConstraint> {
    // At most 64 actions, so a table is small, and `u16::MAX` is the index of no constraint.
    let mut place_of = vec![u16::MAX; actions * actions];
    let mut constraints: Vec<StatedConstraint> = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let (first, second) = (usize::from(pair.first), usize::from(pair.second));
        let place = &mut place_of[first * actions + second];
        if let Some(known) = constraints.get_mut(usize::from(*place)) {
            known.sources.push(pair.source);
        } else {
            *place = constraints.len() as u16;
            let id = ConstraintId(numbered('c', constraints.len() + 1));
            constraints.push(StatedConstraint { id, first, second, sources: vec![pair.source], rule: None });
        }
    }
    // Many pairs are stated more than once, and a campaign keeps its cases to its end.
    constraints.shrink_to_fit();
    constraints
}

/// One constraint for each distinct clock time of an action, in the order of first statement, with all its sources.
/// Their ids continue after those of `pairs` other constraints.
pub(crate) fn merge_times(pairs: usize, times: &[StatedTime]) -> Vec<StatedBound> {
    let mut bounds: Vec<StatedBound> = Vec::with_capacity(times.len());
    for StatedTime { action, bound, source, .. } in times {
        let action = usize::from(*action);
        // There are few, so a linear search is quicker than a map.
        match bounds.iter_mut().find(|known| (known.action, known.bound) == (action, *bound)) {
            Some(known) => known.sources.push(*source),
            None => {
                let id = ConstraintId(numbered('c', pairs + bounds.len() + 1));
                bounds.push(StatedBound { id, action, bound: *bound, sources: vec![*source] });
            }
        }
    }
    bounds
}

/// A letter and a number below 10 000, such as `a1`. Hand-written because a case has dozens of them, and the
/// formatting machinery would cost several times the rest.
pub(crate) fn numbered(letter: char, number: usize) -> String {
    let mut id = String::with_capacity(4);
    id.push(letter);
    for power in [1000, 100, 10, 1] {
        if number >= power {
            id.push(char::from(b'0' + (number / power % 10) as u8));
        }
    }
    id
}

/// What the tool for a task says of itself.
pub(crate) fn task_sentence(text: &str) -> String {
    ["Does the task \"", text, "\"."].concat()
}

pub(crate) fn mock_tool(text: &str, name: &str) -> CaseTool {
    CaseTool { name: name.to_owned(), description: task_sentence(text), input_schema: None }
}

/// Everything that the agent reads of a case with these tools, whose distractors may take arguments as well. `rules`
/// is the block of the rules, if there are any.
pub(crate) fn whole_query(
    job: &str,
    (paragraph, rules): (&str, Option<&str>),
    tools: &[CaseTool],
    time: Option<&TimeForm>,
    offers_report: bool,
) -> String {
    // The rules say which sentences a report names, so the advice to make up arguments must not cover it.
    let mut others = tools.iter().filter(|tool| !(offers_report && tool.name == REPORT_TOOL));
    let with_rules = rules.map(|rules| [paragraph, "\n\n", rules].concat());
    let paragraph = with_rules.as_deref().unwrap_or(paragraph);
    let takes_arguments = others.any(|tool| tool.takes_arguments(time.is_some()));
    match time {
        None => query(job, paragraph, takes_arguments, offers_report),
        Some(time) => {
            timed_query(job, paragraph, time.day, time.restarts_max, takes_arguments, offers_report)
        }
    }
}

/// The agent's instructions. They say *once* and *only*, which is why a repeated action or a foreign tool is a
/// failure.
fn query(job: &str, paragraph: &str, takes_arguments: bool, offers_report: bool) -> String {
    let article = if job.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let [blank, rule, end] = match offers_report {
        false => ["", "", FINISH],
        true => [" ", REPORT_RULE, ANSWER_OR_REPORT],
    };
    [
        "You work as ",
        article,
        " ",
        job,
        ". The next paragraph names your tasks and says what it requires of their order. There is one tool for each \
         task, and calling the tool does the task. ",
        if takes_arguments { ANY_ARGUMENTS } else { "" },
        "Do every task exactly once, do nothing else, and make the calls one \
         after the other in an order that keeps to everything the paragraph says.",
        blank,
        rule,
        "\n\n",
        paragraph,
        "\n\n",
        end,
    ]
    .concat()
}
