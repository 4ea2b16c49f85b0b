//! How a planning agent plans.

use std::fmt;
use std::num::NonZeroU32;

use planproof_spec::Compat;

/// How a planning agent plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOptions {
    /// In what its plans are written.
    pub format: PlanFormat,
    /// How much of the plan one reply holds.
    pub strategy: Strategy,
    /// What is fed back to the model.
    pub feedback: Feedback,
    /// How often the model is asked again at most, after its first reply.
    pub replies_max: NonZeroU32,
    /// Whose parser, verifier and wording there are: ours, or those of the published code. It has no programs step by
    /// step ([`Strategy::StepByStep`] with [`PlanFormat::Code`]); ours take their place there.
    pub compat: Compat,
}

/// In what a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanFormat {
    /// As nodes of JSON.
    #[default]
    Json,
    /// As a Python program.
    Code,
}

/// How much of a plan one reply holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// All of it.
    #[default]
    MultiStep,
    StepByStep,
}

/// What is fed back to a model. (The paper, section 4: parsing, verification and execution feedback.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    None,
    /// That it cannot be read.
    P,
    /// That the plan cannot be read, or does not fit the tools.
    Pv,
    /// That the plan cannot be read, or what went wrong when it was executed.
    Pe,
    Pve,
}

impl Default for PlanOptions {
    /// A whole plan in JSON with all feedback, and the number of replies of the published example.
    fn default() -> Self {
        Self {
            format: PlanFormat::Json,
            strategy: Strategy::MultiStep,
            feedback: Feedback::Pve,
            replies_max: NonZeroU32::MIN.saturating_add(9),
            compat: Compat::Ours,
        }
    }
}

impl PlanFormat {
    pub const ALL: [Self; 2] = [Self::Json, Self::Code];

    /// The word used in names of agents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Code => "code",
        }
    }
}

impl Strategy {
    pub const ALL: [Self; 2] = [Self::MultiStep, Self::StepByStep];

    /// The word used in names of agents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MultiStep => "multi-step",
            Self::StepByStep => "step-by-step",
        }
    }
}

impl Feedback {
    pub const ALL: [Self; 5] = [Self::None, Self::P, Self::Pv, Self::Pe, Self::Pve];

    /// The word used in names of agents, which are the paper's letters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::P => "P",
            Self::Pv => "PV",
            Self::Pe => "PE",
            Self::Pve => "PVE",
        }
    }

    /// Whether the model learns that a plan cannot be read.
    pub fn tells_parsing(self) -> bool {
        self != Self::None
    }

    /// Whether plans are checked against the tools before they are executed.
    pub fn tells_verification(self) -> bool {
        matches!(self, Self::Pv | Self::Pve)
    }

    /// Whether the model learns how the execution of a plan went.
    pub fn tells_execution(self) -> bool {
        matches!(self, Self::Pe | Self::Pve)
    }
}

impl fmt::Display for PlanFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
