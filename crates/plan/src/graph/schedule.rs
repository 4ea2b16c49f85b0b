//! Which sub-task may run when.

use std::collections::{BTreeSet, HashMap};

use thiserror::Error;

use crate::graph::fault::GraphFaults;
use crate::graph::form::{SubTask, SubTaskGraph};
use crate::graph::links::Links;
use crate::graph::state::SubTaskState;
use crate::words::{cut, nearest};

/// The progress of a graph's sub-tasks, and so which may start.
///
/// It has no clock and runs nothing: the caller asks which sub-tasks are [`ready`](Self::ready), reports which it
/// [`start`](Self::start)s, and how each ended. A failed sub-task blocks all its direct and indirect dependents;
/// everything else still runs (PMC, section 4.2, and ours). All lists are in the order of the graph, so the same
/// reports give the same answers. For a person's changes, see [`edit`](Self::edit),
/// [`drop_sub_task`](Self::drop_sub_task) and [`rerun`](Self::rerun).
///
/// A report takes time in proportion to the edges that leave the sub-task, times the logarithm of their number.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub(super) graph: SubTaskGraph,
    pub(super) places: HashMap<String, usize>,
    pub(super) links: Links,
    pub(super) states: Vec<SubTaskState>,
    /// The number of unfinished direct dependencies of each.
    missing: Vec<usize>,
    ready: BTreeSet<usize>,
    running: usize,
    pub(super) dropped: Vec<SubTask>,
}

/// A report that does not fit the schedule. It is the caller's mistake.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// There is no such sub-task.
    #[error("there is no sub-task `{}`{}", cut(id), nearest.as_ref().map(|it| format!(", did you mean `{it}`?")).unwrap_or_default())]
    Unknown {
        /// Its id.
        id: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// It is in another state.
    #[error("sub-task `{}` is {}, and only one that is {} can {verb}", cut(id), state.as_str(), needed.as_str())]
    OtherState {
        /// Its id.
        id: String,
        /// Its state.
        state: SubTaskState,
        /// The required state.
        needed: SubTaskState,
        /// What it was to do.
        verb: &'static str,
    },
}

impl Schedule {
    /// The schedule of a graph before anything has started. Takes time in proportion to the graph.
    ///
    /// # Errors
    /// The sub-tasks cannot be ordered: an id is not unique, or a sub-task comes after an unknown one or, directly or
    /// not, after itself.
    pub fn new(graph: SubTaskGraph) -> Result<Self, GraphFaults> {
        let faults = graph.structure_faults();
        if !faults.is_empty() {
            return Err(GraphFaults { faults });
        }
        let states = vec![SubTaskState::Waiting; graph.sub_tasks.len()];
        let mut schedule = Self {
            graph,
            places: HashMap::new(),
            links: Links::default(),
            states,
            missing: Vec::new(),
            ready: BTreeSet::new(),
            running: 0,
            dropped: Vec::new(),
        };
        schedule.work_out();
        Ok(schedule)
    }

    /// The graph as it is now.
    pub fn graph(&self) -> &SubTaskGraph {
        &self.graph
    }

    /// What may start.
    pub fn ready(&self) -> impl Iterator<Item = &SubTask> {
        self.ready.iter().map(|place| &self.graph.sub_tasks[*place])
    }

    /// The state of a sub-task, if there is one with this id.
    pub fn state(&self, id: &str) -> Option<SubTaskState> {
        self.places.get(id).map(|place| self.states[*place])
    }

