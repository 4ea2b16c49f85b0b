//! Infeasible cases: paragraphs that contradict themselves on purpose, with a known smallest conflict. **(ours)**
//! They show which agents report that, instead of doing tasks that cannot all be done correctly.
//!
//! A conflict is a set of sentences, given by their numbers, because a reader can point at sentences. Every
//! infeasible case has exactly one inclusion-minimal conflict, so that there is one right answer. In the time form it
//! does not depend on the durations of tasks: they are hidden, so nobody could know another conflict before doing a
//! task.

use std::sync::LazyLock;

use planproof_constraint::{
    GROUPS_MAX, GroupConflict, Order, Problem, TimedProblem, TimedRelation, Timetable, UndecidedSchedule,
    Variable, sole_conflict,
};
use planproof_trace::{Arguments, WrittenObject};
use serde_json::{Map, Value, json};

use crate::case::{CaseTool, PlanningCase, StatedConstraint, timed_relations};
use crate::text::Source;
use crate::time_form::TimeForm;

/// The tool that reports conflicting sentences. It is offered in every case of a campaign with infeasible ones: if
/// only those had it, its presence would give the answer away.
pub const REPORT_TOOL: &str = "report_conflict";

/// What it says of itself.
pub const REPORT_DESCRIPTION: &str = "Reports that the tasks cannot be done as required, because some sentences of the \
                                      paragraph cannot hold together.";
/// Its argument: the numbers of the sentences, counted from 1.
pub const SENTENCES_ARGUMENT: &str = "sentences";

/// The shortest possible duration, in minutes.
const SHORTEST: u16 = 1;

/// The share of infeasible cases, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct InfeasibleShare(u32);

impl InfeasibleShare {
    const WHOLE: u32 = 10_000;

    /// A share from 0 to 1, rounded to ten-thousandths; `None` for anything else. With 0 the tool is offered and
    /// never right.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Self((share * f64::from(Self::WHOLE)).round() as u32))
    }

    /// From 0 to 1.
    pub fn get(self) -> f64 {
        f64::from(self.0) / f64::from(Self::WHOLE)
    }

    /// Draws whether a case is infeasible.
    pub(crate) fn strikes(self, draw: &mut crate::Draw) -> bool {
        draw.chance(self.0, Self::WHOLE)
    }
}

/// A set of sentences compared with the conflict of the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Naming {
    /// It is the smallest conflict.
    Exact,
    /// It contains the conflict, and unnecessary sentences.
    Superset,
    /// It lacks a sentence of the conflict: its sentences can hold together, or do not exist.
    Other,
}

impl Naming {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Superset, Self::Other];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Superset => "superset",
            Self::Other => "other",
        }
    }

    /// Compares a report with the conflict; both ascending, without repeats.
    pub(crate) fn of(reported: &[u64], conflict: &[u32]) -> Self {
        let has = |number: &u32| reported.contains(&u64::from(*number));
        match conflict.iter().all(has) {
            true if reported.len() == conflict.len() => Self::Exact,
            true => Self::Superset,
            false => Self::Other,
        }
    }
}

impl PlanningCase {
    /// Whether the requirements can hold together.
    pub fn is_feasible(&self) -> bool {
        self.conflict.is_none()
    }

    /// Whether the agent is offered the tool that reports a conflict.
    pub fn offers_report(&self) -> bool {
        self.is_report(REPORT_TOOL)
    }

    /// Whether it is our tool for reporting conflicts, as opposed to a task's tool or a foreign one with that name.
    pub fn is_report(&self, tool: &str) -> bool {
        let is_ours = |tool: &CaseTool| tool.input_schema.as_ref() == Some(report_schema());
        tool == REPORT_TOOL && self.action_of_tool(tool).is_none() && self.tool(tool).is_some_and(is_ours)
    }

    /// Number of sentences of the paragraph.
    pub fn sentences(&self) -> usize {
        sentence_spans(&self.paragraph).len()
    }

