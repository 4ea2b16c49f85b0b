//! The gain of the guard of `repair:AGENT`, or of `--guard`, over the bare agent.

use std::io::Write as _;

use planproof_engine::GUARD_PREFIX;
use planproof_output::failure::Failure;
use planproof_output::{layout, terminal};
use planproof_report::compare::{CaseChange, ComparedCampaign, Comparison};
use planproof_store::{CampaignRow, Store};

use super::Prepared;
use crate::commands::report::difference;
use crate::stored;
use crate::stored::{Stored, StoredTraces};
use crate::stored_options::command_of;

/// Reports the guard's gain, if the store has the bare agent on the same cases; else how to find out.
pub(super) fn print(prepared: &Prepared) -> Result<(), Failure> {
    let guarded = Stored::load(&prepared.run.store, &prepared.run.campaign.id)?;
    let mut out = terminal::text();
    if let Some(lift) = over_bare(&prepared.run.store, &guarded)? {
        let passed = |side: &ComparedCampaign| format!("{} of {}", side.success.passed, side.success.runs);
        let [fixed, broken] = [CaseChange::Fixed, CaseChange::Broken].map(|change| lift.count(change));
        let (a, b) = (&lift.a, &lift.b);
        let lifted = format!(
            "On the same cases the bare agent passed {}, behind the guard {}: {fixed} fixed, {broken} broken.\n{}",
            passed(a),
            passed(b),
            difference(&lift)
        );
        writeln!(
            out,
            "{}  {}",
            layout::text(&lifted),
            guarded.commands.line(&format!("report {} {}", a.campaign, b.campaign))
        )?;
        return Ok(());
    }
    let row = &guarded.campaign.row;
    // The command line need not name the agent: a configuration file or a recording may.
    let has_rules = guarded.options.kept.guard.is_some();
    let begins_anew = row.command_line.contains(GUARD_PREFIX) && !has_rules;
    let bare = match begins_anew {
        true => row.command_line.replacen(GUARD_PREFIX, "", 1),
        false => format!(
            "planproof {} '{}', with the same options{}",
            command_of(&guarded.options.kept),
            row.agent.strip_prefix(GUARD_PREFIX).unwrap_or(&row.agent),
            if has_rules { " but --guard" } else { "" }
        ),
    };
    let what = "What the guard gains is the lift over the bare agent on the same cases:";
    writeln!(
        out,
        "{}\n  {bare}\n  {}",
        layout::text(what),
        guarded.commands.line(&format!("report last {}", row.id))
    )?;
    Ok(())
}

/// The newest finished campaign of the bare agent on all of the cases, compared with the guarded one.
fn over_bare(store: &Store, guarded: &Stored) -> Result<Option<Comparison>, Failure> {
    let is_bare = |row: &&CampaignRow| {
        let row: &CampaignRow = row;
        let agent = &guarded.campaign.row.agent;
        agent.strip_prefix(GUARD_PREFIX).unwrap_or(agent) == row.agent
            && row.id != guarded.campaign.row.id
            && row.model == guarded.campaign.row.model
            && row.repeats == guarded.campaign.row.repeats
            && row.finished() == row.total()
    };
    let report = guarded.report();
    let traces = StoredTraces { store, campaign: &guarded.campaign.row.id };
    let after = guarded.reported(&report, &traces);
    // The newest one is first. The cheap facts are compared before all of its traces are read.
    for row in store.campaigns()?.iter().filter(is_bare) {
        if stored::options(row)?.kept.guard.is_some() {
            continue;
        }
        let bare = Stored::load(store, &row.id)?;
        let report = bare.report();
        let traces = StoredTraces { store, campaign: &row.id };
        // Having no case in common is an error of a comparison, but only a reason to look further here.
        let comparison = Comparison::new(&bare.reported(&report, &traces), &after).ok();
        // The gain is shown only if it is about all of the guarded cases.
        let is_whole = |found: &Comparison| found.is_lift && found.only_b == 0;
        if let Some(found) = comparison.filter(is_whole) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
