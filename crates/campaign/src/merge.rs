//! The shards of a campaign put together: one campaign in a store of its own, as one machine would have made it.
//!
//! The new store is written beside its final place and takes its name when it is complete, so a merge that is cut off
//! leaves nothing but a file that the next one replaces. An earlier merge gets the content of the new one in one
//! transaction, so that nothing is lost of what others have written into the file meanwhile. Every source is opened
//! twice, one after the other: first to see whether all belong together, then to take its runs, each of which is
//! checked against its seal and its digest. So a thousand shards take the memory of one.

mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use planproof_store::{
    CampaignRow, Fingerprint, GatherError, Gathering, NewCampaign, Progress, SEAL_SEED_BYTES, SealKey, Store,
    StoreError,
};
use planproof_tools::mcp::TOKEN_BYTES;
use serde_json::Value;

use crate::acts::Owned;
use crate::budgets::Budgets;
use crate::error::CampaignError;
use crate::options::StoredOptions;
use crate::shard::{Shard, StoredShard};
use crate::world::World;

use place::{must_be_replaceable, other, publish};

/// Options that may differ from machine to machine without changing what a run comes to.
const OF_THE_MACHINE: [&str; 7] = [
    "concurrency",
    "concurrency_is_default",
    "solver_calls",
    "solver_ns",
    "synthesis_ns",
    "answers",
    "hidden",
];

/// Most differences between two shards that an error names.
const DIFFERENCES_MAX: usize = 5;

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The id of the campaign.
    pub campaign: String,
    /// Its cases so far, and how many all shards have.
    pub cases: (u32, u32),
    /// Finished runs that were taken.
    pub runs: u64,
    /// How many shards there are.
    pub shards: u32,
    /// What is left to run.
    pub missing: Vec<MissingShard>,
    /// Files without anything in them: whoever made them ended before the shard began.
    pub empty: Vec<PathBuf>,
    /// The command line of one of the shards, and that shard.
    pub command_line: (String, Shard),
    /// The fingerprint of the key that sealed the new campaign.
    pub seal: Fingerprint,
}

/// A shard that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingShard {
    /// Which one.
    pub shard: Shard,
    /// Its store, and how many of its runs are not finished; `None` if no store has it.
    pub begun: Option<(PathBuf, u64)>,
}

/// A shard in a store, which is not kept open.
struct Source {
    path: PathBuf,
    row: CampaignRow,
    /// Without the shard.
    options: Value,
    shard: StoredShard,
    /// The version of planproof that judged it.
    version: String,
}

/// Merges the shards in these stores into the store `into`, which is replaced if it holds an earlier merge of them.
///
/// # Errors
/// A source holds no shard or is damaged, two of them hold the same shard or belong to different campaigns, or a file
/// cannot be read or written. Nothing is changed then.
pub fn merge<W: World>(world: &W, sources: &[PathBuf], into: &Path) -> Result<Merged, W::Error> {
    if into.is_dir() {
        let what = format!("--into {}: it is a folder; name a file", into.display());
        return Err(CampaignError::usage(what).into());
    }
    let (mut opened, mut empty) = (Vec::new(), Vec::new());
    for path in sources {
        if is_same_file(path, into) {
            return Err(CampaignError::usage(format!(
                "--into {} is one of the stores to merge: name a new file",
                into.display()
            ))
            .into());
        }
        match Source::open_all(path)? {
            Some(sources) => opened.extend(sources),
            None => empty.push(path.clone()),
        }
    }
    opened.sort_by_key(|source| source.shard.shard.number());
    must_fit(&opened)?;
    let label = must_be_replaceable(into, &opened)?;
    Ok(Merged { empty, ..write(world, &mut opened, into, label.as_deref())? })
}

