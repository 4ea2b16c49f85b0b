//! Campaigns of orders as they are kept.

use std::sync::Arc;

use planproof_order::{OrderOptions, OrderSuite};
use planproof_output::failure::Failure;
use planproof_suite::Suite;

/// The options of a command line that judges in this way, without defaults.
pub(crate) fn judging_in_words(options: &OrderOptions) -> Vec<&'static str> {
    let judging = [
        ("--allow-repeats", !options.repeated_fails),
        ("--allow-distractors", !options.distractor_fails),
        ("--fail-at-once", options.at_once_fails),
    ];
    judging.into_iter().filter(|(_, is_set)| *is_set).map(|(option, _)| option).collect()
}

/// The suite of a campaign that keeps these.
///
/// # Errors
/// The options make no sense.
pub(crate) fn suite_of(options: &OrderOptions) -> Result<Arc<dyn Suite>, Failure> {
    let suite = OrderSuite { drawn: options.drawn()?.map(Arc::new), ..OrderSuite::new(options.judge()) };
    Ok(Arc::new(suite))
}
