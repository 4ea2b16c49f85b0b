//! `planproof topics generate`: another topic bank from a model.

use planproof_order::synth::TopicBank;
use planproof_order::topics::{Dropped, Generated, TopicsWanted, generate_topics, prove_topics};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::progress;
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use serde_json::json;

use super::arguments::GenerateArguments;
use super::{NOTES_MAX, Out, note_in_order};
use crate::Globals;
use crate::helper_model::HelperModel;

pub(super) fn run(arguments: &GenerateArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let out = Out::open(&arguments.out)?;
    let helper = HelperModel::find(&arguments.model, &arguments.asking)?;
    let wanted = TopicsWanted { jobs: arguments.jobs, activities: arguments.activities, seed: global.seed };
    let bar = progress::bar(global.quiet, u64::from(wanted.jobs), 0);
    let generated = runtime()?.block_on(async {
        let stop = helper.stop();
        generate_topics(&helper.model, wanted, &stop, |_| bar.inc(1)).await
    });
    bar.finish_and_clear();
    helper.tell_spent(global.quiet);
    tell(&generated, wanted, global);
    let Generated { topics, dropped, in_order, failed, is_stopped } = generated;
    let count = topics.len();
    let why = helper.why(failed.as_ref(), is_stopped);
    if topics.is_empty() {
        return Err(Failure::outside(match why {
            Some(why) => format!("no topic was finished: {why}{}", helper.advice()),
            None => format!("{} listed no usable topic", arguments.model),
        }));
    }
    let bank = TopicBank::new(topics).map_err(|error| Failure::outside(error.to_string()))?;
    // As in `from_mcp`: a text with two readings must show here and not in a campaign.
    prove_topics(&bank).map_err(|why| Failure::outside(inline(&why)))?;
    let drop = |Dropped { job, text, why }: &Dropped| json!({"job": job, "text": text, "why": why});
    let summary = json!({
        "model": arguments.model,
        "topics": count,
        "activities": bank.topics().iter().map(|topic| topic.activities.len()).sum::<usize>(),
        "dropped": dropped.iter().map(drop).collect::<Vec<_>>(),
        "in_order": in_order
            .iter()
            .map(|(job, one, other)| json!({"job": job, "first": one, "second": other}))
            .collect::<Vec<_>>(),
    });
    // What was finished is written even if the model failed or was stopped later.
    unless_closed(out.write(&bank, &summary, global))?;
    match why {
        Some(why) => Err(Failure::outside(format!(
            "only {count} of {} topics were finished and written: {why}{}",
            wanted.jobs,
            helper.advice()
        ))),
        None => Ok(ExitCode::Passed),
    }
}

/// Reports what is not used, what is missing, and what to check.
fn tell(generated: &Generated, wanted: TopicsWanted, global: &Globals) {
    let Generated { topics, dropped, in_order, .. } = generated;
    for Dropped { job, text, why } in dropped.iter().take(NOTES_MAX) {
        let of = job.as_ref().map(|job| format!(" ({job})")).unwrap_or_default();
        progress::say(global.quiet, &inline(&format!("note: left out \"{text}\"{of}: it {why}")));
    }
    if let Some(more) = dropped.len().checked_sub(NOTES_MAX).filter(|more| *more > 0) {
        progress::say(global.quiet, &format!("note: left out {more} more; --json with --out lists them"));
    }
    let pairs: Vec<_> = in_order.iter().map(|(job, one, other)| (Some(job.as_str()), one, other)).collect();
    note_in_order(&pairs, global);
    if topics.len() < wanted.jobs as usize && !topics.is_empty() {
        progress::say(
            global.quiet,
            &format!("note: {} of {} jobs, more were not listed", topics.len(), wanted.jobs),
        );
    }
    let most = wanted.activities as usize;
    let short = topics.iter().filter(|topic| topic.activities.len() < most).count();
    if short > 0 {
        progress::say(
            global.quiet,
            &format!("note: {short} of {} topics have fewer than {most} activities", topics.len()),
        );
    }
}
