//! Where a merge is written: a new file, or an earlier merge of the same shards, which holds nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use planproof_store::{CampaignRow, Store, StoreLimits};

use super::Source;
use crate::error::CampaignError;
use crate::options::StoredOptions;

/// Refuses to replace a store that is not an earlier merge of these shards. Returns the label that it has been given.
pub(super) fn must_be_replaceable(into: &Path, sources: &[Source]) -> Result<Option<String>, CampaignError> {
    match into.exists() {
        true => Ok(must_be_merge(&Store::open_read_only(into)?, sources)?.label),
        false => Ok(None),
    }
}

pub(super) fn other(into: &Path, why: &str) -> CampaignError {
    CampaignError::usage(format!("--into {}: {why}", into.display()))
}

/// Makes sure that a store is an earlier merge of these shards, and holds nothing else. Returns its campaign.
fn must_be_merge(store: &Store, sources: &[Source]) -> Result<CampaignRow, CampaignError> {
    let other = |why: String| other(store.path(), &why);
    let mut campaigns = store.campaigns()?;
    if campaigns.len() > 1 {
        return Err(other(format!("it holds {} campaigns; name a new file", campaigns.len())));
    }
    let Some(row) = campaigns.pop() else {
        return Err(other("it is a run store without a campaign; remove it, or name a new file".to_owned()));
    };
    if !sources.iter().any(|source| source.row.id == row.id) {
        let why =
            format!("it holds the campaign {}, which is not one of these shards; name a new file", row.id);
        return Err(other(why));
    }
    let options: StoredOptions = serde_json::from_str(&row.options)
        .map_err(|error| CampaignError::outside(format!("{}: {error}", store.path().display())))?;
    let places: BTreeSet<u32> =
        sources.iter().flat_map(|source| source.shard.places.iter().copied()).collect();
    let has_all = match &options.shard {
        Some(shard) if !shard.merged => {
            return Err(other(format!("it is the store of shard {}; name a new file", shard.shard)));
        }
        Some(shard) => shard.places.iter().all(|place| places.contains(place)),
        None => places.len() == row.cases as usize,
    };
    if !has_all {
        return Err(other(
            "it has cases of shards that are not named: name all of its shards again, or a new file"
                .to_owned(),
        ));
    }
    if let Some(derived) = store.derived(&row.id)?.first() {
        return Err(other(format!(
            "it also holds {}, which was made from the merged campaign and would be lost; name a new file",
            derived.id
        )));
    }
    Ok(row)
}

/// Puts the complete store into its place. What another process has stored there meanwhile is never replaced.
pub(super) fn publish(
    sources: &[Source],
    new: &Path,
    into: &Path,
    label: Option<&str>,
) -> Result<(), CampaignError> {
    if !into.exists() {
        return match fs::hard_link(new, into) {
            Ok(()) => Ok(()),
            Err(_) if into.is_symlink() => {
                Err(other(into, "it is a link to a file that does not exist; name a new file"))
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(other(into, "another process has made it meanwhile; name a new file"))
            }
            // Some file systems have no second names.
            Err(_) => fs::rename(new, into)
                .map_err(|error| CampaignError::outside(format!("cannot write {}: {error}", into.display()))),
        };
    }
    let store = Store::open(into, StoreLimits::default())?;
    let row = must_be_merge(&store, sources)?;
    // Nobody may be running it.
    store.hold([row.id.as_str()])?;
    store.replace_by(new, |now, new| {
        let row = must_be_merge(now, sources)?;
        if row.label.as_deref() != label {
            return Err(other(into, "another process has changed its label meanwhile: merge again"));
        }
        match now.runs_lacking_in(&row.id, (new, &row.id))? {
            0 => Ok(()),
            lacking => Err(other(
                into,
                &format!(
                    "{lacking} of its {} finished runs are not in the named stores: name all of its shards again, or a new \
                     file",
                    row.finished()
                ),
            )),
        }
    })
}
