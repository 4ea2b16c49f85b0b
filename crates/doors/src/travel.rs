//! The published data of TravelPlanner, from a user's folder: `database`, `queries` and perhaps `ref_info`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use planproof_flights::{IndexProgress, IndexedFlights, open as open_flights};
use planproof_output::failure::Failure;
use planproof_output::progress::Phases;
use planproof_output::{progress, tell, text_files};
use planproof_suite::{CaseError, OwnedData};
use planproof_travel::suite::{Folder, NAME, OpenTables, PublishedSet, ReadSet, TextFile};
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, DISTANCES_FILE, FLIGHTS_FILE, Flights,
    FlightsBuilder, RESTAURANTS_FILE, STATES_FILE, TableError, Texts, TripDatabase,
};
use ring::digest::{Context, SHA256};

/// Where the tables lie.
const DATABASE: &str = "database";

/// Bytes of a digest that stand in a case.
const DIGEST_BYTES: usize = 8;

/// Largest table of flights that is held in memory, in bytes. The published one has some 300 million.
const IN_MEMORY_BYTES_MAX: u64 = 16 << 20;

/// The location of the index of a larger one, beside the run store.
const INDEX_FOLDER: &str = ".planproof/flights";

/// The opened tables of folders, by their paths as written. Nothing changes the current directory.
type Opened = BTreeMap<String, (Folder, Arc<TripDatabase>)>;

static OPENED: LazyLock<Mutex<Opened>> = LazyLock::new(Mutex::default);

/// Opens the tables of a folder once, and makes sure that they are those of its digest.
pub(super) fn open() -> OpenTables {
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

/// Reads the queries of a set of a folder, with its tables opened.
pub(super) fn reader() -> ReadSet {
    Arc::new(|folder, set| {
        let text = published(folder, set).map_err(Failure::into_case_error)?;
        Ok(OwnedData { text, file: folder.display().to_string() })
    })
}

/// The queries of a set, as the suite reads them, with the tables opened.
fn published(folder: &Path, set: Option<&str>) -> Result<String, Failure> {
    // Before the set is looked for, so that a wrong folder is called one, and not a folder without sets.
    let (tables, _) = opened(folder, progress::is_quiet())?;
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
    Ok(TextFile { text: text_files::read_json(path)?, file: path.display().to_string() })
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
        let text = text_files::read_large_text(&path)?;
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
    let file = planproof_files::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    // One byte more than fits shows that there is more.
    file.take(IN_MEMORY_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > IN_MEMORY_BYTES_MAX {
        drop(bytes);
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
        let opened = open_flights(path, Path::new(INDEX_FOLDER), &mut progress);
        let IndexedFlights { flights, digest } = opened.map_err(|error| match error.is_usage() {
            true => Failure::usage(error.to_string()),
            false => Failure::outside(error.to_string()),
        })?;
        hash.update(&digest);
        return Ok(flights);
    }
    hash.update(&bytes.len().to_le_bytes());
    hash.update(&bytes);
    let mut flights = FlightsBuilder::new(&path.display().to_string());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        flights.line_bytes(line).map_err(|error| Failure::usage(error.to_string()))?;
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
