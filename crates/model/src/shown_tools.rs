//! Tools by the names under which frameworks present them to a model.
//!
//! Some put a server's name or a digest of its URL in front of a tool's own name, change its letter case, or shorten
//! it and append a digest. The description stays.

use planproof_trace::Tool;

/// Which of our own tools a presented tool is: by its exact name, else by the end of its name (the longest match),
/// else by a description that it contains.
pub fn own_place(own: &[Tool], shown: &Tool) -> Option<usize> {
    by_name(own, &shown.name).or_else(|| {
        let mut found = own.iter().enumerate().filter(|(_, tool)| describes(shown, &tool.description));
        // A description that two of our tools share identifies neither.
        found.next().filter(|_| found.next().is_none()).map(|(place, _)| place)
    })
}

/// Which of our own tools a model's call means, if it was presented these tools.
pub fn own_place_of_call(own: &[Tool], shown: &[Tool], name: &str) -> Option<usize> {
    match shown.iter().find(|tool| tool.name == name) {
        Some(shown) => own_place(own, shown),
        None => by_name(own, name),
    }
}

/// The index of one of our tools among the presented ones: by its exact name, else by the end of a name, else by its
/// description.
pub fn shown_place(shown: &[Tool], name: &str, description: &str) -> Option<usize> {
    let exact = shown.iter().position(|tool| tool.name == name);
    let suffix = || shown.iter().position(|tool| ends_with(&tool.name, name));
    exact.or_else(suffix).or_else(|| shown.iter().position(|tool| describes(tool, description)))
}

fn by_name(own: &[Tool], name: &str) -> Option<usize> {
    let exact = own.iter().position(|tool| tool.name == name);
    exact.or_else(|| {
        let ends = own.iter().enumerate().filter(|(_, tool)| ends_with(name, &tool.name));
        ends.max_by_key(|(_, tool)| tool.name.len()).map(|(place, _)| place)
    })
}

/// Whether a presented name ends with a tool's own, in any case, after a prefix that does not end in a letter or
/// digit.
fn ends_with(shown: &str, own: &str) -> bool {
    // From the end, and without copying: a model searches for tools that it may not have in every turn.
    let mut rest = plain(shown);
    let mut start = None;
    for (_, byte) in plain(own) {
        match rest.next() {
            Some((at, shown)) if shown.eq_ignore_ascii_case(&byte) => start = Some(at),
            _ => return false,
        }
    }
    // Frameworks put no letter between prefix and name.
    start.is_some_and(|at| at == 0 || !shown.as_bytes()[at - 1].is_ascii_alphanumeric())
}

/// The letters and digits of a name with their positions, the last one first.
fn plain(name: &str) -> impl Iterator<Item = (usize, u8)> {
    name.bytes().enumerate().rev().filter(|(_, byte)| byte.is_ascii_alphanumeric())
}

fn describes(shown: &Tool, description: &str) -> bool {
    !description.trim().is_empty() && shown.description.contains(description.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::without_arguments(name, description)
    }

    #[test]
    fn tools_are_known_by_name_by_its_end_and_by_description() {
        let own = [
            tool("feedMixing", "Does the task \"feed mixing\"."),
            tool("mixing", "Does the task \"mixing\"."),
            tool("restart_plan", "Clears the whole day."),
        ];
        for (shown, expected) in [
            (tool("mixing", ""), Some(1)),
            (tool("mcp_127_0_0_1_feed_mixing", ""), Some(0)),
            (tool("planproof__mixing", ""), Some(1)),
            (tool("server.restart_plan", ""), Some(2)),
            (tool("unmixing", ""), None),
            (tool("mcp_cut_off_8f3a", "Tool Description: Does the task \"mixing\"."), Some(1)),
            (tool("final_answer", "Ends the run."), None),
            (tool("", ""), None),
        ] {
            assert_eq!(own_place(&own, &shown), expected, "{shown:?}");
        }
        assert_eq!(own_place_of_call(&own, &[], "x-mixing"), Some(1));
        let shown = [tool("a_restart_plan_b", ""), tool("x_1", "Clears the whole day. Really.")];
        assert_eq!(shown_place(&shown, "restart_plan", "Clears the whole day."), Some(1));
        assert_eq!(shown_place(&shown, "report_conflict", "Reports."), None);
    }
}
