//! The configuration file, `planproof.toml`, and `--set`: which keys there are, what a file says and where it says it,
//! how far a file may go that nobody named, and the schema. Their settings are passed to the command line's parser as
//! if they were on the command line, with lower precedence; so there is one place that parses and checks, and flags
//! override `--set`, which overrides the file, which overrides the environment.
//!
//! # Module layout
//!
//! - The command line as it is passed in, and a call of it: `command_line.rs`. It must not know a command otherwise.
//! - The keys, which are derived from its options: `keys.rs`, and as a JSON Schema `schema.rs`.
//! - Where the file is (`locate.rs`), its text as settings (`layer.rs`, files in them `texts.rs`), those in effect for
//!   a call (`settings.rs`), and where each comes from (`origin.rs`).
//! - What a file must not do by itself: `reach.rs`; what each key can do: `powers.rs`; where files may be that a file
//!   names: `within.rs`.
//! - For fuzzing, a file as it was read: `written.rs`.

// As in the crate `output`; `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod command_line;
#[cfg(test)]
mod example;
mod keys;
mod layer;
mod locate;
mod origin;
mod powers;
mod reach;
mod schema;
mod settings;
mod texts;
mod within;
mod written;

pub use command_line::{Called, CommandLine, Given};
pub use keys::{ConfigKey, KeySection, MEDIA, OPTIONS_WITHOUT_KEY, ValueKind};
pub use locate::NAME;
pub use origin::Configured;
pub use powers::decided_keys;
pub use reach::is_unasked;
pub use schema::schema;
pub use settings::{NOISE, agent_setting, data_set};
pub use within::may_write;
pub use written::written_anew;
