//! Flights, looked up by number, or by route and day, independently of where the rows are stored.
//!
//! A [`FlightStore`] contains the rows and finds them by numeric keys; [`Flights`] maps the names of cities and
//! days to numbers. The store here keeps all rows in memory, in columns (`flights/columns.rs`) of 28 bytes per row,
//! which suits tables of up to some hundred thousand rows. The crate `flights` has an on-disk store for the
//! published table, and its tests compare it with this one.

mod builder;
mod columns;
mod reader;
mod row;

use std::sync::{Arc, OnceLock};

use super::times::{clock, elapsed};
use row::number_of;

pub use builder::FlightsBuilder;
pub use reader::FlightReader;
pub use row::{FlightNames, FlightRow, Leg, Names, code_of};

/// Cents per dollar.
const CENTS: f64 = 100.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flight<'t> {
    code: u32,
    /// The price for one person, in US cents.
    pub cents: i32,
    /// The departure, in minutes of the day.
    pub departure: u16,
    /// The arrival, in minutes of the day.
    pub arrival: u16,
    /// The flight time in minutes.
    pub minutes: u16,
    /// The date, such as `2022-03-16`.
    pub date: &'t str,
    /// The city of departure.
    pub origin: &'t str,
    /// The city of arrival.
    pub destination: &'t str,
    /// The distance in miles.
    pub miles: f32,
}

impl Flight<'_> {
    /// Its number, such as `F3573659`.
    pub fn number(&self) -> String {
        number_of(self.code)
    }

    /// The price for one person, in US dollars.
    pub fn price(&self) -> f64 {
        f64::from(self.cents) / CENTS
    }

    /// The time of departure, such as `06:05`.
    pub fn departs(&self) -> String {
        clock(self.departure)
    }

    /// The time of arrival, such as `06:05`.
    pub fn arrives(&self) -> String {
        clock(self.arrival)
    }

    /// The flight time, such as `2 hours 24 minutes`.
    pub fn takes(&self) -> String {
        elapsed(self.minutes)
    }
}

/// The store failed while in use, so that rows cannot be looked up. The text says what happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the flights cannot be read: {0}")]
pub struct FlightStoreError(pub String);

/// Storage for the rows of a table of flights. Results are in the order of the file.
pub trait FlightStore: std::fmt::Debug + Send + Sync {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Whether it has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows for a route on a day.
    ///
    /// # Errors
    /// The store failed.
    fn of_leg(&self, leg: Leg) -> Result<Vec<FlightRow>, FlightStoreError>;

    /// The rows whose number has this code ([`code_of`]).
    ///
    /// # Errors
    /// The store failed.
    fn of_code(&self, code: u32) -> Result<Vec<FlightRow>, FlightStoreError>;
}

/// All flights. Cloning is cheap, and clones share the rows and [`Flights::outage`].
#[derive(Debug, Clone)]
pub struct Flights {
    names: Arc<FlightNames>,
    store: Arc<dyn FlightStore>,
    outage: Arc<OnceLock<FlightStoreError>>,
}

impl Default for Flights {
    /// No flights.
    fn default() -> Self {
        FlightsBuilder::new("").finish()
    }
}

impl Flights {
    /// The flights in a store, whose rows refer to cities and days by these names.
    pub fn new(names: FlightNames, store: Arc<dyn FlightStore>) -> Self {
        Self { names: Arc::new(names), store, outage: Arc::default() }
    }

    /// The number of flights.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there are no flights.
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// The flights for a route on a day such as `2022-03-16`, in the order of the file. Takes two binary searches
    /// in memory, or some microseconds on disk.
    pub fn on(&self, origin: &str, destination: &str, date: &str) -> impl Iterator<Item = Flight<'_>> {
        let leg = || {
            let FlightNames { cities, dates } = &*self.names;
            Some([cities.number(origin)?, cities.number(destination)?, dates.number(date)?])
        };
        self.found(leg().map(|leg| self.store.of_leg(leg)))
    }

    /// The cheapest flight for a route on a day; in a tie, the first in the order of the file. Takes as long as
    /// [`Flights::on`].
    pub fn cheapest(&self, origin: &str, destination: &str, date: &str) -> Option<Flight<'_>> {
        self.on(origin, destination, date).min_by_key(|flight| flight.cents)
    }

    /// The flights with a number such as `F3573659`, in the order of the file.
    pub fn numbered(&self, number: &str) -> impl Iterator<Item = Flight<'_>> {
        self.found(code_of(number).map(|code| self.store.of_code(code)))
    }

    /// The flights with a number for this route, in the order of the file.
    pub fn numbered_between(
        &self,
        number: &str,
        origin: &str,
        destination: &str,
    ) -> impl Iterator<Item = Flight<'_>> {
        self.numbered(number).filter(move |it| it.origin == origin && it.destination == destination)
    }

    /// The failure of the store since which lookups find nothing; `None` if there was none. Anything judged or
    /// searched since then says nothing about a plan, so whoever executes a run must check this at its end, and
    /// leave the run unscored.
    pub fn outage(&self) -> Option<&FlightStoreError> {
        self.outage.get()
    }

    fn found(
        &self,
        rows: Option<Result<Vec<FlightRow>, FlightStoreError>>,
    ) -> impl Iterator<Item = Flight<'_>> {
        let rows = rows.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|error| {
            // The first error is the most informative.
            let _ = self.outage.set(error);
            Vec::new()
        });
        rows.into_iter().map(|row| self.flight(row))
    }

    fn flight(&self, row: FlightRow) -> Flight<'_> {
        let [origin, destination, date] = row.leg;
        let FlightRow { code, cents, departure, arrival, minutes, miles, .. } = row;
        let FlightNames { cities, dates } = &*self.names;
        let (origin, destination, date) = (cities.name(origin), cities.name(destination), dates.name(date));
        Flight { code, cents, departure, arrival, minutes, date, origin, destination, miles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Broken;

    impl FlightStore for Broken {
        fn len(&self) -> usize {
            1
        }

        fn of_leg(&self, _: Leg) -> Result<Vec<FlightRow>, FlightStoreError> {
            Err(FlightStoreError("the disk is gone".to_owned()))
        }

        fn of_code(&self, _: u32) -> Result<Vec<FlightRow>, FlightStoreError> {
            Err(FlightStoreError("it is still gone".to_owned()))
        }
    }

    #[test]
    fn a_store_that_breaks_is_an_outage_of_all_clones() {
        let flights = Flights::new(FlightNames::default(), Arc::new(Broken));
        let clone = flights.clone();
        assert_eq!((flights.on("A", "B", "2022-03-01").count(), flights.outage()), (0, None));
        assert_eq!(flights.numbered("F1").count() + flights.numbered("F2").count(), 0);
        assert_eq!(
            clone.outage().map(ToString::to_string).as_deref(),
            Some("the flights cannot be read: it is still gone")
        );
    }
}
