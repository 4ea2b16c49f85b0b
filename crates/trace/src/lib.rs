//! The vocabulary of planproof: tools, tool calls, tool results, events and traces.
//!
//! The whole workspace uses these terms. The crate does no IO, reads no clock, and draws randomness only from seeds
//! that are passed in ([`Draw`]). It has four parts:
//!
//! - the types ([`Tool`], [`ToolCall`], [`ToolResult`], [`Event`], [`Trace`]) that the other crates pass around;
//! - [`template`], texts with placeholders, such as prompts;
//! - [`notation`], one line of text for a trace, for tests and bug reports;
//! - [`wire`], the files: JSON lines with types of their own, so that a change of a type in memory never changes a
//!   file.
//!
//! **If it is not in the trace, it did not happen**: verdicts, reports and exports read nothing else.
//!
//! # Module layout
//!
//! Tools, calls and results (`tool.rs`), pictures beside results (`attachment.rs`), the data of tools for planning
//! (`catalogue.rs`), events and clocks (`event.rs`), the agents of a run (`actor.rs`), the pairing of calls and results
//! (`calls.rs`), calls that a model wrote as text (`text_calls.rs`), arguments that fit a schema (`sample.rs`), objects
//! whose numbers stay as they were written (`written.rs`) and which numbers need that (`digits.rs`), the recorder, a
//! one-line notation for tests and bug reports (`notation.rs`), the trace files (`wire/v1.rs`), clock times
//! (`time_of_day.rs`), counts from elsewhere (`bounded.rs`), seeded draws (`draw.rs`), tools that fail (`faults.rs`),
//! the keys that must not be written anywhere (`secrets.rs`) and the names that say so (`secret_names.rs`), texts
//! with placeholders (`template.rs`), and the reader of JSON that other programs wrote (`json.rs`).

// What others build on is described to the last field.
#![warn(missing_docs)]

mod actor;
mod attachment;
mod calls;
mod catalogue;
mod digits;
mod draw;
mod event;
mod plain;
mod recorder;
mod sample;
mod secret_names;
mod secrets;
mod text_calls;
mod time_of_day;
mod tool;
mod written;

pub mod bounded;
pub mod faults;
pub mod json;
pub mod notation;
pub mod template;
pub mod wire;

pub use actor::{ACTOR_BYTES_MAX, Actor, ActorError};
pub use attachment::{
    ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_BYTES_MAX, ATTACHMENTS_MAX, Attachment, AttachmentError,
    Attachments, PictureType,
};
pub use calls::{CallPairing, PairedCall, paired_calls};
pub use catalogue::{Catalogue, Demonstration, Port, Signature};
pub use digits::loses_digits;
pub use draw::Draw;
pub use event::{
    Author, Clock, Continuation, EndReason, Event, EventKind, FinishReason, Header, LimitKind, LogicalClock,
    Tally, Trace, Usage,
};
pub use plain::plain_message;
pub use recorder::{EventSink, Recorder};
pub use sample::sample_arguments;
pub use secret_names::names_secret;
pub use secrets::{
    REDACTED, SECRET_BYTES_MIN, SECRET_FORM_BYTES_MAX, Secrets, secrets_in_settings, secrets_in_urls,
};
pub use text_calls::{TextCall, text_calls, unparsed_calls};
pub use time_of_day::TimeOfDay;
pub use tool::{Arguments, CallId, Tool, ToolCall, ToolResult};
pub use written::WrittenObject;
