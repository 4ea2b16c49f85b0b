//! The arguments of `planproof limit`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use planproof_doors::orders::arguments::ShapeArguments;
use planproof_order::synth::ACTIONS_MAX;
use planproof_output::values::whole;

use crate::arguments::{BEGINNING, CampaignArguments, SHAPE};
use crate::values::percent;

/// Options that say how a limit is searched for.
pub(crate) const SEARCHING: [&str; 7] =
    ["from", "to", "threshold", "cases_per_pair", "cases_max", "no_early_stop", "past_limit"];

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  planproof limit tools@sim/careless --to 6\n  \
                  planproof limit react@openai/gpt-5-mini --max-cost 5 --html limit.html\n  \
                  planproof limit 'command:python agent.py' --at-least 4\n\n\
                  Exit status: 0 the search was completed (with --at-least: and the limit is at least that); 1 the \
                  limit is below --at-least; 2 usage, configuration or input error; 3 the search was not completed, \
                  or a replay differs from its recording.",
    mut_arg("agent", |arg| arg.required_unless_present_any(BEGINNING)),
    mut_arg("resume", |arg| arg.conflicts_with_all(SHAPE).conflicts_with_all(SEARCHING).conflicts_with_all(["topics", "compat"]))
)]
pub(crate) struct LimitArguments {
    /// Smallest number of actions.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = whole(2, ACTIONS_MAX as u32))]
    pub(crate) from: u32,
    /// Largest number of actions.
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = whole(2, ACTIONS_MAX as u32))]
    pub(crate) to: u32,
    /// Pass rate that counts as good enough; the paper uses 20%.
    ///
    /// The limit is the last number of actions before the pass rate falls below the threshold.
    #[arg(long, default_value = "80%", value_name = "P%", value_parser = parse_percent)]
    pub(crate) threshold: f64,
    /// Cases per pair of actions: n actions get N * n * (n - 1) / 2 cases, up to `--cases-max`.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(19), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) cases_per_pair: NonZeroU32,
    /// Maximum number of cases for one number of actions.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(299), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) cases_max: NonZeroU32,
    /// Run all cases of each number of actions, even once its pass rate is clearly above or below the threshold.
    #[arg(long)]
    pub(crate) no_early_stop: bool,
    /// Continue beyond the limit, up to `--to`.
    ///
    /// The paper's plots need this.
    #[arg(long)]
    pub(crate) past_limit: bool,
    /// Exit with 1 if the limit is below this number.
    #[arg(long, value_name = "N", value_parser = whole(2, ACTIONS_MAX as u32))]
    pub(crate) at_least: Option<u32>,
    #[command(flatten)]
    pub(crate) shape: ShapeArguments,
    #[command(flatten)]
    pub(crate) campaign: CampaignArguments,
    /// Maximum number of findings (distinct failures) shown.
    #[arg(help_heading = "Results", long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
    pub(crate) findings: usize,
    /// Write an HTML report with the plots and the failures in full.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = percent(text)?;
    // Each pass rate would be on the same side of 100 %.
    if percent >= 100.0 {
        return Err("write a percentage above 0 and below 100, as in 80%".to_owned());
    }
    Ok(percent / 100.0)
}
