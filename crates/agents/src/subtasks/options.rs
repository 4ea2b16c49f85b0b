//! How an agent that writes sub-tasks works.

use std::num::NonZeroU32;

use planproof_plan::subtasks::PlanForm;

/// Most characters of a result that a model sees. A longer one is shown with its beginning and its end.
pub const RESULT_CHARACTERS_MAX: usize = 8_000;

/// How such an agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubTaskOptions {
    /// How often a model is asked again at most, for each reply that is needed.
    pub replies_max: NonZeroU32,
    /// Whether the model sees lessons of earlier runs, if a run is given any.
    pub remembers: bool,
    /// In which form all sub-tasks at once are written.
    pub form: FormChoice,
}

/// In which form a plan is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormChoice {
    /// In this one, whatever the case asks for.
    Always(PlanForm),
    /// In the one that the case asks for ([`Toolbox::plan_form`](planproof_tools::Toolbox::plan_form)), or else in
    /// pairs.
    AsAsked,
}

impl FormChoice {
    pub const ALL: [Self; 4] = [
        Self::Always(PlanForm::Pairs),
        Self::Always(PlanForm::Lists),
        Self::Always(PlanForm::Tools),
        Self::AsAsked,
    ];

    /// The word used in names of agents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always(form) => form.as_str(),
            Self::AsAsked => "asked",
        }
    }
}

impl Default for FormChoice {
    fn default() -> Self {
        Self::Always(PlanForm::default())
    }
}

impl Default for SubTaskOptions {
    /// Three further replies, no memory, and pairs.
    fn default() -> Self {
        let replies_max = NonZeroU32::MIN.saturating_add(2);
        Self { replies_max, remembers: false, form: FormChoice::default() }
    }
}