impl Source {
    /// The shards in a store; `None` if the file is empty.
    fn open_all(path: &Path) -> Result<Option<Vec<Self>>, CampaignError> {
        if !path.is_file() {
            let shown = path.display();
            return Err(CampaignError::usage(match path.exists() {
                true => format!("{shown} is not a file, so it is not a run store"),
                false => format!("there is no run store {shown}"),
            }));
        }
        // A process that is killed before it has begun leaves a file without tables: its shard is missing, which is
        // said later.
        let Some(store) = Store::open_if_made(path)? else { return Ok(None) };
        let rows = store.campaigns()?;
        let has_begun = !rows.is_empty();
        let mut sources = Vec::new();
        for row in rows {
            let mut options: Value = serde_json::from_str(&row.options).map_err(|error| {
                CampaignError::outside(format!("{}: the options of {}: {error}", path.display(), row.id))
            })?;
            let Some(shard) = options.as_object_mut().and_then(|all| all.remove("shard")) else { continue };
            let shard: StoredShard = serde_json::from_value(shard).map_err(|error| {
                CampaignError::outside(format!("{}: the shard of {}: {error}", path.display(), row.id))
            })?;
            if shard.merged {
                return Err(CampaignError::usage(format!(
                    "{} is a merge of shards: name the stores of the shards themselves",
                    path.display()
                )));
            }
            let is_whole = shard.places.len() == row.cases as usize
                && shard.places.is_sorted_by(|a, b| a < b)
                && shard.places.last().is_none_or(|last| *last < shard.cases);
            if !is_whole {
                return Err(CampaignError::outside(format!(
                    "{}: the shard of campaign {} is damaged: its places do not fit its cases",
                    path.display(),
                    row.id
                )));
            }
            let version = version(&store, &row)?.ok_or_else(|| {
                CampaignError::outside(format!(
                    "{}: the cases of campaign {} are damaged, or older than shards: `planproof runs verify {} --store {}` \
                     says more",
                    path.display(),
                    row.id,
                    row.id,
                    path.display()
                ))
            })?;
            // They hold the places a second time.
            let row = CampaignRow { options: String::new(), ..row };
            sources.push(Self { path: path.to_owned(), row, options, shard, version });
        }
        if has_begun && sources.is_empty() {
            return Err(CampaignError::usage(format!(
                "{} holds no shard; `planproof test AGENT --shard 1/4 --store FILE` makes one",
                path.display()
            )));
        }
        Ok(Some(sources))
    }

    /// Takes its runs into the new store.
    fn gather(&mut self, gathering: &mut Gathering, places: &[u32]) -> Result<u64, CampaignError> {
        let store = Store::open_read_only(&self.path)?;
        // Of the shards together, those of this one are always among them.
        let places = self.shard.places.iter().map(|place| places.partition_point(|it| it < place) as u32);
        let gathered = gathering.take(&store, &self.row.id, &places.collect::<Vec<_>>());
        let gathered = gathered.map_err(|error| match error {
            GatherError::Store(error) => error.into(),
            GatherError::Unsound(fault) => CampaignError::outside(format!(
                "{}: campaign {} is damaged ({fault}): `planproof runs verify {} --store {}` says more; run the shard again \
                 into a new file",
                self.path.display(),
                self.row.id,
                self.row.id,
                self.path.display()
            )),
        })?;
        // Somebody may have run more of it since it was looked at.
        self.row = CampaignRow { options: String::new(), ..gathered.row };
        Ok(gathered.runs)
    }

    /// Its runs that are not finished.
    fn unfinished(&self) -> u64 {
        self.row.total().saturating_sub(self.row.finished())
    }
}

/// The version of planproof that a campaign's cases were summed up by; `None` if they do not say it.
fn version(store: &Store, row: &CampaignRow) -> Result<Option<String>, CampaignError> {
    let text = store.case_summary(&row.id, 0)?.unwrap_or_default();
    let summary: Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(summary.get("version").and_then(Value::as_str).map(str::to_owned))
}

