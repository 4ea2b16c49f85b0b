//! A case: a query in English, the tools that go with it, and the constraints that the query means.

use std::fmt;

use memchr::memmem;
use planproof_constraint::{Constraint, Problem, Relation, TimedProblem, TimedRelation, Variable};
use planproof_trace::faults::ToolFaults;
use planproof_trace::{Tool, WrittenObject};

use crate::clock::Bound;
use crate::messages::OrderTurns;
use crate::order_form::Rule;
use crate::text::Source;
use crate::time_form::{CaseTimeOptions, RESTART_TOOL, START_TIME_ARGUMENT, TimeForm};

/// Most actions of a case: each needs a machine word of reachability.
pub const ACTIONS_MAX: usize = planproof_constraint::VARIABLES_MAX;

/// The beginning of the answer to a denied call. Here, because guards write it and simulated models read it.
pub const GUARD_NOT_DONE: &str = "Not done: ";

/// Precedes the right calls in a guard's answer.
pub const GUARD_RIGHT_NOW: &str = "Right now: ";

/// Names an action within its case: `a1`, `a2`, ...
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(pub(crate) String);

/// Names a constraint within its case: `c1`, `c2`, ...
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstraintId(pub(crate) String);

impl ActionId {
    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ConstraintId {
    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ConstraintId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A task that the query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub id: ActionId,
    /// Its words in the paragraph.
    pub text: String,
    /// Name of the tool that does it.
    pub tool: String,
}

/// A tool offered with the case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseTool {
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Its arguments; `None` for a tool without arguments.
    pub input_schema: Option<WrittenObject>,
}

impl CaseTool {
    /// Whether it accepts arguments of its own; in the time form, beside a start time.
    pub(crate) fn takes_arguments(&self, is_timed: bool) -> bool {
        let properties = self.input_schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
        properties
            .is_some_and(|properties| properties.keys().any(|name| !is_timed || name != START_TIME_ARGUMENT))
    }

    /// The tool as agents see it.
    pub fn to_tool(&self) -> Tool {
        match &self.input_schema {
            None => Tool::without_arguments(&self.name, &self.description),
            Some(input_schema) => Tool {
                name: self.name.clone(),
                description: self.description.clone(),
                input_schema: input_schema.clone(),
            },
        }
    }
}

/// A requirement of the query: one action before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedConstraint {
    pub id: ConstraintId,
    /// Index of the earlier action in [`PlanningCase::actions`].
    pub first: usize,
    /// Place of the later action.
    pub second: usize,
    /// Where the paragraph states it; several places if it repeats itself, none if a rule demands it.
    pub sources: Vec<Source>,
    /// The rule of the topic that demands it; `None` if the paragraph does.
    pub rule: Option<Rule>,
}

/// How hard a case is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difficulty {
    /// Number of actions, `n`.
    pub actions: usize,
    /// Number of distinct constraints, from the paragraph and from rules.
    pub constraints: usize,
    /// Number of correct plans out of `n!`; `None` above 20 actions. In the time form: of orders that are correct
    /// when each task starts as early as its own clock times allow; `None` also if counting would take too long. 0 in
    /// an infeasible case.
    pub correct_plans: Option<u128>,
    /// `log2(n! / correct_plans)`, to six decimals; `None` if `correct_plans` is `None` or 0.
    pub bits: Option<f64>,
}

/// The options a case was drawn with, resolved: `None` and ranges are replaced by values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseOptions {
    /// Number of actions.
    pub actions: u32,
    pub sentences_max: u32,
    /// Most tries for one sentence.
    pub tries_max: u32,
    /// Most actions of a list.
    pub list_max: u8,
    /// Most sub-sentences of a sentence.
    pub sub_sentences_max: u8,
    /// Levels of relative clauses: 0 for none, 1 for relative clauses without another one inside.
    pub relative_depth: u8,
    /// Number of tools that belong to no action.
    pub distractors: u32,
    /// Drawn repeatedly until every one-look heuristic failed it, unless it is infeasible.
    pub hard: bool,
    /// The additions of the time form; `None` in the basic form.
    pub time: Option<CaseTimeOptions>,
}

