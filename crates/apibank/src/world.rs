//! Everything that a call may access: databases, today's date, randomness.
//!
//! A world is cheap to clone, because its databases are shared until one is changed. An evaluator that wants every
//! call to see the original data therefore uses a clone per call.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use planproof_trace::Draw;

use crate::api::ApiFault;
use crate::catalogue::ApiCatalogue;
use crate::tools::{Bm25, Lexical, Retriever, Services};
use crate::value::{Dict, PythonValue};

/// Today's date in the original, whose tool returns a constant.
pub const TODAY: &str = "2023-03-31";

/// Which behaviour tools, calls and judgements have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApiCompat {
    /// That of the published code, with all its errors.
    Original,
    /// The intended behaviour. [`crate::evaluate`] lists every difference.
    #[default]
    Right,
}

/// The prefix of keys that are numbers in the original. Keys from its files are texts, so the two must never
/// collide.
const NUMBER_KEY: &str = "int:";

/// The database that the search engine indexes.
const SEARCHED: &str = "SearchEngine";

/// What the calls of one run act upon.
#[derive(Debug, Clone)]
pub struct ApiWorld {
    tables: BTreeMap<String, Arc<PythonValue>>,
    /// Created at the first search, and shared with all clones.
    search_index: Arc<OnceLock<Bm25>>,
    pub compat: ApiCompat,
    /// Whether the tools of level 3 give what the published ones give, even if calls are read and compared as
    /// intended.
    pub has_published_tools: bool,
    /// The tools that `ToolSearcher` can find.
    pub catalogue: Arc<ApiCatalogue>,
    /// How it finds them.
    pub retriever: Arc<dyn Retriever>,
    /// The services for everything that is not in a database; without them, calls that need them are outages.
    pub services: Option<Arc<dyn Services>>,
    /// Today's date, such as `2023-03-31`.
    pub today: String,
    /// The source of appointment numbers and user tokens.
    pub draw: Draw,
}

impl ApiWorld {
    /// Creates a world for the tools of levels 1 and 2, without databases and services.
    pub fn new(today: &str, draw: Draw) -> Self {
        Self {
            tables: BTreeMap::new(),
            search_index: Arc::default(),
            compat: ApiCompat::default(),
            has_published_tools: false,
            catalogue: Arc::new(ApiCatalogue::tools().clone()),
            retriever: Arc::new(Lexical),
            services: None,
            today: today.to_owned(),
            draw,
        }
    }

    /// Inserts a database, or replaces the one with this name.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn load(&mut self, name: &str, text: &str) -> Result<(), LoadError> {
        let value: PythonValue = serde_json::from_str(text)
            .map_err(|source| LoadError { name: name.to_owned(), source: Arc::new(source) })?;
        self.put(name, value);
        Ok(())
    }

    /// Inserts a database, or replaces the one with this name.
    pub fn put(&mut self, name: &str, value: PythonValue) {
        self.forget_index(name);
        self.tables.insert(name.to_owned(), Arc::new(value));
    }

    fn forget_index(&mut self, name: &str) {
        if name == SEARCHED {
            self.search_index = Arc::default();
        }
    }

    /// The index of the search engine, which `make` creates at the first search.
    pub(crate) fn search_index(&self, make: impl FnOnce() -> Bm25) -> &Bm25 {
        self.search_index.get_or_init(make)
    }

    /// The database with this name.
    pub fn get(&self, name: &str) -> Option<&PythonValue> {
        self.tables.get(name).map(Arc::as_ref)
    }

    /// The mutable database with this name. It is copied first if it is shared with another world.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut PythonValue> {
        // Whoever gets the database may change it.
        self.forget_index(name);
        self.tables.get_mut(name).map(Arc::make_mut)
    }

    /// The database with this name, which must be a dictionary.
    ///
    /// # Errors
    /// [`ApiFault::Outage`] if it is missing or not a dictionary.
    pub fn table(&self, name: &str) -> Result<&Dict, ApiFault> {
        self.get(name).and_then(PythonValue::as_dict).ok_or_else(|| missing(name))
    }

    /// The database with this name, which must be a list.
    ///
    /// # Errors
    /// [`ApiFault::Outage`] if it is missing or not a list.
    pub fn list(&self, name: &str) -> Result<&[PythonValue], ApiFault> {
        self.get(name).and_then(PythonValue::as_list).ok_or_else(|| missing(name))
    }

    /// A key for a new row of a table with numeric keys. The original uses the number of rows plus one, as a
    /// number, so that after a deletion it overwrites its own rows; we use the first number above all existing
    /// ones.
    ///
    /// # Errors
    /// Same as [`ApiWorld::table`].
    pub(crate) fn next_key(&self, name: &str) -> Result<String, ApiFault> {
        let table = self.table(name)?;
        if self.compat == ApiCompat::Original {
            return Ok(format!("{NUMBER_KEY}{}", table.len() + 1));
        }
        let numbers = table.keys().filter_map(|key| key.parse::<u64>().ok());
        Ok(numbers.max().unwrap_or(0).saturating_add(1).to_string())
    }

    /// Same as [`ApiWorld::table`], but mutable.
    ///
    /// # Errors
    /// Same as [`ApiWorld::table`].
    pub fn table_mut(&mut self, name: &str) -> Result<&mut Dict, ApiFault> {
        self.get_mut(name).and_then(PythonValue::as_dict_mut).ok_or_else(|| missing(name))
    }
}

/// The outage for a missing database.
fn missing(name: &str) -> ApiFault {
    ApiFault::Outage {
        tool: name.to_owned(),
        what: format!("there is no database `{name}`; load init_database/{name}.json of API-Bank"),
    }
}

/// A database that cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the database `{name}` is no JSON: {source}")]
pub struct LoadError {
    /// The name of the database.
    pub name: String,
    /// What is wrong with it.
    pub source: Arc<serde_json::Error>,
}
