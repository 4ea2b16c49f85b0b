//! Other texts in the same slots.

use std::collections::{BTreeSet, HashSet};

use super::{NoVariant, RESTART_TOOL};
use crate::case::PlanningCase;
use crate::grammar::{Sentences, each_wording};
use crate::synthesis::numbered_texts;
use crate::topic::{Topic, TopicBank};
use crate::wording::Wordings;
use planproof_trace::Draw;

/// Puts another wording into every slot. None occurred in the paragraph before, unless a terminal has no other.
pub(super) fn reword(tree: &mut Sentences, words: &Wordings, draw: &mut Draw) -> Result<(), NoVariant> {
    // By their texts, because different terminals can have the same wording.
    let mut used = BTreeSet::new();
    each_wording(tree, &mut |group, index| {
        used.insert(words.text(group, *index));
    });
    let mut fault = None;
    each_wording(tree, &mut |group, index| {
        let others = || (0..words.count(group) as u8).filter(|other| other != index);
        let mut choice: Vec<u8> =
            others().filter(|other| !used.contains(words.text(group, *other))).collect();
        if choice.is_empty() {
            choice =
                others().filter(|other| words.text(group, *other) != words.text(group, *index)).collect();
        }
        if choice.is_empty() {
            // The visit cannot be stopped, so the first terminal without another wording is kept.
            fault.get_or_insert_with(|| words.text(group, *index).to_owned());
        } else {
            *index = choice[draw.place(choice.len())];
        }
    });
    fault.map_or(Ok(()), |wording| Err(NoVariant::FewWordings { wording }))
}

/// Tool names that no new task may take: those of the remaining tools.
fn taken(case: &PlanningCase) -> HashSet<&str> {
    let stays = |name: &&str| case.action_of_tool(name).is_none();
    let names = case.tools.iter().map(|tool| tool.name.as_str()).filter(stays);
    names.chain([RESTART_TOOL]).collect()
}

/// Texts for as many actions as the case has, none of which it contains now.
fn unused_texts(case: &PlanningCase, topic: &Topic) -> Vec<String> {
    let taken = taken(case);
    let mut texts = numbered_texts(topic, case.actions.len());
    texts.retain(|text| {
        let tool = topic.tool_name(text);
        !taken.contains(tool.as_str())
            && case.actions.iter().all(|action| action.text != *text && action.tool != tool)
    });
    texts
}

/// Another text of the same topic for every action. If too few are unused, the rest are permuted.
pub(super) fn other_actions(
    case: &PlanningCase,
    bank: &TopicBank,
    draw: &mut Draw,
) -> Result<Vec<String>, NoVariant> {
    let job = || case.topic.clone();
    let topic = bank.find(&case.topic).ok_or_else(|| NoVariant::UnknownTopic { job: job() })?;
    let actions = case.actions.len();
    let mut unused = unused_texts(case, topic);
    let known: BTreeSet<String> = numbered_texts(topic, actions).into_iter().collect();
    let is_short = unused.len() < actions;
    if is_short && (actions < 2 || case.actions.iter().any(|action| !known.contains(&action.text))) {
        return Err(NoVariant::FewActivities { job: job(), actions });
    }
    draw.shuffle(&mut unused);
    let mut slots: Vec<usize> = (0..actions).collect();
    if is_short {
        draw.shuffle(&mut slots);
    }
    // Slots after those with an unused text take the text of the next one; the last one takes that of the first, or
    // of any other slot if it is the only one left.
    let fresh = unused.len().min(actions);
    let mut texts = vec![String::new(); actions];
    for (place, slot) in slots.iter().enumerate() {
        texts[*slot] = match unused.get(place) {
            Some(text) => text.clone(),
            None => {
                let next = if place + 1 < actions { place + 1 } else { fresh };
                let next = if next == place { 0 } else { next };
                case.actions[slots[next]].text.clone()
            }
        };
    }
    Ok(texts)
}

/// Another job, and texts of its activities.
pub(super) fn other_topic(
    case: &PlanningCase,
    bank: &TopicBank,
    draw: &mut Draw,
) -> Result<(String, Vec<String>), NoVariant> {
    let actions = case.actions.len();
    let mut others: Vec<&Topic> =
        bank.topics().iter().filter(|topic| topic.job != case.topic && !topic.has_rules()).collect();
    draw.shuffle(&mut others);
    let found = others.into_iter().find_map(|topic| {
        let texts = unused_texts(case, topic);
        (texts.len() >= actions).then_some((topic, texts))
    });
    let (topic, mut texts) = found.ok_or(NoVariant::FewTopics { actions })?;
    draw.shuffle(&mut texts);
    texts.truncate(actions);
    Ok((topic.job.clone(), texts))
}
