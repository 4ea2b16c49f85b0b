//! The sequels of a campaign that begins, goes on or is replayed.

use std::sync::Arc;

use planproof_campaign::{PlannedSequel, sequel_of};
use planproof_doors::SuiteOptions;
use planproof_output::failure::Failure;
use planproof_report::CommandLines;
use planproof_suite::{Concluded, Sequel};

use super::plan::CampaignPlan;
use super::prepared::Prepared;

/// A campaign that was not run yet, with its sequels.
pub(super) fn with_sequels(mut run: planproof_campaign::Prepared, of_suite: SuiteOptions) -> Prepared {
    run.sequels = of_suite.planned(&*run.suite);
    Prepared::new(run, of_suite)
}

/// The sequels of a campaign that goes on, among those that its suite has: those that were begun or kept, and those
/// that the command line asks for now, which are added to what it keeps.
pub(super) fn resumed_sequels(
    of_suite: &mut SuiteOptions,
    all: Vec<Arc<dyn Sequel>>,
    begun: Vec<(PlannedSequel, Concluded)>,
    plan: &CampaignPlan<'_>,
) -> Result<Vec<PlannedSequel>, Failure> {
    let asked = &plan.sequels;
    let mut begun: Vec<PlannedSequel> = begun.into_iter().map(|(planned, _)| planned).collect();
    let mut sequels = Vec::new();
    for sequel in all {
        let option = sequel.option();
        let place = begun.iter().position(|planned| planned.sequel.name() == sequel.name());
        let begun = place.map(|place| begun.swap_remove(place));
        // What was begun decides: it may have been requested only on an earlier resume, of which the campaign's own
        // options say nothing.
        let before = begun.as_ref().map(|planned| &planned.how).or_else(|| of_suite.sequels.get(option));
        let how = match (asked.get(option), before) {
            (Some(now), Some(before)) if now != before => {
                return Err(Failure::usage(format!(
                    "--{option}: the {} of the campaign was already started with other options; resume it without such \
                     options",
                    sequel.name()
                )));
            }
            (now, before) => before.or(now).cloned(),
        };
        let Some(how) = how else { continue };
        of_suite.sequels.insert(option.to_owned(), how.clone());
        sequels.push(PlannedSequel { sequel, how, begun: begun.and_then(|planned| planned.begun) });
    }
    Ok(sequels)
}

/// The campaign of a sequel cannot resume alone: its next cases follow from the one that led to it.
pub(super) fn must_be_asked_for(campaign: &str, commands: &CommandLines) -> Result<(), Failure> {
    let Some(parent) = sequel_of(campaign) else { return Ok(()) };
    Err(Failure::usage(format!(
        "{campaign} holds runs derived from the campaign {parent}: resume that one, `{}`",
        commands.resume(parent)
    )))
}
