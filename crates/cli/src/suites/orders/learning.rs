//! Learning data from the failures of a stored campaign.

use std::collections::{BTreeMap, HashSet};

use planproof_assembly::CallLanguage;
use planproof_order::learning::{self, Language, LeftOut};
use planproof_order::typed;
use planproof_output::failure::Failure;
use planproof_output::{secrets, tell};
use planproof_store::{CampaignRow, DamagedRun, RunRow, Store, Unit};

use crate::arguments::ExportFormat;
use crate::stored;
use planproof_doors::orders::case;

/// Writes a line of learning data for each failed run that has one, except for `unsealed` ones. Returns the damaged
/// runs.
pub(crate) fn write(
    store: &Store,
    campaign: &CampaignRow,
    unsealed: &HashSet<Unit>,
    format: ExportFormat,
    out: &mut impl std::io::Write,
) -> Result<Vec<DamagedRun>, Failure> {
    let language = match planproof_assembly::language(&planproof_assembly::agent_spec(&campaign.agent)?)? {
        CallLanguage::Calls => Language::Calls,
        CallLanguage::Votes => Language::Votes,
        CallLanguage::Text(form) => Language::Text(*form),
    };
    let options = stored::options(campaign)?;
    options.must_be_of_orders(&campaign.id, "learning data is made from orders only")?;
    let form = match format {
        ExportFormat::PreferenceJsonl => learning::Form::Preference,
        _ => learning::Form::Chat,
    };
    let judge = options.of_suite.own.orders().judge();
    let mut failed = 0u64;
    let mut left_out: BTreeMap<LeftOut, u64> = BTreeMap::new();
    let mut damaged = Vec::new();
    for row in store.runs(&campaign.id)? {
        let RunRow { unit, damage, .. } = row?;
        if let Some(damage) = damage {
            damaged.push(DamagedRun { unit, damage });
            continue;
        }
        if unsealed.contains(&unit) {
            continue;
        }
        // One run at a time, because the traces of a large campaign may not fit into memory.
        let (stored, run) = stored::load_one(store, campaign, &options, unit)?;
        let Some((outcome, trace)) = run else { continue };
        if outcome.passed() != Some(false) {
            continue;
        }
        let (order, outcome) = (case(&*stored)?, typed(&outcome));
        let Ok(verdict) = &outcome.verdict else { continue };
        failed += 1;
        match learning::lines(&order, verdict, judge, &trace.events, &language, form) {
            Ok(lines) => {
                // A model or tool may have repeated a key. A placeholder that occurs in the case itself is left as it
                // is.
                let secrets = secrets::held_apart_from(std::slice::from_ref(&stored))?;
                for line in lines {
                    writeln!(out, "{}", secrets.redact_object(line))?;
                }
            }
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    for (why, count) in left_out {
        tell!("{count} of {failed} failed runs are left out, because they {why}");
    }
    Ok(damaged)
}
