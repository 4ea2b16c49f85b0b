//! Calls in the words of a simulated model, with its mistakes.

use planproof_synth::{SENTENCES_ARGUMENT, START_TIME_ARGUMENT};
use planproof_trace::{Arguments, CallId, TimeOfDay, Tool, ToolCall, sample_arguments};
use serde_json::Map;
use serde_json::Value;

use crate::reading::task_of;
use crate::report;
use crate::step::Slip;

/// The prefix of a wrong tool name.
pub(crate) const WRONG_NAME_PREFIX: &str = "do_";

/// The unexpected argument. If a tool requires arguments, a model forgets them instead.
const EXTRA_ARGUMENT: &str = "task";

/// The start of a task in the model's format.
pub(crate) fn start_text(minute: u16, slip: Slip) -> String {
    match TimeOfDay::from_minute(minute) {
        Some(_) if slip == Slip::NoClockTime => format!("{} o'clock", minute / 60),
        Some(time) => time.to_string(),
        // A start on the next day, which is not a clock time.
        None => format!("{} minutes past midnight", minute - 24 * 60),
    }
}

/// The arguments of a tool call: those that its schema demands, the start of the task or the reported sentences if
/// given, and the mistake.
pub(crate) fn write_arguments<'t>(
    tool: Option<&Tool>,
    (start, sentences): (Option<String>, u64),
    slip: Slip,
    task: impl FnOnce() -> &'t str,
) -> Map<String, Value> {
    let schema = tool.filter(|tool| !tool.is_without_arguments()).map(|tool| &tool.input_schema);
    let mut own = schema.map_or_else(Map::new, |schema| sample_arguments(schema));
    let mut arguments = Map::new();
    // The plan determines the start and the sentences, so the samples for them are dropped.
    if let Some(start) = start {
        own.remove(START_TIME_ARGUMENT);
        arguments.insert(START_TIME_ARGUMENT.to_owned(), start.into());
    }
    if sentences != 0 {
        own.remove(SENTENCES_ARGUMENT);
        let numbers: Vec<u64> = report::numbers(sentences).collect();
        arguments.insert(SENTENCES_ARGUMENT.to_owned(), numbers.into());
    }
    match slip {
        Slip::ExtraArgument if own.is_empty() => {
            arguments.insert(EXTRA_ARGUMENT.to_owned(), task().into());
        }
        Slip::ExtraArgument => {}
        _ => arguments.extend(own),
    }
    arguments
}

/// The `number`-th call of a run, of the tool at that index, as the model writes it: with a start, or a report of
/// sentences.
pub(crate) fn write_call(
    tools: &[Tool],
    place: u16,
    (start, sentences): (Option<u16>, u64),
    slip: Slip,
    number: usize,
) -> ToolCall {
    let tool = tools.get(usize::from(place));
    let name = tool.map_or("", |tool| &tool.name);
    let start = start.map(|minute| start_text(minute, slip));
    let task = || tool.map_or("", task_of);
    let arguments = write_arguments(tool, (start, sentences), slip, task);
    ToolCall {
        id: CallId::new(format!("call_{number}")),
        name: if slip == Slip::WrongName { format!("{WRONG_NAME_PREFIX}{name}") } else { name.to_owned() },
        arguments: Arguments::Object(arguments),
    }
}
