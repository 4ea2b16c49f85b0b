//! The kinds of cases that there are: a new one is registered here.

use std::path::Path;
use std::sync::Arc;

use planproof_mnms::Mnms;
use planproof_order::OrderSuite;
use planproof_order::synth::JudgeOptions;
use planproof_qa::gsm8k::Gsm8k;
use planproof_runner::StoredOptions;
use planproof_suite::{CaseError, Registry, Suite};

use crate::commands::campaign::{ORDER, OrderOptions};
use crate::failure::Failure;
use crate::media;

/// The suites. `judge` says what counts as a failure of an order.
pub(crate) fn registry(judge: JudgeOptions) -> Registry {
    let suites: Vec<Arc<dyn Suite>> =
        vec![Arc::new(OrderSuite::new(judge)), Arc::new(Gsm8k), Arc::new(Mnms::default())];
    Registry::new(suites).expect("the suites of planproof have names and ranks of their own")
}

/// The suite of that name.
pub(crate) fn find(name: &str, judge: JudgeOptions) -> Result<Arc<dyn Suite>, Failure> {
    registry(judge).find(name).map(Arc::clone).map_err(|error| Failure::usage(error.to_string()))
}

/// The same suite, with tools that work with what a file names.
pub(crate) fn with_media(suite: Arc<dyn Suite>, file: Option<&Path>) -> Result<Arc<dyn Suite>, Failure> {
    let Some(file) = file else { return Ok(suite) };
    if suite.name() != planproof_mnms::NAME {
        return Err(Failure::usage(format!(
            "--media is for the tools of {}, and {} has none of them",
            planproof_mnms::NAME,
            suite.name()
        )));
    }
    Ok(Arc::new(Mnms::with_tools(media::tools(file)?)))
}

/// The suite of a campaign.
pub(crate) fn of_campaign(options: &StoredOptions, order: &OrderOptions) -> Result<Arc<dyn Suite>, Failure> {
    let suite = find(options.suite.as_deref().unwrap_or(ORDER), order.judge())?;
    match with_media(Arc::clone(&suite), order.media.as_deref()) {
        Ok(suite) => Ok(suite),
        // Reports need no tools, so that it is an error first where a run does.
        Err(error) if suite.name() == planproof_mnms::NAME => {
            let what = error.describe();
            Ok(Arc::new(Mnms::with_tools(Arc::new(move |_, _| Err(CaseError::new(&what))))))
        }
        Err(error) => Err(error),
    }
}
