//! The run store: events and verdicts in SQLite, appended as they happen.
