//! The existing kinds of cases: a new one is registered here. What they need of the world, such as files, servers and
//! programs, is in a module for each.

mod apibank;
pub(crate) mod media;
mod options;
mod pages;
mod programs;
mod tptu;
mod travel;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use clap::CommandFactory as _;
use planproof_agents::{AgentSpec, most_similar};
use planproof_apibank::suite::ApiBank;
use planproof_mnms::Mnms;
use planproof_order::OrderSuite;
use planproof_order::synth::JudgeOptions;
use planproof_qa::gsm8k::Gsm8k;
use planproof_qa::questions::{Benchmark, Questions};
use planproof_scenario::Scenarios;
use planproof_suite::{AgentCard, Registry, Sequel, Suite};
use planproof_tptu::Tptu;
use planproof_travel::suite::TravelPlanner;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::select;

pub(crate) use options::{COMPAT, KeptOptions, SuiteArguments, SuiteValues, act_in_words, has, suites_with};

/// The commands that take options of suites.
const COMMANDS: [&str; 2] = ["bench", "score"];

/// The additional suites of this program. They are set once, before anything else happens.
static OWN: OnceLock<Vec<Arc<dyn Suite>>> = OnceLock::new();

/// Registers suites beside planproof's own.
///
/// # Errors
/// Two share a name, the classes of one are not in the order of their ranks, or its options are taken.
pub(crate) fn register(own: Vec<Arc<dyn Suite>>) -> Result<(), Failure> {
    if own.is_empty() {
        return Ok(());
    }
    // The registry is made only to have names and ranks checked once, so that `registry` below cannot fail.
    let all = ours(JudgeOptions::default()).into_iter().chain(own.iter().cloned()).collect();
    let all = Registry::new(all).map_err(|error| Failure::usage(error.to_string()))?;
    let root = Arguments::command();
    let commands: Vec<_> = COMMANDS.iter().filter_map(|name| root.find_subcommand(name)).collect();
    options::must_be_usable(&all, &commands)?;
    OWN.set(own).map_err(|_| Failure::usage("suites are registered once, before anything else"))
}

/// The suites. `judge` defines the failures of an order.
pub(crate) fn registry(judge: JudgeOptions) -> Registry {
    let mut all = ours(judge);
    all.extend(OWN.get().into_iter().flatten().cloned());
    Registry::new(all).expect("suites have names and ranks of their own, as `register` has seen")
}

/// The suites that come with planproof.
fn ours(judge: JudgeOptions) -> Vec<Arc<dyn Suite>> {
    vec![
        Arc::new(OrderSuite::new(judge)),
        Arc::new(Gsm8k::default()),
        Arc::new(Questions::new(Benchmark::HotpotQa).with_pages(pages::opener())),
        Arc::new(Questions::new(Benchmark::TriviaQa).with_pages(pages::opener())),
        Arc::new(Mnms::default().with_programs(programs::runner()).with_media(media::opener())),
        Arc::new(ApiBank::default().with_folders(apibank::reader())),
        Arc::new(Tptu::new().with_tools(tptu::tools())),
        Arc::new(scenarios()),
        Arc::new(TravelPlanner::default().with_tables(travel::open()).with_folders(travel::reader())),
    ]
}

/// Cases of one's own. Their files may name other files.
pub(crate) fn scenarios() -> Scenarios {
    Scenarios::default().with_files(|path| {
        select::read_text(Path::new(path)).map_err(|failure| failure.into_case_error().what)
    })
}

/// The suite of that name.
pub(crate) fn find(name: &str, judge: JudgeOptions) -> Result<Arc<dyn Suite>, Failure> {
    let registry = registry(judge);
    registry.find(name).map(Arc::clone).map_err(|error| {
        let known: Vec<&str> = registry.iter().map(|suite| suite.name()).collect();
        Failure::usage(match most_similar(name, &known) {
            Some(meant) => format!("there is no suite `{name}`: did you mean {meant}?"),
            None => error.to_string(),
        })
    })
}

/// The sequels that campaigns of the suite of that name can have; none if there is no such suite.
pub(crate) fn sequels_of(name: &str) -> Vec<Arc<dyn Sequel>> {
    registry(JudgeOptions::default()).find(name).map(|suite| suite.sequels()).unwrap_or_default()
}

/// The agent as this suite runs it: with the options that it adds to the name, so that a resumed campaign has them too.
///
/// # Errors
/// The agent cannot be run on cases of the suite.
pub(crate) fn fitted(suite: &dyn Suite, agent: &AgentSpec) -> Result<AgentSpec, Failure> {
    let kind = agent.kind();
    let registry = registry(JudgeOptions::default());
    let mut others = registry.iter().filter(|other| other.name() != suite.name());
    if let Some(other) = others.find(|other| other.own_kinds().contains(&kind)) {
        return Err(Failure::usage(format!(
            "{kind} is for {}, whose tools it works with: {agent} cannot be run on {}",
            other.name(),
            suite.name()
        )));
    }
    let option = |name: &str| agent.option_written(name);
    let card = AgentCard { kind, name: agent.as_str(), option: &option };
    let added = suite.agent_options(card).map_err(Failure::from)?;
    match added.is_empty() {
        true => Ok(agent.clone()),
        false => agent.with_options(&added).map_err(|error| Failure::usage(error.to_string())),
    }
}
