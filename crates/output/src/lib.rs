//! The only way from planproof to stdout, stderr and files that a user names, and what every command needs of the
//! process and its user: keys that no output may have, exit codes, signals, open files, threads.
//!
//! # Module layout
//!
//! - Everything that is printed goes through `terminal.rs`, which makes foreign text harmless and, with
//!   `terminal/searched.rs`, replaces keys. `secrets.rs` knows which keys we hold; what looks like one is detected
//!   by `secrets/texts.rs`.
//! - Words, colours, wrapped lines and tables for people: `layout.rs`, `colours.rs`, `table.rs`; JSON: `print.rs`;
//!   progress and messages on stderr, with the macro [`tell!`]: `progress.rs`.
//! - Files are read by `text_files.rs`, and written by `report_files.rs` such that they are complete or absent.
//! - Why a command failed, with its exit status: `failure.rs`.
//! - The process: `signals.rs`, the limit on open files (`open_files.rs`), the async runtime (`runtime.rs`), randomness
//!   for secrets (`random.rs`), the user's own secret (`own.rs`), questions to the user (`question.rs`).
//! - Bounds of options (`values.rs`), the word that was probably meant (`nearest.rs`), digests (`digest.rs`).
//!
//! It must not know commands, suites, or arguments: how to print is passed in.

// All that is printed goes through `terminal`, and a stderr that cannot be written must end nothing: `tell!`
// is there for it. `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

pub mod colours;
pub mod digest;
pub mod failure;
pub mod layout;
pub mod nearest;
pub mod open_files;
pub mod own;
pub mod print;
pub mod progress;
pub mod question;
pub mod random;
pub mod report_files;
pub mod runtime;
pub mod secrets;
pub mod signals;
pub mod table;
pub mod terminal;
pub mod text_files;
pub mod values;
