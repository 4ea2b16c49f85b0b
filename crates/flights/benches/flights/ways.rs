//! Four ways to look flights up.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use planproof_travel::tables::{FLIGHTS_FILE, FlightReader, FlightRow, Flights, FlightsBuilder};
use rusqlite::{Connection, params};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Tables by their ways.
pub(crate) enum Way {
    /// The index of this crate, or the table in memory.
    Flights(Flights),
    /// SQLite, with an index for each question.
    Sqlite(Connection),
    /// The file, read from its beginning for each question.
    Scan(PathBuf),
}

/// Opens a table, and makes what the way needs where it is not in the folder yet.
pub(crate) fn open(way: &str, table: &Path, cache: &Path) -> Result<Way> {
    Ok(match way {
        "index" => {
            Way::Flights(planproof_flights::open(table, cache, &mut |_| ControlFlow::Continue(()))?.flights)
        }
        "memory" => {
            let mut builder = FlightsBuilder::new(FLIGHTS_FILE);
            each_line(table, |line| Ok(builder.line(line)?))?;
            Way::Flights(builder.finish())
        }
        "sqlite" => Way::Sqlite(sqlite(table, &cache.join("flights.sqlite"))?),
        _ => Way::Scan(table.to_owned()),
    })
}

fn each_line(table: &Path, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(table)?);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        take(&line)?;
        line.clear();
    }
    Ok(())
}

/// The rows as numbers with the names in a table, and an index for each question.
fn sqlite(table: &Path, path: &Path) -> Result<Connection> {
    let is_there = path.exists();
    let connection = Connection::open(path)?;
    if is_there {
        return Ok(connection);
    }
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE TABLE name (kind TEXT, number INTEGER, name TEXT, PRIMARY KEY (kind, name));
         CREATE TABLE flight (id INTEGER PRIMARY KEY, code INTEGER, cents INTEGER, departure INTEGER, arrival INTEGER,
             minutes INTEGER, date INTEGER, origin INTEGER, destination INTEGER, miles REAL);
         BEGIN;",
    )?;
    let mut reader = FlightReader::new(FLIGHTS_FILE);
    {
        let mut insert =
            connection.prepare("INSERT INTO flight VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
        each_line(table, |line| {
            if let Some(FlightRow { leg, code, cents, departure, arrival, minutes, miles }) =
                reader.line(line)?
            {
                let [origin, destination, date] = leg;
                let values =
                    params![code, cents, departure, arrival, minutes, date, origin, destination, miles];
                insert.execute(values)?;
            }
            Ok(())
        })?;
        let mut insert = connection.prepare("INSERT INTO name VALUES (?1, ?2, ?3)")?;
        for (kind, names) in [("city", &reader.names().cities), ("date", &reader.names().dates)] {
            for (number, name) in names.all().iter().enumerate() {
                insert.execute(params![kind, number as i64, name])?;
            }
        }
    }
    connection.execute_batch(
        "CREATE INDEX leg ON flight (origin, destination, date); CREATE INDEX code ON flight (code); COMMIT;",
    )?;
    Ok(connection)
}

impl Way {
    /// What the flights of a leg on a day cost in cents, in the order of the file.
    pub(crate) fn leg(&self, [origin, destination, date]: [&str; 3]) -> Result<Vec<i64>> {
        match self {
            Self::Flights(flights) => {
                Ok(flights.on(origin, destination, date).map(|it| i64::from(it.cents)).collect())
            }
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(
                    "SELECT cents, code, departure, arrival, minutes, miles FROM flight
                     WHERE origin = (SELECT number FROM name WHERE kind = 'city' AND name = ?1)
                     AND destination = (SELECT number FROM name WHERE kind = 'city' AND name = ?2)
                     AND date = (SELECT number FROM name WHERE kind = 'date' AND name = ?3) ORDER BY id",
                )?;
                let rows = statement.query_map([origin, destination, date], |row| row.get(0))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            }
            Self::Scan(table) => {
                scan(table, |cells| cells.get(5..8).is_some_and(|cells| cells == [date, origin, destination]))
            }
        }
    }

    /// What the flights with a number cost in cents, in the order of the file.
    pub(crate) fn number(&self, number: &str) -> Result<Vec<i64>> {
        match self {
            Self::Flights(flights) => Ok(flights.numbered(number).map(|it| i64::from(it.cents)).collect()),
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(
                    "SELECT cents, origin, destination, date, departure, arrival, minutes, miles FROM flight
                     WHERE code = ?1 ORDER BY id",
                )?;
                let rows =
                    statement.query_map([planproof_travel::tables::code_of(number)], |row| row.get(0))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            }
            Self::Scan(table) => scan(table, |cells| cells.first() == Some(&number)),
        }
    }
}

fn scan(table: &Path, is_wanted: impl Fn(&[&str]) -> bool) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    each_line(table, |line| {
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        if is_wanted(&cells) {
            found.push(cells.get(1).copied().unwrap_or_default().parse::<i64>()? * 100);
        }
        Ok(())
    })?;
    Ok(found)
}
