//! By what prompts for data of m&m's are known: whoever asks for queries, texts or tools writes these lines, and
//! whoever answers in a simulation looks for them. The prompts themselves belong to the suite.

/// What a prompt for queries begins with.
pub const QUERIES: &str = "You write requests that people would send to an assistant";

/// What a prompt for the texts of a plan begins with.
pub const REWRITING: &str = "A request and the chain of tool calls that solves it are below.";

/// What a prompt for tools that do what another does begins with.
pub const ALTERNATIVES: &str = "These are the tools of an assistant:\n";

/// What stands before a tool; behind it come its name, a colon, what it does, and in two sentences of their own what it
/// takes and gives.
pub const TOOL: &str = "- ";

/// What stands before what a tool takes, and before what it gives.
pub const TAKES_AND_GIVES: [&str; 2] = [" Takes ", ". Gives "];

/// How the line ends behind which a plan stands, as JSON in one line.
pub const PLAN: &str = "; <node-N>.KEY stands for what call N gives:\n";

/// What stands around the number of queries.
pub const COUNT: [&str; 2] = ["\nWrite ", " different requests"];

/// What stands before the query whose plan is rewritten; it ends before [`CALLS`].
pub const QUERY: &str = "\nRequest:\n";

/// What stands between a query and its plan.
pub const CALLS: &str = "\n\nCalls; <node-N>.KEY";

/// What stands around the calls whose texts are wanted, as `call 0, call 2`.
pub const WANTED: [&str; 2] = ["what is to be made: ", ". Keep each "];

/// What stands before the number of a call there.
pub const CALL: &str = "call ";

/// What stands around the name of the tool that others are to replace.
pub const REPLACED: [&str; 2] = ["could do the work of \"", "\" in some requests"];

/// The keys of the three answers.
pub const KEYS: [&str; 3] = ["requests", "texts", "alternatives"];
