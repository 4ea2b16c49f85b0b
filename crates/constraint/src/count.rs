//! The number of correct sequences of an order: its linear extensions.
//!
//! Counting them is #P-complete (Brightwell and Winkler, 1991), so there is a limit, and there are three ways to
//! reduce the work:
//!
//! - parts without any relation between them interleave freely, so their numbers are multiplied together with the
//!   number of ways to interleave (parts: components of the graph of *related* variables);
//! - the numbers of parts that follow one another as a whole are simply multiplied (parts: components of the graph
//!   of *unrelated* variables. Between two of these, if one pair has an order, all have the same: the neighbours of a
//!   member in its own part are unrelated to it, but related to the whole other part, and cannot be on the other side
//!   of it without being related to the member after all);
//! - a set that splits in neither way begins with one of its least members, and least members with exactly the same
//!   successors have the same number of continuations, so one stands for all of these.
//!
//! Each of the three leaves smaller sets of variables, whose numbers are memoised (the recursion of Kangas, Hankala,
//! Niinimäki and Koivisto, "Counting linear extensions of sparse posets", 2016, with the last two added).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Order;
use crate::variable::indexes_in;

/// The most variables that [`Order::count_sequences`] counts for: each number then fits into a `u64`, because 20!
/// does (21! does not).
pub const COUNTED_VARIABLES_MAX: usize = 20;

/// The numbers of sets of up to this many variables are not memoised: counting them again takes less time, and small
/// orders then need no heap memory.
const FORGOTTEN_VARIABLES_MAX: u32 = 4;

impl Order {
    /// The number of correct sequences, exactly; `None` above [`COUNTED_VARIABLES_MAX`] variables.
    ///
    /// The cost is exponential in the largest part that cannot be split: some hundred nanoseconds for a handful of
    /// variables; at the limit, tens of microseconds for orders like those of synthesised cases, and some
    /// milliseconds for the worst that a search has found.
    pub fn count_sequences(&self) -> Option<u128> {
        (self.len() <= COUNTED_VARIABLES_MAX).then(|| {
            // At most 20 variables, so half a word is enough, and the memoised keys are small.
            let row = |set: u64| set as u32;
            let mut earlier = [0; COUNTED_VARIABLES_MAX];
            let mut later = [0; COUNTED_VARIABLES_MAX];
            for (index, variable) in crate::variables_in(self.all()).enumerate() {
                earlier[index] = row(self.predecessors(variable));
                later[index] = row(self.successors(variable));
            }
            let related = std::array::from_fn(|index| earlier[index] | later[index]);
            let ends = |rows: &[u32]| rows[..self.len()].iter().filter(|row| **row == 0).count();
            let outer = if ends(&earlier) <= ends(&later) { earlier } else { later };
            u128::from(Counter { outer, related, known: HashMap::default() }.count(row(self.all())))
        })
    }
}

struct Counter {
    /// The predecessors of each variable, or the successors of each: reversed sequences are equally many, and
    /// removing variables from the side with fewer at its end leaves fewer sets.
    outer: [u32; COUNTED_VARIABLES_MAX],
    /// For each variable its predecessors or successors.
    related: [u32; COUNTED_VARIABLES_MAX],
    /// The numbers of the sets counted so far.
    known: HashMap<u32, u64, BuildHasherDefault<SetHasher>>,
}

impl Counter {
    /// The number of correct sequences of the variables in `set` alone.
    fn count(&mut self, set: u32) -> u64 {
        match set.count_ones() {
            0 | 1 => 1,
            2..=FORGOTTEN_VARIABLES_MAX => self.count_anew(set),
            _ => {
                if let Some(count) = self.known.get(&set) {
                    return *count;
                }
                let count = self.count_anew(set);
                self.known.insert(set, count);
                count
            }
        }
    }

    fn count_anew(&mut self, set: u32) -> u64 {
        // The three reductions at the head of this file, in that order.
        let part = component(set, |index| self.related[index]);
        if part != set {
            let interleavings = binomial(set.count_ones(), part.count_ones());
            return interleavings * self.count(part) * self.count(set & !part);
        }
        let part = component(set, |index| !self.related[index]);
        if part != set {
            return self.count(part) * self.count(set & !part);
        }
        let mut ends = set_of(bits(set).filter(|&index| self.outer[index] & set == 0));
        let mut count = 0;
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            let alike = |index: &usize| (self.related[*index] ^ self.related[end]) & set == 0;
            let twins = set_of(bits(ends).filter(alike));
            count += u64::from(twins.count_ones()) * self.count(set & !(1 << end));
            ends &= !twins;
        }
        count
    }
}

/// Hashes a set by one multiplication (Knuth's golden ratio): the map is used at every step of the recursion, and its
/// keys come from this process, so the default hasher's protection against chosen keys would be wasted.
#[derive(Default)]
struct SetHasher(u64);

impl Hasher for SetHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, set: u32) {
        self.0 = (self.0 ^ u64::from(set)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
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
    // Each intermediate result is a binomial coefficient itself, so every division is exact.
    (1..=u64::from(k)).fold(1, |ways, i| ways * (u64::from(n - k) + i) / i)
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    indexes_in(u64::from(set))
}

fn set_of(indexes: impl Iterator<Item = usize>) -> u32 {
    indexes.fold(0, |set, index| set | 1 << index)
}
