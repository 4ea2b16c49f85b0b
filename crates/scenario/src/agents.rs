//! Simulated planners of drawn cases, which show that their rules matter.

use planproof_suite::{Case as _, CaseError, Gold, GoldCall, SuiteAgent};

use crate::case::Scenario;
use crate::line::LineCall;
use crate::shared::Shared;

/// Makes all calls that are asked for, in the order of mention.
const AT_ONCE: &str = "at-once";
/// Acts as a right agent, and then does what the results forbid.
const UNCONDITIONAL: &str = "unconditional";

/// Acts as a right agent until the user says more, and does no more.
const FIRST_MESSAGE: &str = "first-message";

/// Takes the world for one in which everything that calls need is there.
const IGNORES_STATE: &str = "ignores-state";

pub(crate) static AGENTS: [SuiteAgent; 4] = [
    SuiteAgent {
        name: IGNORES_STATE,
        about: "makes the calls that would be right if no call needed anything of the state",
    },
    SuiteAgent {
        name: FIRST_MESSAGE,
        about: "makes the calls of a right agent until the user says more, and does no more",
    },
    SuiteAgent {
        name: AT_ONCE,
        about: "makes the calls of a drawn case in the order of mention, whatever comes of them",
    },
    SuiteAgent {
        name: UNCONDITIONAL,
        about: "makes the calls of a right agent, then those that are asked for and must not be made",
    },
];

/// Whether an agent has something to do in a case.
///
/// # Errors
/// The case was not drawn from rules, and the agent plays in such cases alone.
pub(crate) fn must_play(case: &Scenario, agent: &str) -> Result<(), CaseError> {
    if case.line.drawn.is_some() || ![AT_ONCE, UNCONDITIONAL].contains(&agent) {
        return Ok(());
    }
    Err(CaseError::new(format!(
        "case {}: {agent} plays in cases that are drawn from rules, of which it is known in which order the query mentions \
         the calls; name another agent, or draw cases: planproof test {agent} --rules FILE --tools SOURCE",
        case.line.id
    )))
}

/// The calls of an agent.
pub(crate) fn act(case: &Scenario, agent: &str) -> Option<Result<Gold, CaseError>> {
    if !AGENTS.iter().any(|it| it.name == agent) {
        return None;
    }
    if agent == FIRST_MESSAGE {
        let gold = case.gold().map(|gold| {
            let first = gold.turns.first().copied().unwrap_or(gold.calls.len());
            Gold { calls: gold.calls.into_iter().take(first).collect(), ..gold }
        });
        return Some(gold.ok_or_else(|| CaseError::new("no right session of this case is known")));
    }
    if agent == IGNORES_STATE {
        let gold = without_needs(case).map(|case| case.gold());
        return Some(gold.and_then(|gold| gold.ok_or_else(|| CaseError::new("no session would be right"))));
    }
    let Some(drawn) = &case.line.drawn else {
        return must_play(case, agent).err().map(Err);
    };
    // Where tools fail, a right agent also makes the calls that fail.
    let mut gold = match agent {
        UNCONDITIONAL => match case.gold() {
            Some(gold) => gold,
            None => return Some(Err(CaseError::new("no right session of this case is known"))),
        },
        _ => Gold { answer: "Done.".to_owned(), ..Gold::default() },
    };
    for LineCall { tool, arguments } in &drawn.asked {
        let is_same = |call: &GoldCall| call.tool == *tool && call.arguments == *arguments;
        let asked =
            drawn.asked.iter().filter(|call| call.tool == *tool && call.arguments == *arguments).count();
        if agent == AT_ONCE || gold.calls.iter().filter(|call| is_same(call)).count() < asked {
            gold.calls.push(GoldCall { tool: tool.clone(), arguments: arguments.clone() });
        }
    }
    Some(Ok(gold))
}

/// The case in a world that refuses no call because of its state.
fn without_needs(case: &Scenario) -> Result<Scenario, CaseError> {
    let mut line = case.line.clone();
    for tool in line.tools.iter_mut().map(Shared::own) {
        // What only refuses is not there, and what needs something does not.
        tool.answers.retain(|answer| answer.needs.is_empty() || answer.fails.is_none());
        for answer in &mut tool.answers {
            (answer.needs, answer.otherwise) = (serde_json::Map::new(), None);
        }
    }
    Scenario::new(line)
}
