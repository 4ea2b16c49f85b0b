//! Cases whose paragraph somebody else wrote in other words (PDoctor, section 7: constraints as text written by a
//! model), kept only if it means the same.
//!
//! The text is read back by the reader of this crate or, where it is not English that the reader knows, by whoever
//! lists what it demands. Either way the solver decides whether that is the same: the same closure, and in the time
//! form the same schedules.

use std::collections::BTreeMap;

use planproof_constraint::{Constraint, Problem, Relation, TimedProblem, Variable};
use planproof_trace::TimeOfDay;
use serde::Deserialize;

use crate::case::{ConstraintId, Difficulty, PlanningCase, Rewritten, StatedConstraint, timed_relations};
use crate::clock::Bound;
use crate::read::{Directions, read};
use crate::text::Source;
use crate::time_form::{StatedBound, TimeForm};

/// Most characters of a rewritten paragraph: several times what is synthesised.
pub const REWRITING_CHARACTERS_MAX: usize = 20_000;

/// Most constraints that a list may hold: far more than the pairs of a case.
pub const DEMANDS_MAX: usize = 5_000;

/// What became of a rewriting.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// It demands the same: the case with that text, and with the constraints as the text states them.
    Same(Box<PlanningCase>),
    /// It demands something else.
    Other,
    /// It is not known what it demands, and why.
    Unread(String),
}

/// What a text demands, as somebody lists it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demands {
    /// Pairs of actions, the first before the second, each with the place of the words that say so.
    pairs: Vec<(usize, usize, Source)>,
    /// Clock times of actions.
    bounds: Vec<(usize, Bound, Source)>,
}

/// A list as a judge writes it.
#[derive(Deserialize)]
struct ListFile {
    constraints: Option<Vec<ListedFile>>,
    /// Why the text cannot be understood in one way.
    unclear: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFile {
    first: Option<String>,
    second: Option<String>,
    action: Option<String>,
    ends_by: Option<String>,
    starts_from: Option<String>,
    words: Option<String>,
}

/// The text of a model's reply that is a paragraph: without blanks around it, line breaks, and a fence.
///
/// # Errors
/// It is empty, longer than [`REWRITING_CHARACTERS_MAX`], or does not name a task in the words of the case, so that
/// nobody could tell which one is meant.
pub fn paragraph_of(case: &PlanningCase, reply: &str) -> Result<String, String> {
    let lines = reply.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("```"));
    let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let characters = text.chars().count();
    if text.is_empty() || characters > REWRITING_CHARACTERS_MAX {
        return Err(format!("it has {characters} characters; 1 to {REWRITING_CHARACTERS_MAX} are possible"));
    }
    let lower = text.to_lowercase();
    match case.actions.iter().find(|action| !lower.contains(&action.text.to_lowercase())) {
        Some(action) => Err(format!("it does not name the task \"{}\"", action.text)),
        None => Ok(text),
    }
}

/// Reads a rewritten paragraph back with the reader. A text with several readings is [`Meaning::Unread`].
pub fn read_rewriting(
    case: &PlanningCase,
    paragraph: &str,
    writer: &str,
    directions: &Directions,
) -> Meaning {
    let texts: Vec<&str> = case.actions.iter().map(|action| action.text.as_str()).collect();
    let reading = match read(paragraph, &texts, directions) {
        Ok(reading) if reading.readings == 1 => reading,
        Ok(reading) => return Meaning::Unread(format!("it has {} readings", reading.readings)),
        Err(error) => return Meaning::Unread(error.to_string()),
    };
    let listed = Demands {
        pairs: reading.pairs.iter().map(|pair| (pair.first, pair.second, pair.source)).collect(),
        bounds: reading.bounds.iter().map(|it| (it.action, it.bound, it.source)).collect(),
    };
    meaning(case, paragraph, &listed, Rewritten { writer: writer.to_owned(), judge: None })
}

/// What a judge's reply lists of a paragraph: the last JSON object in it.
///
/// # Errors
/// There is none, it names what is not there, or the judge says that the text is unclear; in words.
pub fn read_list(case: &PlanningCase, paragraph: &str, reply: &str) -> Result<Demands, String> {
    let object = match (reply.find('{'), reply.rfind('}')) {
        (Some(start), Some(end)) if start < end => &reply[start..=end],
        _ => return Err("the judge wrote no JSON".to_owned()),
    };
    let list: ListFile =
        serde_json::from_str(object).map_err(|error| format!("the judge's list: {error}"))?;
    if let Some(why) = list.unclear {
        return Err(format!("the judge cannot read it: {why}"));
    }
    let Some(constraints) = list.constraints else { return Err("the judge listed nothing".to_owned()) };
    if constraints.len() > DEMANDS_MAX {
        return Err(format!(
            "the judge listed {} constraints; at most {DEMANDS_MAX} are read",
            constraints.len()
        ));
    }
    let action = |id: &str| {
        case.actions
            .iter()
            .position(|action| action.id.as_str() == id)
            .ok_or_else(|| format!("the judge names an action \"{id}\", which is not there"))
    };
    let minute = |text: &str| {
        let minute = TimeOfDay::parse(text).map(TimeOfDay::minute);
        minute.ok_or_else(|| format!("the judge writes \"{text}\" for a clock time"))
    };
    let mut listed = Demands::default();
    for it in constraints {
        let source = place_of(paragraph, it.words.as_deref());
        match (it.first, it.second, it.action, it.ends_by, it.starts_from) {
            (Some(first), Some(second), None, None, None) => {
                let (first, second) = (action(&first)?, action(&second)?);
                if first == second {
                    return Err("the judge puts a task before itself".to_owned());
                }
                listed.pairs.push((first, second, source));
            }
            (None, None, Some(it), Some(time), None) if case.time.is_some() => {
                listed.bounds.push((action(&it)?, Bound::EndsBy(minute(&time)?), source));
            }
            (None, None, Some(it), None, Some(time)) if case.time.is_some() => {
                listed.bounds.push((action(&it)?, Bound::StartsFrom(minute(&time)?), source));
            }
            _ => return Err("the judge lists something that is neither an order nor a clock time".to_owned()),
        }
    }
    Ok(listed)
}

