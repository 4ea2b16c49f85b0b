//! One line of text for a trace.
