//! The published data of TravelPlanner, from a user's folder: `database`, `queries` and perhaps `ref_info`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Read, Seek as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use planproof_agents::team::Deliver;
use planproof_agents::{AgentForm, AgentKind, AgentSpec, TwoStageAgent};
use planproof_flights::{IndexProgress, open as open_flights};
use planproof_suite::{CaseError, Suite};
use planproof_travel::suite::{
    Folder, NAME, OpenTables, PublishedSet, QueryMode, ROLES_NAME, ROLES_WITH_HINTS_NAME, TextFile,
};
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, DISTANCES_FILE, FLIGHTS_FILE, Flights,
    FlightsBuilder, RESTAURANTS_FILE, STATES_FILE, TableError, Texts, TripDatabase,
};
use ring::digest::{Context, SHA256};

use crate::arguments::{CompatChoice, Global};
use crate::config::data_set;
use crate::failure::Failure;
use crate::progress::{Phases, tell};
use crate::select;

/// Where the tables lie.
const DATABASE: &str = "database";

/// Bytes of a digest that stand in a case.
const DIGEST_BYTES: usize = 8;

/// Bytes of the table of flights that the digest covers, in addition to its length.
const HEAD_BYTES: u64 = 1 << 20;

/// Largest table of flights that is held in memory, in bytes. The published one has some 300 million.
const IN_MEMORY_BYTES_MAX: u64 = 16 << 20;

/// The location of the index of a larger one, beside the run store.
const INDEX_FOLDER: &str = ".planproof/flights";

/// The opened tables of folders, by their paths as written. Nothing changes the current directory.
type Opened = BTreeMap<String, (Folder, Arc<TripDatabase>)>;

static OPENED: LazyLock<Mutex<Opened>> = LazyLock::new(Mutex::default);

/// Opens the tables of a folder once, and makes sure that they are those of its digest.
pub(crate) fn open() -> OpenTables {
    Arc::new(|folder: &Folder| {
        let path = Path::new(&folder.path);
        if !path.is_dir() {
            return Err(CaseError::new(not_here(path)));
        }
        let (found, database) = opened(path, false).map_err(Failure::into_case_error)?;
        if found.digest != folder.digest {
            return Err(CaseError::new(format!(
                "the tables of {} differ from those that the case was made with: restore those, or make the cases \
                 again from the data{}",
                folder.path,
                if path.is_relative() { "; the folder is looked for in the current directory" } else { "" }
            )));
        }
        Ok(database)
    })
}

/// Why the tables of a case cannot be read if there is no such folder. A case keeps the path as written.
fn not_here(path: &Path) -> String {
    let folder = path.display();
    if path.is_absolute() {
        return format!("the tables of the case were in {folder}, which does not exist: restore it");
    }
    let here = std::env::current_dir().map_or_else(|_| ".".to_owned(), |here| here.display().to_string());
    format!(
        "the tables of the case lie in {folder}, as --data was written where the cases were made, and {here} has no such \
         folder: run the command where they were made, or put the folder, or a link to it, here"
    )
}

/// The options among these that are given.
pub(crate) fn options<'a, const N: usize>(given: [(&'a str, Option<&'a str>); N]) -> Vec<(&'a str, &'a str)> {
    given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The word of the suite for how plans are judged.
pub(crate) fn judgement(compat: CompatChoice) -> &'static str {
    match compat {
        CompatChoice::Original => "original",
        CompatChoice::Ours => "right",
    }
}

/// The suites that have an option of this name beside those of all suites.
fn suites_with(option: &str) -> &'static [&'static str] {
    match option {
        "level" => &[NAME, planproof_apibank::suite::NAME],
        "evaluation" => &[planproof_tptu::NAME],
        _ => &[NAME],
    }
}

/// Refuses options that only this suite, or a few, have for another one.
pub(crate) fn must_have(suite: &dyn Suite, options: &[(&str, &str)], global: &Global) -> Result<(), Failure> {
    let set = data_set(global)?;
    // For other suites a `--set` without a value is a key whose value was forgotten.
    let mut named = options.iter().map(|(name, _)| *name).chain(set.map(|_| "set"));
    match named.find(|name| !suites_with(name).contains(&suite.name())) {
        Some("set") => Err(Failure::usage(format!(
            "--set {}: write --set KEY=VALUE, as in --set bench.limit=20; a name alone is one of the sets of {NAME}",
            set.unwrap_or_default()
        ))),
        Some(name) => Err(Failure::usage(format!(
            "--{name} is for {} here, not for {}",
            suites_with(name).join(" and "),
            suite.name()
        ))),
        None => Ok(()),
    }
}

