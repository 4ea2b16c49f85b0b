//! What the published code says of plans (`--compat original`), where it is wrong too.
//!
//! The rules are those of the specification of m&m's, section 5: the parsers of 5.1 and 5.2, the verifiers of 5.3 and
//! 5.4, and which plans its executor carries out if every tool succeeds (5.5). Message texts are ours. Known mistakes
//! are kept: escapes are destroyed, a list of several steps loses its brackets, ids of several digits are read as their
//! first one, references may point to later steps, an image that comes along with an object is refused.
//!
//! Not kept is what hangs on the version and the memory of Python: numbers of JSON in a plan are those of
//! `serde_json`, and programs that are nested deeper than our [`limits`](crate::limits) are no programs.

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
pub use parse::{Mode, read_json, read_python};
pub use verify::{verify, verify_step};
pub use verify_python::verify_program;

/// What the published code finds of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// All that it refuses, each once, in the order in which it comes by.
    pub failures: Vec<Failure>,
    /// Whether it lets an exception escape, which ends the run of the case.
    pub raised: bool,
    seen: HashSet<Failure>,
}

/// Something that the published code refuses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Failure {
    /// Of what kind it is.
    pub code: Code,
    /// What it is, in our words.
    pub message: String,
}

/// The published code's kinds of errors.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The reply is no JSON.
    Json,
    /// A tool does not exist, or does not belong behind another.
    Tools,
    /// The arguments of this tool are wrong.
    Arguments(String),
    /// Anything else.
    Unknown,
}

impl Verdict {
    /// That of an exception that escapes.
    pub fn raised() -> Self {
        Self { raised: true, ..Self::default() }
    }

    /// Whether nothing is refused.
    pub fn status(&self) -> bool {
        self.failures.is_empty() && !self.raised
    }

    /// The kinds of errors.
    pub fn codes(&self) -> BTreeSet<&Code> {
        self.failures.iter().map(|failure| &failure.code).collect()
    }

    /// Adds a failure, unless it is there already: the published code keeps messages as a set.
    fn add(&mut self, code: Code, message: String) {
        let failure = Failure { code, message };
        if self.seen.insert(failure.clone()) {
            self.failures.push(failure);
        }
    }
}

impl From<Unexpected> for Verdict {
    fn from(unexpected: Unexpected) -> Self {
        Self { failures: vec![unexpected.into()], ..Self::default() }
    }
}

impl From<Unexpected> for Failure {
    fn from(Unexpected(message): Unexpected) -> Self {
        Self { code: Code::Unknown, message }
    }
}

impl fmt::Display for Code {
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

/// The published checks of the names of arguments: as many as declared, each of those, and no other.
fn check_arguments(signature: &Signature, names: &[&str], verdict: &mut Verdict) {
    let tool = &signature.name;
    let code = || Code::Arguments(tool.clone());
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

/// The published check of a key: it must be one of what the tool gives.
fn check_key(giver: &Signature, key: &str, taker: &Signature, verdict: &mut Verdict) {
    if !giver.has_output(key) {
        let message = format!("{key} is not among the outputs of {}", giver.name);
        verdict.add(Code::Arguments(taker.name.clone()), message);
    }
}
