//! Damage found in run stores while the process reads them: each is reported once, and sets the exit status for an
//! external failure, whichever command read it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use planproof_engine::DamagedRunRow;
use planproof_output::failure::Failure;
use planproof_output::tell;
use planproof_output::terminal::inline;
use planproof_store::{Seals, Store};

/// Most damaged runs of a campaign that are named.
const NAMED_MAX: usize = 20;

static FOUND: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether anything was found.
pub(crate) fn is_found() -> bool {
    !FOUND.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// Reports damaged runs of a campaign, and faults of its seals.
pub(crate) fn note(store: &Store, campaign: &str, damaged: &[DamagedRunRow], seals: Option<&Seals>) {
    let lines = lines(campaign, damaged, seals);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    // One command may look at a campaign several times; each fault is reported once. The new ones are counted, because
    // `any` would stop at the first of them and leave the others unsaid.
    let is_new =
        lines.into_iter().filter(|line| found.insert(line.clone())).map(|line| tell!("{line}")).count() > 0;
    if is_new {
        tell!(
            "left out: runs of the run store {} that are not what was written; restore a copy of it to get them back",
            store.path().display()
        );
    }
}

/// The same as an error, if nothing can be based on such a campaign.
///
/// # Errors
/// Something is damaged.
pub(crate) fn must_be_none(
    campaign: &str,
    damaged: &[DamagedRunRow],
    seals: Option<&Seals>,
) -> Result<(), Failure> {
    let lines = lines(campaign, damaged, seals);
    if lines.is_empty() {
        return Ok(());
    }
    Err(Failure::outside(format!(
        "{}\nnothing more is run: restore a copy of the run store, or start a new campaign",
        lines.join("\n")
    )))
}

fn lines(campaign: &str, damaged: &[DamagedRunRow], seals: Option<&Seals>) -> Vec<String> {
    let mut lines: Vec<String> = damaged
        .iter()
        .take(NAMED_MAX)
        .map(|run| {
            let repeat = if run.repeat == 0 { String::new() } else { format!(", repeat {}", run.repeat) };
            format!("damaged: campaign {campaign}, case {}{repeat}: {}", inline(&run.case), run.why)
        })
        .collect();
    if damaged.len() > NAMED_MAX {
        lines.push(format!("damaged: campaign {campaign}: {} more runs", damaged.len() - NAMED_MAX));
    }
    let faults = seals.map(|seals| seals.faults.as_slice()).unwrap_or_default();
    lines.extend(faults.iter().take(NAMED_MAX).map(|fault| format!("damaged: campaign {campaign}: {fault}")));
    lines
}
