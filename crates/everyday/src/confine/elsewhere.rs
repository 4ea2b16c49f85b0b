//! Systems without bubblewrap, where no program is run.

use super::{Finished, ProgramLimits, Unavailable};

/// The sandbox of this machine, which has none.
#[derive(Debug, Clone)]
pub enum Confinement {}

impl Confinement {
    /// Finds none.
    ///
    /// # Errors
    /// Always.
    #[expect(clippy::unused_async, reason = "Linux runs a program here")]
    pub async fn find(_: &str) -> Result<Self, Unavailable> {
        let advice = if cfg!(windows) { "use WSL" } else { "use Linux" };
        Err(Unavailable { reason: format!("there is no bubblewrap for this system; {advice}") })
    }

    /// Runs a program by its name with its arguments, which is not possible on this system.
    ///
    /// # Errors
    /// The sandbox cannot be started.
    #[expect(clippy::unused_async, reason = "Linux runs a program here")]
    pub async fn run(&self, _: &[&str], _: &ProgramLimits) -> Result<Finished, Unavailable> {
        match *self {}
    }
}
