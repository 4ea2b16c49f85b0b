//! A new campaign in the run store.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use planproof_bench::{AgentUnderTest, card_to_json};
use planproof_store::{NewCampaign, NewCase, Store, StoreLimits};
use planproof_suite::Case;

use super::options::StoredOptions;
use crate::arguments::{Global, StoreArguments};
use crate::failure::Failure;
use crate::{secrets, select};

/// Puts a new campaign into the store, with its cases and their cards; gives its id.
pub(super) fn create(
    store: &Store,
    agent: &AgentUnderTest,
    cases: &[Arc<dyn Case>],
    repeats: NonZeroU32,
    options: &StoredOptions,
    global: &Global,
) -> Result<String, Failure> {
    let created_ms = milliseconds_now();
    let id = campaign_id(created_ms);
    create_row(store, &id, created_ms, agent, cases, repeats, options, &global.command_line)?;
    Ok(id)
}

/// The rows of a new campaign and its cases.
#[expect(clippy::too_many_arguments, reason = "each is a column or what one follows from")]
pub(crate) fn create_row(
    store: &Store,
    id: &str,
    created_ms: u64,
    agent: &AgentUnderTest,
    cases: &[Arc<dyn Case>],
    repeats: NonZeroU32,
    options: &StoredOptions,
    command_line: &str,
) -> Result<(), Failure> {
    let text = serde_json::to_string(options).map_err(|error| Failure::outside(error.to_string()))?;
    let campaign = NewCampaign {
        id,
        created_ms,
        command_line: &secrets::held().redact(command_line),
        agent: &agent.name,
        model: agent.model.as_deref(),
        simulated: agent.simulated,
        options: &text,
        repeats: repeats.get(),
    };
    let rows = cases.iter().map(|case| NewCase {
        id: case.card().id.clone(),
        json: case.to_line(),
        summary: Some(card_to_json(case.card())),
    });
    Ok(store.create_campaign(&campaign, rows)?)
}

/// A folder is the commonest mistake, and SQLite's word for it says nothing.
pub(crate) fn must_be_no_folder(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!("--store {} is a folder; name a file in it", path.display())));
    }
    Ok(())
}

/// Opens the run store for writing, making its folder where it is missing.
pub(super) fn open_store(arguments: &StoreArguments) -> Result<Store, Failure> {
    let path = &arguments.store;
    must_be_no_folder(path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| {
            Failure::usage(format!("cannot make the folder {}: {error}", folder.display()))
        })?;
    }
    let limits =
        StoreLimits { pages_max: arguments.store_pages_max.map(NonZeroU32::get), ..StoreLimits::default() };
    Ok(Store::open(path, limits)?)
}

pub(crate) fn milliseconds_now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Short, sorts by time, and differs even between campaigns of the same millisecond.
fn campaign_id(created_ms: u64) -> String {
    let [tail] = select::random_bytes::<1>();
    format!("{created_ms:010x}{tail:02x}")
}
