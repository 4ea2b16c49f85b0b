//! The tool `sql`: one statement that reads a SQLite database.
//!
//! A statement is a model's text, so the database is protected in several ways, each of which would be enough: a file
//! is opened as immutable, `PRAGMA query_only` is on, an authorizer allows only reading, and a prepared statement
//! that could write is not executed. A statement has a budget of steps and of time, and its values and its result
//! have limits. Its mistakes are an [`SqlError`], which the agent reads as a result with `is_error` and which says
//! what to write instead.

mod confine;
mod database;
mod error;
mod rows;
mod schema;

use std::fmt;
use std::sync::{Arc, OnceLock};

use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::refusal::{no_such_tool, not_an_object};
use crate::{BoxFuture, Restoring, Toolbox};

pub use confine::{FUNCTIONS_MAX, LIKE_PATTERN_BYTES_MAX, SqlLimits};
pub use database::{SCRIPT_BYTES_MAX, SqlDatabase};
pub use error::{DatabaseError, SqlError};
pub use rows::{Cut, Rows, SqlValue};
pub use schema::SCHEMA_BYTES_MAX;

/// The tool's name.
pub const NAME: &str = "sql";
/// The name of its only argument.
pub const ARGUMENT: &str = "query";

/// A toolbox whose only tool, `sql`, takes a `query` and answers with the selected rows.
///
/// Calls may be concurrent: each has a connection of its own. They have no lasting effect.
pub struct SqlTools {
    tools: Arc<[Tool]>,
    database: Arc<SqlDatabase>,
    /// Why the database was unavailable, at the first failure in this run.
    outage: OnceLock<String>,
}

impl SqlTools {
    /// The tool over this database. Its description shows the tables with their columns.
    pub fn new(database: Arc<SqlDatabase>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {ARGUMENT: {"type": "string", "description": "For example: SELECT count(*) FROM some_table"}},
            "required": [ARGUMENT],
            "additionalProperties": false
        });
        let description = format!(
            "Executes one SQLite statement that reads (SELECT, WITH or VALUES) and answers with a line of column names, \
             a line for each row, and the number of rows; at most {} rows are shown. Nothing can be written. The tables \
             are:\n{}",
            database.limits().rows,
            database.schema()
        );
        let tool = Tool { name: NAME.to_owned(), description, input_schema: schema.into() };
        Self { tools: Arc::from([tool]), database, outage: OnceLock::new() }
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        if call.name != NAME {
            return no_such_tool(call, &self.tools);
        }
        let arguments = match &call.arguments {
            Arguments::Object(arguments) => arguments,
            Arguments::Malformed(text) => return not_an_object(call, text),
        };
        let (1, Some(Value::String(query))) = (arguments.len(), arguments.get(ARGUMENT)) else {
            let text = format!(
                r#"the arguments of `{NAME}` do not fit: write {{"{ARGUMENT}": "SELECT ... FROM ..."}}"#
            );
            return ToolResult::error(call.id.clone(), text);
        };
        match self.run(query.clone()).await {
            Ok(rows) => ToolResult::ok(call.id.clone(), rows.to_string()),
            Err(error) => {
                if let SqlError::Unavailable { .. } = &error {
                    // Only the first failure is kept: later ones tend to follow from it.
                    let _ = self.outage.set(error.to_string());
                }
                ToolResult::error(call.id.clone(), error.to_string())
            }
        }
    }

    /// Waits for a thread that executes the statement. Between two checks of the clock a statement can spend a while
    /// in one function, so the wait is limited to twice the statement's time; its connection is not used again before
    /// it ends.
    async fn run(&self, query: String) -> Result<Rows, SqlError> {
        let database = Arc::clone(&self.database);
        let time_max = database.limits().time;
        let running = spawn_blocking(move || database.run(&query));
        match timeout(time_max.saturating_mul(2), running).await {
            Err(_) => Err(SqlError::Time { time: time_max }),
            Ok(Ok(result)) => result,
            Ok(Err(error)) => Err(SqlError::Unavailable { what: format!("the thread broke off: {error}") }),
        }
    }
}

impl fmt::Debug for SqlTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlTools").field("database", &self.database).finish_non_exhaustive()
    }
}

impl Toolbox for SqlTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn outage(&self) -> Option<String> {
        self.outage.get().cloned()
    }

    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }

    /// The obstacle to a call belongs to its run; the database is shared.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let (tools, database) = (Arc::clone(&self.tools), Arc::clone(&self.database));
        Some(Arc::new(Self { tools, database, outage: OnceLock::new() }))
    }
}
