//! A folder for a test, and tables in it.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use planproof_flights::{FlightsError, IndexProgress, open_with};
use planproof_travel::tables::Flights;

pub(crate) const HEADER: &str =
    "Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,DestCityName,Distance\n";

/// A folder that is removed with it.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("flights-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a table of these rows.
    pub(crate) fn table(&self, name: &str, rows: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("{HEADER}{rows}")).unwrap();
        path
    }

    /// Opens a table, with at most three rows in memory, and says whether an index was made.
    pub(crate) fn open(&self, table: &Path) -> (Result<Flights, FlightsError>, bool) {
        let mut is_made = false;
        let flights = open_with(table, &self.path("cache"), 3, &mut |progress| {
            is_made |= matches!(progress, IndexProgress::Reading { .. });
            ControlFlow::Continue(())
        });
        (flights.map(|it| it.flights), is_made)
    }

    /// The file of this kind in the cache.
    pub(crate) fn named(&self, kind: &str) -> PathBuf {
        let mut files = fs::read_dir(self.path("cache")).unwrap().map(|it| it.unwrap().path());
        files.find(|it| it.extension().is_some_and(|it| it == kind)).unwrap()
    }

    /// The names of the files in the cache, without the numbers in them.
    pub(crate) fn cached(&self) -> Vec<String> {
        let Ok(files) = fs::read_dir(self.path("cache")) else { return Vec::new() };
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut kinds: Vec<String> = names.map(|it| it.rsplit('.').next().unwrap().to_owned()).collect();
        kinds.sort();
        kinds
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
