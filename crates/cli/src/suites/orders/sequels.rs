//! The sequels that a command line about orders asks for.

use planproof_order::{DissectOptions, ShrinkOptions};

use crate::arguments::{CompatChoice, DISSECT, DissectArguments, SHRINK, ShrinkArguments, TestArguments};
use crate::stored_options::SequelOptions;

/// How the sequels of the campaign are done, by the options that ask for them.
pub(crate) fn asked(test: &TestArguments) -> SequelOptions {
    // All keys of these are strings, so they can be written.
    let dissect = dissecting(&test.dissect).map(|how| serde_json::to_value(how).unwrap_or_default());
    let shrink = shrinking(&test.shrink).map(|how| serde_json::to_value(how).unwrap_or_default());
    let both = [(DISSECT, dissect), (SHRINK, shrink)].into_iter();
    both.filter_map(|(option, how)| Some((option.to_owned(), how?))).collect()
}

/// How failures are dissected; `None` where they are not.
fn dissecting(arguments: &DissectArguments) -> Option<DissectOptions> {
    let default = DissectOptions::default();
    arguments.dissect.then(|| DissectOptions {
        variants: arguments.dissect_k.unwrap_or(default.variants),
        reruns: arguments.dissect_reruns.unwrap_or(default.reruns),
        errors_max: arguments.dissect_max,
        original: arguments.compat == Some(CompatChoice::Original),
    })
}

/// How failures are shrunk; `None` where they are not.
fn shrinking(arguments: &ShrinkArguments) -> Option<ShrinkOptions> {
    let default = ShrinkOptions::default();
    let runs = arguments.shrink_repeat.unwrap_or(default.runs);
    let runs_max = arguments.shrink_runs.unwrap_or(default.runs_max);
    let failures_max = arguments.shrink_max.unwrap_or(default.failures_max);
    let options = ShrinkOptions { runs, failures: runs / 2 + 1, runs_max, failures_max, ..default };
    arguments.shrink.then_some(options)
}