/// Whether agents have the tools of the sandbox in this mode.
pub(crate) fn has_tools(mode: Option<&str>) -> bool {
    mode.is_none_or(|mode| mode == QueryMode::TwoStage.name())
}

/// A team with the roles of this suite, unless it has others. Only a deciding deliverer gets hints; one that uses the
/// solver does not.
pub(crate) fn with_roles(agent: &AgentSpec, hints: bool) -> Result<AgentSpec, Failure> {
    let AgentForm::Asking { kind: AgentKind::Team(options), .. } = agent.form() else {
        return Ok(agent.clone());
    };
    // A manager that composes its executors needs none from a file.
    if options.roles.is_some() || options.compose == Some(true) {
        return Ok(agent.clone());
    }
    let decides = options.deliver.unwrap_or_default() == Deliver::Inference;
    let roles = if hints && decides { ROLES_WITH_HINTS_NAME } else { ROLES_NAME };
    agent.with_options(&[("roles", roles.to_owned())]).map_err(|error| Failure::usage(error.to_string()))
}

/// Refuses the two-stage agent where its notebook and its planner are not among the tools.
pub(crate) fn must_have_planner(
    suite: &dyn Suite,
    mode: Option<&str>,
    agents: &[AgentSpec],
) -> Result<(), Failure> {
    let is_two_stage =
        |agent: &&AgentSpec| matches!(agent.form(), AgentForm::Asking { kind: AgentKind::TwoStage(_), .. });
    match agents.iter().find(is_two_stage) {
        Some(agent) if suite.name() != NAME || !has_tools(mode) => Err(Failure::usage(format!(
            "{} is for {NAME} with --mode {}, whose tools it works with: {agent} cannot be run on this",
            TwoStageAgent::KIND,
            QueryMode::TwoStage.name()
        ))),
        _ => Ok(()),
    }
}

/// The queries of a set, as the suite reads them, with the tables opened.
pub(crate) fn published(folder: &Path, set: Option<&str>, global: &Global) -> Result<String, Failure> {
    // Before the set is looked for, so that a wrong folder is called one, and not a folder without sets.
    let (tables, _) = opened(folder, global.quiet)?;
    let Some(set) = set else {
        return Err(Failure::usage(format!(
            "choose the queries of {} with --set: there are {}",
            folder.display(),
            sets(folder)
        )));
    };
    let Some(queries) = queries_of(folder, set) else {
        return Err(Failure::usage(format!(
            "{} has no queries/{set}.jsonl and no queries/{set}.csv; sets with queries are {}",
            folder.display(),
            sets(folder)
        )));
    };
    let reference = folder.join(format!("ref_info/{set}_ref_info.jsonl"));
    let reference = reference.is_file().then_some(reference).map(|path| text_file(&path)).transpose()?;
    Ok(PublishedSet::new(set.to_owned(), tables, text_file(&queries)?, reference).to_text())
}

/// The names of the sets in a folder.
fn sets(folder: &Path) -> String {
    let known = ["train", "validation", "test"];
    let there = known.into_iter().filter(|set| queries_of(folder, set).is_some());
    let there: Vec<&str> = there.collect();
    if there.is_empty() { "none".to_owned() } else { there.join(", ") }
}