/// Refuses shards of different campaigns, and the same shard twice.
fn must_fit(sources: &[Source]) -> Result<(), CampaignError> {
    let Some(first) = sources.first() else {
        return Err(CampaignError::usage(
            "none of these stores holds a shard; `planproof test AGENT --shard 1/4 --store FILE` makes one",
        ));
    };
    for pair in sources.windows(2) {
        if let [a, b] = pair
            && a.shard.shard.number() == b.shard.shard.number()
            && a.shard.shard.count() == b.shard.shard.count()
        {
            return Err(CampaignError::usage(format!(
                "shard {} is in {} (campaign {}) and in {} (campaign {}): leave one of them out",
                a.shard.shard,
                a.path.display(),
                a.row.id,
                b.path.display(),
                b.row.id
            )));
        }
    }
    if first.options.get("memory").is_some() {
        return Err(CampaignError::usage(
            "the agent has a memory, which each shard had for itself: such shards are not merged",
        ));
    }
    for source in &sources[1..] {
        let differences = differences(first, source);
        if !differences.is_empty() {
            let shown: Vec<&str> = differences.iter().take(DIFFERENCES_MAX).map(String::as_str).collect();
            let more = differences.len().saturating_sub(DIFFERENCES_MAX);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            return Err(CampaignError::usage(format!(
                "{} and {} are shards of different campaigns: {}{more}",
                first.path.display(),
                source.path.display(),
                shown.join("; ")
            )));
        }
    }
    Ok(())
}

