//! What is odd about a world with a state: values that never change, and lines that can never apply.

use std::collections::{BTreeSet, HashSet, VecDeque};

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{CallWorld as _, RuleSet, UntriedValues};

use super::loose::LooseWorld;
use super::searched::sources;
use crate::limits::STATES_MAX;
use crate::state::{Source, Values};
use crate::world::AnsweringTool;

/// The oddities of a world, in words. `calls` are those among which right sessions are looked for, and `untried` what
/// is not among them.
pub(crate) fn oddities(
    tools: &[AnsweringTool],
    rules: &RuleSet,
    beginning: &Values,
    calls: &[SampleCall],
    untried: &[UntriedValues],
) -> Vec<String> {
    let mut found = odd_values(tools, beginning);
    let matters = |tool: &AnsweringTool| untried.iter().any(|it| it.tool == tool.tool.name);
    // What was not tried may be what a line needs.
    if !tools.iter().any(|tool| !tool.lines().is_empty() && matters(tool)) {
        found.extend(odd_lines(tools, rules, beginning, calls));
    }
    found
}

/// Values that nothing changes, or that nothing depends on.
fn odd_values(tools: &[AnsweringTool], beginning: &Values) -> Vec<String> {
    let lines = || tools.iter().flat_map(AnsweringTool::lines);
    let changed: BTreeSet<&str> =
        lines().flat_map(|line| &line.effects).map(|effect| effect.name.as_str()).collect();
    let needed = lines().flat_map(|line| &line.needs).map(|need| need.name.as_str());
    let quoted = lines().flat_map(sources).filter_map(|source| match source {
        Source::State(name) => Some(name.as_str()),
        Source::Literal(_) | Source::Argument(_) => None,
    });
    let used: BTreeSet<&str> = needed.chain(quoted).collect();
    beginning
        .keys()
        .filter_map(|name| match (used.contains(name.as_str()), changed.contains(name.as_str())) {
            (true, true) => None,
            (true, false) => Some(format!("`{name}` never changes: no line of the world sets it")),
            (false, true) => {
                Some(format!("`{name}` never matters: no line of the world needs or returns it"))
            }
            (false, false) => Some(format!("no line of the world has to do with `{name}`")),
        })
        .collect()
}

/// Lines that never answer, or whose needs never hold, whatever is called. None is named unless all states were looked
/// at that the world can come into.
fn odd_lines(
    tools: &[AnsweringTool],
    rules: &RuleSet,
    beginning: &Values,
    calls: &[SampleCall],
) -> Vec<String> {
    let world = LooseWorld::new(tools, rules, beginning, calls);
    let start = LooseWorld::state(beginning);
    let mut seen = HashSet::from([world.memory(&start)]);
    let mut open = VecDeque::from([start]);
    let mut answered: HashSet<(&str, usize)> = HashSet::new();
    let mut applied: HashSet<(&str, usize)> = HashSet::new();
    while let Some(values) = open.pop_front() {
        for call in calls {
            for ((line, applies), _, after) in world.outcomes_by_line(&values, call) {
                if let Some(line) = line {
                    answered.insert((&call.tool, line));
                    if applies {
                        applied.insert((&call.tool, line));
                    }
                }
                if seen.insert(world.memory(&after)) {
                    if seen.len() > STATES_MAX {
                        return Vec::new();
                    }
                    open.push_back(after);
                }
            }
        }
    }
    let mut found = Vec::new();
    for tool in tools {
        let name = tool.tool.name.as_str();
        // Where no call of a tool is known, nothing is known of its lines.
        if !calls.iter().any(|call| call.tool == name) {
            continue;
        }
        for line in 0..tool.lines().len() {
            let number = line + 1;
            if !answered.contains(&(name, line)) {
                found.push(format!("line {number} of the world of `{name}` can never apply"));
            } else if !applied.contains(&(name, line)) {
                found.push(format!("what line {number} of the world of `{name}` needs never holds"));
            }
        }
    }
    found
}
