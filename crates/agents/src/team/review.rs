//! A person who watches a team and may intervene. (PMC, section 4.2: the graph is the user's view of the work and the
//! handle on it.)

use std::fmt;
use std::sync::Arc;

use planproof_model::BoxFuture;
use planproof_plan::team::review::{Review, ReviewDecision};

/// Asks a person, wherever that person is: at a terminal, at a web page, or in a test.
pub trait Reviewer: Send + Sync + fmt::Debug {
    /// Shows the progress of a team, and waits for the person's decision. The wait is not charged to the run.
    fn decide<'a>(&'a self, review: &'a Review) -> BoxFuture<'a, ReviewDecision>;
}

/// When a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewWhen {
    /// Once there is a graph, before its first sub-task.
    Planned,
    /// Then, and whenever a sub-task has ended. One sub-task runs at a time.
    Each,
}

/// Who is asked about the work of teams, and when.
#[derive(Debug, Clone)]
pub struct Reviewing {
    pub by: Arc<dyn Reviewer>,
    pub when: ReviewWhen,
}
