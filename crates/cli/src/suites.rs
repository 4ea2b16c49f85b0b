//! The existing kinds of cases: a new one is registered here.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use planproof_agents::most_similar;
use planproof_apibank::suite::ApiBank;
use planproof_campaign::StoredOptions;
use planproof_mnms::Mnms;
use planproof_order::OrderSuite;
use planproof_order::synth::JudgeOptions;
use planproof_qa::gsm8k::Gsm8k;
use planproof_qa::questions::{Benchmark, Questions};
use planproof_scenario::Scenarios;
use planproof_suite::{CaseError, Registry, Suite};
use planproof_tptu::Tptu;
use planproof_travel::suite::TravelPlanner;

use crate::commands::campaign::{ORDER, OrderOptions};
use crate::failure::Failure;
use crate::media::MediaOfFile;
use crate::{pages, programs, select, tptu, travel};

/// The additional suites of this program. They are set once, before anything else happens.
static OWN: OnceLock<Vec<Arc<dyn Suite>>> = OnceLock::new();

/// Registers suites beside planproof's own.
///
/// # Errors
/// Two share a name, or the classes of one are not in the order of their ranks.
pub(crate) fn register(own: Vec<Arc<dyn Suite>>) -> Result<(), Failure> {
    if own.is_empty() {
        return Ok(());
    }
    // The registry is made only to have names and ranks checked once, so that `registry` below cannot fail.
    let all = ours(JudgeOptions::default()).into_iter().chain(own.iter().cloned()).collect();
    Registry::new(all).map_err(|error| Failure::usage(error.to_string()))?;
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
        Arc::new(Questions::new(Benchmark::HotpotQa)),
        Arc::new(Questions::new(Benchmark::TriviaQa)),
        Arc::new(Mnms::default().with_programs(programs::runner())),
        Arc::new(ApiBank::default()),
        Arc::new(Tptu::new().with_tools(tptu::tools())),
        Arc::new(scenarios()),
        Arc::new(TravelPlanner::default().with_tables(travel::open())),
    ]
}

/// Cases of one's own. Their files may name other files.
pub(crate) fn scenarios() -> Scenarios {
    Scenarios::default()
        .with_files(|path| select::read_text(Path::new(path)).map_err(|failure| failure.describe()))
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

/// The same suite, with tools that use the resources in a file.
pub(crate) fn with_media(suite: Arc<dyn Suite>, file: Option<&Path>) -> Result<Arc<dyn Suite>, Failure> {
    let Some(file) = file else { return Ok(suite) };
    if suite.name() != planproof_mnms::NAME {
        return Err(Failure::usage(format!(
            "--media is for the tools of {}, and {} has none of them",
            planproof_mnms::NAME,
            suite.name()
        )));
    }
    Ok(Arc::new(Mnms::with_tools(Arc::new(MediaOfFile::now(file)?))))
}

/// The same suite, with tools that search these pages.
pub(crate) fn with_pages(suite: Arc<dyn Suite>, source: Option<&str>) -> Result<Arc<dyn Suite>, Failure> {
    let Some(source) = source else { return Ok(suite) };
    let questions = questions(&*suite).ok_or_else(|| {
        Failure::usage(format!("--pages is for hotpotqa and triviaqa, not for {}", suite.name()))
    })?;
    Ok(Arc::new(questions.with_tools(pages::tools(source)?)))
}

/// The suite of that name, if it is one of questions whose answers pages hold.
fn questions(suite: &dyn Suite) -> Option<Questions> {
    let benchmarks = [Benchmark::HotpotQa, Benchmark::TriviaQa];
    benchmarks.into_iter().find(|it| it.name() == suite.name()).map(Questions::new)
}

/// The suite of a campaign.
pub(crate) fn of_campaign(options: &StoredOptions, order: &OrderOptions) -> Result<Arc<dyn Suite>, Failure> {
    if let Some(drawn) = order.drawn()? {
        let suite = OrderSuite { drawn: Some(Arc::new(drawn)), ..OrderSuite::new(order.judge()) };
        return Ok(Arc::new(suite));
    }
    let suite = find(options.suite.as_deref().unwrap_or(ORDER), order.judge())?;
    if let Some(source) = &order.pages {
        // Reports need no tools, so pages are opened, and errors reported, only when a run needs them.
        let (source, opened) = (source.clone(), OnceLock::new());
        let later = move || {
            let opened = opened.get_or_init(|| pages::tools(&source).map_err(Failure::into_case_error));
            opened.as_ref().map_err(CaseError::clone).and_then(|tools| tools())
        };
        return Ok(match questions(&*suite) {
            Some(questions) => Arc::new(questions.with_tools(Arc::new(later))),
            None => suite,
        });
    }
    match &order.media {
        None => Ok(suite),
        // The same holds for the file of servers, which is read only then.
        Some(file) if suite.name() == planproof_mnms::NAME => {
            Ok(Arc::new(Mnms::with_tools(Arc::new(MediaOfFile::later(file.clone())))))
        }
        Some(file) => with_media(suite, Some(file)),
    }
}
