//! A campaign that is a shard of a larger one: it begins or resumes by itself, one process at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;

use planproof_agents::AgentSpec;
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{BudgetOptions, RequestedCampaign, Shard, StoreOptions, StoredGuard, StoredShard};
use planproof_output::failure::Failure;
use planproof_output::{progress, secrets};
use planproof_store::{CampaignRow, Store};
use planproof_suite::{Case, EffortLimits};

use super::request::CampaignRequest;
use crate::arguments::{AllCasesArguments, CampaignArguments, Global};
use crate::stored;
use crate::stored_options::CampaignOptions;

/// The shard that a command line asks for. The lock on its store is held until this is dropped.
pub(super) struct ShardRun {
    pub(super) shard: Shard,
    /// The campaign that is this shard already, if the store has one.
    pub(super) found: Option<String>,
    _lock: File,
}

impl ShardRun {
    /// Waits until no other process runs this shard in this store, and looks for it there. `None` without `--shard`.
    ///
    /// # Errors
    /// The command line asks for something that a shard cannot do alone, or the store cannot be locked or read.
    pub(super) fn open(request: &CampaignRequest<'_>, global: &Global) -> Result<Option<Self>, Failure> {
        let Some(shard) = request.all.shard else { return Ok(None) };
        must_be_possible(request, shard, global)?;
        let store = request.campaign.store.store.as_path();
        if let Some(folder) = store.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            planproof_campaign::make_folder(folder).map_err(|error| {
                Failure::usage(format!("cannot make the folder {}: {error}", folder.display()))
            })?;
        }
        let lock = lock(request, shard, global)?;
        let found = find(request, shard)?;
        Ok(Some(Self { shard, found, _lock: lock }))
    }

    /// The part of these budgets that is this shard's. A time is that of one command, so it is not divided.
    pub(super) fn of_budgets(&self, budgets: BudgetOptions) -> BudgetOptions {
        let count = self.shard.count();
        BudgetOptions {
            max_cost: budgets.max_cost.map(|cost| cost / f64::from(count)),
            // At least one token, because 0 is not a budget.
            max_tokens: budgets.max_tokens.map(|tokens| (tokens / u64::from(count)).max(1)),
            ..budgets
        }
    }
}

/// What a command line asks of a shard.
pub(in crate::commands) struct OneShard<'a> {
    pub(in crate::commands) campaign: &'a CampaignArguments,
    pub(in crate::commands) all: &'a AllCasesArguments,
    /// As in `3/40`.
    pub(in crate::commands) name: String,
    /// The option that asks for a sequel of the campaign, if there is one.
    pub(in crate::commands) sequel: Option<&'a str>,
    pub(in crate::commands) until_decided: bool,
}

impl OneShard<'_> {
    /// Refuses what belongs to the campaign as a whole.
    ///
    /// # Errors
    /// Names the option, and what to do instead.
    pub(in crate::commands) fn must_be_possible(&self) -> Result<(), Failure> {
        let Self { campaign, all, name, sequel, until_decided } = self;
        let later = [
            (
                "--baseline",
                all.gate.baseline.is_some(),
                "compare the merged campaign: `planproof report A B --fail-if-worse`",
            ),
            ("--resume", campaign.resume.is_some(), "a shard resumes by itself: leave it out"),
            ("--replay", campaign.recording.replay.is_some(), "a recording is replayed as a whole"),
            (
                "--record",
                campaign.recording.record.is_some(),
                "keep the answers with --cache FILE, one file for each shard",
            ),
            ("--cases auto", *until_decided, "name the number of cases"),
        ];
        if let Some(option) = sequel {
            let instead = "resume the merged campaign with it";
            return Err(Failure::usage(format!("--{option} does not go with --shard {name}: {instead}")));
        }
        match later.iter().find(|(_, is_given, _)| *is_given) {
            Some((option, _, instead)) => {
                Err(Failure::usage(format!("{option} does not go with --shard {name}: {instead}")))
            }
            None => Ok(()),
        }
    }
}

/// Refuses what a shard cannot do alone.
fn must_be_possible(request: &CampaignRequest<'_>, shard: Shard, global: &Global) -> Result<(), Failure> {
    let CampaignRequest { campaign, all, agent, plan, .. } = request;
    let sequel = plan.sequels.keys().next().map(String::as_str);
    let until_decided = plan.until_decided;
    OneShard { campaign, all, name: shard.to_string(), sequel, until_decided }.must_be_possible()?;
    // Each shard would draw a seed of its own, and with it other cases.
    if agent.as_ref().is_some_and(AgentSpec::is_program) && !global.given.has("seed") && plan.is_drawn {
        return Err(Failure::usage(format!(
            "--shard {shard} of a program: all shards have to draw the same cases, so name the same --seed in all of them"
        )));
    }
    Ok(())
}

