//! How many correct sequences an order has: its linear extensions.
//!
//! Counting them is #P-complete (Brightwell and Winkler, 1991), so there is a limit, and two ways to make the work
//! small before the exponential part starts:
//!
//! - parts with no relation between them interleave freely, so their numbers are multiplied, and multiplied by the
//!   number of ways to interleave (parts: components of the graph of *related* variables);
//! - parts that follow one another as a whole only multiply (parts: components of the graph of *unrelated* variables.
//!   Between two of these, if one pair has an order, all have the same: the neighbours of a member in its own part
//!   are unrelated to it, but related to the whole other part, and cannot be on the other side of it without
//!   being related to the member after all).
//!
//! What is left when neither splits is counted over its down-sets (the sets that contain everything before each of
//! their members): the number of ways to reach a down-set is the sum over those it can be reached from by one step.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Order;
use crate::variable::indexes_in;

/// The most variables [`Order::count_sequences`] counts for. The table of the worst case then takes 8 MiB and some
/// milliseconds, and each number in it fits into a `u64`, as 20! does (21! does not).
pub const COUNTED_VARIABLES_MAX: usize = 20;

impl Order {
    /// The number of correct sequences, exactly; `None` above [`COUNTED_VARIABLES_MAX`] variables.
    ///
    /// Unrelated parts, and parts that follow one another as a whole, are counted one by one. The cost is exponential
    /// in the largest part that splits in neither way; up to 6 variables it takes no heap memory and some hundred
    /// nanoseconds, at the limit it is milliseconds at worst.
    pub fn count_sequences(&self) -> Option<u128> {
        (self.len() <= COUNTED_VARIABLES_MAX).then(|| {
            let mut rows =
                Rows { predecessors: [0; COUNTED_VARIABLES_MAX], related: [0; COUNTED_VARIABLES_MAX] };
            for (index, variable) in crate::variables_in(self.all()).enumerate() {
                rows.predecessors[index] = self.predecessors(variable) as u32;
                rows.related[index] = rows.predecessors[index] | self.successors(variable) as u32;
            }
            u128::from(rows.count(self.all() as u32, &mut Known::default()))
        })
    }
}

/// What the recursion looks at: for each variable what comes before it, and what comes before or after it.
struct Rows {
    predecessors: [u32; COUNTED_VARIABLES_MAX],
    related: [u32; COUNTED_VARIABLES_MAX],
}

impl Rows {
    /// The number of correct sequences of the variables in `set` alone. `known` remembers the numbers of connected sets.
    fn count(&self, set: u32, known: &mut Known) -> u64 {
        if set.count_ones() <= 2 {
            return if set.count_ones() == 2 && self.related[set.trailing_zeros() as usize] & set == 0 { 2 } else { 1 };
        }
        if let Some(count) = known.get(&set) {
            return *count;
        }
        let part = component(set, |index| self.related[index]);
        let serial = component(set, |index| !self.related[index]);
        let count = if part != set {
            let interleavings = binomial(set.count_ones(), part.count_ones());
            interleavings * self.count(part, known) * self.count(set & !part, known)
        } else if serial != set {
            self.count(serial, known) * self.count(set & !serial, known)
        } else {
            let mut count = 0;
            let mut minimal = bits(set).filter(|&index| self.predecessors[index] & set == 0).fold(0, |m, i| m | 1u32 << i);
            while minimal != 0 {
                let first = minimal.trailing_zeros() as usize;
                let twins = bits(minimal)
                    .filter(|&other| self.related[other] & set == self.related[first] & set)
                    .fold(0, |m, i| m | 1u32 << i);
                count += u64::from(twins.count_ones()) * self.count(set & !(1 << first), known);
                minimal &= !twins;
            }
            count
        };
        known.insert(set, count);
        count
    }
}

/// The members of `set` that can be reached from its lowest one through neighbours within the set.
fn component(set: u32, neighbours: impl Fn(usize) -> u32) -> u32 {
    let mut reached = set & set.wrapping_neg();
    let mut frontier = reached;
    while frontier != 0 && reached != set {
        let new = neighbours(frontier.trailing_zeros() as usize) & set & !reached;
        reached |= new;
        frontier = frontier & (frontier - 1) | new;
    }
    reached
}

/// The number of ways to choose `k` of `n`, for `n` up to [`COUNTED_VARIABLES_MAX`] and `k` up to `n`.
fn binomial(n: u32, k: u32) -> u64 {
    (1..=u64::from(k)).fold(1, |ways, i| ways * (u64::from(n - k) + i) / i)
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    indexes_in(u64::from(set))
}

type Known = HashMap<u32, u64, BuildHasherDefault<SetHasher>>;

#[derive(Default)]
struct SetHasher(u64);

impl Hasher for SetHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes { self.write_u32(u32::from(byte)); }
    }
    fn write_u32(&mut self, set: u32) {
        self.0 = (self.0 ^ u64::from(set)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
    fn finish(&self) -> u64 { self.0 }
}