    /// All sub-tasks with their states.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (&SubTask, SubTaskState)> {
        self.graph.sub_tasks.iter().zip(self.states.iter().copied())
    }

    /// How many are in a state.
    pub fn count(&self, state: SubTaskState) -> usize {
        self.states.iter().filter(|it| **it == state).count()
    }

    /// Whether nothing is running and nothing may start: all have finished, failed or are blocked.
    pub fn is_over(&self) -> bool {
        self.running == 0 && self.ready.is_empty()
    }

    /// The sub-tasks removed by [`drop_sub_task`](Self::drop_sub_task), in the order of removal.
    pub fn dropped(&self) -> &[SubTask] {
        &self.dropped
    }

    /// The sub-tasks whose results this one needs: its direct neighbours (PMC, definition 4.3), and no others. Empty
    /// for an unknown id.
    pub fn before(&self, id: &str) -> impl Iterator<Item = &SubTask> {
        self.neighbours(id, &self.links.before)
    }

    /// The sub-tasks that need the result of this one directly. Empty for an unknown id.
    pub fn next(&self, id: &str) -> impl Iterator<Item = &SubTask> {
        self.neighbours(id, &self.links.next)
    }

    fn neighbours<'s>(&'s self, id: &str, edges: &'s [Vec<usize>]) -> impl Iterator<Item = &'s SubTask> {
        let places = self.places.get(id).map_or(&[][..], |place| &edges[*place]);
        places.iter().map(|place| &self.graph.sub_tasks[*place])
    }

    /// The failed sub-tasks that a blocked one depends on, directly or not. Empty for one that is not blocked.
    pub fn blocked_by(&self, id: &str) -> Vec<&SubTask> {
        let is_blocked = |place: &&usize| self.states[**place] == SubTaskState::Blocked;
        let Some(place) = self.places.get(id).filter(is_blocked) else { return Vec::new() };
        let needed = self.links.needed_by(&[*place]).into_iter();
        let failed = needed.filter(|place| self.states[*place] == SubTaskState::Failed);
        failed.map(|place| &self.graph.sub_tasks[place]).collect()
    }

    /// Reports that a ready sub-task has started.
    ///
    /// # Errors
    /// There is none with this id, or it is not ready.
    pub fn start(&mut self, id: &str) -> Result<(), ScheduleError> {
        let place = self.place_in(id, SubTaskState::Ready, "start")?;
        self.ready.remove(&place);
        self.states[place] = SubTaskState::Running;
        self.running += 1;
        Ok(())
    }

    /// Reports that a running sub-task has ended with a result. Returns the ids of those that became ready.
    ///
    /// # Errors
    /// There is none with this id, or it is not running.
    pub fn finish(&mut self, id: &str) -> Result<Vec<String>, ScheduleError> {
        let place = self.place_in(id, SubTaskState::Running, "finish")?;
        self.states[place] = SubTaskState::Finished;
        self.running -= 1;
        let mut freed = Vec::new();
        for next in &self.links.next[place] {
            self.missing[*next] -= 1;
            // A blocked one has another dependency, which has failed.
            if self.missing[*next] == 0 && self.states[*next] == SubTaskState::Waiting {
                self.states[*next] = SubTaskState::Ready;
                self.ready.insert(*next);
                freed.push(self.graph.sub_tasks[*next].id.clone());
            }
        }
        Ok(freed)
    }

    /// Reports that a running sub-task has ended without a result. Returns the ids of those that became blocked.
    ///
    /// # Errors
    /// There is none with this id, or it is not running.
    pub fn fail(&mut self, id: &str) -> Result<Vec<String>, ScheduleError> {
        let place = self.place_in(id, SubTaskState::Running, "fail")?;
        self.states[place] = SubTaskState::Failed;
        self.running -= 1;
        let mut blocked = BTreeSet::new();
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            for next in &self.links.next[place] {
                // The dependents of a blocked one are already blocked, too.
                if self.states[*next] == SubTaskState::Waiting {
                    self.states[*next] = SubTaskState::Blocked;
                    blocked.insert(*next);
                    open.push(*next);
                }
            }
        }
        Ok(blocked.into_iter().map(|place| self.graph.sub_tasks[place].id.clone()).collect())
    }

    /// Reports that a running sub-task was stopped, and may start again.
    ///
    /// # Errors
    /// There is none with this id, or it is not running.
    pub fn put_back(&mut self, id: &str) -> Result<(), ScheduleError> {
        let place = self.place_in(id, SubTaskState::Running, "be put back")?;
        self.states[place] = SubTaskState::Ready;
        self.running -= 1;
        self.ready.insert(place);
        Ok(())
    }

    /// The place of a sub-task.
    pub(super) fn place(&self, id: &str) -> Result<usize, ScheduleError> {
        self.places.get(id).copied().ok_or_else(|| {
            let ids = self.graph.sub_tasks.iter().map(|sub_task| sub_task.id.as_str());
            ScheduleError::Unknown { id: id.to_owned(), nearest: nearest(id, ids) }
        })
    }

    fn place_in(&self, id: &str, needed: SubTaskState, verb: &'static str) -> Result<usize, ScheduleError> {
        let place = self.place(id)?;
        let state = self.states[place];
        if state != needed {
            return Err(ScheduleError::OtherState { id: id.to_owned(), state, needed, verb });
        }
        Ok(place)
    }

    /// Recomputes everything that follows from the graph and from the running, finished and failed sub-tasks.
    pub(super) fn work_out(&mut self) {
        let ids = self.graph.sub_tasks.iter().map(|sub_task| sub_task.id.clone());
        self.places = ids.zip(0..).collect();
        self.links = Links::new(&self.graph.sub_tasks);
        self.missing = vec![0; self.states.len()];
        self.ready.clear();
        // Dependencies come first, so their states are final when they are looked at.
        for place in self.links.in_order() {
            let before = &self.links.before[place];
            let has = |state| before.iter().any(|other| self.states[*other] == state);
            let is_held_up = has(SubTaskState::Failed) || has(SubTaskState::Blocked);
            let unfinished = |other: &&usize| self.states[**other] != SubTaskState::Finished;
            let missing = before.iter().filter(unfinished).count();
            self.missing[place] = missing;
            // What has happened stays; only states that follow from it are computed again.
            let has_started = matches!(
                self.states[place],
                SubTaskState::Running | SubTaskState::Finished | SubTaskState::Failed
            );
            if has_started {
                continue;
            }
            self.states[place] = if is_held_up {
                SubTaskState::Blocked
            } else if missing > 0 {
                SubTaskState::Waiting
            } else {
                self.ready.insert(place);
                SubTaskState::Ready
            };
        }
        self.running = self.count(SubTaskState::Running);
    }
}
