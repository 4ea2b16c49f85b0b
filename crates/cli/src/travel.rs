//! The published data of TravelPlanner, from the folder that a user has: `database`, `queries` and perhaps `ref_info`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use planproof_suite::{CaseError, Suite};
use planproof_travel::suite::{Folder, NAME, OpenTables, PublishedData, TextFile};
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, DISTANCES_FILE, Database, FLIGHTS_FILE, FlightsBuilder,
    RESTAURANTS_FILE, STATES_FILE, Texts,
};
use ring::digest::{Context, SHA256};

use crate::arguments::Global;
use crate::config::data_set;
use crate::failure::Failure;
use crate::select;

/// Where the tables lie.
const DATABASE: &str = "database";

/// Bytes of a digest that stand in a case.
const DIGEST_BYTES: usize = 8;

/// Tables of folders that were opened, by their paths.
static OPENED: LazyLock<Mutex<BTreeMap<String, (Folder, Arc<Database>)>>> = LazyLock::new(Mutex::default);

/// Opens the tables of a folder once, and makes sure that they are those of its digest.
pub(crate) fn open() -> OpenTables {
    Arc::new(|folder: &Folder| {
        let (found, database) =
            opened(Path::new(&folder.path)).map_err(|failure| CaseError::new(failure.describe()))?;
        if found.digest != folder.digest {
            return Err(CaseError::new(format!(
                "the tables of {} are others than those that the case was made with: put these back, or make the cases \
                 again from the data",
                folder.path
            )));
        }
        Ok(database)
    })
}

/// The options among these that are given.
pub(crate) fn options<'a, const N: usize>(given: [(&'a str, Option<&'a str>); N]) -> Vec<(&'a str, &'a str)> {
    given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Refuses options that only this suite has for another one.
pub(crate) fn must_have(suite: &dyn Suite, options: &[(&str, &str)], global: &Global) -> Result<(), Failure> {
    let set = data_set(global)?;
    let named = options.first().map(|(name, _)| *name).or(set.map(|_| "set"));
    match named.filter(|_| suite.name() != NAME) {
        Some("set") => Err(Failure::usage(format!(
            "--set {}: write --set KEY=VALUE, as in --set bench.limit=20; a name alone is one of the sets of {NAME}",
            set.unwrap_or_default()
        ))),
        Some(name) => Err(Failure::usage(format!("--{name} is for {NAME} here, not for {}", suite.name()))),
        None => Ok(()),
    }
}

/// The queries of a set, as the suite reads them, with the tables opened.
pub(crate) fn published(folder: &Path, set: Option<&str>) -> Result<String, Failure> {
    let (tables, _) = opened(folder)?;
    let Some(set) = set else {
        return Err(Failure::usage(format!(
            "say which queries of {} with --set: there are {}",
            folder.display(),
            sets(folder)
        )));
    };
    let queries = folder.join(format!("queries/{set}.jsonl"));
    if !queries.is_file() {
        return Err(Failure::usage(format!(
            "there is no {}: sets with queries are {}",
            queries.display(),
            sets(folder)
        )));
    }
    let reference = folder.join(format!("ref_info/{set}_ref_info.jsonl"));
    let reference = reference.is_file().then_some(reference).map(text_file).transpose()?;
    Ok(PublishedData::new(set.to_owned(), tables, text_file(queries)?, reference).to_text())
}

/// The names of the sets in a folder.
fn sets(folder: &Path) -> String {
    let known = ["train", "validation", "test"];
    let there = known.into_iter().filter(|set| folder.join(format!("queries/{set}.jsonl")).is_file());
    let there: Vec<&str> = there.collect();
    if there.is_empty() { "none".to_owned() } else { there.join(", ") }
}

fn text_file(path: PathBuf) -> Result<TextFile, Failure> {
    Ok(TextFile { text: select::read_text(&path)?, file: path.display().to_string() })
}

/// The tables of a folder, opened once.
fn opened(folder: &Path) -> Result<(Folder, Arc<Database>), Failure> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string();
    // What a panic of another thread left is whole: it is put in at once.
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = opened.get(&path) {
        return Ok(found.clone());
    }
    let (digest, database) = read(folder)?;
    let found = (Folder { path: path.clone(), digest }, Arc::new(database));
    opened.insert(path, found.clone());
    Ok(found)
}

/// Reads all tables, with a digest over them.
fn read(folder: &Path) -> Result<(String, Database), Failure> {
    let fail = |path: &Path, what: &dyn Display| {
        Failure::usage(format!(
            "cannot read {}: {what}; --data takes the published folder of {NAME}, with {DATABASE} and queries in it",
            path.display()
        ))
    };
    if !folder.is_dir() {
        return Err(fail(folder, &"it is no folder"));
    }
    let database = folder.join(DATABASE);
    let mut hash = Context::new(&SHA256);
    let mut text = |name: &str| {
        let path = database.join(name);
        if !path.is_file() {
            return Err(fail(&path, &"there is no such file"));
        }
        let text = select::read_text(&path)?;
        // The length keeps the end of one file apart from the beginning of the next.
        hash.update(&text.len().to_le_bytes());
        hash.update(text.as_bytes());
        Ok(text)
    };
    let accommodations = text(ACCOMMODATIONS_FILE)?;
    let restaurants = text(RESTAURANTS_FILE)?;
    let attractions = text(ATTRACTIONS_FILE)?;
    let distances = text(DISTANCES_FILE)?;
    let states = text(STATES_FILE)?;
    let cities = text(CITIES_FILE)?;
    let path = database.join(FLIGHTS_FILE);
    let file = File::open(&path).map_err(|error| fail(&path, &error))?;
    let wrong = |error: planproof_travel::tables::TableError| {
        Failure::usage(format!("{}: {error}", database.display()))
    };
    let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| fail(&path, &error))?;
        hash.update(line.as_bytes());
        flights.line(&line).map_err(wrong)?;
    }
    let texts = Texts {
        accommodations: &accommodations,
        restaurants: &restaurants,
        attractions: &attractions,
        distances: &distances,
        states: &states,
        cities: &cities,
    };
    let database = Database::read(&texts, flights.finish()).map_err(wrong)?;
    let digest = hash.finish();
    let digest = digest.as_ref().iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    Ok((digest, database))
}
