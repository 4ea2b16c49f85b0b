//! The published code's results for plans (`--compat original`), including its mistakes.
//!
//! The rules are those of the specification of m&m's, section 5: the parsers of 5.1 and 5.2, the verifiers of 5.3 and
//! 5.4, and the plans that its executor completes if every tool succeeds (5.5). Message texts are ours. Known
//! mistakes are reproduced: escapes are destroyed, a list of several steps loses its brackets, only the first digit
//! of an id is read, references may point to later steps, and an image that accompanies an object is refused.
//!
//! Results that depend on the version and the memory of Python are not reproduced: JSON numbers in a plan are those
//! of `serde_json`, and programs that are nested deeper than our [`limits`](crate::limits) are not programs.

mod breadth_first;
mod execute;
mod parse;
mod python;
mod references;
mod verify;
mod verify_python;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use planproof_trace::Signature;

pub use execute::execute;
pub use parse::{PlanningMode, read_json, read_python};
pub use verify::{verify, verify_step};
pub use verify_python::verify_program;

/// The published code's findings on a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedVerdict {
    /// All its refusals, each once, in the order in which it finds them.
    pub failures: Vec<PlanRefusal>,
    /// Whether it lets an exception escape, which ends the run of the case.
    pub raised: bool,
    seen: HashSet<PlanRefusal>,
}

/// A refusal of the published code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanRefusal {
    /// Of what kind it is.
    pub code: RefusalCode,
    /// What it is, in our words.
    pub message: String,
}

/// The published code's kinds of errors.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefusalCode {
    /// The reply is not JSON.
    Json,
    /// A tool does not exist, or must not follow another.
    Tools,
    /// The arguments of this tool are wrong.
    Arguments(String),
    /// Anything else.
    Unknown,
}

impl PublishedVerdict {
    /// That of an exception that escapes.
    pub fn raised() -> Self {
        Self { raised: true, ..Self::default() }
    }

    /// Whether nothing is refused.
    pub fn status(&self) -> bool {
        self.failures.is_empty() && !self.raised
    }

    /// The kinds of errors.
    pub fn codes(&self) -> BTreeSet<&RefusalCode> {
        self.failures.iter().map(|failure| &failure.code).collect()
    }

    /// Adds a failure, unless it is there already: the published code keeps messages as a set.
    fn add(&mut self, code: RefusalCode, message: String) {
        let failure = PlanRefusal { code, message };
        if self.seen.insert(failure.clone()) {
            self.failures.push(failure);
        }
    }
}

impl From<Unexpected> for PublishedVerdict {
    fn from(unexpected: Unexpected) -> Self {
        Self { failures: vec![unexpected.into()], ..Self::default() }
    }
}

impl From<Unexpected> for PlanRefusal {
    fn from(Unexpected(message): Unexpected) -> Self {
        Self { code: RefusalCode::Unknown, message }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json => write!(out, "json"),
            Self::Tools => write!(out, "tools"),
            Self::Arguments(tool) => write!(out, "{tool}'s arguments"),
            Self::Unknown => write!(out, "unknown"),
        }
    }
}

/// An exception in the published code.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unexpected(String);

fn unexpected<T>(message: impl Into<String>) -> Result<T, Unexpected> {
    Err(Unexpected(message.into()))
}

/// The published checks of argument names: as many as declared, all of those, and no others.
fn check_arguments(signature: &Signature, names: &[&str], verdict: &mut PublishedVerdict) {
    let tool = &signature.name;
    let code = || RefusalCode::Arguments(tool.clone());
    let declared = &signature.arguments;
    if names.len() != declared.len() {
        verdict.add(code(), format!("{tool} takes {} arguments and has {}", declared.len(), names.len()));
    }
    for argument in declared.iter().filter(|argument| !names.contains(&argument.name.as_str())) {
        verdict.add(code(), format!("{tool} also needs {}", argument.name));
    }
    for name in names.iter().filter(|name| !signature.has_argument(name)) {
        verdict.add(code(), format!("{tool} takes no {name}"));
    }
}

/// The published check of a key: it must be one of the tool's outputs.
fn check_key(giver: &Signature, key: &str, taker: &Signature, verdict: &mut PublishedVerdict) {
    if !giver.has_output(key) {
        let message = format!("{key} is not among the outputs of {}", giver.name);
        verdict.add(RefusalCode::Arguments(taker.name.clone()), message);
    }
}
