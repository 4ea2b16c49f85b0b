//! What the environment does to write a section.

use futures::StreamExt as _;
use planproof_spec::Handler;
use planproof_spec::monitor::Call;
use planproof_tools::{BoxFuture, Toolbox, execute_recorded};
use planproof_trace::{Recorder, ToolResult};

/// Most calls that are made at the same time.
const CALLS_AT_ONCE_MAX: usize = 16;

/// What is written where nothing was called.
const NOTHING_CALLED: &str = "No tool was called.";

/// Whether there is a handler of this kind.
pub(super) fn is_known(handler: Handler) -> bool {
    matches!(handler, Handler::RunCall | Handler::RunCalls)
}

/// Runs the last of the calls, and gives its result as text.
pub(super) async fn run_call(calls: &[Call], toolbox: &dyn Toolbox, recorder: &Recorder) -> String {
    match calls.last() {
        Some(call) => text_of(&execute_recorded(toolbox, recorder, &call.call).await),
        None => NOTHING_CALLED.to_owned(),
    }
}

/// Runs all calls, and gives their results as text, in a numbered list if there are several.
pub(super) async fn run_calls(calls: &[Call], toolbox: &dyn Toolbox, recorder: &Recorder) -> String {
    let results = execute_all(calls, toolbox, recorder).await;
    match results.as_slice() {
        [] => NOTHING_CALLED.to_owned(),
        [result] => text_of(result),
        results => {
            let lines = results
                .iter()
                .enumerate()
                .map(|(place, result)| format!("{}. {}", place + 1, text_of(result)));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Runs calls, at the same time where the tools allow it. The results are in the order of the calls.
pub(super) async fn execute_all(
    calls: &[Call],
    toolbox: &dyn Toolbox,
    recorder: &Recorder,
) -> Vec<ToolResult> {
    let at_once = if toolbox.runs_side_by_side() { CALLS_AT_ONCE_MAX } else { 1 };
    let mut running: Vec<BoxFuture<'_, ToolResult>> = Vec::with_capacity(calls.len());
    for call in calls {
        running.push(Box::pin(execute_recorded(toolbox, recorder, &call.call)));
    }
    futures::stream::iter(running).buffered(at_once).collect().await
}

fn text_of(result: &ToolResult) -> String {
    match (result.text.trim(), result.is_error) {
        ("", false) => "(The tool gave no text.)".to_owned(),
        ("", true) => "(The tool failed.)".to_owned(),
        (text, _) => text.to_owned(),
    }
}
