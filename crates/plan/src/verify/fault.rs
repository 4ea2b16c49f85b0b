//! What is wrong with a plan.

use std::fmt;

use thiserror::Error;

use crate::fault::TextPosition;
use crate::words::{cut, listed};

/// A reason why a plan cannot be executed. It is a model's mistake, and its text is addressed to the model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct VerificationFault {
    /// Where it is.
    pub site: PlanSite,
    /// What it is.
    pub problem: Box<StepFault>,
}

/// The part of a plan that a fault is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanSite {
    /// All of it.
    Plan,
    /// A step.
    Step {
        /// Its place in the plan, from 0.
        place: usize,
        /// Its number.
        id: u64,
    },
    /// A place in a program.
    Program(TextPosition),
}

/// What a fault has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepFaultKind {
    /// Which tool is called.
    Tool,
    /// Which arguments it is given.
    Arguments,
    /// What they refer to.
    Reference,
    /// Which tool's outputs they are.
    Connection,
}

/// The fault of a step. Names are those of the plan; suggestions for them are separate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepFault {
    /// The plan calls nothing.
    NoStep,
    /// There is no such tool.
    ToolUnknown {
        /// Its name.
        tool: String,
        /// The tool that was probably meant.
        nearest: Option<String>,
    },
    /// The tool takes no such argument.
    ArgumentUnknown {
        /// The name of the tool.
        tool: String,
        /// The name of the argument.
        argument: String,
        /// The argument that was probably meant.
        nearest: Option<String>,
        /// All that it takes.
        known: Vec<String>,
    },
    /// A required argument is missing.
    ArgumentMissing {
        /// The name of the tool.
        tool: String,
        /// The name of the argument.
        argument: String,
    },
    /// An argument is given twice.
    ArgumentTwice {
        /// The name of the argument.
        argument: String,
    },
    /// There are more positional arguments than the tool takes.
    ArgumentsTooMany {
        /// The name of the tool.
        tool: String,
        /// How many are given.
        given: usize,
        /// How many it takes.
        taken: usize,
    },
    /// Another step has the same number.
    IdTwice {
        /// The place of the first one, from 0.
        first: usize,
    },
    /// A text looks like a reference but is none.
    ReferenceMalformed {
        /// The name of the argument.
        argument: String,
    },
    /// A reference in JSON's form is used in Python.
    ReferenceOfOtherForm {
        /// The name of the argument.
        argument: String,
    },
    /// A reference is in a list or an object instead of a text.
    ReferenceInValue {
        /// The name of the argument.
        argument: String,
    },
    /// An argument is all outputs of a step instead of one.
    KeyMissing {
        /// The name of the argument.
        argument: String,
        /// The name of the variable.
        variable: String,
        /// The outputs of its tool.
        known: Vec<String>,
    },
    /// The step referred to does not exist.
    StepMissing {
        /// The name of the argument.
        argument: String,
        /// The number of the step.
        step: u64,
    },
    /// The referenced step comes later, or is the step itself.
    StepNotEarlier {
        /// The name of the argument.
        argument: String,
        /// The number of the step.
        step: u64,
        /// Whether it is the step itself.
        is_itself: bool,
    },
    /// The referenced tool has no output with that key.
    KeyUnknown {
        /// The name of the argument.
        argument: String,
        /// The tool of the step referred to.
        tool: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
        /// All that it gives.
        known: Vec<String>,
    },
    /// The output has another kind than the argument takes.
    OtherKind {
        /// The name of the argument.
        argument: String,
        /// The kind that it takes.
        taken: String,
        /// The tool of the step referred to.
        tool: String,
        /// The key of the output.
        key: String,
        /// Its kind.
        given: String,
    },
    /// A value that cannot be written is among words.
    NotForWords {
        /// The name of the argument.
        argument: String,
        /// The tool of the step referred to.
        tool: String,
        /// The key of the output.
        key: String,
        /// Its kind.
        given: String,
    },
    /// A tool may not use the outputs of another.
    MayNotFollow {
        /// The name of the argument.
        argument: String,
        /// The tool whose output it is.
        first: String,
        /// The tool that takes it.
        second: String,
        /// The tools that may take outputs of the first.
        followers: Vec<String>,
    },
    /// A step had no output with the key when the plan was executed.
    OutputMissing {
        /// The number of the step.
        step: u64,
        /// The key.
        key: String,
    },
    /// The output of a step cannot be written into a text.
    OutputNotForWords {
        /// The number of the step.
        step: u64,
        /// The key.
        key: String,
        /// What it is.
        given: &'static str,
    },
}

impl VerificationFault {
    pub(crate) fn new(site: PlanSite, problem: StepFault) -> Self {
        Self { site, problem: Box::new(problem) }
    }

