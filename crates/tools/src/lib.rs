//! Tool implementations: mock tools, built-in ones, a user's own, in process and over the Model Context Protocol.
//!
//! - [`Toolbox`] is a set of tools an agent may call; [`execute_recorded`] executes one call and puts it into the
//!   trace of its run.
//! - [`MockTools`] is the toolbox of every case: tools that check their arguments and give a canned answer,
//!   in cases with times under the [`TimeRules`] of a day.
//! - [`McpTools`] are the tools of a user's own server, [`calculator`] is built in; a [`ToolSource`] names either,
//!   and [`CombinedTools`] joins several.
//! - [`sql`] reads a SQLite database, and can do nothing else with it.
//! - [`pages`] has `search` and `lookup`, over a folder of documents or a wiki.
//! - [`mcp`] offers a toolbox to external agents, each run at a URL of its own.
//! - [`connections`] are the HTTP connections of all of these, and of other crates.
//! - [`WallClock`] dates the events of runs that take real time.
//!
//! An agent's mistake (a nonexistent tool, invalid arguments) is a [`ToolResult`](planproof_trace::ToolResult) with
//! `is_error`, which the agent sees and the trace contains. It is never an `Err`.
//!
//! # Module layout
//!
//! A set of tools (`toolbox.rs`), the mock tools (`mock.rs`), arguments that fit a schema (`sample.rs`), and MCP over
//! HTTP and stdio (`mcp.rs`), where the calls of a served model are executed in the order of writing
//! (`mcp/written.rs`), and tools are listed with their schemas as they were written (`mcp/listed.rs`). For a user's
//! tools there is the client side of MCP (`client.rs`) over the stdin and stdout of a program (`client/lines.rs`) or
//! over HTTP (`client/http.rs`), sources by name (`tool_source.rs`), several as one set (`combined.rs`), a calculator
//! (`builtin/calculator.rs`), `search` and `lookup` (`pages/search_tools.rs`) over a folder of documents
//! (`pages/collection.rs`) or a MediaWiki server (`pages/wiki.rs`), with the page of a run in `pages/reader.rs`,
//! statements that read a database (`sql.rs`, restricted to reading by `sql/confine.rs`), and child processes that
//! leave nothing behind (`process.rs`), even if we are killed (`process/watch.rs`). Tools with state are created for
//! each run (`toolbox_for_run`).

mod builtin;
mod client;
mod clock;
mod combined;
mod faulty;
mod mock;
mod refusal;
mod schema;
mod tool_source;
mod toolbox;

pub mod connections;
pub mod mcp;
pub mod pages;
pub mod process;
pub mod sql;

pub use builtin::{BUILTIN_NAMES, builtin, calculator};
pub use client::{
    ClientLimits, CommandServer, HttpServer, Line, LineReader, MESSAGE_BYTES_MAX, McpTools, PAGES_MAX,
    ServerError, ServerLog,
};
pub use clock::WallClock;
pub use combined::{CombinedTools, CombinedToolsError, offered_name};
pub use faulty::FaultyTools;
pub use mock::{MockError, MockTool, MockTools, TimeRules};
pub use planproof_suite::{BoxFuture, NoTools, Restoring, Toolbox};
pub use schema::{COMPILED_BYTES_MAX, CompiledSchema, SchemaCache};
pub use tool_source::{OpenSource, TOKEN_VARIABLES, ToolSource, ToolSourceError};
pub use toolbox::{execute_recorded, toolbox_for_run};
