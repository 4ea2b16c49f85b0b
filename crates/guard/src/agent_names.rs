//! Names that coding agents have for tools of MCP servers: `mcp__SERVER__TOOL`, where the server can have `__` in its
//! own name. Rules say which reading is meant. Hooks and whoever reads the logs of these agents must agree on it.

use std::collections::HashSet;

use planproof_spec::rules::{Phase, RecordedEvent, RuleSet};

/// The tools that rules name, to read the names of agents by.
#[derive(Debug)]
pub struct AgentNames<'r> {
    known: HashSet<&'r str>,
    /// Bytes of the longest.
    longest: usize,
}

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameReading<'n> {
    /// The server, if the name is read as one with a server.
    pub server: Option<&'n str>,
    /// The tool.
    pub tool: &'n str,
    /// The rules name it.
    pub is_named: bool,
    /// The rules name another reading as well, so that the name can mean several of their tools.
    pub is_ambiguous: bool,
}

/// All readings of the name of a tool of a server, that with the shortest server first and the name as a whole last;
/// nothing for another name.
pub(crate) fn readings(name: &str) -> impl Iterator<Item = (Option<&str>, &str)> {
    let rest = name.strip_prefix("mcp__");
    let splits = rest.into_iter().flat_map(|rest| {
        rest.match_indices('_').filter_map(|(at, _)| {
            let (server, tool) = (rest.get(..at)?, rest.get(at..)?.strip_prefix("__")?);
            (!server.is_empty() && !tool.is_empty()).then_some((Some(server), tool))
        })
    });
    splits.chain(rest.map(|_| (None, name)))
}

/// The name that agents have for a tool of a server.
pub fn whole_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// What a name means where nothing says more: the server ends at the first `__` that leaves a tool.
pub fn plainest_reading(name: &str) -> (Option<&str>, &str) {
    readings(name).next().unwrap_or((None, name))
}

impl<'r> AgentNames<'r> {
    /// Those of these rules.
    pub fn of(rules: &'r RuleSet) -> Self {
        let known: HashSet<&str> = rules.tool_names().into_iter().collect();
        let longest = known.iter().map(|name| name.len()).max().unwrap_or(0);
        Self { known, longest }
    }

    /// What a name means: of its readings, the first that the rules name, or else the plainest.
    pub fn read<'n>(&self, name: &'n str) -> NameReading<'n> {
        // What is longer than every known name is none: a name may have as many readings as letters.
        let is_named = |(server, tool): &(Option<&str>, &str)| {
            tool.len() <= self.longest && self.known.contains(tool)
                || server.is_some_and(|server| {
                    server.len() + 1 + tool.len() <= self.longest
                        && self.known.contains(format!("{server}/{tool}").as_str())
                })
        };
        let mut named = readings(name).filter(is_named);
        let first = named.next();
        let (server, tool) = first.unwrap_or_else(|| plainest_reading(name));
        NameReading { server, tool, is_named: first.is_some(), is_ambiguous: named.next().is_some() }
    }

    /// The server and the tool of a call at a hook, whose name was read by the rules of another time.
    pub(crate) fn read_again(&self, server: &str, tool: &str) -> (Option<String>, String) {
        let name = whole_name(server, tool);
        let read = self.read(&name);
        (read.server.map(str::to_owned), read.tool.to_owned())
    }

    /// Replaces the name of each event by the server and the tool that it means, where the event names no server.
    /// Gives the number of calls whose name is ambiguous.
    pub fn apply(&self, events: &mut [RecordedEvent]) -> usize {
        let mut ambiguous = 0;
        for event in events.iter_mut().filter(|it| it.server.is_none() && it.tool.starts_with("mcp__")) {
            let read = self.read(&event.tool);
            ambiguous += usize::from(read.is_ambiguous && event.phase == Phase::Call);
            let (server, tool) = (read.server.map(str::to_owned), read.tool.to_owned());
            (event.server, event.tool) = (server, tool);
        }
        ambiguous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reading_that_rules_name_counts() {
        let text = "schema: planproof/rules/v1\nrules:\n\
            - {id: a, never: {call: my__shop/refund}}\n\
            - {id: b, never: {call: mcp__whole__name}}\n\
            - {id: c, never: {call: pay}}\n\
            - {id: d, never: {call: b__pay}}\n";
        let rules = RuleSet::read(text).expect("rules");
        let names = AgentNames::of(&rules);
        for (name, server, tool, is_named, is_ambiguous) in [
            ("mcp__my__shop__refund", Some("my__shop"), "refund", true, false),
            ("mcp__shop__refund", Some("shop"), "refund", false, false),
            ("mcp__x__y__z", Some("x"), "y__z", false, false),
            ("mcp__whole__name", None, "mcp__whole__name", true, false),
            ("mcp__a__pay", Some("a"), "pay", true, false),
            ("mcp__a__b__pay", Some("a"), "b__pay", true, true),
            ("mcp__s___pay", Some("s_"), "pay", true, false),
            ("mcp____pay", None, "mcp____pay", false, false),
            ("pay", None, "pay", false, false),
            ("mcp__", None, "mcp__", false, false),
        ] {
            let expected = NameReading { server, tool, is_named, is_ambiguous };
            assert_eq!(names.read(name), expected, "{name}");
        }
        assert_eq!(plainest_reading("mcp__my__shop__refund"), (Some("my"), "shop__refund"));
        assert_eq!(plainest_reading("refund"), (None, "refund"));
    }
}