    /// What it has to do with.
    pub fn kind(&self) -> StepFaultKind {
        match *self.problem {
            StepFault::NoStep | StepFault::ToolUnknown { .. } => StepFaultKind::Tool,
            StepFault::ArgumentUnknown { .. }
            | StepFault::ArgumentMissing { .. }
            | StepFault::ArgumentTwice { .. }
            | StepFault::ArgumentsTooMany { .. } => StepFaultKind::Arguments,
            StepFault::IdTwice { .. }
            | StepFault::ReferenceMalformed { .. }
            | StepFault::ReferenceOfOtherForm { .. }
            | StepFault::ReferenceInValue { .. }
            | StepFault::KeyMissing { .. }
            | StepFault::StepMissing { .. }
            | StepFault::StepNotEarlier { .. }
            | StepFault::KeyUnknown { .. }
            | StepFault::OtherKind { .. }
            | StepFault::NotForWords { .. }
            | StepFault::OutputMissing { .. }
            | StepFault::OutputNotForWords { .. } => StepFaultKind::Reference,
            StepFault::MayNotFollow { .. } => StepFaultKind::Connection,
        }
    }
}

impl fmt::Display for VerificationFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.site {
            PlanSite::Plan => write!(out, "{}", self.problem),
            PlanSite::Step { id, .. } => write!(out, "step {id}: {}", self.problem),
            PlanSite::Program(position) => write!(out, "{position}: {}", self.problem),
        }
    }
}

impl fmt::Display for StepFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!(", did you mean `{nearest}`?")).unwrap_or_default()
        };
        let all = |names: &[String]| listed(names.iter().map(String::as_str));
        match self {
            Self::NoStep => write!(out, "the plan has no steps"),
            Self::ToolUnknown { tool, nearest } => {
                write!(out, "there is no tool `{}`{}", cut(tool), meant(nearest))
            }
            Self::ArgumentUnknown { tool, argument, nearest, known } => {
                let argument = cut(argument);
                write!(out, "`{tool}` takes no `{argument}`{}", meant(nearest))?;
                if nearest.is_none() { write!(out, "; it takes {}", all(known)) } else { Ok(()) }
            }
            Self::ArgumentMissing { tool, argument } => write!(out, "`{tool}` also needs `{argument}`"),
            Self::ArgumentTwice { argument } => write!(out, "`{}` is given twice", cut(argument)),
            Self::ArgumentsTooMany { tool, given, taken } => {
                write!(out, "`{tool}` is given {given} arguments and takes {taken}")
            }
            Self::IdTwice { first } => write!(out, "its id is also that of step {} of the list", first + 1),
            Self::ReferenceMalformed { argument } => write!(
                out,
                "`{}` has a reference that is not written `<node-ID>.KEY`, such as `<node-0>.text`",
                cut(argument)
            ),
            Self::ReferenceOfOtherForm { argument } => {
                let argument = cut(argument);
                write!(
                    out,
                    "`{argument}` has a `<node-ID>`; Python refers to outputs as in `output0['text']`"
                )
            }
            Self::ReferenceInValue { argument } => {
                write!(out, "`{}` has a reference in a list or object, where none counts", cut(argument))
            }
            Self::KeyMissing { argument, variable, known } => {
                let (argument, variable) = (cut(argument), cut(variable));
                write!(out, "`{argument}` is all of `{variable}`; take one of its outputs, {}", all(known))
            }
            Self::StepMissing { argument, step } => {
                write!(out, "`{}` refers to step {step}, which does not exist", cut(argument))
            }
            Self::StepNotEarlier { argument, step, is_itself: false } => {
                write!(out, "`{}` refers to step {step}, which comes later", cut(argument))
            }
            Self::StepNotEarlier { argument, is_itself: true, .. } => {
                write!(out, "`{}` refers to the step itself", cut(argument))
            }
            Self::KeyUnknown { argument, tool, key, nearest, known } => {
                write!(out, "`{}` refers to `{}` of `{tool}`", cut(argument), cut(key))?;
                write!(out, ", which gives {}{}", all(known), meant(nearest))
            }
            Self::OtherKind { argument, taken, tool, key, given } => {
                write!(out, "`{argument}` takes {taken}, but `{key}` of `{tool}` is {given}")
            }
            Self::NotForWords { argument, tool, key, given } => {
                write!(out, "`{key}` of `{tool}` is {given} and cannot stand among the words of `{argument}`")
            }
            Self::MayNotFollow { argument, first, second, followers } => {
                write!(out, "`{second}` may not take its `{argument}` from `{first}`")?;
                write!(out, "; outputs of that may go to {}", all(followers))
            }
            Self::OutputMissing { step, key } => write!(out, "step {step} gave no `{}`", cut(key)),
            Self::OutputNotForWords { step, key, given } => {
                write!(out, "`{}` of step {step} is {given} and cannot stand among words", cut(key))
            }
        }
    }
}
