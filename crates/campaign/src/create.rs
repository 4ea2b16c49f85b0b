//! A new campaign in the run store.

use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use planproof_engine::{AgentUnderTest, card_to_json};
use planproof_store::{NewCampaign, NewCase, Store, StoreLimits};
use planproof_suite::Case;
use planproof_trace::Secrets;

use crate::acts::Owned;
use crate::budgets::Budgets;
use crate::error::CampaignError;
use crate::options::StoredOptions;
use crate::world::World;

/// Where campaigns are kept.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    pub path: PathBuf,
    /// Most pages of 4 KiB that it may take.
    pub pages_max: Option<NonZeroU32>,
}

impl StoreOptions {
    /// Opens the run store for writing, and creates its folder if necessary.
    ///
    /// # Errors
    /// It is a folder, not a run store, or cannot be opened.
    pub fn open(&self) -> Result<Store, CampaignError> {
        let path = &self.path;
        must_be_no_folder(path)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(|error| {
                let what = format!("cannot make the folder {}: {error}", folder.display());
                match planproof_files::is_of_world(&error) {
                    true => CampaignError::outside(what),
                    false => CampaignError::usage(what),
                }
            })?;
        }
        let limits = StoreLimits { pages_max: self.pages_max.map(NonZeroU32::get), ..StoreLimits::default() };
        Ok(Store::open(path, limits)?)
    }
}

/// The default folder for planproof's files.
const OWN_FOLDER: &str = ".planproof";

/// Creates a folder and its parents, to which other users have no access. If it is planproof's own and new, git is set
/// to ignore it: runs should not be committed by mistake.
///
/// # Errors
/// It cannot be created, or is not writable.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let is_new = !folder.exists();
    planproof_files::make_own_folder(folder)?;
    if is_new && folder.file_name().is_some_and(|name| name == OWN_FOLDER) {
        match planproof_files::create(&folder.join(".gitignore"), b"*\n", |_| Ok(())) {
            // Another process made the folder at the same time.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok(())
}

/// A folder is the most common mistake, and SQLite's message for it is unhelpful.
///
/// # Errors
/// It is a folder.
pub fn must_be_no_folder(path: &Path) -> Result<(), CampaignError> {
    if path.is_dir() {
        return Err(CampaignError::usage(format!(
            "--store {} is a folder; name a file in it",
            path.display()
        )));
    }
    Ok(())
}

/// A campaign that is new in the run store.
#[derive(Clone, Copy)]
pub struct NewRow<'a> {
    /// Whom it is about.
    pub agent: &'a AgentUnderTest,
    pub cases: &'a [Arc<dyn Case>],
    /// The line that stands for a case until its first run starts; `None` if all are stored at once.
    pub named: Option<fn(&str) -> String>,
    /// How often each case is run.
    pub repeats: NonZeroU32,
    /// All else that it takes to resume it.
    pub options: &'a StoredOptions,
    /// What it may spend.
    pub budgets: &'a Budgets,
    /// The request, as a command line.
    pub command_line: &'a str,
}

impl NewRow<'_> {
    /// Puts it into the store under a new id, with its cases and their cards; returns the id, and its budgets with the
    /// proof that the user began it.
    pub(crate) fn create<W: World>(
        &self,
        store: &Store,
        world: &W,
    ) -> Result<(String, Budgets), CampaignError> {
        let created_ms = milliseconds_now();
        let id = campaign_id(created_ms, world);
        let secrets = world.secrets();
        let Self { agent, cases, named, repeats, options, budgets, command_line } = *self;
        let stored = options.to_json(&secrets)?;
        let owned = Owned {
            store: store.path(),
            id: &id,
            agent: &agent.name,
            options: &stored,
            repeats: repeats.get(),
        };
        let budgets = owned.proved(budgets.clone(), world.own_key())?;
        let row = NewRow { agent, cases, named, repeats, options, budgets: &budgets, command_line };
        row.create_as(store, &id, created_ms, &secrets)?;
        Ok((id, budgets))
    }

    /// Puts it into the store under this id. Keys on the command line are left out.
    ///
    /// # Errors
    /// The store fails, or has such a campaign.
    pub fn create_as(
        &self,
        store: &Store,
        id: &str,
        created_ms: u64,
        secrets: &Secrets,
    ) -> Result<(), CampaignError> {
        let Self { agent, cases, named, repeats, options, budgets, command_line } = *self;
        let campaign = NewCampaign {
            id,
            created_ms,
            command_line: &secrets.redact(command_line),
            agent: &agent.name,
            model: agent.model.as_deref(),
            simulated: agent.simulated,
            options: &options.to_json(secrets)?,
            repeats: repeats.get(),
            budgets: &budgets.to_json(secrets)?,
        };
        let row = |case: &Arc<dyn Case>| match named {
            Some(line) => NewCase { json: line(&case.card().id), ..case_row(case) },
            None => case_row(case),
        };
        Ok(store.create_campaign(&campaign, cases.iter().map(row))?)
    }
}

/// Has the cases of a campaign stored when their first run starts, if they are only named until then.
pub(crate) fn store_when_run(
    store: &Store,
    id: &str,
    cases: &Arc<[Arc<dyn Case>]>,
) -> Result<(), CampaignError> {
    let cases = Arc::clone(cases);
    Ok(store.defer_cases(id, Arc::new(move |ordinal| cases.get(ordinal as usize).map(case_row)))?)
}

/// The row of a case with its card.
pub(crate) fn case_row(case: &Arc<dyn Case>) -> NewCase {
    NewCase { id: case.card().id.clone(), json: case.to_line(), summary: Some(card_to_json(case.card())) }
}

/// Milliseconds since 1970.
pub fn milliseconds_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Short, sorts by time, and differs even between campaigns of the same millisecond.
pub(crate) fn campaign_id<W: World>(created_ms: u64, world: &W) -> String {
    let [tail, ..] = world.token()();
    format!("{created_ms:010x}{tail:02x}")
}