    /// The places of the conflicting sentences in the paragraph, in order; empty in a feasible case.
    pub fn conflict_places(&self) -> Vec<Source> {
        let numbers = self.conflict.as_deref().unwrap_or_default();
        let spans = sentence_spans(&self.paragraph);
        let place = |&number: &u32| {
            let sentence = number.checked_sub(1)?;
            let (start, end) = *spans.get(sentence as usize)?;
            Some(Source { sentence, sub_sentence: 0, start, end })
        };
        numbers.iter().filter_map(place).collect()
    }

    /// A minimal set of contradictory requirements from the conflict's sentences, by their indices in
    /// [`constraint_ids`](Self::constraint_ids); a cycle of order is given along the cycle. Empty in a feasible case.
    /// In the time form it applies to tasks of the shortest possible durations, because the text says no more about
    /// them.
    pub(crate) fn conflict_constraints(&self) -> Vec<usize> {
        let numbers = self.conflict.as_deref().unwrap_or_default();
        // Rules hold with any sentences.
        let is_in = |sources: &[Source]| {
            sources.is_empty() || sources.iter().any(|it| numbers.contains(&(it.sentence + 1)))
        };
        let sources = self.constraint_sources().enumerate();
        let places: Vec<usize> =
            sources.filter(|(_, sources)| is_in(sources)).map(|(place, _)| place).collect();
        match &self.time {
            None => {
                let all = self.problem();
                // Only the conflict's sentences, or the cycle could run through others as well.
                let stated = places.iter().map(|place| all.constraints()[*place]).collect();
                let problem = Problem::new(self.actions.len(), stated);
                let cycle = problem.ok().and_then(|problem| Some(problem.order().err()?.constraints));
                cycle.unwrap_or_default().into_iter().map(|place| places[place]).collect()
            }
            Some(time) => self.timed_core(time, &places, &vec![SHORTEST; time.durations.len()]),
        }
    }

    /// A minimal contradictory set of some requirements, with these durations of the tasks.
    fn timed_core(&self, time: &TimeForm, places: &[usize], durations: &[u16]) -> Vec<usize> {
        let all = timed_relations(&self.constraints, time);
        let stated = places.iter().map(|place| all[*place]).collect();
        let problem = TimedProblem::new(durations, time.day, stated);
        let core = problem.ok().and_then(|problem| problem.conflict().ok()?);
        core.unwrap_or_default().into_iter().map(|place| places[place]).collect()
    }

    /// Whether [`conflict_constraints`](Self::conflict_constraints) is also minimal for the true durations. If not,
    /// these durations alone already exclude something that the text excludes with an additional requirement.
    pub(crate) fn is_conflict_plain(&self) -> bool {
        let Some(time) = &self.time else { return true };
        let core = self.conflict_constraints();
        self.timed_core(time, &core, &time.durations).len() == core.len()
    }
}

/// The places of the sentences, in characters: from the first letter to the full stop, inclusive.
pub(crate) fn sentence_spans(paragraph: &str) -> Vec<(u32, u32)> {
    let mut spans = Vec::new();
    let mut start = None;
    for (place, character) in (0u32..).zip(paragraph.chars()) {
        if !character.is_whitespace() {
            start.get_or_insert(place);
        }
        // Activities and clock times contain no full stop, so each one ends a sentence.
        if character == '.'
            && let Some(start) = start.take()
        {
            spans.push((start, place + 1));
        }
    }
    spans
}

/// The statements of a paragraph's sentences, for questions about some of the sentences.
pub(crate) struct Sentences {
    count: usize,
    /// For each requirement, the set of sentences that state it; [`ALWAYS`] for a rule.
    stated_in: Vec<u64>,
    pairs: Vec<(Variable, Variable)>,
    actions: usize,
    time: Option<TimedSentences>,
}

struct TimedSentences {
    relations: Vec<TimedRelation>,
    /// With the true durations, and with the shortest ones, which is all that the text reveals.
    bare: [Timetable; 2],
}

/// Replaces a set of sentences for requirements that hold with any sentences.
const ALWAYS: u64 = 0;