/// A planning problem in English whose right answers are known.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanningCase {
    /// Names the case within its set.
    pub id: String,
    /// The seed it was drawn from.
    pub seed: u64,
    /// How it was drawn.
    pub options: CaseOptions,
    /// The job whose activities it names.
    pub topic: String,
    /// All the agent sees besides the tools.
    pub query: String,
    /// The synthesised part of the query.
    pub paragraph: String,
    pub actions: Vec<Action>,
    /// The tools, including distractors.
    pub tools: Vec<CaseTool>,
    /// The requirements of order.
    pub constraints: Vec<StatedConstraint>,
    /// Day, durations and clock times; `None` in the basic form.
    pub time: Option<TimeForm>,
    /// In an infeasible case the numbers, from 1 and ascending, of the conflicting sentences: the only
    /// inclusion-minimal set of this kind. `None` in a feasible case.
    pub conflict: Option<Vec<u32>>,
    /// Who wrote the paragraph, if it was not synthesised.
    pub rewritten: Option<Rewritten>,
    /// The messages that its text arrives in, if there are several. Only a feasible case of the basic form has them.
    pub turns: Option<OrderTurns>,
    /// How its tools fail, if they do. Only a feasible case of the basic form has such tools.
    pub faults: Option<ToolFaults>,
    /// How hard it is.
    pub difficulty: Difficulty,
}

/// Who wrote the paragraph of a case, and how it is known what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The model that wrote it.
    pub writer: String,
    /// The model that listed what it demands; `None` if the reader read it back.
    pub judge: Option<String>,
}

impl PlanningCase {
    /// The requirements of order between actions as a problem for the solver; the source of each constraint is its
    /// index in [`PlanningCase::constraints`].
    ///
    /// # Panics
    /// Never for a synthesised case or one from a file: in both cases the indices of actions were checked.
    pub fn problem(&self) -> Problem<usize> {
        let constraints = self
            .constraints
            .iter()
            .enumerate()
            .map(|(place, stated)| Constraint {
                relation: Relation::Before {
                    first: Variable::new(stated.first),
                    second: Variable::new(stated.second),
                },
                source: place,
            })
            .collect();
        Problem::new(self.actions.len(), constraints).expect("a case names only its own actions, at most 64")
    }

    /// All requirements as a problem for the solver: those of order in the order of [`PlanningCase::constraints`],
    /// followed by those with a clock time. `None` in the basic form.
    ///
    /// # Panics
    /// Never for a synthesised case or one from a file.
    pub fn timed_problem(&self) -> Option<TimedProblem> {
        let time = self.time.as_ref()?;
        let problem = TimedProblem::new(&time.durations, time.day, timed_relations(&self.constraints, time));
        Some(problem.expect("a case names only its own actions, at most 64, and times of the day"))
    }

    /// The ids of all requirements, in the order of [`PlanningCase::timed_problem`] or
    /// [`turn_problem`](PlanningCase::turn_problem).
    pub fn constraint_ids(&self) -> impl Iterator<Item = &ConstraintId> {
        let bounds = self.time.iter().flat_map(|time| &time.bounds).map(|stated| &stated.id);
        let turns = self.turns.iter().flat_map(|turns| &turns.demands).map(|demand| &demand.id);
        self.constraints.iter().map(|stated| &stated.id).chain(bounds).chain(turns)
    }

    /// Where the paragraph states each requirement, in the same order.
    pub fn constraint_sources(&self) -> impl Iterator<Item = &[Source]> {
        let bounds = self.time.iter().flat_map(|time| &time.bounds).map(|stated| stated.sources.as_slice());
        let turns = self.turns.iter().flat_map(|turns| &turns.demands).map(|_| &[][..]);
        self.constraints.iter().map(|stated| stated.sources.as_slice()).chain(bounds).chain(turns)
    }

    /// Whether it is the tool that clears the day.
    pub fn is_restart(&self, tool: &str) -> bool {
        self.time.is_some() && tool == RESTART_TOOL
    }

