//! The progress of a team: its schedule with the results of its sub-tasks, a person's changes to both, and the
//! restoration of both from the trace of a run that was cut off.

use std::collections::{BTreeMap, HashMap};

use planproof_plan::graph::{Revision, Schedule, SubTask, SubTaskGraph, SubTaskState};
use planproof_plan::team::review::{PERSON, Review, ReviewDecision, ReviewReason, decisions};
use planproof_plan::team::sections;
use planproof_trace::{Author, Event, EventKind, Recorder};

use super::sub_task::SubTaskEnd;
use super::{actor, note, noted};

/// How often a person may change the work of one run.
pub const REVISIONS_MAX: u32 = 500;

/// A schedule with the results of its sub-tasks.
pub(super) struct Progress {
    pub(super) schedule: Schedule,
    pub(super) ends: HashMap<String, SubTaskEnd>,
}

/// What a decision of a person leads to.
pub(super) enum Reviewed {
    /// The team goes on.
    GoOn,
    /// The work has changed, and the person is asked again.
    Changed,
    /// It cannot be done, for this reason.
    Refused(String),
    Stopped,
}

impl Progress {
    /// A schedule in which nothing has ended.
    pub(super) fn new(schedule: Schedule) -> Self {
        Self { schedule, ends: HashMap::new() }
    }

    /// The progress of a run when it was cut off, and how many of its events are kept: those up to the last moment
    /// from which it can be resumed. `None` if there is no such moment, so that the run starts again.
    ///
    /// Sub-tasks that had not ended by then run again. Takes time in proportion to the events times the sub-tasks.
    pub(super) fn of_events(events: &[Event]) -> Option<(Self, usize)> {
        let mut graph: Option<SubTaskGraph> = None;
        let mut ends: HashMap<String, SubTaskEnd> = HashMap::new();
        let mut at_moment = None;
        for (place, event) in events.iter().enumerate() {
            let EventKind::Section { state, text, note: about, .. } = &event.kind else { continue };
            match state.as_str() {
                sections::GRAPH => graph = Some(serde_json::from_str(text).ok()?),
                sections::RESULT => drop(ends.insert(about.clone(), SubTaskEnd::Result(text.clone()))),
                sections::FAILURE => drop(ends.insert(about.clone(), SubTaskEnd::Failed(text.clone()))),
                sections::UNDONE => {
                    // A run cannot resume from here. It can from the changed graph, which comes next in the trace.
                    ends.remove(about);
                    continue;
                }
                _ => continue,
            }
            if let Some(graph) = &graph {
                at_moment = Some((graph.clone(), ends.clone(), place + 1));
            }
        }
        let (graph, ends, kept) = at_moment?;
        let mut schedule = Schedule::new(graph).ok()?;
        let mut progress = Self { schedule: schedule.clone(), ends: HashMap::new() };
        // Finished sub-tasks can be started in the order of the graph, because everything they needed has ended
        // before them.
        loop {
            let next = schedule.ready().find(|sub_task| ends.contains_key(&sub_task.id));
            let Some(id) = next.map(|sub_task| sub_task.id.clone()) else { break };
            let end = ends.get(&id)?.clone();
            schedule.start(&id).ok()?;
            match &end {
                SubTaskEnd::Result(_) => schedule.finish(&id).ok()?,
                _ => schedule.fail(&id).ok()?,
            };
            progress.ends.insert(id, end);
        }
        progress.schedule = schedule;
        Some((progress, kept))
    }

    /// A sub-task that was started has ended.
    pub(super) fn end(&mut self, id: &str, end: SubTaskEnd) {
        let report = match &end {
            SubTaskEnd::Result(_) => self.schedule.finish(id),
            SubTaskEnd::Failed(_) | SubTaskEnd::Blocked(_) | SubTaskEnd::Outage(_) => self.schedule.fail(id),
        };
        debug_assert!(report.is_ok(), "what was started can end");
        self.ends.insert(id.to_owned(), end);
    }