/// The lock on a shard in a store. Another process that runs the same shard is waited for.
fn lock(request: &CampaignRequest<'_>, shard: Shard, global: &Global) -> Result<File, Failure> {
    let store = request.campaign.store.store.as_path();
    let mut path = store.as_os_str().to_owned();
    path.push(format!("-shard-{}-of-{}", shard.number(), shard.count()));
    let path = PathBuf::from(path);
    let failed = |error: io::Error| {
        Failure::outside(format!(
            "{} cannot be locked ({error}): keep the store of a shard on a file system that has locks",
            path.display()
        ))
    };
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Failure::outside(format!(
            "{} cannot be written ({error}): the store of a shard and its lock are written, so let their folder be \
             written, or name another --store",
            path.display()
        )),
        _ => failed(error),
    })?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress::say(
                global.quiet,
                &format!("another process runs shard {shard}: waiting until it ends"),
            );
            file.lock().map_err(failed)?;
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    Ok(file)
}

/// The campaign of the store that is this shard.
fn find(request: &CampaignRequest<'_>, shard: Shard) -> Result<Option<String>, Failure> {
    let arguments = &request.campaign.store;
    if !arguments.store.exists() {
        return Ok(None);
    }
    // For writing, because a process that was killed while it made the store may have left an empty one.
    let store = StoreOptions::from(arguments).open().or_fail()?;
    for row in store.campaigns()? {
        let options = stored::options(&row)?;
        if options.kept.shard.as_ref().is_some_and(|stored| stored.shard == shard) {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// Makes sure that a stored shard is one of the campaign that the command line asks for, whose cases of this shard are
/// `cases`.
///
/// # Errors
/// One error with every difference and both values.
pub(super) fn must_be_same(
    store: &Store,
    row: &CampaignRow,
    stored: &CampaignOptions,
    new: &RequestedCampaign,
    (shard, cases): (&StoredShard, &[std::sync::Arc<dyn Case>]),
) -> Result<(), Failure> {
    let mut differences = Vec::new();
    let mut compare = |what: &str, then: String, now: String| {
        if then != now {
            differences.push(format!("{what} was {then}, and is {now} now"));
        }
    };
    compare("the agent", row.agent.clone(), secrets::without(new.agent.as_str()));
    compare("--seed", stored.kept.seed.to_string(), new.seed.to_string());
    compare("--repeat", row.repeats.to_string(), new.repeats.to_string());
    let model = |model: &Option<String>| model.clone().unwrap_or_else(|| "absent".to_owned());
    compare("--serve-model", model(&stored.kept.serve_model), model(&new.serve_model));
    let rules =
        |map: &serde_json::Map<String, serde_json::Value>| serde_json::Value::from(map.clone()).to_string();
    compare("what runs are judged by", rules(&stored.of_suite.to_map()), rules(&new.of_suite));
    let limits = |limits: &Option<EffortLimits>| {
        limits.map_or_else(|| "absent".to_owned(), |limits| limits.to_string())
    };
    compare("--fail-over", limits(&stored.kept.fail_over), limits(&new.fail_over));
    let guard = |guard: &Option<StoredGuard>| {
        guard
            .as_ref()
            .map_or_else(|| "absent".to_owned(), |guard| format!("{} ({})", guard.file, guard.sha256))
    };
    compare("--guard", guard(&stored.kept.guard), guard(&new.guard));
    let of_all = |shard: Option<&StoredShard>| shard.map_or(0, |shard| shard.cases).to_string();
    compare("the number of all cases", of_all(stored.kept.shard.as_ref()), of_all(Some(shard)));
    if differences.is_empty() {
        let mut now = cases.iter();
        for case in store.cases(&row.id)? {
            let case = case?;
            if now.next().is_none_or(|now| now.to_line() != case.json) {
                differences.push(format!("the case {} is another one", case.id));
                break;
            }
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} has shard {} of another campaign, {}: {}; name another --store",
        store.path().display(),
        shard.shard,
        row.id,
        differences.join("; ")
    )))
}
