//! The outcome of a judgement.

use crate::api::PythonError;

/// The outcome of a predicted call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// It is as good as the gold call.
    Correct,
    /// The text contains no call.
    NoCall,
    /// It calls another tool.
    OtherTool {
        /// The tool that it calls.
        predicted: String,
        /// The tool of the gold call.
        gold: String,
    },
    /// It could not be executed: an argument is unknown to the tool, has a wrong type, or is missing.
    NotCarriedOut(PythonError),
    /// The comparison failed. In the original, a `KeyError` makes the call wrong, and any other error aborts the
    /// evaluation.
    CheckFailed(PythonError),
    /// It is wrong, and the tool reported an error.
    Exception,
    /// It is wrong, and its output differs from the gold one.
    OutputMismatch,
    /// It is wrong, and its arguments differ from the gold ones.
    InputMismatch,
    /// It is wrong for another reason.
    Incorrect,
    /// Something outside the call was missing, so it was not judged.
    Outage(String),
}

impl CallOutcome {
    /// Whether it counts as correct.
    pub fn is_correct(&self) -> bool {
        *self == Self::Correct
    }

    /// Its class in the published evaluator. `ABORTED` would have aborted it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Correct => "CORRECT",
            Self::NoCall => "NO_API_CALL",
            Self::OtherTool { .. } => "API_NAME_MISMATCH",
            Self::NotCarriedOut(raised) | Self::CheckFailed(raised) => class_of(self, raised),
            Self::Exception => "HAS_EXCEPTION",
            Self::OutputMismatch => "OUTPUT_MISMATCH",
            Self::InputMismatch => "INPUT_MISMATCH",
            Self::Incorrect => "INCORRECT",
            Self::Outage(_) => "OUTAGE",
        }
    }

    /// The name of the outcome in recordings of the original's verdicts. They distinguish less if a call was not in
    /// a text (`is_text`), and more if an error aborted the evaluator.
    pub fn recorded(&self, is_text: bool) -> &'static str {
        match self {
            Self::NotCarriedOut(raised) if is_text && raised.kind == "AssertionError" => "ASSERTION",
            Self::CheckFailed(raised) if is_text && raised.kind == "KeyError" => "KEY_ERROR",
            Self::CheckFailed(_) if !is_text => "CHECK_RAISED",
            Self::NotCarriedOut(_) | Self::CheckFailed(_) => "RAISED",
            Self::Exception | Self::OutputMismatch | Self::InputMismatch if !is_text => "INCORRECT",
            other => other.class(),
        }
    }
}

/// The evaluator distinguishes errors by their texts.
fn class_of(outcome: &CallOutcome, raised: &PythonError) -> &'static str {
    let is_check = matches!(outcome, CallOutcome::CheckFailed(_));
    if is_check && raised.kind == "KeyError" {
        return "KEY_ERROR";
    }
    if raised.kind == "AssertionError" {
        return if raised.text.contains("The API name is not correct.") {
            "API_NAME_MISMATCH"
        } else if raised.text.contains("invalid parameter name") {
            "INVALID_INPUT_PARAMETER"
        } else {
            // Any other assertion, such as that of a wrong type, is not caught by the published evaluator.
            "ABORTED"
        };
    }
    if raised.text.contains("missing") && raised.text.contains("required positional argument") {
        return "MISS_INPUT_ARGUMENT";
    }
    "ABORTED"
}
