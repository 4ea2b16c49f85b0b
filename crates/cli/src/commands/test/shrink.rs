//! Shrinking the smallest failures of a campaign that has come to its end.

use planproof_bench::{
    Campaign, CampaignError, NotShrunk, Outcome, ShrinkError, ShrinkOptions, ShrinkRun, ShrunkFailure,
    Supervision, Target, pick_findings,
};
use planproof_synth::{Shrinker, Wordings, read};
use tokio_util::sync::CancellationToken;

use crate::arguments::Global;
use crate::progress;

/// What was shrunk.
#[derive(Debug)]
pub(in crate::commands) struct ShrunkFailures {
    /// How.
    pub(super) options: ShrinkOptions,
    /// The failures.
    pub(super) failures: Vec<ShrunkFailure>,
    /// Those that could not be.
    pub(super) skipped: Vec<NotShrunk>,
}

/// Shrinks failures, one after the other, up to so many: of each class first the smallest.
pub(super) async fn shrink(
    campaign: &Campaign,
    outcomes: &[Outcome],
    (options, most): (ShrinkOptions, usize),
    stop: &CancellationToken,
    supervision: &Supervision,
    global: &Global,
) -> Result<ShrunkFailures, CampaignError> {
    let findings = pick_findings(&campaign.cases, outcomes, most);
    progress::say(global, &format!("shrinking {} failures", findings.len()));
    let shrinker = Shrinker::new(Wordings::shipped(), read::Directions::shipped());
    let run = ShrinkRun { campaign, options, shrinker };
    let mut shrunk = ShrunkFailures { options, failures: Vec::new(), skipped: Vec::new() };
    let mut seen = std::collections::BTreeSet::new();
    for finding in findings {
        // A case that fails in several repeats is shrunk once.
        if !seen.insert(finding.ordinal) {
            continue;
        }
        let Some(target) = Target::of(finding.case, finding.verdict) else { continue };
        match run.run(finding.ordinal, &target, stop, supervision).await {
            Ok(failure) => shrunk.failures.push(failure),
            Err(ShrinkError::NoShrinking(why)) => {
                shrunk.skipped.push(NotShrunk { case: finding.case.id.clone(), why: why.to_string() });
            }
            Err(ShrinkError::Campaign(error)) => return Err(error),
        }
    }
    Ok(shrunk)
}