/// Why sentences cannot be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoConflict {
    #[error("it has {0} sentences; a conflict is looked for among {GROUPS_MAX} at most")]
    TooManySentences(usize),
    #[error("its constraints are {0}")]
    Undecided(#[from] UndecidedSchedule),
    #[error("its constraints can all hold")]
    Feasible,
    #[error("several sets of sentences cannot hold together, so there is no right answer")]
    Several,
    #[error("a sentence contradicts itself, or the day is too short for the tasks alone")]
    TooSmall,
    #[error("its conflict depends on how long the tasks take, which the text does not tell")]
    Hidden,
}

impl Sentences {
    /// The requirements of a case. `None` if day or durations are out of range.
    pub(crate) fn of(
        actions: usize,
        constraints: &[StatedConstraint],
        time: Option<&TimeForm>,
    ) -> Result<Self, NoConflict> {
        let bounds = time.into_iter().flat_map(|time| &time.bounds).map(|stated| &stated.sources);
        let sources: Vec<&Vec<Source>> =
            constraints.iter().map(|stated| &stated.sources).chain(bounds).collect();
        let all = sources.iter().flat_map(|sources| sources.iter());
        let count = all.map(|source| source.sentence as usize + 1).max().unwrap_or(0);
        if count > GROUPS_MAX {
            return Err(NoConflict::TooManySentences(count));
        }
        // A rule has no source, so its set is empty, which is `ALWAYS`. At most 64 sentences: no shift overflows.
        let set =
            |sources: &&Vec<Source>| sources.iter().fold(0, |set, source| set | 1u64 << source.sentence);
        let timed = time.and_then(|time| {
            let shortest = vec![SHORTEST; time.durations.len()];
            let bare = [Timetable::new(&time.durations, time.day)?, Timetable::new(&shortest, time.day)?];
            Some(TimedSentences { relations: timed_relations(constraints, time), bare })
        });
        let pairs = constraints.iter();
        Ok(Self {
            count,
            stated_in: sources.iter().map(set).collect(),
            pairs: pairs.map(|it| (Variable::new(it.first), Variable::new(it.second))).collect(),
            actions,
            time: timed,
        })
    }

    /// Whether these sentences can hold together; `shortest` assumes the shortest possible duration for every task.
    fn hold(&self, set: u64, shortest: bool) -> Result<bool, UndecidedSchedule> {
        let is_stated = |place: &usize| match self.stated_in[*place] {
            ALWAYS => true,
            stated_in => stated_in & set != 0,
        };
        match &self.time {
            None => {
                let Some(mut order) = Order::new(self.actions) else { return Ok(false) };
                let mut stated = (0..self.pairs.len()).filter(is_stated).map(|place| self.pairs[place]);
                Ok(stated.all(|(first, second)| order.try_before(first, second).is_ok()))
            }
            Some(time) => {
                let mut table = time.bare[usize::from(shortest)].clone();
                let stated = (0..time.relations.len()).filter(is_stated);
                stated.for_each(|place| table.add(time.relations[place]));
                table.is_feasible()
            }
        }
    }

    /// The numbers of the sentences of the only conflict, from 1: at least two. In the time form it is the same for
    /// the true durations and for minimal ones.
    ///
    /// # Errors
    /// [`NoConflict`] says why there is no such conflict.
    pub(crate) fn conflict(&self) -> Result<Vec<u32>, NoConflict> {
        let set = match sole_conflict(self.count, |set| self.hold(set, false))? {
            GroupConflict::None => return Err(NoConflict::Feasible),
            GroupConflict::Several => return Err(NoConflict::Several),
            GroupConflict::Sole(set) => set,
        };
        if set.count_ones() < 2 {
            return Err(NoConflict::TooSmall);
        }
        // Requirements that hold with the true durations also hold with shorter ones, so the conflict is minimal for
        // these as well.
        if self.time.is_some() && self.hold(set, true)? {
            return Err(NoConflict::Hidden);
        }
        Ok((0..self.count as u32).filter(|sentence| set & 1 << sentence != 0).map(|it| it + 1).collect())
    }
}

fn report_schema() -> &'static WrittenObject {
    static SCHEMA: LazyLock<WrittenObject> = LazyLock::new(|| {
        json!({
            "type": "object",
            "properties": {
                SENTENCES_ARGUMENT: {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1},
                    "minItems": 1,
                    "description": "The numbers of the sentences that cannot hold together, counted from 1.",
                },
            },
            "required": [SENTENCES_ARGUMENT],
            "additionalProperties": false,
        })
        .into()
    });
    &SCHEMA
}

