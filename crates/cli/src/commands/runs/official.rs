//! The answers of a campaign as a file of predictions in the published form of its benchmark.

use std::collections::HashSet;
use std::io::Write;

use planproof_assembly::errors::failure;
use planproof_output::failure::Failure;
use planproof_output::{tell, terminal};
use planproof_store::{CampaignRow, Store, Unit};
use planproof_suite::PublishedPrediction;
use planproof_trace::{EndReason, EventKind};
use serde_json::{Value, json};

use crate::stored;

/// Writes the prediction of one run of each case, in the order of the cases, which some evaluators go by: also of a run
/// that is not finished, as one without an answer.
///
/// # Errors
/// The suite or a case has no published form, or a run is not what was written.
pub(super) fn write(
    store: &Store,
    campaign: &CampaignRow,
    unsealed: &HashSet<Unit>,
    repeat: u32,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if repeat >= campaign.repeats {
        return Err(Failure::usage(format!(
            "--repeat is {repeat}; each case of campaign {} is run {} times, counted from 0",
            campaign.id, campaign.repeats
        )));
    }
    let options = stored::options(campaign)?;
    let (mut whole, mut empty, mut programs, mut all) = (None, 0u64, 0u64, 0u64);
    let mut files: HashSet<String> = HashSet::new();
    for row in store.case_summaries(&campaign.id)? {
        let unit = Unit { ordinal: row?.ordinal, repeat };
        // One run at a time, because the traces of a large campaign may not fit into memory.
        let (case, run) = stored::load_one(store, campaign, &options, unit)?;
        let id = &case.card().id;
        if unsealed.contains(&unit) {
            let what = format!("the run of case {id} is not the one that was sealed");
            return Err(failure(planproof_campaign::damaged(campaign, &what)));
        }
        let events = run.as_ref().map_or(&[][..], |(_, trace)| &trace.events);
        let prediction = case.published_prediction(events).ok_or_else(|| {
            Failure::usage(format!(
                "there is no published form of predictions for {} of the suite {}: --format verdicts and --format traces \
                 write what was judged",
                terminal::inline(id),
                options.kept.suite.as_deref().unwrap_or("order")
            ))
        })?;
        let said_nothing = match events.last().map(|event| &event.kind) {
            Some(EventKind::End(end)) => matches!(end, EndReason::Unscored { .. }),
            _ => true,
        };
        (all, empty) = (all + 1, empty + u64::from(said_nothing));
        match prediction {
            PublishedPrediction::Line(line) => {
                programs += u64::from(line["prediction"].is_string());
                files.extend(line["file"].as_str().map(str::to_owned));
                writeln!(out, "{line}")?;
            }
            PublishedPrediction::Part(part) => {
                PublishedPrediction::add_part(whole.get_or_insert_with(|| json!({})), part);
            }
        }
    }
    if let Some::<Value>(whole) = whole {
        writeln!(out, "{whole}")?;
    }
    if empty > 0 {
        tell!(
            "{empty} of {all} predictions are empty: their runs are not finished, or say nothing about the agent"
        );
    }
    if !files.is_empty() {
        tell!(
            "the published evaluator fails on files of which it has no prediction: give it a folder with the {} files that \
             are named here and no others",
            files.len()
        );
    }
    if let Some(note) = planproof_doors::note_on_predictions(options.kept.suite.as_deref(), programs, all) {
        tell!("{note}");
    }
    Ok(())
}
