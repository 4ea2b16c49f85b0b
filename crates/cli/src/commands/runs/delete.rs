//! `planproof runs delete` and `planproof runs label`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use planproof_output::failure::Failure;
use planproof_output::layout::counted;
use planproof_output::print::print_json;
use planproof_output::{secrets, tell, terminal};
use planproof_store::{CampaignRow, Deleted, Store, StoreLimits};
use serde_json::json;

use crate::arguments::Global;
use crate::stored;

/// Sets or removes a campaign's label.
pub(super) fn label(path: &Path, run: &str, text: Option<&str>, global: &Global) -> Result<(), Failure> {
    let store = Store::open(path, StoreLimits::default())?;
    let campaign = stored::find(&store, run)?;
    let text = text.map(secrets::without);
    let text = text.as_deref();
    store.set_label(&campaign.id, text)?;
    if global.json {
        return print_json(&json!({ "run": campaign.id, "label": text }));
    }
    let mut out = terminal::text();
    match text {
        Some(text) => writeln!(out, "campaign {} is called \"{}\"", campaign.id, terminal::inline(text))?,
        None => writeln!(out, "campaign {} has no label", campaign.id)?,
    }
    Ok(())
}

/// Deletes campaigns, and says which.
pub(super) fn run(path: &Path, names: &[String], is_agreed: bool, global: &Global) -> Result<(), Failure> {
    let store = Store::open(path, StoreLimits::default())?;
    let campaigns = meant(&store, names)?;
    // A running campaign is refused before the user is asked to agree.
    store.hold(campaigns.iter().map(|campaign| campaign.id.as_str()))?;
    if !is_agreed {
        let shown: Vec<String> = campaigns.iter().map(in_words).collect();
        return Err(Failure::usage(format!(
            "nothing is deleted without --yes; this would be deleted permanently:\n  {}",
            shown.join("\n  ")
        )));
    }
    let ids: Vec<&str> = campaigns.iter().map(|campaign| campaign.id.as_str()).collect();
    let before = size(path);
    let Deleted { campaigns, runs, lessons } = store.delete_campaigns(&ids)?;
    // The deletion is committed by now, so a file that cannot be made smaller is not a failure.
    let freed = match store.compact() {
        Ok(()) => before.saturating_sub(size(path)),
        Err(error) => {
            tell!("the space is reused for later campaigns, but the file cannot be made smaller: {error}");
            0
        }
    };
    if global.json {
        let deleted = json!({"deleted": campaigns, "runs": runs, "lessons": lessons, "bytes_freed": freed});
        return print_json(&deleted);
    }
    let taught = if lessons == 0 { String::new() } else { format!(" and {}", counted(lessons, "lesson")) };
    let mut out = terminal::text();
    writeln!(
        out,
        "deleted {} with {}{taught}; the run store takes {} KiB less",
        campaigns.join(", "),
        counted(runs, "run"),
        freed / 1024
    )?;
    Ok(())
}

/// The campaigns of these names, each once; for a matrix all of its campaigns.
fn meant(store: &Store, names: &[String]) -> Result<Vec<CampaignRow>, Failure> {
    let mut meant: Vec<CampaignRow> = Vec::new();
    for name in names {
        let found = match store.matrix(name)? {
            Some(matrix) => store.campaigns_of_matrix(&matrix.id)?,
            None => vec![stored::find(store, name)?],
        };
        for campaign in found {
            if meant.iter().all(|known| known.id != campaign.id) {
                meant.push(campaign);
            }
        }
    }
    Ok(meant)
}

fn in_words(campaign: &CampaignRow) -> String {
    let label = campaign.label.as_deref().map(|label| format!(" \"{}\"", terminal::inline(label)));
    format!(
        "{}{} of {}: {}, {} of {} runs finished",
        campaign.id,
        label.unwrap_or_default(),
        terminal::inline(&campaign.agent),
        counted(campaign.cases, "case"),
        campaign.finished(),
        campaign.total()
    )
}

/// Bytes of the file; 0 if that is unknown.
fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}
