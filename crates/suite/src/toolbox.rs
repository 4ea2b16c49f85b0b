//! What an agent can do: a set of tools.

use std::pin::Pin;
use std::sync::Arc;

use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// A future that borrows what it needs, as async trait objects want it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How the tools of a run that was cut off come to the state that they were in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Restoring {
    /// There is nothing to do: calls leave nothing behind.
    Nothing,
    /// The calls are executed again. They change nothing but this toolbox, and give what they gave before.
    Again,
    /// Nobody knows how, so the run begins anew.
    Impossible,
}

/// A set of tools. One toolbox belongs to one run.
pub trait Toolbox: Send + Sync {
    /// The tools, in an order that never changes.
    fn tools(&self) -> &Arc<[Tool]>;

    /// What a plan needs to know of the tools before it calls them, in the same order; `None` where nobody said what
    /// comes out of them.
    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        None
    }

    /// Executes a call. Calls may come at the same time. A tool that does not exist and arguments that do not fit
    /// are answered by a result with `is_error` whose text says what is wrong.
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;

    /// Whether several calls are better made at the same time, where their order is nobody's concern. Otherwise one is
    /// made after the other.
    fn runs_side_by_side(&self) -> bool {
        true
    }

    /// Whether a call must have ended, in the trace too, before the next one begins, even where an agent
    /// makes several at once.
    fn is_strictly_sequential(&self) -> bool {
        false
    }

    /// What outside of the agent kept a call of this run from being done, such as a server that could not be reached:
    /// the first such thing, in words. It is asked after the run, which then says nothing of the agent and stays
    /// unscored. What an agent does wrong is no such thing, and tools that need nothing from outside have none.
    fn outage(&self) -> Option<String> {
        None
    }

    /// How these tools come to the state that they were in when their run was cut off.
    fn restoring(&self) -> Restoring {
        Restoring::Impossible
    }

    /// The same tools for another run, if calls leave something behind that belongs to their run, such as the page that
    /// was found last. Servers behind the tools stay shared. `None` where there is nothing of the kind.
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
