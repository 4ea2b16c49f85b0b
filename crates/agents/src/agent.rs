//! An agent under test, of whatever kind.

use crate::{CommandAgent, FunctionCallingAgent, UrlAgent};

/// An agent under test.
#[derive(Debug, Clone)]
pub enum Agent {
    /// Our function-calling loop.
    FunctionCalling(FunctionCallingAgent),
    /// A program started for each case.
    Command(CommandAgent),
    /// A service asked for each case.
    Url(UrlAgent),
}