/// The case with a paragraph of which a judge lists what it demands.
pub fn judge_rewriting(case: &PlanningCase, paragraph: &str, by: Rewritten, listed: &Demands) -> Meaning {
    meaning(case, paragraph, listed, by)
}

/// Where these words stand; all of the text if they are not in it, or none are given.
fn place_of(paragraph: &str, words: Option<&str>) -> Source {
    let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let words = words.map(str::trim).filter(|words| !words.is_empty());
    let found = words.and_then(|words| Some((paragraph.find(words)?, words)));
    let (start, end) = match found {
        Some((byte, words)) => {
            let start = count(&paragraph[..byte]);
            (start, start + count(words))
        }
        None => (0, count(paragraph)),
    };
    Source { sentence: 0, sub_sentence: 0, start, end }
}

/// The case with that paragraph, if what is listed of it means the same.
fn meaning(case: &PlanningCase, paragraph: &str, listed: &Demands, by: Rewritten) -> Meaning {
    if !case.is_feasible() {
        return Meaning::Unread("a case that contradicts itself has no meaning to keep".to_owned());
    }
    let mut places: BTreeMap<(usize, usize), Vec<Source>> = BTreeMap::new();
    for (first, second, source) in &listed.pairs {
        places.entry((*first, *second)).or_default().push(*source);
    }
    let mut constraints: Vec<StatedConstraint> = (1..)
        .zip(places)
        .map(|(number, ((first, second), sources))| StatedConstraint {
            id: ConstraintId(format!("c{number}")),
            first,
            second,
            sources,
            rule: None,
        })
        .collect();
    let time = case.time.as_ref().map(|time| {
        let mut bounds: Vec<StatedBound> = Vec::new();
        for (action, bound, source) in &listed.bounds {
            match bounds.iter_mut().find(|known| (known.action, known.bound) == (*action, *bound)) {
                Some(known) => known.sources.push(*source),
                None => {
                    let id = ConstraintId(format!("c{}", constraints.len() + bounds.len() + 1));
                    bounds.push(StatedBound { id, action: *action, bound: *bound, sources: vec![*source] });
                }
            }
        }
        TimeForm { bounds, ..time.clone() }
    });
    constraints.extend(case.rules().cloned());
    if !is_same(case, &constraints, time.as_ref()) {
        return Meaning::Other;
    }
    let stated = constraints.len() + time.as_ref().map_or(0, |time| time.bounds.len());
    let mut options = case.options;
    // Its paragraph was drawn until no order could be read off it; nothing is known of the new one.
    options.hard = false;
    Meaning::Same(Box::new(PlanningCase {
        id: format!("{}.rewritten", case.id),
        options,
        // The text around the paragraph stays as it is.
        query: case.query.replacen(&case.paragraph, paragraph, 1),
        paragraph: paragraph.to_owned(),
        difficulty: Difficulty::new(case.actions.len(), stated, case.difficulty.correct_plans),
        constraints,
        time,
        rewritten: Some(by),
        ..case.clone()
    }))
}

/// Whether these constraints allow exactly the plans that the case allows.
fn is_same(case: &PlanningCase, constraints: &[StatedConstraint], time: Option<&TimeForm>) -> bool {
    let relation = |stated: &StatedConstraint| Constraint {
        relation: Relation::Before {
            first: Variable::new(stated.first),
            second: Variable::new(stated.second),
        },
        source: (),
    };
    let problem = Problem::new(case.actions.len(), constraints.iter().map(relation).collect());
    let Ok(problem) = problem else { return false };
    // A cycle is another meaning, because the case has none.
    let (Ok(order), Ok(wanted)) = (problem.order(), case.problem().order()) else { return false };
    match (time, case.timed_problem()) {
        (None, None) => order == wanted,
        (Some(time), Some(wanted)) => {
            let relations = timed_relations(constraints, time);
            let problem = TimedProblem::new(&time.durations, time.day, relations);
            // What the search cannot decide is not known to be the same.
            problem
                .is_ok_and(|problem| wanted.timetable().is_equivalent(problem.timetable()).unwrap_or(false))
        }
        _ => false,
    }
}
