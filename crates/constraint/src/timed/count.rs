//! The number of sequences that can be made correct schedules.
//!
//! Whether a sequence can is decided by starting each variable as early as possible. The executed variables affect
//! the rest only by their set and by the minute at which the last one ended, so the numbers for these pairs are
//! memoised.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Timetable;
use crate::count::COUNTED_VARIABLES_MAX;
use crate::variable::{VARIABLES_MAX, indexes_in};

/// The most pairs of a set and a minute that [`Timetable::count_sequences`] examines: some milliseconds.
pub const COUNTED_STATES_MAX: u32 = 100_000;

/// The numbers of sets of up to this many variables are not memoised: counting them again takes less time.
const FORGOTTEN_VARIABLES_MAX: u32 = 3;

impl Timetable {
    /// The number of sequences of all variables that are correct schedules if each variable starts as early as
    /// possible, exactly. `None` above [`COUNTED_VARIABLES_MAX`] variables, and if more than [`COUNTED_STATES_MAX`]
    /// states would have to be examined.
    ///
    /// A microsecond or two for five variables; the cost grows with the number of sets that can be executed first.
    pub fn count_sequences(&self) -> Option<u128> {
        if self.len > COUNTED_VARIABLES_MAX {
            return None;
        }
        let mut counter = Counter { table: self, known: HashMap::default(), left: COUNTED_STATES_MAX };
        counter.count(self.all(), u32::from(self.day.start)).map(u128::from)
    }
}

struct Counter<'a> {
    table: &'a Timetable,
    known: HashMap<u64, u64, BuildHasherDefault<StateHasher>>,
    left: u32,
}

impl Counter<'_> {
    /// The number of correct sequences of `waiting` from `minute` on. At most 20 deep.
    fn count(&mut self, waiting: u64, minute: u32) -> Option<u64> {
        if waiting == 0 {
            return Some(1);
        }
        let state = waiting << 16 | u64::from(minute);
        let is_small = waiting.count_ones() <= FORGOTTEN_VARIABLES_MAX;
        if !is_small {
            if let Some(count) = self.known.get(&state) {
                return Some(*count);
            }
            // Small sets are not counted against the limit: below each counted one their number is bounded.
            self.left = self.left.checked_sub(1)?;
        }
        let mut count = 0;
        for index in indexes_in(waiting) {
            let end =
                minute.max(u32::from(self.table.release[index])) + u32::from(self.table.duration[index]);
            let is_free = self.table.predecessors[index] & waiting == 0;
            if is_free && end <= u32::from(self.table.deadline[index]) {
                count += self.count(waiting & !(1 << index), end)?;
            }
        }
        if !is_small {
            self.known.insert(state, count);
        }
        Some(count)
    }
}

// A state is a set and a minute below 2^16 in one word.
const _: () = assert!(COUNTED_VARIABLES_MAX + 16 <= VARIABLES_MAX);

/// Hashes a state by one multiplication, for the reasons given in `count.rs`.
#[derive(Default)]
struct StateHasher(u64);

impl Hasher for StateHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, state: u64) {
        self.0 = (self.0 ^ state).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
