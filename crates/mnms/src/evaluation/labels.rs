//! The labels of a plan, by which it is compared.

/// The labels of a plan, each list in the order of its calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// The tools, with `_` for blanks.
    pub tools: Vec<String>,
    /// Each tool with the names of its arguments.
    pub argnames: Vec<String>,
    /// Each tool with its arguments and their values.
    pub argvalues: Vec<String>,
    /// Pairs of tools in which the second follows the first or uses its result.
    pub edges: Vec<String>,
}

/// The separator between the parts of a label.
pub(super) const BETWEEN: &str = "--";

/// A tool with names or values, as texts in order.
pub(super) fn joined(tool: &str, mut parts: Vec<String>) -> String {
    parts.sort_unstable();
    let mut label = tool.to_owned();
    for part in parts {
        label.push_str(BETWEEN);
        label.push_str(&part);
    }
    label
}
