//! The kinds of cases that there are: a new one is registered here.

use std::sync::Arc;

use planproof_mnms::Mnms;
use planproof_order::OrderSuite;
use planproof_order::synth::JudgeOptions;
use planproof_qa::gsm8k::Gsm8k;
use planproof_suite::{Registry, Suite};

use crate::failure::Failure;

/// The suites. `judge` says what counts as a failure of an order.
pub(crate) fn registry(judge: JudgeOptions) -> Registry {
    let suites: Vec<Arc<dyn Suite>> = vec![Arc::new(OrderSuite::new(judge)), Arc::new(Gsm8k), Arc::new(Mnms)];
    Registry::new(suites).expect("the suites of planproof have names and ranks of their own")
}

/// The suite of that name.
pub(crate) fn find(name: &str, judge: JudgeOptions) -> Result<Arc<dyn Suite>, Failure> {
    registry(judge).find(name).map(Arc::clone).map_err(|error| Failure::usage(error.to_string()))
}
