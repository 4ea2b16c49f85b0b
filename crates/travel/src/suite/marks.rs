//! What figures need from a case, as bits of its card: level, days, mode, hints, and the evaluator.

use super::task::{QueryMode, QueryOptions, TripTask};
use crate::TripCompat;
use crate::query::Level;

const DAYS_SHIFT: u32 = 2;
const MODE_SHIFT: u32 = 8;
const HINTS: u32 = 1 << 10;
const ORIGINAL: u32 = 1 << 11;

/// The bits of a case.
pub(super) fn of(task: &TripTask) -> u32 {
    let place = |found: Option<usize>| found.and_then(|place| u32::try_from(place).ok()).unwrap_or_default();
    let QueryOptions { compat, mode, hints } = task.options;
    let level = place(Level::ALL.iter().position(|it| *it == task.query.level));
    let mode = place(QueryMode::ALL.iter().position(|it| *it == mode));
    // A query has at most 31 days, so they fit into the bits below the mode.
    let days = u32::try_from(task.query.days).unwrap_or_default();
    let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
    level
        | days << DAYS_SHIFT
        | mode << MODE_SHIFT
        | bit(hints, HINTS)
        | bit(compat == TripCompat::Original, ORIGINAL)
}

/// The decoded bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) level: Level,
    pub(super) days: usize,
    pub(super) options: QueryOptions,
}

/// Decodes the bits of a card.
pub(super) fn read(marks: u32) -> Marks {
    let level = Level::ALL.get((marks & 3) as usize).copied().unwrap_or(Level::Hard);
    let mode = QueryMode::ALL.get((marks >> MODE_SHIFT & 3) as usize).copied().unwrap_or_default();
    let compat = if marks & ORIGINAL > 0 { TripCompat::Original } else { TripCompat::Right };
    let options = QueryOptions { compat, mode, hints: marks & HINTS > 0 };
    Marks { level, days: (marks >> DAYS_SHIFT & 63) as usize, options }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_back() {
        let query = crate::own::queries().expect("our own queries").remove(0);
        for (mode, level) in QueryMode::ALL.into_iter().zip(Level::ALL) {
            for (compat, hints) in [(TripCompat::Original, false), (TripCompat::Right, true)] {
                let options = QueryOptions { compat, mode, hints };
                let query = crate::query::Query { level, days: 31, ..query.clone() };
                let task = TripTask::new("validation", options, query);
                assert_eq!(read(of(&task)), Marks { level, days: 31, options });
            }
        }
    }
}
