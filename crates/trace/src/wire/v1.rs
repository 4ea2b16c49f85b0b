//! Version 1 of the trace files.
//!
//! ```text
//! {"schema":"planproof/trace/v1","agent":"tools@sim/perfect","model":"sim/perfect","simulated":true,"case":"c-7","repeat":0,"seed":"42","clock":"logical","version":"0.1.0"}
//! {"at":0,"type":"query","text":"Do A."}
//! {"at":1,"type":"turn","text":"","calls":1,"finish":"tool_calls","input_tokens":0,"output_tokens":0}
//! {"at":2,"type":"call","id":"c1","name":"a1_tool","arguments":{}}
//! {"at":3,"type":"result","id":"c1","text":"Done.","is_error":false}
//! {"at":4,"type":"end","reason":"answered","text":"finished"}
//! ```
//!
//! - `seed` is a decimal string: many JSON readers lose digits of numbers above 2^53.
//! - `model` is null if the agent's loop is not ours.
//! - A call whose arguments are not a JSON object has `arguments_text` (a string) instead of `arguments`.
//! - If a model wrote several calls in one reply, `{"at":2,"type":"batch","calls":["c1","c2"]}` comes before them:
//!   their ids, in the order in which they were written.
//! - A result has `"denied":true` if a guard between agent and tools denied the call. `"denied_by":["once"]` are the
//!   ids of the rules by which it did; without `denied`, of those that would have denied it, had they been enforced.
//! - A result of a tool that made pictures can have small copies of them, at most
//!   [`ATTACHMENTS_MAX`](crate::ATTACHMENTS_MAX) of at most [`ATTACHMENT_BYTES_MAX`](crate::ATTACHMENT_BYTES_MAX)
//!   bytes: `"attachments":[{"name":"out-0.png","type":"image/jpeg","data":"/9j/..."}]`, `data` in base64.
//! - The other ends: `"reason":"limit_reached"` with `limit` (`wall_ms`, `iterations`, `output_bytes`,
//!   `text_bytes`, `reply_tokens`) and `value`; `"reason":"agent_failed"` and `"reason":"unscored"` with `message`.
//!
//! If a run has several agents, such as samples that take a vote, an event has an `actor`, as in
//! `{"at":2,"actor":"sample-1","type":"query","text":"Do A."}`: the agent that caused it. Without one it belongs to
//! the only or the outermost agent.
//!
//! An agent made from a specification has more types of lines:
//!
//! ```text
//! {"at":1,"type":"spec","name":"react","continuation":"text"}
//! {"at":2,"type":"section","state":"Ques","author":"user","text":"Do A."}
//! {"at":4,"type":"correction","violation":"[Answer] may not come next","appended":"[Action]","discarded_bytes":17}
//! {"at":9,"type":"tally","corrections":1,"escalations":0,"discarded_bytes":17,"discarded_tokens":4,"repeated_tokens":220}
//! ```
//!
//! A section can have a `note`: how the environment produced it.
//!
//! An unknown field is an error, so that a misspelt one is not silently dropped.

mod line;
mod read;

pub use read::{Traces, read_trace, read_traces, read_traces_from};

use crate::{Event, Header, Trace};

/// The value of a header's `schema` field.
pub const SCHEMA: &str = "planproof/trace/v1";

/// Appends the line of one event to `out`, without a line break. It takes well under a microsecond for an event of
/// usual size: everything is written directly into `out`.
pub fn write_event(event: &Event, out: &mut Vec<u8>) {
    line::write_event(event, out);
}

/// Appends the header line to `out`, without a line break.
pub fn write_header(header: &Header, out: &mut Vec<u8>) {
    line::write_header(header, out);
}

/// Appends a whole trace to `out`: the header and each event, every line with its line break.
pub fn write_trace(trace: &Trace, out: &mut Vec<u8>) {
    write_header(&trace.header, out);
    out.push(b'\n');
    for event in &trace.events {
        write_event(event, out);
        out.push(b'\n');
    }
}
