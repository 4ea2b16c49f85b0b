//! `planproof runs verify`: whether the stored data of a campaign are what was written.

use std::io::Write as _;

use planproof_campaign::name_damaged;
use planproof_engine::DamagedRunRow;
use planproof_output::failure::{Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::terminal;
use planproof_store::{CampaignRow, DamagedRun, Fingerprint, Matrix, RunState, Seals, Signatures, Store};
use serde_json::json;

use super::by_unit;
use crate::arguments::Global;
use crate::damage;
use crate::stored;

/// What was found of a campaign.
struct Found {
    checked: u64,
    /// Runs that ended before the store kept digests.
    unchecked: u64,
    damaged: Vec<DamagedRunRow>,
    seals: Option<Seals>,
}

/// Checks a campaign with those it led to, or all campaigns of a matrix, against their digests and seals. A given
/// fingerprint is that of the campaign alone.
pub(super) fn run(
    store: &Store,
    name: &str,
    seal: Option<Fingerprint>,
    global: &Global,
) -> Result<(), Failure> {
    let asked_for = match store.matrix(name)? {
        Some(matrix) if seal.is_some() => return Err(no_seal_of_all(&matrix)),
        Some(matrix) => store.campaigns_of_matrix(&matrix.id)?,
        None => vec![stored::find(store, name)?],
    };
    let mut printed = Ok(());
    for campaign in asked_for {
        let found = check(store, &campaign, global, &mut printed)?;
        // A derived campaign has a chain of its own, and a key of its own if another process ran it.
        for derived in store.derived(&campaign.id)? {
            check(store, &derived, global, &mut printed)?;
        }
        if let Some(seal) = seal {
            must_be_sealed_by(&campaign, found.seals.as_ref(), seal)?;
        }
    }
    unless_closed(printed)?;
    // Digests cover what is in the tables. Other commands find it by indexes, which may lack a part of it.
    Ok(store.check_indexes()?)
}

/// Checks one campaign, and prints what is found unless nobody reads any further: each campaign counts for the exit
/// status all the same.
fn check(
    store: &Store,
    campaign: &CampaignRow,
    global: &Global,
    printed: &mut Result<(), Failure>,
) -> Result<Found, Failure> {
    let found = Found::of(store, campaign)?;
    if printed.is_ok() {
        *printed = match global.json {
            true => print_json(&found.to_json(campaign)),
            false => writeln!(terminal::text(), "{}", found.text(campaign)).map_err(Failure::from),
        };
    }
    damage::note(store, &campaign.id, &found.damaged, found.seals.as_ref());
    Ok(found)
}

/// The mistake of holding a whole matrix to one fingerprint: each of its combinations is sealed by a key of its own.
pub(crate) fn no_seal_of_all(matrix: &Matrix) -> Failure {
    let id = &matrix.id;
    Failure::usage(format!(
        "--seal is for one campaign: each combination of the matrix {id} has its own seal, so check one after the \
         other, the first as {id}.1"
    ))
}

/// Makes sure that this very key sealed a campaign last, and completely: a forger has another key.
///
/// # Errors
/// It did not.
pub(crate) fn must_be_sealed_by(
    campaign: &CampaignRow,
    seals: Option<&Seals>,
    seal: Fingerprint,
) -> Result<(), Failure> {
    let id = &campaign.id;
    let Some((seals, last)) = seals.and_then(|seals| Some((seals, seals.last()?))) else {
        return Err(Failure::outside(format!(
            "campaign {id} has no seal, so it is not the one of seal {seal}"
        )));
    };
    if last != seal {
        // An earlier key of the same chain is not a forgery: the campaign was resumed after that seal was printed.
        let was_earlier = seals.fingerprints.contains(&seal);
        let what = if was_earlier {
            "it was resumed since under another one"
        } else {
            "it is not what that seal stands for"
        };
        return Err(Failure::outside(format!(
            "campaign {id} was sealed last by {last}, not by {seal}: {what}"
        )));
    }
    // Before the end, which does not count if its signature is wrong: nothing was interrupted then.
    if let Some(fault) = seals.faults.first() {
        return Err(Failure::outside(format!("campaign {id} is not as {seal} sealed it: {fault}")));
    }
    if !seals.is_ended {
        return Err(Failure::outside(format!(
            "campaign {id} was interrupted or is still running: seal {seal} does not fix the number of runs, so \
             some may have been removed; resume it"
        )));
    }
    Ok(())
}

impl Found {
    fn of(store: &Store, campaign: &CampaignRow) -> Result<Self, Failure> {
        let seals = store.seals(&campaign.id, Signatures::All)?;
        let mut damaged = seals.as_ref().map(|seals| seals.damaged.clone()).unwrap_or_default();
        let (mut checked, mut unchecked) = (0, 0);
        for run in store.runs(&campaign.id)? {
            let run = run?;
            match run.damage {
                // An unfinished run has no digest yet, and it will be replaced.
                _ if run.state != RunState::Finished => {}
                Some(damage) => damaged.push(DamagedRun { unit: run.unit, damage }),
                None if run.is_checked => checked += 1,
                None => unchecked += 1,
            }
        }
        let damaged = name_damaged(store, &campaign.id, &by_unit(damaged));
        Ok(Self { checked, unchecked, damaged, seals })
    }

    fn seal(&self) -> Option<Fingerprint> {
        self.seals.as_ref().and_then(Seals::last)
    }

    fn to_json(&self, campaign: &CampaignRow) -> serde_json::Value {
        let seals = self.seals.as_ref();
        let all = seals.map(|it| it.fingerprints.iter().map(ToString::to_string).collect::<Vec<_>>());
        json!({
            "run": campaign.id, "as_written": self.checked, "unchecked": self.unchecked, "damaged": self.damaged,
            "seal": self.seal().map(|seal| seal.to_string()), "seals": all,
            "links": seals.map(|seals| seals.links), "ended": seals.map(|seals| seals.is_ended),
            "faults": seals.map(|seals| &seals.faults),
        })
    }

    fn text(&self, campaign: &CampaignRow) -> String {
        let runs = |count: u64| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
        let mut text = format!("campaign {}: {} as written", campaign.id, runs(self.checked));
        if self.unchecked > 0 {
            text += &format!(", {} from before there were digests, not checked", runs(self.unchecked));
        }
        if !self.damaged.is_empty() {
            text += &format!(", {} damaged", runs(self.damaged.len() as u64));
        }
        let Some((seals, seal)) = self.seals.as_ref().zip(self.seal()) else { return text + "; no seal" };
        text += &format!("\nseal {seal}");
        if !seals.faults.is_empty() {
            return text + ": broken";
        }
        text + if seals.is_ended { ": whole" } else { ": not ended, so runs that ended last may be missing" }
    }
}
