//! The execution of one call, and the toolbox of one run.

use std::sync::Arc;

use planproof_suite::Toolbox;
use planproof_trace::{EventKind, Recorder, ToolCall, ToolResult};

/// The toolbox for one of several runs that use the same tools: a new one if runs must be kept apart, else the same.
pub fn toolbox_for_run(toolbox: &Arc<dyn Toolbox>) -> Arc<dyn Toolbox> {
    toolbox.for_run().unwrap_or_else(|| Arc::clone(toolbox))
}

/// Executes `call` and records its beginning and its end.
///
/// If the run has already ended, nothing is executed or recorded and the result says so. A future that is dropped
/// halfway leaves a call without a result in the trace.
pub async fn execute_recorded(toolbox: &dyn Toolbox, recorder: &Recorder, call: &ToolCall) -> ToolResult {
    if !recorder.record(EventKind::Call(call.clone())) {
        return run_is_over(call);
    }
    let result = toolbox.execute(call).await;
    recorder.record(EventKind::Result(result.clone()));
    result
}

/// The answer to a call after the end of its run.
pub(crate) fn run_is_over(call: &ToolCall) -> ToolResult {
    ToolResult::error(call.id.clone(), "the run is over: no more tools are executed")
}
