//! Errors of campaigns and of the engine as failures of the command.

use planproof_campaign::CampaignError;
use planproof_engine::EngineError;
use planproof_output::failure::Failure;
use planproof_store::StoreError;

/// A failure of the command that was an error of another crate. Those are not of this crate and neither is [`Failure`],
/// so none of them becomes one directly; this does, by `?`.
#[derive(Debug)]
pub struct CommandFailure(pub Failure);

impl From<CommandFailure> for Failure {
    fn from(CommandFailure(failure): CommandFailure) -> Self {
        failure
    }
}

impl From<Failure> for CommandFailure {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl From<CampaignError> for CommandFailure {
    fn from(error: CampaignError) -> Self {
        Self(match error {
            CampaignError::Usage(what) => Failure::Usage(what),
            CampaignError::Outside(what) => Failure::Outside(what),
            CampaignError::Store(error) => error.into(),
            CampaignError::Recording(error) => error.into(),
        })
    }
}

impl From<EngineError> for CommandFailure {
    fn from(error: EngineError) -> Self {
        Self(match error {
            EngineError::Store(error) => error.into(),
            EngineError::Tools { ref source, .. } | EngineError::Sequel { ref source, .. } => {
                Failure::of_kind(source.kind, error.to_string())
            }
            other => Failure::outside(other.to_string()),
        })
    }
}

/// The failure that an error is.
pub fn failure(error: impl Into<CommandFailure>) -> Failure {
    error.into().into()
}

/// A result whose error becomes a failure of the command.
pub trait OrFail<T> {
    /// The same with the failure.
    ///
    /// # Errors
    /// The failure.
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T, E: Into<CommandFailure>> OrFail<T> for Result<T, E> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(failure)
    }
}

#[cfg(test)]
mod tests {
    use planproof_output::failure::ExitCode;
    use planproof_suite::CaseError;

    use super::*;

    /// Whoever says what is wrong with a case says whose fault it is, and that decides the exit status.
    #[test]
    fn the_kind_of_an_error_about_a_case_decides_the_exit_status() {
        let tools = |source| EngineError::Tools { case: "c-1".to_owned(), source };
        for (source, expected) in [
            (CaseError::new("the tool `a` occurs twice"), ExitCode::Usage),
            (CaseError::unavailable("the sandbox does not start"), ExitCode::Outside),
        ] {
            let again = Failure::from(source.clone()).into_case_error();
            assert_eq!(again, source, "nothing is lost on the way into a suite and out of it");
            assert_eq!(Failure::from(source.clone()).exit_code(), expected);
            assert_eq!(failure(tools(source)).exit_code(), expected);
        }
    }
}
