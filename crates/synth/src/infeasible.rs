//! Infeasible cases: paragraphs that contradict themselves on purpose, with a known smallest conflict. **(ours)** Which
//! agent says so, instead of doing tasks that cannot all be done rightly?
//!
//! A conflict is a set of sentences, named by their numbers, because that is what a reader can point at.
//! Every infeasible case has exactly one inclusion-minimal conflict, so that there is one right answer. In
//! the time form it holds however short the tasks are: durations are hidden, so nobody could know of another
//! one before doing a task.

use std::sync::{Arc, LazyLock};

use planproof_constraint::{
    GROUPS_MAX, GroupConflict, Order, Problem, TimedProblem, TimedRelation, Timetable, Undecided, Variable,
    sole_conflict,
};
use planproof_trace::Arguments;
use serde_json::{Map, Value, json};

use crate::case::{Case, CaseTool, StatedConstraint, timed_relations};
use crate::text::Source;
use crate::time_form::TimeForm;

/// The tool that says that sentences cannot hold together. It is offered in every case of a campaign that has
/// infeasible ones: in these alone its presence would give the answer away.
pub const REPORT_TOOL: &str = "report_conflict";

/// What it says of itself.
pub const REPORT_DESCRIPTION: &str = "Reports that the tasks cannot be done as required, because some sentences of the \
                                      paragraph cannot hold together.";
/// Its argument: the numbers of the sentences, counted from 1.
pub const SENTENCES_ARGUMENT: &str = "sentences";

/// What nothing is shorter than, in minutes.
const SHORTEST: u16 = 1;

/// How many of the cases are infeasible, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    const WHOLE: u32 = 10_000;

    /// A share from 0 to 1, rounded to ten-thousandths; `None` if it is anything else. 0 is a campaign in
    /// which the tool is offered and never right.
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

/// What a set of sentences is compared with the conflict of the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Naming {
    /// It is the smallest conflict.
    Exact,
    /// It contains the conflict, and sentences that the conflict does not need.
    Superset,
    /// Without some sentence of the conflict: what it names can hold together, or is not there at all.
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

    /// Compares what was reported with the conflict; both ascending, without repeats.
    pub(crate) fn of(reported: &[u64], conflict: &[u32]) -> Self {
        let has = |number: &u32| reported.contains(&u64::from(*number));
        match conflict.iter().all(has) {
            true if reported.len() == conflict.len() => Self::Exact,
            true => Self::Superset,
            false => Self::Other,
        }
    }
}

impl Case {
    /// Whether the requirements can hold together.
    pub fn is_feasible(&self) -> bool {
        self.conflict.is_none()
    }

    /// Whether the agent is offered the tool that reports a conflict.
    pub fn offers_report(&self) -> bool {
        self.is_report(REPORT_TOOL)
    }

    /// Whether it is the tool that reports a conflict, and not one of a task, or of another make, with that name.
    pub fn is_report(&self, tool: &str) -> bool {
        let is_ours = |tool: &CaseTool| tool.input_schema.as_deref() == Some(&**report_schema());
        tool == REPORT_TOOL && self.action_of_tool(tool).is_none() && self.tool(tool).is_some_and(is_ours)
    }

    /// Number of sentences of the paragraph.
    pub fn sentences(&self) -> usize {
        sentence_spans(&self.paragraph).len()
    }

    /// Where the paragraph's sentences stand that cannot hold together, in their order; nowhere in a feasible case.
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

    /// Requirements of the conflict's sentences that cannot hold together, none of them to spare, by their
    /// places in [`constraint_ids`](Self::constraint_ids); a cycle of order in the order in which one walks
    /// it. None in a feasible case. In the time form this is for tasks as short as can be, since the text
    /// tells no more.
    pub(crate) fn conflict_constraints(&self) -> Vec<usize> {
        let numbers = self.conflict.as_deref().unwrap_or_default();
        // What rules demand holds beside any sentences.
        let is_in = |sources: &[Source]| {
            sources.is_empty() || sources.iter().any(|it| numbers.contains(&(it.sentence + 1)))
        };
        let sources = self.constraint_sources().enumerate();
        let places: Vec<usize> =
            sources.filter(|(_, sources)| is_in(sources)).map(|(place, _)| place).collect();
        match &self.time {
            None => {
                let all = self.problem();
                let stated = places.iter().map(|place| all.constraints()[*place]).collect();
                let problem = Problem::new(self.actions.len(), stated);
                let cycle = problem.ok().and_then(|problem| Some(problem.order().err()?.constraints));
                cycle.unwrap_or_default().into_iter().map(|place| places[place]).collect()
            }
            Some(time) => self.timed_core(time, &places, &vec![SHORTEST; time.durations.len()]),
        }
    }

    /// Those of some requirements that cannot hold together, none of them to spare, when the tasks take so long.
    fn timed_core(&self, time: &TimeForm, places: &[usize], durations: &[u16]) -> Vec<usize> {
        let all = timed_relations(&self.constraints, time);
        let stated = places.iter().map(|place| all[*place]).collect();
        let problem = TimedProblem::new(durations, time.day, stated);
        let core = problem.ok().and_then(|problem| problem.conflict().ok()?);
        core.unwrap_or_default().into_iter().map(|place| places[place]).collect()
    }

