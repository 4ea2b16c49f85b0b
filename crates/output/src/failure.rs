//! Why a command failed, and its exit status.

use std::io;

use planproof_model::ModelError;
use planproof_model::recording::RecordingError;
use planproof_store::StoreError;
use planproof_suite::{CaseError, CaseErrorKind};
use planproof_trace::plain_message;

use crate::terminal;

/// What the process exits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum ExitCode {
    /// All passed.
    Passed = 0,
    /// Failures were found (there may be unscored runs beside them).
    Failed = 1,
    /// The command line, a file or the configuration is wrong.
    Usage = 2,
    /// Something external failed, or a replay differs from its recording, and nothing else is wrong.
    Outside = 3,
}

/// A failure of the user's or the world's; failures of an agent are results instead.
#[derive(Debug)]
pub enum Failure {
    /// What was asked for makes no sense.
    Usage(String),
    /// A diagnosis with the source shown.
    Diagnosis(miette::Report),
    /// Something outside failed.
    Outside(String),
    /// Nobody reads stdout any more.
    OutputClosed,
}

impl Failure {
    /// What was asked for makes no sense.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Usage(what.into())
    }

    /// Something outside failed.
    pub fn outside(what: impl Into<String>) -> Self {
        Self::Outside(what.into())
    }

    /// An error about a file in these words: the fault of whoever named it, unless the disk is full or broken.
    pub fn of_file(what: impl Into<String>, error: &io::Error) -> Self {
        if planproof_files::is_of_world(error) { Self::outside(what) } else { Self::usage(what) }
    }

    /// An error about a case in these words.
    pub fn of_kind(kind: CaseErrorKind, what: String) -> Self {
        match kind {
            CaseErrorKind::Invalid => Self::Usage(what),
            CaseErrorKind::Unavailable => Self::Outside(what),
        }
    }

    /// The same as an error about a case, for suites that ask for something outside.
    pub fn into_case_error(self) -> CaseError {
        match self {
            Self::Usage(what) => CaseError::new(plain_message(&what)),
            Self::Outside(what) => CaseError::unavailable(plain_message(&what)),
            Self::Diagnosis(_) | Self::OutputClosed => CaseError::new(self.describe()),
        }
    }

    /// The same, preceded by its subject.
    pub fn about(self, what: &str) -> Self {
        match self {
            Self::Usage(why) => Self::Usage(format!("{what}: {why}")),
            Self::Diagnosis(report) => Self::Diagnosis(report.wrap_err(what.to_owned())),
            Self::Outside(why) => Self::Outside(format!("{what}: {why}")),
            Self::OutputClosed => Self::OutputClosed,
        }
    }

    /// What the process exits with if the command ends with it.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Diagnosis(_) => ExitCode::Usage,
            Self::Outside(_) => ExitCode::Outside,
            // A reader that closes the pipe, such as `head`, has read enough.
            Self::OutputClosed => ExitCode::Passed,
        }
    }

    /// What is printed of it, without a line break at the end; empty for a closed stdout.
    pub fn describe(&self) -> String {
        match self {
            // The one place where all errors pass, whichever file they are about.
            Self::Usage(what) | Self::Outside(what) => format!("error: {}", plain_message(what)),
            // Miette draws the source in its `Debug` form only.
            Self::Diagnosis(report) => terminal::from_ansi(&format!("{report:?}")),
            Self::OutputClosed => String::new(),
        }
    }
}

/// What came of writing, where a closed stdout must not change the exit status: even a user who reads no further wants
/// to know the result.
///
/// # Errors
/// All other failures.
pub fn unless_closed(written: Result<(), Failure>) -> Result<(), Failure> {
    match written {
        Err(Failure::OutputClosed) => Ok(()),
        written => written,
    }
}

/// Writing to stdout failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::outside(format!("cannot write to stdout: {error}")),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Export { kind: io::ErrorKind::BrokenPipe, .. } => Self::OutputClosed,
            // The user can correct these: the name of a store or campaign, its permissions, or the version of
            // planproof.
            StoreError::UnknownCampaign { .. }
            | StoreError::CannotOpen { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::LogNotReadable { .. }
            | StoreError::NotAStore { .. }
            | StoreError::Unmade { .. }
            | StoreError::Newer { .. }
            | StoreError::AmbiguousCampaign { .. } => Self::usage(error.to_string()),
            other => Self::outside(other.to_string()),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::MissingKey { .. } | ModelError::Configuration { .. } => {
                Self::usage(error.to_string())
            }
            other => Self::outside(other.to_string()),
        }
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        match error {
            // The request is right, and may succeed later as it is.
            RecordingError::CannotWrite { .. } | RecordingError::InUse { .. } => {
                Self::outside(error.to_string())
            }
            RecordingError::NotARecording { .. } => {
                Self::usage(format!("{error}; name a file that --record or --cache wrote"))
            }
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<CaseError> for Failure {
    fn from(CaseError { what, kind }: CaseError) -> Self {
        Self::of_kind(kind, what)
    }
}
