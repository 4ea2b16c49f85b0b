//! Marks of the prompts for data of m&m's: the author of a request for queries, texts or tools writes these lines,
//! and a simulation recognises them. The prompts themselves belong to the suite.

/// The beginning of a prompt for queries.
pub const QUERIES: &str = "You write requests that people would send to an assistant";

/// The beginning of a prompt for the texts of a plan.
pub const REWRITING: &str = "A request and the chain of tool calls that solves it are below.";

/// The beginning of a prompt for tools that are equivalent to another.
pub const ALTERNATIVES: &str = "These are the tools of an assistant:\n";

/// Precedes a tool; its name, a colon and its description follow, and then its inputs and outputs in a sentence each.
pub const TOOL: &str = "- ";

/// Precede a tool's inputs, and its outputs.
pub const TAKES_AND_GIVES: [&str; 2] = [" Takes ", ". Gives "];

/// The end of the line before a plan, which is JSON on one line.
pub const PLAN: &str = "; <node-N>.KEY stands for what call N gives:\n";

/// The text around the number of queries.
pub const COUNT: [&str; 2] = ["\nWrite ", " different requests"];

/// Precedes the query whose plan is rewritten; it ends before [`CALLS`].
pub const QUERY: &str = "\nRequest:\n";

/// Separates a query and its plan.
pub const CALLS: &str = "\n\nCalls; <node-N>.KEY";

/// The text around the calls whose texts are requested, as `call 0, call 2`.
pub const WANTED: [&str; 2] = ["what is to be made: ", ". Keep each "];

/// Precedes the number of a call there.
pub const CALL: &str = "call ";

/// The text around the name of the tool to be replaced.
pub const REPLACED: [&str; 2] = ["could do the work of \"", "\" in some requests"];

/// The keys of the three answers.
pub const KEYS: [&str; 3] = ["requests", "texts", "alternatives"];