    /// Whether none of [`conflict_constraints`](Self::conflict_constraints) is to spare for the true
    /// durations either. Where one is, these durations rule out by themselves what the text rules out with
    /// it.
    pub(crate) fn is_conflict_plain(&self) -> bool {
        let Some(time) = &self.time else { return true };
        let core = self.conflict_constraints();
        self.timed_core(time, &core, &time.durations).len() == core.len()
    }
}

/// Where the sentences stand, in characters: from the first letter to the full stop, which is counted in.
fn sentence_spans(paragraph: &str) -> Vec<(u32, u32)> {
    let mut spans = Vec::new();
    let mut start = None;
    for (place, character) in (0u32..).zip(paragraph.chars()) {
        if !character.is_whitespace() {
            start.get_or_insert(place);
        }
        if character == '.'
            && let Some(start) = start.take()
        {
            spans.push((start, place + 1));
        }
    }
    spans
}

/// What the sentences of a paragraph state, so that some of them can be asked about alone.
pub(crate) struct Sentences {
    count: usize,
    /// For each of the requirements, the set of sentences that state it; [`ALWAYS`] for what a rule demands.
    stated_in: Vec<u64>,
    pairs: Vec<(Variable, Variable)>,
    actions: usize,
    time: Option<TimedSentences>,
}

struct TimedSentences {
    relations: Vec<TimedRelation>,
    /// With the true durations, and with the shortest ones, which is all that the text lets one know.
    bare: [Timetable; 2],
}

/// In the place of a set of sentences, of what holds whichever of them one asks about.
const ALWAYS: u64 = 0;

/// Why sentences cannot be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoConflict {
    #[error("it has {0} sentences; a conflict is looked for among {GROUPS_MAX} at most")]
    TooManySentences(usize),
    #[error("its constraints are {0}")]
    Undecided(#[from] Undecided),
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
    /// The requirements of a case. `None` where day or durations are out of range.
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

    /// Whether these sentences can hold together; `shortest` where every task is as short as can be.
    fn hold(&self, set: u64, shortest: bool) -> Result<bool, Undecided> {
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

    /// The numbers of the sentences of the only conflict, from 1: at least two. In the time form it is the
    /// same whether the tasks take their time or next to none.
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
        // Whatever holds with the true durations holds with shorter ones, so with these the conflict is
        // minimal as well.
        if self.time.is_some() && self.hold(set, true)? {
            return Err(NoConflict::Hidden);
        }
        Ok((0..self.count as u32).filter(|sentence| set & 1 << sentence != 0).map(|it| it + 1).collect())
    }
}

fn report_schema() -> &'static Arc<Map<String, Value>> {
    static SCHEMA: LazyLock<Arc<Map<String, Value>>> = LazyLock::new(|| {
        let schema = json!({
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
        });
        match schema {
            Value::Object(schema) => Arc::new(schema),
            _ => Arc::default(),
        }
    });
    &SCHEMA
}

/// The tool that reports a conflict.
pub(crate) fn report_tool() -> CaseTool {
    CaseTool {
        name: REPORT_TOOL.to_owned(),
        description: REPORT_DESCRIPTION.to_owned(),
        input_schema: Some(Arc::clone(report_schema())),
    }
}

/// The arguments of a report that names these sentences.
pub fn report_arguments(sentences: impl IntoIterator<Item = u64>) -> Arguments {
    let numbers: Vec<u64> = sentences.into_iter().collect();
    Arguments::Object(Map::from_iter([(SENTENCES_ARGUMENT.to_owned(), numbers.into())]))
}

/// The numbers that a report names, ascending, each once. What is no whole number from 1 on is passed over:
/// our tool does not take it. One too large to be counted is the largest there is.
pub(crate) fn reported_sentences(arguments: &Arguments) -> Vec<u64> {
    let named = arguments.as_object().and_then(|arguments| arguments.get(SENTENCES_ARGUMENT)?.as_array());
    // JSON Schema takes 2.0 for an integer. The conversion of a float saturates.
    let whole = |number: f64| (number >= 1.0 && number.fract() == 0.0).then_some(number as u64);
    let number =
        |value: &Value| value.as_u64().filter(|it| *it > 0).or_else(|| value.as_f64().and_then(whole));
    let mut numbers: Vec<u64> = named.into_iter().flatten().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// What the query says of conflicts, to go on from the rules: without it nobody could know that the tool is
/// to be called, with which numbers, and what is left undone then.
pub(crate) const REPORT_RULE: &str = "It can be that the paragraph contradicts itself. If some of its sentences cannot hold together, do no task at all: \
     call report_conflict instead, with the numbers of these sentences, leave out every sentence that the contradiction \
     does not need, and finish. The first sentence of the paragraph has the number 1, and each ends with a full stop. If \
     everything can hold together, do not call report_conflict.";
/// The same in the time form, where durations are hidden.
pub(crate) const TIMED_REPORT_RULE: &str = "It can be that the paragraph contradicts itself, however short the tasks are. If some of its sentences cannot hold \
     together, do no task at all: call report_conflict instead, with the numbers of these sentences, leave out every \
     sentence that the contradiction does not need, and finish. The first sentence of the paragraph has the number 1, and \
     each ends with a full stop. If everything can hold together, do not call report_conflict.";

/// How the query ends where it has such a rule.
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
        assert_eq!(Share::new(0.2).map(Share::get), Some(0.2));
        assert_eq!(Share::new(1.0).map(Share::get), Some(1.0));
        assert_eq!([-0.1, 1.01, f64::NAN].map(Share::new), [None; 3]);
    }
}
