//! The tools of cases, and agents that are made for others.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_output::failure::Failure;
use planproof_output::progress;
use planproof_output::terminal::inline;
use planproof_suite::Case;
use planproof_trace::Tool;

use crate::kinds;

/// A fault of a case, in one line: its id comes from a file, and so may words of the fault.
pub fn fault_of_case(id: &str, error: &impl Display) -> Failure {
    Failure::usage(inline(&format!("case {id}: {error}")))
}

/// The tools of some cases, each name once.
pub fn tools_of_cases(cases: &[Arc<dyn Case>]) -> Result<Vec<Tool>, Failure> {
    let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
    for case in cases {
        let toolbox = case.toolbox().map_err(|error| fault_of_case(&case.card().id, &error))?;
        for tool in toolbox.tools().iter() {
            tools.entry(tool.name.clone()).or_insert_with(|| tool.clone());
        }
    }
    Ok(tools.into_values().collect())
}

/// Reports on stderr the faults of the agent's specifications if these are the tools, one per line; `find` returns
/// the tools and is only called if requirements are about calls.
pub fn warn_of_tools(
    name: &AgentSpec,
    find: impl FnOnce() -> Result<Vec<Tool>, Failure>,
) -> Result<(), Failure> {
    let specified = kinds::specifications(name)?;
    let concerned: Vec<_> = specified.iter().filter(|(_, automaton)| automaton.requires_of_calls()).collect();
    if concerned.is_empty() {
        return Ok(());
    }
    let tools = find()?;
    for (source, automaton) in concerned {
        for diagnostic in automaton.check_tools(&tools) {
            let help = diagnostic.help.map(|help| format!("; {help}")).unwrap_or_default();
            // Every diagnostic has at least one label.
            let line =
                format!("{source}, line {}: {}{help}", diagnostic.labels[0].span.line, diagnostic.message);
            progress::warn(&inline(&line));
        }
    }
    Ok(())
}