    /// The index of a tool's action, if it has one.
    pub fn action_of_tool(&self, tool: &str) -> Option<usize> {
        self.actions.iter().position(|action| action.tool == tool)
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&CaseTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The mock tool's answer to a right call, with the values that it returns for other tools.
    pub fn mock_answer(&self, tool: &str) -> String {
        let words = self.plain_answer(tool);
        match self.action_of_tool(tool) {
            Some(action) => self.answer_with_values(action, words),
            None => words,
        }
    }

    fn plain_answer(&self, tool: &str) -> String {
        match (self.action_of_tool(tool), &self.time) {
            (Some(place), None) => format!("The task \"{}\" is done.", self.actions[place].text),
            (Some(place), Some(time)) => {
                let minutes = time.durations[place];
                let plural = if minutes == 1 { "" } else { "s" };
                format!(
                    "The task \"{}\" is done. It took {minutes} minute{plural}.",
                    self.actions[place].text
                )
            }
            (None, Some(_)) if tool == RESTART_TOOL => "The day is cleared: no task is done.".to_owned(),
            (None, _) if self.is_report(tool) => "The conflict is reported.".to_owned(),
            (None, _) => "Done.".to_owned(),
        }
    }

    /// The words of each requirement, in the order of [`PlanningCase::constraint_ids`]: those of the first place that
    /// states it, or of its rule. Created on demand, because they are rarely needed.
    pub(crate) fn constraint_words(&self) -> impl Iterator<Item = impl FnOnce() -> String> {
        let bounds = self.time.iter().flat_map(|time| &time.bounds).map(|_| (None, None));
        let turns = self.turns.iter().flat_map(|turns| &turns.demands);
        let turns = turns.map(|demand| (None, Some(demand.words.as_str())));
        let change = |stated: &StatedConstraint| {
            self.turns.as_ref().and_then(|turns| turns.change_to(&stated.id)).map(|it| it.words.as_str())
        };
        let pairs = self.constraints.iter().map(move |stated| (Some(stated), change(stated)));
        let others = pairs.chain(bounds).chain(turns);
        self.constraint_sources().zip(others).map(move |(sources, (pair, words))| {
            move || {
                let words = words.map(str::to_owned);
                let rule = words.or_else(|| pair.and_then(|stated| stated.rule_words(&self.actions)));
                let stated = || sources.first().map(|source| self.words_at(source).to_owned());
                rule.or_else(stated).unwrap_or_default()
            }
        })
    }

    /// The paragraph's words at a source.
    pub fn words_at(&self, source: &Source) -> &str {
        // Places count characters. In ASCII these are bytes, which saves counting for nearly all paragraphs.
        let is_ascii = self.paragraph.is_ascii();
        let byte = |character: u32| match character as usize {
            character if is_ascii => character.min(self.paragraph.len()),
            character => {
                self.paragraph.char_indices().nth(character).map_or(self.paragraph.len(), |(byte, _)| byte)
            }
        };
        self.paragraph.get(byte(source.start)..byte(source.end)).unwrap_or_default()
    }

    /// The actions in the order in which the paragraph first mentions them.
    pub fn order_of_mention(&self) -> Vec<usize> {
        // A task at the beginning of a sentence has a capital letter.
        let lower = self.paragraph.to_lowercase();
        let mut places: Vec<usize> = (0..self.actions.len()).collect();
        places.sort_by_cached_key(|&place| {
            let text = self.actions[place].text.to_lowercase();
            memmem::find(lower.as_bytes(), text.as_bytes()).unwrap_or(usize::MAX)
        });
        places
    }

    /// Whether calling the tools of these actions, given by their indices, once each in this order is a correct plan;
    /// in the time form each as early as its own clock times allow. With turns, calling in each turn those that are due
    /// in it in this order. Always false in an infeasible case.
    pub fn is_correct_order(&self, order: &[usize]) -> bool {
        // An action that is left out keeps this rank, which is looked for below.
        let mut rank = vec![usize::MAX; self.actions.len()];
        for (place, action) in order.iter().enumerate() {
            rank[*action] = place;
        }
        // Only tasks of one turn have an order that the agent chooses.
        let due = |action: usize| self.turns.as_ref().map_or(Some(1), |turns| turns.due[action]);
        let is_chosen = |stated: &&StatedConstraint| due(stated.first) == due(stated.second);
        let mut chosen = self.constraints.iter().filter(is_chosen);
        let is_kept = chosen.all(|stated| rank[stated.first] < rank[stated.second]);
        let is_missing = (0..rank.len()).any(|action| rank[action] == usize::MAX && due(action).is_some());
        if !is_kept || !self.is_feasible() || is_missing {
            return false;
        }
        let Some(problem) = self.timed_problem() else { return true };
        let table = problem.timetable();
        let mut minute = 0;
        order.iter().map(|action| Variable::new(*action)).all(|action| {
            let start = table.earliest_start(action, minute);
            minute = start.map_or(minute, |start| start + table.duration(action));
            start.is_some()
        })
    }
}

/// Requirements in the solver's form: those of order, then those with a clock time.
pub(crate) fn timed_relations(constraints: &[StatedConstraint], time: &TimeForm) -> Vec<TimedRelation> {
    let pairs = constraints.iter().map(|stated| TimedRelation::Before {
        first: Variable::new(stated.first),
        second: Variable::new(stated.second),
    });
    pairs.chain(time.bounds.iter().map(|stated| stated.bound.on(stated.action))).collect()
}

impl Bound {
    /// As the solver takes it.
    pub(crate) fn on(self, action: usize) -> TimedRelation {
        let variable = Variable::new(action);
        match self {
            Self::EndsBy(minute) => TimedRelation::EndsBy { variable, minute },
            Self::StartsFrom(minute) => TimedRelation::StartsFrom { variable, minute },
        }
    }
}
