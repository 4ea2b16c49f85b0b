//! The kinds of cases: a new one is registered here. What they need of the world, such as files, servers and programs,
//! is in a module for each, with the commands that only one of them has.
//!
//! # Module layout
//!
//! - What suites need of the world: pages (`pages.rs`), programs (`programs.rs`), servers of m&m's (`media.rs`), the
//!   folders of API-Bank (`apibank.rs`) and TravelPlanner (`travel.rs`), tools of TPTU (`tptu.rs`), roles (`roles.rs`).
//! - Orders (`orders.rs`), cases of one's own (`scenarios.rs`) and data for m&m's (`mnms.rs`), with their commands.
//! - The options that suites declare, as arguments (`options.rs`, in written form `written.rs`), those about sequels
//!   (`sequels.rs`), and what a campaign keeps: in a form of its suite (`own.rs`), and in all (`kept.rs`).
//! - What a campaign asks of the command line: `world.rs`, with the version of the prompts (`prompts.rs`). A model that
//!   writes texts for commands: `helper_model.rs`. The options of all commands that these read: `globals.rs`.
//!
//! It must not know how a campaign is asked for or reported.

// As in the crate `output`; `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod apibank;
mod globals;
mod helper_model;
mod kept;
mod media;
pub mod mnms;
mod options;
pub mod orders;
mod own;
mod pages;
mod programs;
mod prompts;
mod roles;
pub mod scenarios;
mod sequels;
mod tptu;
mod travel;
mod world;
mod written;

use std::sync::{Arc, OnceLock};

use clap::Command;
use planproof_agents::{AgentSpec, most_similar};
use planproof_apibank::suite::ApiBank;
use planproof_campaign::Cases;
use planproof_mnms::Mnms;
use planproof_order::{DrawnCases, OrderSuite};
use planproof_output::failure::Failure;
use planproof_qa::gsm8k::Gsm8k;
use planproof_qa::questions::{Benchmark, Questions};
use planproof_suite::{AgentCard, Registry, Sequel, Suite};
use planproof_tptu::Tptu;
use planproof_travel::suite::TravelPlanner;
use serde_json::Value;

pub use globals::Globals;
pub use helper_model::HelperModel;
pub use kept::SuiteOptions;
pub use options::{COMPAT, KeptOptions, SuiteArguments, act_in_words, has, judges_by_compat, suites_with};
pub use own::{ORDER, OwnOptions};
pub use roles::shipped_roles;
pub use sequels::{SequelArguments, SequelOptions, sequels_asked};
pub use world::Outside;
pub use written::{Written, switch};

/// The commands that take options of suites.
const COMMANDS: [&str; 2] = ["bench", "score"];

/// The additional suites of this program. They are set once, before anything else happens.
static OWN: OnceLock<Vec<Arc<dyn Suite>>> = OnceLock::new();

/// Registers suites beside planproof's own, whose options must not be taken in this command line.
///
/// # Errors
/// Two share a name, the classes of one are not in the order of their ranks, or its options are taken.
pub fn register(own: Vec<Arc<dyn Suite>>, command: fn() -> Command) -> Result<(), Failure> {
    if own.is_empty() {
        return Ok(());
    }
    // The registry is made only to have names and ranks checked once, so that `registry` below cannot fail.
    let all = ours().into_iter().chain(own.iter().cloned()).collect();
    let all = Registry::new(all).map_err(|error| Failure::usage(error.to_string()))?;
    let root = command();
    let commands: Vec<_> = COMMANDS.iter().filter_map(|name| root.find_subcommand(name)).collect();
    options::must_be_usable(&all, &commands)?;
    OWN.set(own).map_err(|_| Failure::usage("suites are registered once, before anything else"))
}

/// The suites.
pub fn registry() -> Registry {
    let mut all = ours();
    all.extend(OWN.get().into_iter().flatten().cloned());
    Registry::new(all).expect("suites have names and ranks of their own, as `register` has seen")
}

/// The suites that come with planproof.
fn ours() -> Vec<Arc<dyn Suite>> {
    vec![
        Arc::new(OrderSuite::default()),
        Arc::new(Gsm8k::default()),
        Arc::new(Questions::new(Benchmark::HotpotQa).with_pages(pages::opener())),
        Arc::new(Questions::new(Benchmark::TriviaQa).with_pages(pages::opener())),
        Arc::new(Mnms::default().with_programs(programs::runner()).with_media(media::opener())),
        Arc::new(ApiBank::default().with_folders(apibank::reader())),
        Arc::new(Tptu::new().with_tools(tptu::tools())),
        Arc::new(scenarios::suite()),
        Arc::new(TravelPlanner::default().with_tables(travel::open()).with_folders(travel::reader())),
    ]
}

/// The suite of that name.
pub fn find(name: &str) -> Result<Arc<dyn Suite>, Failure> {
    let registry = registry();
    registry.find(name).map(Arc::clone).map_err(|error| {
        let known: Vec<&str> = registry.iter().map(|suite| suite.name()).collect();
        Failure::usage(match most_similar(name, &known) {
            Some(meant) => format!("there is no suite `{name}`: did you mean {meant}?"),
            None => error.to_string(),
        })
    })
}

/// The suite of a campaign of that suite, or of orders where it names none, with what the campaign keeps of it.
///
/// # Errors
/// This planproof does not know the suite, or it refuses an option.
pub fn of_campaign(
    name: Option<&str>,
    own: &OwnOptions,
    kept: &KeptOptions,
) -> Result<Arc<dyn Suite>, Failure> {
    let suite = match name {
        Some(name) => find(name)?,
        None => orders::suite_of(&own.orders())?,
    };
    Ok(suite.with_options(&kept.pairs()).map_err(Failure::from)?.unwrap_or(suite))
}

/// Makes the cases of a campaign again as a recording says they were made.
///
/// # Errors
/// It is not understood.
pub fn made_again(own: &OwnOptions, how: &Value) -> Result<Cases, Failure> {
    orders::make_again(&own.orders(), how)
}

/// Whether this is the name of a case that will be drawn, and not a case.
pub fn is_named_only(json: &str) -> bool {
    DrawnCases::named(json).is_some()
}

/// What there is to say of published predictions of a suite of which so many of `all` are programs.
pub fn note_on_predictions(suite: Option<&str>, programs: u64, all: u64) -> Option<String> {
    (programs > 0 && suite == Some(planproof_mnms::NAME))
        .then(|| format!("{programs} of {all} predictions are programs: score them with --format code"))
}

/// The sequels that campaigns of the suite of that name can have; none if there is no such suite.
pub(crate) fn sequels_of(name: &str) -> Vec<Arc<dyn Sequel>> {
    registry().find(name).map(|suite| suite.sequels()).unwrap_or_default()
}

/// The agent as this suite runs it: with the options that it adds to the name, so that a resumed campaign has them too.
///
/// # Errors
/// The agent cannot be run on cases of the suite.
pub fn fitted(suite: &dyn Suite, agent: &AgentSpec) -> Result<AgentSpec, Failure> {
    let kind = agent.kind();
    let registry = registry();
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
