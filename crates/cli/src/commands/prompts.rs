//! `planproof prompts`: the prompt that an agent asks for a plan with, to start one's own from.

use std::io::Write as _;

use planproof_agents::{AgentForm, AgentKind, AgentSpec, Placeholder, PlanningAgent, SubTaskAgent};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::terminal;
use serde_json::json;

use crate::arguments::{Global, PromptsArguments};

/// A model that nobody asks, for an agent that is named without one.
const NO_MODEL: &str = "sim/perfect";

pub(crate) fn run(arguments: &PromptsArguments, global: &Global) -> Result<ExitCode, Failure> {
    let named = &arguments.agent;
    let whole = if named.contains('@') { named.clone() } else { format!("{named}@{NO_MODEL}") };
    let agent = planproof_assembly::agent_spec(&whole)?;
    let (prompt, placeholders) = template(&agent, named)?;
    if global.json {
        let names = |is_needed: bool| -> Vec<&str> {
            placeholders.iter().filter(|it| it.is_needed == is_needed).map(|it| it.name).collect()
        };
        let document =
            json!({ "agent": named, "prompt": prompt, "must_have": names(true), "may_have": names(false) });
        print_json(&document)?;
    } else {
        write!(terminal::document(), "{prompt}")?;
    }
    Ok(ExitCode::Passed)
}

/// The prompt, and what one of the user's may have.
fn template(agent: &AgentSpec, named: &str) -> Result<(String, Vec<Placeholder>), Failure> {
    let refused = |why: &str| Err(Failure::usage(format!("{named} has no prompt in one file: {why}")));
    let AgentForm::Asking { kind, .. } = agent.form() else { return refused("it is not one of planproof's") };
    match kind {
        AgentKind::Planning(options) => {
            Ok((PlanningAgent::template(options.planning()), PlanningAgent::placeholders().to_vec()))
        }
        AgentKind::SubTasks(division, options) => {
            let options = options.sub_tasks();
            Ok((SubTaskAgent::template(*division, options), SubTaskAgent::placeholders(*division, options)))
        }
        AgentKind::Specified(..) | AgentKind::Pair(..) => {
            refused("it is made from a specification, which `planproof spec print` prints")
        }
        AgentKind::Team(_) => refused("its roles have prompts of their own, which docs/team.md describes"),
        AgentKind::Tools(..) | AgentKind::TwoStage(_) => {
            refused("plan, one-step, sequential and hierarchical have one")
        }
    }
}
