//! Agents under test: in-process loops and external programs.

mod agent;
pub mod behaviour;
mod external;
mod function_calling;
mod limits;
mod program;

pub use agent::Agent;
pub use behaviour::{BehaviourAgent, BehaviourError, BehaviourOptions, instructions};
pub use external::{CommandAgent, ExternalRun, ModelAccess, UrlAgent, UrlError};
pub use function_calling::{FunctionCallingAgent, InProcessRun};
pub use limits::RunLimits;
pub use program::CommandError;
