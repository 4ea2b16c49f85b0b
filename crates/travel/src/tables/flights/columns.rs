//! Rows in memory, stored in columns.
//!
//! They are ordered by leg (origin, destination, day), and within a leg as in the file, so that a leg is found with
//! two binary searches. An index of four bytes per row finds flight numbers.

use super::row::{FlightRow, Leg};
use super::{FlightStore, FlightStoreError};

/// Each column has one value per row.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    code: Vec<u32>,
    cents: Vec<i32>,
    departure: Vec<u16>,
    arrival: Vec<u16>,
    minutes: Vec<u16>,
    date: Vec<u16>,
    origin: Vec<u16>,
    destination: Vec<u16>,
    miles: Vec<f32>,
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    pub(super) fn push(&mut self, row: &FlightRow) {
        let [origin, destination, date] = row.leg;
        self.code.push(row.code);
        self.cents.push(row.cents);
        self.departure.push(row.departure);
        self.arrival.push(row.arrival);
        self.minutes.push(row.minutes);
        self.date.push(date);
        self.origin.push(origin);
        self.destination.push(destination);
        self.miles.push(row.miles);
    }

    /// The sort key of a row.
    fn leg(&self, row: usize) -> Option<Leg> {
        Some([*self.origin.get(row)?, *self.destination.get(row)?, *self.date.get(row)?])
    }

    fn row(&self, row: usize) -> Option<FlightRow> {
        Some(FlightRow {
            leg: self.leg(row)?,
            code: *self.code.get(row)?,
            cents: *self.cents.get(row)?,
            departure: *self.departure.get(row)?,
            arrival: *self.arrival.get(row)?,
            minutes: *self.minutes.get(row)?,
            miles: *self.miles.get(row)?,
        })
    }
}

/// Rows in memory.
#[derive(Debug)]
pub(super) struct Table {
    columns: Columns,
    /// Rows sorted by number; rows with the same number are in the order of the file.
    by_number: Vec<u32>,
}

impl Table {
    /// Sorts rows that come in the order of the file. Takes `n log n` time for `n` rows, and temporarily 16 bytes
    /// per row.
    pub(super) fn new(mut columns: Columns) -> Self {
        // The builder has rejected more rows.
        let rows = u32::try_from(columns.len()).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..rows).collect();
        // The row number breaks ties, which keeps the order of the file without the memory that a stable sort takes.
        order.sort_unstable_by_key(|&row| (columns.leg(row as usize), row));
        let mut by_number: Vec<u32> = (0..rows).collect();
        by_number.sort_unstable_by_key(|&row| (columns.code.get(row as usize).copied(), row));
        // `by_number` has positions in the file, which are translated to positions after sorting.
        let mut place = vec![0; order.len()];
        for (at, &row) in (0..).zip(&order) {
            if let Some(place) = place.get_mut(row as usize) {
                *place = at;
            }
        }
        for row in &mut by_number {
            *row = place.get(*row as usize).copied().unwrap_or_default();
        }
        // Freed before the columns are copied, which lowers the peak of memory.
        drop(place);
        reorder(&mut columns.code, &order);
        reorder(&mut columns.cents, &order);
        reorder(&mut columns.departure, &order);
        reorder(&mut columns.arrival, &order);
        reorder(&mut columns.minutes, &order);
        reorder(&mut columns.date, &order);
        reorder(&mut columns.origin, &order);
        reorder(&mut columns.destination, &order);
        reorder(&mut columns.miles, &order);
        Self { columns, by_number }
    }

    /// The first row whose leg is not before the given one.
    fn first_row(&self, is_before: impl Fn(Leg) -> bool) -> usize {
        // By hand, because the standard binary search needs a slice of keys, and these are spread over three columns.
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.columns.leg(middle).is_some_and(&is_before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl FlightStore for Table {
    fn len(&self) -> usize {
        self.columns.len()
    }

    fn of_leg(&self, leg: Leg) -> Result<Vec<FlightRow>, FlightStoreError> {
        // From the first row of the leg to the first one after it.
        let rows = self.first_row(|it| it < leg)..self.first_row(|it| it <= leg);
        Ok(rows.filter_map(|row| self.columns.row(row)).collect())
    }

    fn of_code(&self, code: u32) -> Result<Vec<FlightRow>, FlightStoreError> {
        let of = |row: u32| self.columns.code.get(row as usize).copied().unwrap_or_default();
        let begin = self.by_number.partition_point(|&row| of(row) < code);
        let rest = self.by_number.get(begin..).unwrap_or_default();
        let rows = rest.iter().take_while(|&&row| of(row) == code);
        Ok(rows.filter_map(|&row| self.columns.row(row as usize)).collect())
    }
}

fn reorder<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    let mut ordered = Vec::with_capacity(order.len());
    ordered.extend(order.iter().filter_map(|&row| column.get(row as usize)));
    *column = ordered;
}
