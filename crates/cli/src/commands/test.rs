//! `planproof test`: an agent on synthesised orders, on cases of one's own, or on cases drawn from rules.

use std::path::Path;

use planproof_output::failure::{ExitCode, Failure};

use super::campaign::{CampaignRequest, named_agent, run_request};
use crate::arguments::{Global, TestArguments};
use crate::suites::orders::TestCases;
use crate::suites::scenarios::{RuleCases, ScenarioCases};

pub(crate) fn run(arguments: &TestArguments, global: &Global) -> Result<ExitCode, Failure> {
    let own = arguments.scenarios.as_deref().map(|file| ScenarioCases::new(file, &arguments.all));
    let drawn = arguments
        .of_rules
        .rules
        .is_some()
        .then(|| RuleCases::new(&arguments.of_rules, arguments.cases, &arguments.all, global));
    let orders = TestCases::new(arguments, global);
    let request = CampaignRequest {
        campaign: &arguments.campaign,
        agent: named_agent(&arguments.campaign)?,
        plan: match (&own, &drawn) {
            (Some(cases), _) => cases.plan(),
            (None, Some(cases)) => cases.plan(),
            (None, None) => orders.plan()?,
        },
        all: &arguments.all,
        taken: taken_files(arguments),
        shrink_to: arguments.shrink_to.as_deref(),
    };
    run_request(&request, global)
}

/// The files of the campaign itself, with the options that name them.
fn taken_files(arguments: &TestArguments) -> Vec<(&'static str, &Path)> {
    let TestArguments { from, scenarios, draw, .. } = arguments;
    let rules = &arguments.of_rules.rules;
    let named =
        [("--from", from), ("--topics", &draw.shape.topics), ("--scenarios", scenarios), ("--rules", rules)];
    let named = named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
    let files = arguments.campaign.taken_files().into_iter().chain(named);
    files.chain(arguments.all.gate.file().map(|file| ("--baseline", file))).collect()
}
