//! A person's changes to a schedule: a sub-task is edited, dropped or run again.

use thiserror::Error;

use crate::graph::fault::GraphFaults;
use crate::graph::form::SubTask;
use crate::graph::schedule::{Schedule, ScheduleError};
use crate::graph::state::SubTaskState;

/// The undone results of a change. Both lists are in the order of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Revision {
    /// The ids of those that had finished or failed and have to run again: their results no longer count.
    pub undone: Vec<String>,
    /// The ids of those that were running. The caller has to stop them before it starts anything: the schedule treats
    /// them as not started.
    pub interrupted: Vec<String>,
}

/// An impossible change. The schedule is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RevisionError {
    /// There is no such sub-task.
    #[error(transparent)]
    Unknown(#[from] ScheduleError),
    /// The graph would be out of order.
    #[error("the sub-task cannot be changed in this way:\n{0}")]
    Faults(GraphFaults),
}

impl Schedule {
    /// Replaces the sub-task with this id. It and all its direct and indirect dependents have to run again. Takes
    /// time in proportion to the graph.
    ///
    /// # Errors
    /// There is no sub-task with this id, or the graph would have faults for executors of these names.
    pub fn edit(&mut self, sub_task: SubTask, executors: &[&str]) -> Result<Revision, RevisionError> {
        let place = self.place(&sub_task.id)?;
        let before = std::mem::replace(&mut self.graph.sub_tasks[place], sub_task);
        if let Err(faults) = self.graph.check(executors) {
            // Checked in place, because faults such as cycles concern the whole graph.
            self.graph.sub_tasks[place] = before;
            return Err(RevisionError::Faults(faults));
        }
        Ok(self.undo_from(place))
    }

    /// Removes a sub-task from the graph. Its dependents inherit its dependencies, and have to run again if they have
    /// run, as have their own dependents. Takes time in proportion to the graph.
    ///
    /// # Errors
    /// There is no sub-task with this id.
    pub fn drop_sub_task(&mut self, id: &str) -> Result<Revision, ScheduleError> {
        let place = self.place(id)?;
        // Before the removal, which moves the places that the links refer to.
        let mut revision = self.undo_from(place);
        // Removed dependencies need not produce their results again.
        revision.undone.retain(|undone| undone != id);
        let dropped = self.graph.sub_tasks.remove(place);
        self.states.remove(place);
        for sub_task in &mut self.graph.sub_tasks {
            let Some(at) = sub_task.after.iter().position(|after| *after == dropped.id) else { continue };
            sub_task.after.retain(|after| *after != dropped.id);
            let inherited: Vec<String> =
                dropped.after.iter().filter(|after| !sub_task.after.contains(after)).cloned().collect();
            // Where the removed one was, so that the order of the dependencies stays.
            let at = at.min(sub_task.after.len());
            sub_task.after.splice(at..at, inherited);
        }
        self.dropped.push(dropped);
        self.work_out();
        Ok(revision)
    }

    /// Has a sub-task and all its direct and indirect dependents run again. Nothing changes for one that has not
    /// started. Takes time in proportion to the graph.
    ///
    /// # Errors
    /// There is no sub-task with this id.
    pub fn rerun(&mut self, id: &str) -> Result<Revision, ScheduleError> {
        let place = self.place(id)?;
        Ok(self.undo_from(place))
    }

    /// Resets a sub-task and all its dependents to not started.
    fn undo_from(&mut self, place: usize) -> Revision {
        let mut behind = self.links.behind(&[place]);
        behind.push(place);
        behind.sort_unstable();
        let mut revision = Revision::default();
        for place in behind {
            let id = || self.graph.sub_tasks[place].id.clone();
            match self.states[place] {
                SubTaskState::Finished | SubTaskState::Failed => revision.undone.push(id()),
                SubTaskState::Running => revision.interrupted.push(id()),
                SubTaskState::Waiting | SubTaskState::Ready | SubTaskState::Blocked => {}
            }
            self.states[place] = SubTaskState::Waiting;
        }
        self.work_out();
        revision
    }
}
