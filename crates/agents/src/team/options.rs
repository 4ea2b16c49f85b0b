//! How a team works.

use std::num::NonZeroU32;

/// How many sub-tasks run at the same time at most, by default.
const PARALLEL: NonZeroU32 = NonZeroU32::new(4).expect("it is not 0");

/// How a team works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamOptions {
    /// What the deliverer does with the results.
    pub deliver: Deliver,
    /// What the supervisor does with the results that a sub-task needs.
    pub supervisor: SupervisorWork,
    /// What the manager is shown.
    pub manager: ManagerPrompt,
    /// The manager composes the executors itself.
    pub composes: bool,
    /// How many sub-tasks run at the same time at most, where the model and the tools allow it.
    pub parallel: NonZeroU32,
}

/// What the deliverer does with the results. (PMC, section 4.4.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deliver {
    /// It decides on an answer that meets the global constraints.
    #[default]
    Inference,
    /// It reports what was done, with the results.
    Reporting,
    /// It has a solver choose, which proves that every constraint holds, or that they cannot hold together.
    Solver,
}

/// What the supervisor does with the results that a sub-task needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SupervisorWork {
    /// It rewrites the sub-task from them. (PMC, section 4.3.)
    #[default]
    Rewrite,
    /// It passes them on as they are, without a model. (PMC, appendix G.2.)
    Pass,
}

/// What the manager sees beside the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ManagerPrompt {
    /// Rules alone.
    #[default]
    ZeroShot,
    /// An example, which small models need.
    OneShot,
}

impl Default for TeamOptions {
    fn default() -> Self {
        Self {
            deliver: Deliver::default(),
            supervisor: SupervisorWork::default(),
            manager: ManagerPrompt::default(),
            composes: false,
            parallel: PARALLEL,
        }
    }
}

impl Deliver {
    pub const ALL: [Self; 3] = [Self::Inference, Self::Reporting, Self::Solver];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Reporting => "reporting",
            Self::Solver => "solver",
        }
    }
}

impl SupervisorWork {
    pub const ALL: [Self; 2] = [Self::Rewrite, Self::Pass];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rewrite => "rewrite",
            Self::Pass => "pass",
        }
    }
}

impl ManagerPrompt {
    pub const ALL: [Self; 2] = [Self::ZeroShot, Self::OneShot];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero-shot",
            Self::OneShot => "one-shot",
        }
    }
}
