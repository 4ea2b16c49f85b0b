//! What a judgement comes to.

use crate::api::Raised;

/// How a predicted call fared.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is as good as the gold call.
    Correct,
    /// The text has no call.
    NoCall,
    /// It calls another tool.
    OtherTool {
        /// The tool that it calls.
        predicted: String,
        /// The tool of the gold call.
        gold: String,
    },
    /// It could not be carried out: an argument that the tool does not have, one of a wrong type, or one that is
    /// missing.
    NotCarriedOut(Raised),
    /// The comparison failed. In the original it is wrong for a `KeyError` and ends the evaluation for others.
    CheckFailed(Raised),
    /// It is wrong, and the tool reported an error.
    Exception,
    /// It is wrong, and its output differs from the gold one.
    OutputMismatch,
    /// It is wrong, and its arguments differ from the gold ones.
    InputMismatch,
    /// It is wrong for another reason.
    Incorrect,
    /// Something outside of the call was missing, so that it was not judged.
    Outage(String),
}

impl Outcome {
    /// Whether it counts as correct.
    pub fn is_correct(&self) -> bool {
        *self == Self::Correct
    }

    /// The class that the published evaluator counts it in. `ABORTED` would have ended it.
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

    /// The word of the kit that records the original's verdicts. It tells apart less where a call was not in a text
    /// (`is_text`), and more where an error ended the evaluator.
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

/// The evaluator tells errors apart by their texts.
fn class_of(outcome: &Outcome, raised: &Raised) -> &'static str {
    let is_check = matches!(outcome, Outcome::CheckFailed(_));
    if is_check && raised.kind == "KeyError" {
        return "KEY_ERROR";
    }
    if raised.kind == "AssertionError" {
        return if raised.text.contains("The API name is not correct.") {
            "API_NAME_MISMATCH"
        } else if raised.text.contains("invalid parameter name") {
            "INVALID_INPUT_PARAMETER"
        } else {
            "ABORTED"
        };
    }
    if raised.text.contains("missing") && raised.text.contains("required positional argument") {
        return "MISS_INPUT_ARGUMENT";
    }
    "ABORTED"
}