    /// Records for each sub-task that cannot start why that is so.
    pub(super) fn note_blocked(&mut self, recorder: &Recorder) {
        for (sub_task, _) in self.schedule.states().filter(|(_, state)| *state == SubTaskState::Blocked) {
            let needed: Vec<String> = self
                .schedule
                .blocked_by(&sub_task.id)
                .iter()
                .map(|other| format!("`{}`", other.id))
                .collect();
            let why = format!("It could not start, because {} failed.", needed.join(" and "));
            note(recorder, sections::BLOCKED, &why, &sub_task.id);
            self.ends.insert(sub_task.id.clone(), SubTaskEnd::Blocked(why));
        }
    }

    /// What a person is shown.
    pub(super) fn review(
        &self,
        task: &str,
        moment: &ReviewReason,
        executors: &[&str],
        refused: Option<String>,
    ) -> Review {
        let results: BTreeMap<String, String> =
            self.ends.iter().map(|(id, end)| (id.clone(), end.text().to_owned())).collect();
        Review {
            task: task.to_owned(),
            moment: moment.clone(),
            graph: self.schedule.graph().clone(),
            states: self.schedule.states().map(|(_, state)| state).collect(),
            results,
            executors: executors.iter().map(|name| (*name).to_owned()).collect(),
            refused,
        }
    }

    /// Applies a person's decision, and records it. Nothing may be running.
    pub(super) fn decide(
        &mut self,
        decision: ReviewDecision,
        executors: &[&str],
        recorder: &Recorder,
    ) -> Reviewed {
        let person = actor(recorder, PERSON);
        let said = |state: &str, text: &str, about: &str| noted(&person, Author::User, state, text, about);
        let (revision, state, text, about) = match decision {
            ReviewDecision::Approve => {
                said(decisions::APPROVED, "", "");
                return Reviewed::GoOn;
            }
            ReviewDecision::Stop => return Reviewed::Stopped,
            ReviewDecision::Edit { sub_task } => {
                let (text, id) = (to_json(&sub_task), sub_task.id.clone());
                let revision = self.schedule.edit(sub_task, executors).map_err(|error| error.to_string());
                (revision, decisions::EDITED, text, id)
            }
            ReviewDecision::Drop { id } => {
                let revision = match self.schedule.graph().sub_tasks.len() {
                    1 => Err("it is the only sub-task: edit it, or stop".to_owned()),
                    _ => self.schedule.drop_sub_task(&id).map_err(|error| error.to_string()),
                };
                (revision, decisions::DROPPED, String::new(), id)
            }
            ReviewDecision::Rerun { id } => {
                let revision = match self.schedule.state(&id) {
                    // For an unknown id, the schedule returns its own error.
                    Some(SubTaskState::Finished | SubTaskState::Failed) | None => {
                        self.schedule.rerun(&id).map_err(|error| error.to_string())
                    }
                    Some(state) => Err(format!("sub-task `{id}` is {}: it has not run yet", state.as_str())),
                };
                (revision, decisions::RERUN, String::new(), id)
            }
        };
        match revision {
            // Only decisions that took effect are in the trace.
            Ok(revision) => {
                said(state, &text, &about);
                self.undo(&revision, recorder);
                self.ends.retain(|id, _| self.schedule.state(id).is_some());
                // This puts the whole graph into the trace again, from which the run can be resumed.
                note(recorder, sections::GRAPH, &to_json(self.schedule.graph()), "");
                Reviewed::Changed
            }
            Err(what) => Reviewed::Refused(what),
        }
    }

    fn undo(&mut self, revision: &Revision, recorder: &Recorder) {
        debug_assert!(revision.interrupted.is_empty(), "nothing runs while a person is asked");
        for id in &revision.undone {
            note(recorder, sections::UNDONE, "A person changed what it depends on.", id);
            self.ends.remove(id);
        }
        // What was blocked may start now.
        self.ends.retain(|_, end| !matches!(end, SubTaskEnd::Blocked(_)));
    }

    /// The sub-task that may start next.
    pub(super) fn next_ready(&self) -> Option<SubTask> {
        self.schedule.ready().next().cloned()
    }
}

/// Texts are written as JSON into memory, which cannot fail.
pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
