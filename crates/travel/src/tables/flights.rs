//! Flights: looked up by their number, or by their leg and day, wherever the rows lie.
//!
//! A [`FlightStore`] holds the rows and finds them by numbers; [`Flights`] knows the names of cities and days. The
//! store here keeps all rows in columns in memory (`flights/columns.rs`), 28 bytes a row, which is right for tables up to
//! some hundred thousand rows. The crate `flights` has one for the published table, which is on disk, and is held to
//! this one by its tests.

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

/// Cents of a dollar.
const CENTS: f64 = 100.0;

/// A flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flight<'t> {
    code: u32,
    /// For one person, in US cents.
    pub cents: i32,
    /// Minutes of the day.
    pub departure: u16,
    /// Minutes of the day.
    pub arrival: u16,
    /// Minutes in the air.
    pub minutes: u16,
    /// Such as `2022-03-16`.
    pub date: &'t str,
    /// Where it starts.
    pub origin: &'t str,
    /// Where it lands.
    pub destination: &'t str,
    /// How far that is.
    pub miles: f32,
}

impl Flight<'_> {
    /// Its number, such as `F3573659`.
    pub fn number(&self) -> String {
        number_of(self.code)
    }

    /// For one person, in US dollars.
    pub fn price(&self) -> f64 {
        f64::from(self.cents) / CENTS
    }

    /// When it starts, such as `06:05`.
    pub fn departs(&self) -> String {
        clock(self.departure)
    }

    /// When it lands, such as `06:05`.
    pub fn arrives(&self) -> String {
        clock(self.arrival)
    }

    /// How long it takes, such as `2 hours 24 minutes`.
    pub fn takes(&self) -> String {
        elapsed(self.minutes)
    }
}

/// Rows that cannot be looked up, because what holds them broke while it was in use. The text says what happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the flights cannot be read: {0}")]
pub struct FlightStoreError(pub String);

/// What holds the rows of a table of flights. Answers are in the order of the file.
pub trait FlightStore: std::fmt::Debug + Send + Sync {
    /// How many rows there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a leg on a day.
    ///
    /// # Errors
    /// What holds the rows broke.
    fn of_leg(&self, leg: Leg) -> Result<Vec<FlightRow>, FlightStoreError>;

    /// The rows with the number of this code ([`code_of`]).
    ///
    /// # Errors
    /// What holds the rows broke.
    fn of_code(&self, code: u32) -> Result<Vec<FlightRow>, FlightStoreError>;
}

/// All flights. Cloning is cheap, and the clones share their rows and [`Flights::outage`].
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
    /// The flights of a store, whose rows name cities and days by these names.
    pub fn new(names: FlightNames, store: Arc<dyn FlightStore>) -> Self {
        Self { names: Arc::new(names), store, outage: Arc::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// Those of a leg on a day such as `2022-03-16`, in the order of the file. Costs two binary searches in memory, some
    /// microseconds on disk.
    pub fn on(&self, origin: &str, destination: &str, date: &str) -> impl Iterator<Item = Flight<'_>> {
        let leg = || {
            let FlightNames { cities, dates } = &*self.names;
            Some([cities.number(origin)?, cities.number(destination)?, dates.number(date)?])
        };
        self.found(leg().map(|leg| self.store.of_leg(leg)))
    }

    /// The cheapest of a leg on a day, the first of several in the order of the file. Costs as much as [`Flights::on`].
    pub fn cheapest(&self, origin: &str, destination: &str, date: &str) -> Option<Flight<'_>> {
        self.on(origin, destination, date).min_by_key(|flight| flight.cents)
    }

    /// Those with a number such as `F3573659`, in the order of the file.
    pub fn numbered(&self, number: &str) -> impl Iterator<Item = Flight<'_>> {
        self.found(code_of(number).map(|code| self.store.of_code(code)))
    }

    /// Those with a number that go this way, in the order of the file.
    pub fn numbered_between(
        &self,
        number: &str,
        origin: &str,
        destination: &str,
    ) -> impl Iterator<Item = Flight<'_>> {
        self.numbered(number).filter(move |it| it.origin == origin && it.destination == destination)
    }

    /// Why look-ups have found nothing since what holds the rows broke; nothing as long as it did not. What was judged
    /// or searched in the meantime says nothing of a plan, so who carries a run looks here at its end, and leaves the
    /// run unscored.
    pub fn outage(&self) -> Option<&FlightStoreError> {
        self.outage.get()
    }

    fn found(
        &self,
        rows: Option<Result<Vec<FlightRow>, FlightStoreError>>,
    ) -> impl Iterator<Item = Flight<'_>> {
        let rows = rows.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|error| {
            // The first one says most.
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
