//! All that a call may reach: databases, the date of today, randomness.
//!
//! A world is cheap to copy, because its databases are shared until one is changed. So an evaluator that wants every
//! call to see the original data takes a copy per call.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use planproof_trace::Draw;

use crate::api::Fault;
use crate::catalogue::Catalogue;
use crate::tools::{Bm25, Lexical, Retriever, Services};
use crate::value::{Dict, Value};

/// The date of today in the original, whose tool gives a constant.
pub const TODAY: &str = "2023-03-31";

/// Whose behaviour tools, calls and judgements have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compat {
    /// The published code's, with all that is wrong with it.
    Original,
    /// What was meant. Each difference is listed in [`crate::evaluate`].
    #[default]
    Right,
}

/// What keys begin with that are numbers in the original, unlike those of its files, so that they never meet.
const NUMBER_KEY: &str = "int:";

/// The database that the search engine has an index of.
const SEARCHED: &str = "SearchEngine";

/// What the calls of one run act upon.
#[derive(Debug, Clone)]
pub struct World {
    tables: BTreeMap<String, Arc<Value>>,
    /// Made at the first search, and shared with all copies.
    search_index: Arc<OnceLock<Bm25>>,
    /// How tools behave.
    pub compat: Compat,
    /// The tools that `ToolSearcher` finds.
    pub catalogue: Arc<Catalogue>,
    /// How it finds them.
    pub retriever: Arc<dyn Retriever>,
    /// Who is asked for what is not in a database; without, such calls are outages.
    pub services: Option<Arc<dyn Services>>,
    /// The date of today as `2023-03-31`.
    pub today: String,
    /// Where numbers of appointments and tokens of users are drawn from.
    pub draw: Draw,
}

impl World {
    /// A world without databases and services, of the tools of levels 1 and 2.
    pub fn new(today: &str, draw: Draw) -> Self {
        Self {
            tables: BTreeMap::new(),
            search_index: Arc::default(),
            compat: Compat::default(),
            catalogue: Arc::new(Catalogue::tools().clone()),
            retriever: Arc::new(Lexical),
            services: None,
            today: today.to_owned(),
            draw,
        }
    }

    /// Puts a database in, in place of another one of this name.
    ///
    /// # Errors
    /// The text is no JSON.
    pub fn load(&mut self, name: &str, text: &str) -> Result<(), LoadError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|source| LoadError { name: name.to_owned(), source: Arc::new(source) })?;
        self.put(name, value);
        Ok(())
    }

    /// Puts a database in, in place of another one of this name.
    pub fn put(&mut self, name: &str, value: Value) {
        self.forget_index(name);
        self.tables.insert(name.to_owned(), Arc::new(value));
    }

    fn forget_index(&mut self, name: &str) {
        if name == SEARCHED {
            self.search_index = Arc::default();
        }
    }

    /// The index of the search engine, which `make` makes at the first search.
    pub(crate) fn search_index(&self, make: impl FnOnce() -> Bm25) -> &Bm25 {
        self.search_index.get_or_init(make)
    }

    /// The database of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.tables.get(name).map(Arc::as_ref)
    }

    /// The database of this name to be changed, which copies it where another world has it too.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.forget_index(name);
        self.tables.get_mut(name).map(Arc::make_mut)
    }

    /// The database of this name, which must be a dictionary.
    ///
    /// # Errors
    /// [`Fault::Outage`] where it is missing or no dictionary.
    pub fn table(&self, name: &str) -> Result<&Dict, Fault> {
        self.get(name).and_then(Value::as_dict).ok_or_else(|| missing(name))
    }

    /// The database of this name, which must be a list.
    ///
    /// # Errors
    /// [`Fault::Outage`] where it is missing or no list.
    pub fn list(&self, name: &str) -> Result<&[Value], Fault> {
        self.get(name).and_then(Value::as_list).ok_or_else(|| missing(name))
    }

    /// A key for a new row of a table whose keys are numbers. The original takes the number of rows plus one, as a
    /// number, so that it overwrites its own row after a deletion; we take the first number above all.
    ///
    /// # Errors
    /// As of [`World::table`].
    pub(crate) fn next_key(&self, name: &str) -> Result<String, Fault> {
        let table = self.table(name)?;
        if self.compat == Compat::Original {
            return Ok(format!("{NUMBER_KEY}{}", table.len() + 1));
        }
        let numbers = table.keys().filter_map(|key| key.parse::<u64>().ok());
        Ok(numbers.max().unwrap_or(0).saturating_add(1).to_string())
    }

    /// As [`World::table`], to be changed.
    ///
    /// # Errors
    /// As of [`World::table`].
    pub fn table_mut(&mut self, name: &str) -> Result<&mut Dict, Fault> {
        self.get_mut(name).and_then(Value::as_dict_mut).ok_or_else(|| missing(name))
    }
}

/// The outage of a database.
fn missing(name: &str) -> Fault {
    Fault::Outage {
        tool: name.to_owned(),
        what: format!("there is no database `{name}`; load init_database/{name}.json of API-Bank"),
    }
}

/// A database that cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the database `{name}` is no JSON: {source}")]
pub struct LoadError {
    /// Which one.
    pub name: String,
    /// What is wrong with it.
    pub source: Arc<serde_json::Error>,
}