/// The tool that reports a conflict.
pub(crate) fn report_tool() -> CaseTool {
    CaseTool {
        name: REPORT_TOOL.to_owned(),
        description: REPORT_DESCRIPTION.to_owned(),
        input_schema: Some(report_schema().clone()),
    }
}

/// The arguments of a report with these sentences.
pub fn report_arguments(sentences: impl IntoIterator<Item = u64>) -> Arguments {
    let numbers: Vec<u64> = sentences.into_iter().collect();
    Arguments::Object(Map::from_iter([(SENTENCES_ARGUMENT.to_owned(), numbers.into())]))
}

/// The numbers in a report, ascending, each once. Anything but an integer from 1 on is ignored: our tool does not
/// accept it. A number that is too large counts as the largest possible one.
pub(crate) fn reported_sentences(arguments: &Arguments) -> Vec<u64> {
    let named = arguments.as_object().and_then(|arguments| arguments.get(SENTENCES_ARGUMENT)?.as_array());
    // JSON Schema treats 2.0 as an integer. The conversion of a float saturates.
    let whole = |number: f64| (number >= 1.0 && number.fract() == 0.0).then_some(number as u64);
    let number =
        |value: &Value| value.as_u64().filter(|it| *it > 0).or_else(|| value.as_f64().and_then(whole));
    let mut numbers: Vec<u64> = named.into_iter().flatten().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The query's words about conflicts, which continue the rules: without them nobody could know that the tool is to be
/// called, with which numbers, and that the tasks are then left undone.
pub(crate) const REPORT_RULE: &str = "It can be that the paragraph contradicts itself. If some of its sentences cannot hold together, do no task at all: \
     call report_conflict instead, with the numbers of these sentences, leave out every sentence that the contradiction \
     does not need, and finish. The first sentence of the paragraph has the number 1, and each ends with a full stop. If \
     everything can hold together, do not call report_conflict.";
/// The same in the time form, where durations are hidden.
pub(crate) const TIMED_REPORT_RULE: &str = "It can be that the paragraph contradicts itself, however short the tasks are. If some of its sentences cannot hold \
     together, do no task at all: call report_conflict instead, with the numbers of these sentences, leave out every \
     sentence that the contradiction does not need, and finish. The first sentence of the paragraph has the number 1, and \
     each ends with a full stop. If everything can hold together, do not call report_conflict.";

/// The end of a query with such a rule.
pub(crate) const ANSWER_OR_REPORT: &str =
    "When all tasks are done, or the conflict is reported, finish with a short answer.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_leniently() {
        let read = |text: &str| reported_sentences(&Arguments::from_text(text));
        assert_eq!(read(r#"{"sentences":[3,1,3,2.0]}"#), [1, 2, 3]);
        assert_eq!(read(r#"{"sentences":["1",0,-4,1.5,null]}"#), [0u64; 0]);
        assert_eq!(read(r#"{"sentences":[1e40]}"#), [u64::MAX]);
        assert_eq!(read(r#"{"sentences":7}"#), [0u64; 0]);
        assert_eq!(read("nothing"), [0u64; 0]);
    }

    #[test]
    fn sets_are_compared_with_the_conflict() {
        assert_eq!(Naming::of(&[1, 3], &[1, 3]), Naming::Exact);
        assert_eq!(Naming::of(&[1, 2, 3], &[1, 3]), Naming::Superset);
        assert_eq!(Naming::of(&[1], &[1, 3]), Naming::Other);
        assert_eq!(Naming::of(&[1, 99], &[1, 3]), Naming::Other);
    }

    #[test]
    fn shares_are_from_0_to_1() {
        assert_eq!(InfeasibleShare::new(0.2).map(InfeasibleShare::get), Some(0.2));
        assert_eq!(InfeasibleShare::new(1.0).map(InfeasibleShare::get), Some(1.0));
        assert_eq!([-0.1, 1.01, f64::NAN].map(InfeasibleShare::new), [None; 3]);
    }
}
