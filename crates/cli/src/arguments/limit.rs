//! The arguments of `planproof limit`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use planproof_order::synth::ACTIONS_MAX;

use super::campaign::{BEGINNING, SHAPE};
use super::{CampaignArguments, ShapeArguments};
use crate::values::whole;

/// Options that say how a limit is searched for.
pub(super) const SEARCHING: [&str; 7] =
    ["from", "to", "threshold", "cases_per_pair", "cases_max", "no_early_stop", "past_limit"];

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the search came to its end (with --at-least: and the limit is at least that); 1 the \
                        limit is below --at-least; 2 usage, configuration or input error; 3 the search did not come to \
                        its end, or a replay differs from its recording.",
    mut_arg("agent", |arg| arg.required_unless_present_any(BEGINNING)),
    mut_arg("resume", |arg| arg.conflicts_with_all(SHAPE).conflicts_with_all(SEARCHING).conflicts_with("topics"))
)]
pub(crate) struct LimitArguments {
    /// The first number of actions.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = whole(2, ACTIONS_MAX as u32))]
    pub(crate) from: u32,
    /// The last number of actions.
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = whole(2, ACTIONS_MAX as u32))]
    pub(crate) to: u32,
    /// The limit is the last number of actions before fewer cases than this pass, in per cent; the paper asks for 20%.
    #[arg(long, default_value = "80%", value_name = "P%", value_parser = parse_percent)]
    pub(crate) threshold: f64,
    /// Cases for each pair of actions: n actions have N * n * (n - 1) / 2 cases.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(19), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) cases_per_pair: NonZeroU32,
    /// Most cases of one number of actions.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(299), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) cases_max: NonZeroU32,
    /// Run all cases of a number of actions, even once it is plain on which side of the threshold its rate is.
    #[arg(long)]
    pub(crate) no_early_stop: bool,
    /// Go on to the last number of actions even beyond the limit, as for the paper's figures.
    #[arg(long)]
    pub(crate) past_limit: bool,
    /// Exit with 1 if the limit is below this.
    #[arg(long, value_name = "N", value_parser = whole(2, ACTIONS_MAX as u32))]
    pub(crate) at_least: Option<u32>,
    #[command(flatten)]
    pub(crate) shape: ShapeArguments,
    #[command(flatten)]
    pub(crate) campaign: CampaignArguments,
    /// Write a page for a browser, with the drawings and the failures in full.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

fn parse_percent(text: &str) -> Result<f64, &'static str> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    number
        .ok()
        .filter(|percent| *percent > 0.0 && *percent < 100.0)
        .map(|percent| percent / 100.0)
        .ok_or("write a number of per cent between 0 and 100, as in 80%")
}