/// What differs between two shards that must not, with both values.
fn differences(a: &Source, b: &Source) -> Vec<String> {
    let mut all = Vec::new();
    let mut compare = |what: &str, a: &str, b: &str| {
        if a != b {
            all.push(format!("{what} is {a} in the first, and {b} in the second"));
        }
    };
    let model = |source: &Source| source.row.model.clone().unwrap_or_else(|| "unknown".to_owned());
    compare("the agent", &a.row.agent, &b.row.agent);
    compare("the model", &model(a), &model(b));
    compare("--repeat", &a.row.repeats.to_string(), &b.row.repeats.to_string());
    compare("the version of planproof", &a.version, &b.version);
    compare("the number of shards", &a.shard.shard.count().to_string(), &b.shard.shard.count().to_string());
    compare("the number of all cases", &a.shard.cases.to_string(), &b.shard.cases.to_string());
    let map = |source: &Source| -> BTreeMap<String, Value> {
        let all = source.options.as_object().into_iter().flatten();
        let all = all.filter(|(key, _)| !OF_THE_MACHINE.contains(&key.as_str()));
        all.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let (of_a, of_b) = (map(a), map(b));
    let keys: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let shown = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
    for key in keys {
        let (in_a, in_b) = (shown(of_a.get(key)), shown(of_b.get(key)));
        compare(&format!("the option {key}"), &in_a, &in_b);
    }
    all
}

fn write<W: World>(
    world: &W,
    sources: &mut [Source],
    into: &Path,
    label: Option<&str>,
) -> Result<Merged, CampaignError> {
    let failed =
        |error: std::io::Error| CampaignError::outside(format!("cannot write {}: {error}", into.display()));
    let beside = |suffix: &str| {
        let mut path = into.as_os_str().to_owned();
        path.push(suffix);
        PathBuf::from(path)
    };
    let lock_path = beside("-merging-lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
    // A place that cannot be written is a wrong one, as it is for other files.
    let lock =
        lock.map_err(|error| other(into, &format!("it cannot be written ({error}); name another file")))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(CampaignError::outside(format!(
                "another process is merging into {}",
                into.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let new = beside("-merging");
    // What an earlier merge left when it was killed.
    let ends = ["-merging", "-merging-wal", "-merging-shm", "-merging-journal"];
    let clean = || ends.iter().try_for_each(|end| remove(&beside(end)));
    clean().map_err(failed)?;
    let merged = gather(world, sources, &new, (into, label))
        .and_then(|merged| publish(sources, &new, into, label).map(|()| merged));
    // An error says more than a failure to remove what is of no use.
    let _ = clean();
    let _ = fs::remove_file(&lock_path);
    merged.map_err(|error| match error {
        CampaignError::Store(StoreError::Full { path, .. }) if path == new => {
            CampaignError::outside(format!(
                "the disk has no room for {}: make room, and merge again; the shards are as they were",
                into.display()
            ))
        }
        CampaignError::Store(StoreError::Failed { path, what }) if path == new => {
            CampaignError::Store(StoreError::Failed { path: into.to_owned(), what })
        }
        error => error,
    })
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes the campaign into the new store, which will have the name `into`.
fn gather<W: World>(
    world: &W,
    sources: &mut [Source],
    new: &Path,
    (into, label): (&Path, Option<&str>),
) -> Result<Merged, CampaignError> {
    let [first, ..] = &*sources else { return Err(CampaignError::usage("name the stores of the shards")) };
    let (shard, cases) = (first.shard.shard, first.shard.cases);
    let command_line = (first.row.command_line.clone(), shard);
    let mut places: Vec<u32> =
        sources.iter().flat_map(|source| source.shard.places.iter().copied()).collect();
    places.sort_unstable();
    let is_whole = places.len() == cases as usize;
    let mut options: StoredOptions = serde_json::from_value(first.options.clone())
        .map_err(|error| CampaignError::outside(format!("{}: {error}", first.path.display())))?;
    // The seeds of runs follow from the places, as long as cases are missing.
    options.shard = (!is_whole).then(|| StoredShard { shard, cases, places: places.clone(), merged: true });
    let options = options.to_json(&world.secrets())?;
    // The oldest one: the same for the same shards.
    let oldest = sources.iter().min_by_key(|source| (source.row.created_ms, &source.row.id)).unwrap_or(first);
    let row = oldest.row.clone();
    let owned =
        Owned { store: into, id: &row.id, agent: &row.agent, options: &options, repeats: row.repeats };
    let budgets = owned.proved(Budgets::default(), world.own_key())?.to_json(&world.secrets())?;
    let campaign = NewCampaign {
        id: &row.id,
        created_ms: row.created_ms,
        command_line: &row.command_line,
        agent: &row.agent,
        model: row.model.as_deref(),
        simulated: sources.iter().any(|source| source.row.simulated),
        options: &options,
        repeats: row.repeats,
        budgets: &budgets,
    };
    let label = label.or(row.label.as_deref());
    let mut gathering = Gathering::begin(new, &campaign, label, seal_key(world)?)?;
    let mut runs = 0;
    for source in &mut *sources {
        runs += source.gather(&mut gathering, &places)?;
    }
    let seal = gathering.finish(&progress(sources, budgets))?;
    let mut missing = Vec::new();
    for number in 1..=shard.count() {
        match sources.iter().find(|source| source.shard.shard.number() == number) {
            None => missing.push(MissingShard { shard: shard.with_number(number), begun: None }),
            Some(source) if source.unfinished() > 0 => {
                let begun = Some((source.path.clone(), source.unfinished()));
                missing.push(MissingShard { shard: source.shard.shard, begun });
            }
            Some(_) => {}
        }
    }
    Ok(Merged {
        campaign: row.id,
        cases: (places.len() as u32, cases),
        runs,
        shards: shard.count(),
        missing,
        empty: Vec::new(),
        command_line,
        seal,
    })
}

/// What all shards took together.
fn progress(sources: &[Source], budgets: String) -> Progress {
    let mut sum = Progress { budgets, ..Progress::default() };
    let spent = &mut sum.spent;
    spent.picodollars = Some(0);
    for source in sources {
        let Progress { spent: of, served_input_tokens, served_output_tokens, .. } = &source.row.progress;
        spent.input_tokens += of.input_tokens;
        spent.output_tokens += of.output_tokens;
        spent.picodollars = spent.picodollars.zip(of.picodollars).map(|(sum, more)| sum + more);
        spent.is_estimate |= of.is_estimate;
        sum.served_input_tokens += served_input_tokens;
        sum.served_output_tokens += served_output_tokens;
    }
    sum
}

fn seal_key<W: World>(world: &W) -> Result<SealKey, CampaignError> {
    let draw = world.token();
    let mut seed = [0; SEAL_SEED_BYTES];
    for part in seed.chunks_mut(TOKEN_BYTES) {
        part.iter_mut().zip(draw()).for_each(|(to, from)| *to = from);
    }
    SealKey::from_seed(&seed)
        .ok_or_else(|| CampaignError::outside("cannot make a key that seals the campaign"))
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
