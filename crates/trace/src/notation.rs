//! One line of text for a list of events: for tests, examples and bug reports.
//!
//! ```
//! use planproof_trace::notation::{parse, print};
//!
//! let text = r#"query "Pay 3." | turn 1 call | call pay {"amount":3} | ok "Paid." | answer "Done.""#;
//! let events = parse(text)?;
//! assert_eq!(events.len(), 5);
//! assert_eq!(print(&events), text);
//! # Ok::<(), planproof_trace::notation::NotationError>(())
//! ```
//!
//! Events are separated by `|`. White space between words, including line breaks, is ignored.
//!
//! | event | meaning |
//! |---|---|
//! | `query "TEXT"` | the agent was given this query |
//! | `turn N call(s) "TEXT" finish=WORD tokens=IN/OUT/OF_THOUGHTS reasoning="TEXT"` | a model answered, with N tool calls |
//! | `say "TEXT" finish=WORD tokens=IN/OUT/OF_THOUGHTS reasoning="TEXT"` | a model answered in words only: a turn of no calls |
//! | `batch #ID #ID ...` | a model wrote these calls in one reply, in this order |
//! | `call NAME {JSON} #ID` | a tool call began |
//! | `call NAME malformed "TEXT" #ID` | the same, with arguments that are not a JSON object |
//! | `ok #ID "TEXT"`, `err #ID "TEXT"` | a tool call ended: it did its work, or did not |
//! | `denied #ID "TEXT"` | a guard denied a tool call |
//! | `spec NAME WORD` | an agent made from a specification began; its model goes on in the way `text`, `partial_turn` or `chat` |
//! | `section NAME WORD "TEXT" note="TEXT"` | a section of it is complete; `user`, `model` or `environment` wrote it |
//! | `correct "VIOLATION" "APPENDED" discarded=BYTES` | its model was corrected |
//! | `tally corrections=N/ESCALATIONS discarded=BYTES tokens=DISCARDED/REPEATED` | what that took |
//! | `answer "TEXT"` | the agent gave its final answer |
//! | `limit WORD N` | a limit was reached: `wall_ms`, `iterations`, `output_bytes`, `text_bytes` or `reply_tokens` |
//! | `failed "TEXT"`, `unscored "TEXT"` | the agent broke; something outside of it did |
//!
//! `TEXT` is a JSON string. `NAME` and `ID` are bare words of `[A-Za-z0-9_.:/-]`, or JSON strings. The following is
//! optional, and [`print()`] leaves out everything that a reader fills in:
//!
//! - `NAME:` before an event is its actor, as in `sample-1: say "Yes."`; without it the event is of the
//!   outermost agent.
//! - `@N` before an event, and before its actor, is its time; without it the time is one more than that of the
//!   previous event, from 0.
//! - A call without an id is `c1` if it is the first call of the list, `c2` if it is the second, and so on.
//! - A result without an id answers the latest call that has no result yet.
//! - Arguments default to `{}`; the text of a turn or of a result to nothing; tokens to 0/0; `finish` to
//!   `tool_calls` for a turn with calls and to `stop` for one without, the other words being `length`,
//!   `content_filter` and `cut`; what was discarded, and all numbers of a tally, to 0.
//!
//! **Exact**: `parse(&print(events))` is `events` for every list of events whose arguments nest at most 127 levels deep
//! (deeper ones cannot be read by [`crate::Arguments::from_text`] either), with two exceptions: the attachments of a
//! result are left out, and the result of a denied call is read as an error even if it was none (one made by
//! [`crate::ToolResult::denied`] is an error).

mod parse;
mod print;

pub use parse::{NotationError, parse};
pub use print::print;

use crate::{CallId, Event, EventKind, FinishReason};

/// The defaults that a reader fills in. The printer uses the same ones, so the two cannot disagree.
#[derive(Default)]
struct Defaults {
    at: u64,
    calls: u64,
    unanswered: Vec<CallId>,
}

impl Defaults {
    /// Id of the next call.
    fn call_id(&self) -> CallId {
        CallId::new(format!("c{}", self.calls + 1))
    }

    /// Id of the next result; `None` when every call has its result.
    fn result_id(&self) -> Option<&CallId> {
        self.unanswered.last()
    }

    /// Records an event before the defaults of the next one are requested.
    fn note(&mut self, event: &Event) {
        self.at = event.at.saturating_add(1);
        match &event.kind {
            EventKind::Call(call) => {
                self.calls += 1;
                self.unanswered.push(call.id.clone());
            }
            EventKind::Result(result) => {
                // The latest one, because a foreign trace may use an id again.
                if let Some(index) = self.unanswered.iter().rposition(|id| *id == result.id) {
                    self.unanswered.remove(index);
                }
            }
            EventKind::Query { .. }
            | EventKind::Turn { .. }
            | EventKind::Batch { .. }
            | EventKind::Spec { .. }
            | EventKind::Section { .. }
            | EventKind::Correction { .. }
            | EventKind::Tally(_)
            | EventKind::End(_) => {}
        }
    }
}

/// The default finish reason of a turn with this number of calls.
fn default_finish(calls: u32) -> FinishReason {
    if calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop }
}

/// The words for why a model stopped.
const FINISH_WORDS: [(&str, FinishReason); 5] = [
    ("stop", FinishReason::Stop),
    ("tool_calls", FinishReason::ToolCalls),
    ("length", FinishReason::Length),
    ("content_filter", FinishReason::ContentFilter),
    ("cut", FinishReason::Cut),
];

/// Whether a name or an id with this byte needs no quotes.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte)
}
