//! Which sub-task may run when.

use std::collections::{BTreeSet, HashMap};

use thiserror::Error;

use crate::graph::fault::GraphFaults;
use crate::graph::form::{SubTask, SubTaskGraph};
use crate::graph::links::Links;
use crate::graph::state::SubTaskState;
use crate::words::{cut, nearest};

/// How far the sub-tasks of a graph are, and so which may start.
///
/// It has no clock and runs nothing: who does asks for what is [`ready`](Self::ready), says what it
/// [`start`](Self::start)s, and reports how each ended. A sub-task that failed blocks whatever needs it, directly or
/// not; everything else still runs (PMC, section 4.2, and ours). Whatever is listed comes in the order of the graph, so
/// the same reports give the same answers. For what a person changes meanwhile, see [`edit`](Self::edit),
/// [`drop_sub_task`](Self::drop_sub_task) and [`rerun`](Self::rerun).
///
/// A report takes time in proportion to the edges that leave the sub-task, times the logarithm of their number.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub(super) graph: SubTaskGraph,
    pub(super) places: HashMap<String, usize>,
    pub(super) links: Links,
    pub(super) states: Vec<SubTaskState>,
    /// How many of those that each needs directly have not finished.
    missing: Vec<usize>,
    ready: BTreeSet<usize>,
    running: usize,
    pub(super) dropped: Vec<SubTask>,
}

/// A report that does not fit the schedule. It is the doing of who reports.
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
        /// The state in which it would have to be.
        needed: SubTaskState,
        /// What it was to do.
        verb: &'static str,
    },
}

impl Schedule {
    /// The schedule of a graph in which nothing has started. Takes time in proportion to the graph.
    ///
    /// # Errors
    /// The sub-tasks cannot be put into an order: an id is not of one sub-task alone, or something comes after what
    /// does not exist or, directly or not, after itself.
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

    /// The state of a sub-task, if there is one of this id.
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

    /// What was taken out by [`drop_sub_task`](Self::drop_sub_task), in the order in which that was done.
    pub fn dropped(&self) -> &[SubTask] {
        &self.dropped
    }

    /// The sub-tasks whose results this one needs: its direct neighbours (PMC, definition 4.3), and no others. None for
    /// an unknown id.
    pub fn before(&self, id: &str) -> impl Iterator<Item = &SubTask> {
        self.neighbours(id, &self.links.before)
    }

    /// The sub-tasks that need the result of this one directly. None for an unknown id.
    pub fn next(&self, id: &str) -> impl Iterator<Item = &SubTask> {
        self.neighbours(id, &self.links.next)
    }

    fn neighbours<'s>(&'s self, id: &str, edges: &'s [Vec<usize>]) -> impl Iterator<Item = &'s SubTask> {
        let places = self.places.get(id).map_or(&[][..], |place| &edges[*place]);
        places.iter().map(|place| &self.graph.sub_tasks[*place])
    }

    /// The failed sub-tasks that a blocked one needs, directly or not. None for one that is not blocked.
    pub fn blocked_by(&self, id: &str) -> Vec<&SubTask> {
        let is_blocked = |place: &&usize| self.states[**place] == SubTaskState::Blocked;
        let Some(place) = self.places.get(id).filter(is_blocked) else { return Vec::new() };
        let needed = self.links.needed_by(&[*place]).into_iter();
        let failed = needed.filter(|place| self.states[*place] == SubTaskState::Failed);
        failed.map(|place| &self.graph.sub_tasks[place]).collect()
    }

    /// A sub-task that is ready has started.
    ///
    /// # Errors
    /// There is none of this id, or it is not ready.
    pub fn start(&mut self, id: &str) -> Result<(), ScheduleError> {
        let place = self.place_in(id, SubTaskState::Ready, "start")?;
        self.ready.remove(&place);
        self.states[place] = SubTaskState::Running;
        self.running += 1;
        Ok(())
    }

    /// A sub-task that was running has ended with a result. Gives the ids of those that became ready by it.
    ///
    /// # Errors
    /// There is none of this id, or it is not running.
    pub fn finish(&mut self, id: &str) -> Result<Vec<String>, ScheduleError> {
        let place = self.place_in(id, SubTaskState::Running, "finish")?;
        self.states[place] = SubTaskState::Finished;
        self.running -= 1;
        let mut freed = Vec::new();
        for next in &self.links.next[place] {
            self.missing[*next] -= 1;
            // One that is blocked needs something else, which has failed.
            if self.missing[*next] == 0 && self.states[*next] == SubTaskState::Waiting {
                self.states[*next] = SubTaskState::Ready;
                self.ready.insert(*next);
                freed.push(self.graph.sub_tasks[*next].id.clone());
            }
        }
        Ok(freed)
    }

    /// A sub-task that was running has ended without a result. Gives the ids of those that became blocked by it.
    ///
    /// # Errors
    /// There is none of this id, or it is not running.
    pub fn fail(&mut self, id: &str) -> Result<Vec<String>, ScheduleError> {
        let place = self.place_in(id, SubTaskState::Running, "fail")?;
        self.states[place] = SubTaskState::Failed;
        self.running -= 1;
        let mut blocked = BTreeSet::new();
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            for next in &self.links.next[place] {
                // Whatever is behind one that is blocked already is so too.
                if self.states[*next] == SubTaskState::Waiting {
                    self.states[*next] = SubTaskState::Blocked;
                    blocked.insert(*next);
                    open.push(*next);
                }
            }
        }
        Ok(blocked.into_iter().map(|place| self.graph.sub_tasks[place].id.clone()).collect())
    }

    /// A sub-task that was running was stopped, and may start again.
    ///
    /// # Errors
    /// There is none of this id, or it is not running.
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

    /// Works out anew whatever follows from the graph and from which sub-tasks run, have finished or failed.
    pub(super) fn work_out(&mut self) {
        let ids = self.graph.sub_tasks.iter().map(|sub_task| sub_task.id.clone());
        self.places = ids.zip(0..).collect();
        self.links = Links::new(&self.graph.sub_tasks);
        self.missing = vec![0; self.states.len()];
        self.ready.clear();
        for place in self.links.in_order() {
            let before = &self.links.before[place];
            let has = |state| before.iter().any(|other| self.states[*other] == state);
            let is_held_up = has(SubTaskState::Failed) || has(SubTaskState::Blocked);
            let unfinished = |other: &&usize| self.states[**other] != SubTaskState::Finished;
            let missing = before.iter().filter(unfinished).count();
            self.missing[place] = missing;
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
