//! `planproof demo`: the main job, without a key or a network.

use std::collections::HashSet;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use planproof_agents::{Agent, FunctionCallingAgent, RunLimits};
use planproof_bench::{
    AgentUnderTest, Campaign, Finding, Report, ReportInput, SimKind, SimModel, SolverMeter, pick_findings,
};
use planproof_synth::{Case, JudgeOptions, Options, SynthesisCounts, Synthesizer, TopicBank, Wordings};
use tokio_util::sync::CancellationToken;

use super::{print_json, runtime};
use crate::arguments::Global;
use crate::failure::{ExitCode, Failure};
use crate::render::{self, Marking};
use crate::select;

/// Cases of the demonstration, the same for each agent.
const CASES: u64 = 200;
/// The model whose findings are shown.
const SHOWN: SimKind = SimKind::Careless;

pub(crate) fn run(global: &Global) -> Result<ExitCode, Failure> {
    let options = Options { actions_min: 3, actions_max: 6, ..Options::default() };
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())?;
    let mut solver = SolverMeter::default();
    let mut counts = SynthesisCounts::default();
    let start = Instant::now();
    let cases: Arc<[Case]> = (0..CASES)
        .map(|index| synthesizer.case(global.seed, index, &mut counts, &mut solver))
        .collect::<Result<Vec<Case>, _>>()?
        .into();
    let synthesis = start.elapsed();
    let runtime = runtime()?;
    let mut reports = Vec::new();
    let mut shown = Vec::new();
    for kind in SimKind::ALL {
        let name = format!("tools@sim/{}", kind.as_str());
        let campaign = campaign(&name, kind, &cases, global.seed)?;
        let mut outcomes = Vec::new();
        runtime.block_on(campaign.run(None, &HashSet::new(), &CancellationToken::new(), |outcome| {
            outcomes.push(outcome);
        }))?;
        outcomes.sort_by_key(|outcome| outcome.ordinal);
        let report = Report::new(ReportInput {
            agent: &name,
            model: campaign.agent.model.as_deref(),
            simulated: true,
            cases: &cases,
            outcomes: &outcomes,
            solver,
            synthesis,
            cost: None,
            ended_by: None,
        });
        if kind == SHOWN {
            shown = outcomes;
        }
        reports.push(report);
    }
    if global.json {
        print_json(&reports)?;
        return Ok(ExitCode::Passed);
    }
    let findings = pick_findings(&cases, &shown, 3);
    print(&reports, &findings, global)?;
    Ok(ExitCode::Passed)
}

fn campaign(name: &str, kind: SimKind, cases: &Arc<[Case]>, seed: u64) -> Result<Campaign, Failure> {
    let agent = FunctionCallingAgent::new(Arc::new(SimModel::new(kind)))
        .ok_or_else(|| Failure::outside("a simulated model without tool calls"))?;
    Ok(Campaign {
        id: "demo".to_owned(),
        agent: AgentUnderTest {
            agent: Agent::FunctionCalling(agent),
            name: name.to_owned(),
            model: Some(format!("sim/{}", kind.as_str())),
            simulated: true,
        },
        cases: Arc::clone(cases),
        seed,
        limits: RunLimits::default(),
        judge: JudgeOptions::default(),
        concurrency: NonZeroUsize::MIN.saturating_add(15),
        token: select::random_bytes,
    })
}

fn print(reports: &[Report], findings: &[Finding<'_>], global: &Global) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{CASES} planning tasks were written in English; the right orders of each are known. Six simulated models did them,\n\
         each in the same function-calling loop. SIMULATIONS: the figures say nothing of any real model.\n"
    )?;
    writeln!(out, "{}", render::comparison(reports))?;
    writeln!(
        out,
        "\nThe smallest failures of tools@sim/{}, with the violated words marked:\n",
        SHOWN.as_str()
    )?;
    for (place, finding) in findings.iter().enumerate() {
        let calls: Vec<&str> = finding.verdict.calls.iter().map(planproof_synth::ActionId::as_str).collect();
        let again = format!(
            "planproof synth --actions 3..6 --seed {} --first {} --count 1 | planproof check --case - --calls {}",
            global.seed,
            finding.ordinal,
            calls.join(",")
        );
        writeln!(out, "{}", render::finding(place + 1, finding, &again, Marking::for_stdout()))?;
    }
    writeln!(
        out,
        "Next: test your own agent.\n  \
         planproof test tools@openai/MODEL --cases 50          a model, with OPENAI_API_KEY (and OPENAI_BASE_URL)\n  \
         planproof test \"command:python my_agent.py\" --cases 50   any program that takes its tools over MCP from PLANPROOF_MCP_URL"
    )?;
    Ok(())
}
