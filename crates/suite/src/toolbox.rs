//! The tools of an agent.

use std::sync::Arc;

pub use futures::future::BoxFuture;
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// How the tools of a run that was cut off are restored to their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Restoring {
    /// There is nothing to do: calls have no lasting effect.
    Nothing,
    /// The calls are executed again. They change nothing but this toolbox, and return the same results.
    Again,
    /// That is impossible, so the run starts again.
    Impossible,
}

/// A set of tools. One toolbox belongs to one run.
pub trait Toolbox: Send + Sync {
    /// The tools, in an order that never changes.
    fn tools(&self) -> &Arc<[Tool]>;

    /// The data of the tools for planning before any call, in the same order; `None` if their outputs are not
    /// described.
    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        None
    }

    /// The tools that were made by calls of this run, beside [`tools`](Self::tools). They can be called at once.
    fn made(&self) -> Vec<Tool> {
        Vec::new()
    }

    /// Executes a call. Calls may be concurrent. For a nonexistent tool or invalid arguments the result has
    /// `is_error` and a text with the fault.
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;

    /// Whether concurrent calls are preferable if their order does not matter. Otherwise they are made one after the
    /// other.
    fn runs_side_by_side(&self) -> bool {
        true
    }

    /// Whether a call must have ended, also in the trace, before the next one begins, even if an agent makes several
    /// at once.
    fn is_strictly_sequential(&self) -> bool {
        false
    }

    /// The first external problem that prevented a call of this run, such as an unreachable server, in words. It is
    /// requested after the run, which then says nothing about the agent and stays unscored. Mistakes of an agent do
    /// not count, and tools without external resources never report one.
    fn outage(&self) -> Option<String> {
        None
    }

    /// The form in which the case asks for a plan over these tools, if it is one about such forms: a word of
    /// `planproof_plan::subtasks::PlanForm`.
    fn plan_form(&self) -> Option<&'static str> {
        None
    }

    /// How these tools are restored to the state that they had when their run was cut off.
    fn restoring(&self) -> Restoring {
        Restoring::Impossible
    }

    /// The same tools for another run, if calls have effects that belong to their run, such as the page that was
    /// found last. Servers behind the tools stay shared. `None` if there are no such effects.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        None
    }
}

/// A toolbox without tools, for cases that have none.
#[derive(Debug, Clone)]
pub struct NoTools(Arc<[Tool]>);

impl Default for NoTools {
    fn default() -> Self {
        Self([].into())
    }
}

impl Toolbox for NoTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.0
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let result = ToolResult::error(call.id.clone(), "there are no tools in this run");
        Box::pin(std::future::ready(result))
    }

    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }
}