/// The file with the queries of a set: lines of JSON, or the published table, which may also lie in the folder itself.
fn queries_of(folder: &Path, set: &str) -> Option<PathBuf> {
    let names = [format!("queries/{set}.jsonl"), format!("queries/{set}.csv"), format!("{set}.csv")];
    names.into_iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn text_file(path: &Path) -> Result<TextFile, Failure> {
    Ok(TextFile { text: select::read_json(path)?, file: path.display().to_string() })
}

/// The tables of a folder, opened once.
fn opened(folder: &Path, is_quiet: bool) -> Result<(Folder, Arc<TripDatabase>), Failure> {
    let path = folder.display().to_string();
    // A panic of another thread leaves complete entries: they are inserted in one step.
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    // The lock is kept while the tables are read, so that two threads do not read them twice.
    if let Some(found) = opened.get(&path) {
        return Ok(found.clone());
    }
    let (digest, database) = read(folder, is_quiet)?;
    let found = (Folder { path: path.clone(), digest }, Arc::new(database));
    opened.insert(path, found.clone());
    Ok(found)
}

/// Reads all tables, with a digest over them.
fn read(folder: &Path, is_quiet: bool) -> Result<(String, TripDatabase), Failure> {
    if !folder.is_dir() {
        return Err(cannot_read(folder, &"it is not a folder"));
    }
    let database = folder.join(DATABASE);
    let mut hash = Context::new(&SHA256);
    let mut text = |name: &str| {
        let path = database.join(name);
        if !path.is_file() {
            return Err(cannot_read(&path, &"there is no such file"));
        }
        let text = select::read_text(&path)?;
        // The length separates the end of one file from the beginning of the next.
        hash.update(&text.len().to_le_bytes());
        hash.update(text.as_bytes());
        Ok(text)
    };
    // The order of the files is part of the digest.
    let accommodations = text(ACCOMMODATIONS_FILE)?;
    let restaurants = text(RESTAURANTS_FILE)?;
    let attractions = text(ATTRACTIONS_FILE)?;
    let distances = text(DISTANCES_FILE)?;
    let states = text(STATES_FILE)?;
    let cities = text(CITIES_FILE)?;
    let path = database.join(FLIGHTS_FILE);
    let flights = flights(&path, &mut hash, is_quiet)?;
    let wrong = |error: TableError| Failure::usage(format!("{}: {error}", database.display()));
    let texts = Texts {
        accommodations: &accommodations,
        restaurants: &restaurants,
        attractions: &attractions,
        distances: &distances,
        states: &states,
        cities: &cities,
    };
    let database = TripDatabase::read(&texts, flights).map_err(wrong)?;
    let digest = hash.finish();
    let digest = digest.as_ref().iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    Ok((digest, database))
}

/// The flights: those of a large table in an index that is made the first time, those of a small one in memory.
fn flights(path: &Path, hash: &mut Context, is_quiet: bool) -> Result<Flights, Failure> {
    let fail = |error: std::io::Error| cannot_read(path, &error);
    let mut file = planproof_files::open(path).map_err(fail)?;
    let bytes = file.metadata().map_err(fail)?.len();
    hash.update(&bytes.to_le_bytes());
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(fail)?;
    hash.update(&head);
    if bytes > IN_MEMORY_BYTES_MAX {
        // It appears with the first report: an existing index is opened without any.
        let mut shown: Option<Phases> = None;
        let mut progress = |progress: IndexProgress| {
            let bar = shown.get_or_insert_with(|| indexing(path, is_quiet));
            match progress {
                IndexProgress::Waiting => bar.at("another process makes it", 0, 1),
                IndexProgress::Reading { bytes, of } => bar.at("reading", bytes, of),
                IndexProgress::Writing { rows, of } => bar.at("writing", rows, of),
            }
            ControlFlow::Continue(())
        };
        return open_flights(path, Path::new(INDEX_FOLDER), &mut progress)
            .map_err(|error| Failure::usage(error.to_string()));
    }
    file.rewind().map_err(fail)?;
    let mut flights = FlightsBuilder::new(&path.display().to_string());
    for line in BufReader::new(file).lines() {
        flights.line(&line.map_err(fail)?).map_err(|error| Failure::usage(error.to_string()))?;
    }
    Ok(flights.finish())
}

/// A bar for the making of an index; a line instead where no bar can be seen, unless quiet was asked for.
fn indexing(path: &Path, is_quiet: bool) -> Phases {
    let bar = Phases::new(is_quiet, "index of the flights");
    if !bar.is_seen() && !is_quiet {
        tell!("making an index of {} in {INDEX_FOLDER}, once", path.display());
    }
    bar
}

fn cannot_read(path: &Path, what: &dyn Display) -> Failure {
    Failure::usage(format!(
        "cannot read {}: {what}; --data takes the published folder of {NAME}, with {DATABASE} and queries in it",
        path.display()
    ))
}
