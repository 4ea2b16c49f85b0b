//! Violations, their corrections, and the ends of a run. Plain data, with words for models and people.

use std::fmt;

use super::{CONTENT_RETRIES_MAX, Monitor, NextStep, SCHEMA_RETRIES_MAX};
use crate::diagnostic::one_of;
use crate::{Automaton, StateId};

/// What a model wrote that may not come.
#[derive(Debug, Clone, PartialEq)]
pub enum Violation {
    /// The prompt of a state that must not come next.
    State {
        /// The state.
        tried: StateId,
        /// The requirement that forbids it, if a single one is responsible; an index into
        /// [`Spec::requirements`](crate::Spec::requirements). `None` if it is the behaviour.
        requirement: Option<usize>,
    },
    /// Text where a prompt had to come.
    NoState {
        /// Its beginning.
        tried: String,
    },
    /// The output ended, and the run may not.
    Ended,
    /// Content that breaks a rule.
    Content {
        /// The state.
        state: StateId,
        /// What is wrong.
        fault: Fault,
    },
}

/// How content breaks a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It names no tool.
    UnknownTool {
        /// What it says.
        written: String,
        /// The callable tools, if they are known.
        callable: Option<Vec<String>>,
    },
    /// It names a tool that the requirements do not allow now.
    ForbiddenTool {
        /// The tool.
        tool: String,
        /// The callable tools, if they are known.
        callable: Option<Vec<String>>,
    },
    /// It does not match a regular expression.
    Pattern {
        /// The expression.
        pattern: String,
    },
    /// There is none, where the run would end.
    Blank,
    /// It is too long.
    Length {
        /// The most characters it may have.
        characters_max: u32,
    },
    /// It is not JSON that fits the schema.
    Json {
        /// What is wrong.
        what: String,
    },
    /// The arguments do not fit the tool.
    Arguments {
        /// What is wrong.
        what: String,
    },
    /// The arguments refer to the result of a denied call.
    NoEvidence {
        /// The label of that call.
        label: String,
    },
    /// The requirements do not allow this call now.
    Forbidden {
        /// The tool.
        tool: String,
        /// The requirement that forbids it, if a single one is responsible.
        requirement: Option<usize>,
    },
}

impl Fault {
    /// How often content may be rewritten.
    pub(super) fn retries_max(&self) -> u32 {
        match self {
            Self::Json { .. } | Self::Arguments { .. } => SCHEMA_RETRIES_MAX,
            _ => CONTENT_RETRIES_MAX,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = |callable: &Option<Vec<String>>| match callable.as_deref() {
            None => String::new(),
            Some([]) => "; no tool can be called".to_owned(),
            Some(names) => format!("; write one of {}", names.join(", ")),
        };
        match self {
            Self::UnknownTool { written, callable } => {
                // The model can have written any amount of text in this place.
                let written: String = written.chars().take(80).collect();
                write!(f, "\"{written}\" is no tool{}", tools(callable))
            }
            Self::ForbiddenTool { tool, callable } => {
                write!(f, "{tool} must not be called now{}", tools(callable))
            }
            Self::Pattern { pattern } => write!(f, "it must match the regular expression {pattern}"),
            Self::Blank => f.write_str("it must not be empty"),
            Self::Length { characters_max } => write!(f, "it must have at most {characters_max} characters"),
            Self::Json { what } => write!(f, "it must be JSON that fits the schema: {what}"),
            Self::Arguments { what } => f.write_str(what),
            Self::NoEvidence { label } => write!(f, "it refers to {label}, which was not executed"),
            Self::Forbidden { tool, requirement } => {
                write!(f, "{tool} must not be called with this input now")?;
                match requirement {
                    Some(requirement) => write!(f, " (requirement {})", requirement + 1),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Violation {
    /// What the model tried to write.
    pub(super) fn tried(&self, automaton: &Automaton) -> String {
        match self {
            Self::State { tried, .. } => automaton.state(*tried).prompt.value.clone(),
            Self::NoState { tried } => tried.clone(),
            Self::Ended | Self::Content { .. } => String::new(),
        }
    }

    /// What is wrong, for a person.
    pub fn describe(&self, automaton: &Automaton) -> String {
        match self {
            Self::State { tried, requirement } => {
                let prompt = &automaton.state(*tried).prompt.value;
                let by = requirement.map(|index| format!(" (requirement {})", index + 1)).unwrap_or_default();
                format!("{prompt} may not come next{by}")
            }
            Self::NoState { tried } => format!("\"{tried}\" stands where a prompt had to come"),
            Self::Ended => "the output ended before the run may end".to_owned(),
            Self::Content { state, fault } => {
                format!("the content of {} is wrong: {fault}", automaton.state(*state).prompt.value)
            }
        }
    }

    /// What to tell the model.
    pub(super) fn instruction(&self, monitor: &Monitor) -> String {
        let automaton = monitor.automaton();
        let choices = if monitor.has_stopped { monitor.next_or_mended() } else { None };
        let next = choices.as_deref().unwrap_or(automaton.valid(monitor.position())).iter();
        let next = one_of(next.map(|state| automaton.state(*state).prompt.value.as_str()));
        match self {
            Self::Content { state, fault } if monitor.is_content_open() => {
                format!("Write what comes after {} again: {fault}.", automaton.state(*state).prompt.value)
            }
            _ => format!("Go on with {next}."),
        }
    }
}

/// What [`Monitor::correct`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// What is to be done next.
    pub step: NextStep,
    /// What was appended to the text.
    pub appended: String,
    /// A sentence for a model that takes instructions. It is not part of the run's text.
    pub instruction: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum MonitorOutcome {
    /// According to the specification: the run is in its language.
    Finished,
    /// By a limit that its caller set, before it was finished.
    Stopped,
    /// It could not go on.
    Failed(RunFailure),
}

/// Why a run could not go on.
#[derive(Debug, Clone, PartialEq)]
pub enum RunFailure {
    /// The model needed too many corrections.
    Corrections {
        /// How often it was.
        max: u32,
        /// What it wrote in the end.
        last: Violation,
    },
    /// Content violated a rule, each time it was rewritten.
    Content {
        /// The state.
        state: StateId,
        /// What was wrong in the end.
        fault: Fault,
    },
    /// The text of the run is too long.
    Text {
        /// The most bytes it may have.
        bytes_max: usize,
    },
}

impl RunFailure {
    /// Why, for a person.
    pub fn describe(&self, automaton: &Automaton) -> String {
        match self {
            Self::Corrections { max, last } => {
                format!("given up after {max} corrections; in the end {}", last.describe(automaton))
            }
            Self::Content { state, fault } => {
                let prompt = &automaton.state(*state).prompt.value;
                format!("given up, because the content of {prompt} was wrong again and again: {fault}")
            }
            Self::Text { bytes_max } => format!("the text of the run is longer than {bytes_max} bytes"),
        }
    }
}
