//! Windows, which has no bubblewrap, so that no program is run.

use super::{Finished, ProgramLimits, Unavailable};

/// The sandbox of this machine, which has none.
#[derive(Debug, Clone)]
pub enum Confinement {}

impl Confinement {
    /// Finds none.
    ///
    /// # Errors
    /// Always.
    #[expect(clippy::unused_async, reason = "the other systems run a program here")]
    pub async fn find(_: &str) -> Result<Self, Unavailable> {
        Err(Unavailable { reason: "there is no bubblewrap for Windows; use WSL".to_owned() })
    }

    /// Runs a program by its name with its arguments, which is not possible on this system.
    ///
    /// # Errors
    /// The sandbox cannot be started.
    #[expect(clippy::unused_async, reason = "the other systems run a program here")]
    pub async fn run(&self, _: &[&str], _: &ProgramLimits) -> Result<Finished, Unavailable> {
        match *self {}
    }
}
