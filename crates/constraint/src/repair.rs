//! The nearest correct sequence to a wrong one.
//!
//! A wrong plan is repaired in three steps: extra calls are deleted, as few of the others as possible are moved, and
//! missing ones are inserted. Which calls to keep in place is the only difficult part.
//!
//! **Inverted pairs are a partial order.** Let `a ⊏ b` when `a` was called before `b` although `b` has to come before
//! `a`. Both halves of this are strict orders (the order of calls, and the reverse of the [`Order`], which is
//! transitively closed), and the intersection of two strict orders is one.
//!
//! **Calls can be kept together exactly if no two of them are inverted.** Inverted calls obviously cannot both stay.
//! For the other direction, take kept calls without an inverted pair and suppose that their called order and the
//! constraints together had a cycle. Each of the two is transitive, so consecutive steps of one kind can be merged,
//! and the cycle alternates between them (neither has a cycle alone). Each step by called order starts and ends at a
//! kept call, so each step by constraints between two of them does too. A step by constraints from `x` to `y`, both
//! kept, means that `x` was called before `y`, or the pair would be inverted. So every step goes forward in the
//! called order of the kept calls, which is impossible in a cycle.
//!
//! **So a largest set to keep is a maximum antichain** of `⊏`. Its size follows from Dilworth's theorem: the smallest
//! number of chains that cover `n` elements is `n` minus a maximum matching between lower and upper ends of pairs,
//! and equals the size of a maximum antichain (Fulkerson, "Note on Dilworth's decomposition theorem", 1956).

use crate::Order;
use crate::variable::{VARIABLES_MAX, Variable, indexes_in};

impl Order {
    /// The nearest correct sequence to `calls`: extra calls deleted, missing ones inserted, and as few as possible
    /// moved.
    ///
    /// - Repeats (the first call of a variable stays) and variables out of range are extra.
    /// - The kept calls are a largest set that can stay in its called order: the one whose ids, in ascending order,
    ///   are lexicographically smallest.
    /// - Of the correct sequences with the kept calls in their called order, the result is the lexicographically
    ///   smallest one: moved and missing variables come in the order of their ids, as far as constraints and kept
    ///   calls allow.
    ///
    /// A correct sequence is its own repair, and an empty one is repaired to
    /// [`first_sequence`](Self::first_sequence). The bound is O(n⁴) word operations; 64 variables take some
    /// microseconds, and a tenth of a millisecond if many calls are inverted.
    pub fn nearest(&self, calls: &[Variable]) -> Vec<Variable> {
        let mut called = 0;
        let mut sequence = Vec::with_capacity(self.len());
        for call in calls {
            if self.all() & !called & call.bit() != 0 {
                called |= call.bit();
                sequence.push(*call);
            }
        }
        let kept = Inversions::new(self, &sequence).first_maximum_antichain(called);
        sequence.retain(|call| kept & call.bit() != 0);
        let mut order = self.clone();
        for pair in sequence.windows(2) {
            let added = order.try_before(pair[0], pair[1]);
            debug_assert!(
                added.is_ok(),
                "kept calls have no inverted pair, so their called order closes no cycle"
            );
        }
        order.first_sequence()
    }
}

/// The partial order `⊏` of a sequence: its inverted pairs.
struct Inversions {
    /// For each variable `a` those `b` with `a ⊏ b`: called after it, although they have to come before it.
    above: [u64; VARIABLES_MAX],
    /// The transpose.
    below: [u64; VARIABLES_MAX],
}

impl Inversions {
    /// The inversions of a sequence without repeats.
    fn new(order: &Order, sequence: &[Variable]) -> Self {
        let mut inversions = Self { above: [0; VARIABLES_MAX], below: [0; VARIABLES_MAX] };
        let mut earlier = 0;
        for call in sequence {
            inversions.below[call.index()] = order.successors(*call) & earlier;
            for other in indexes_in(inversions.below[call.index()]) {
                inversions.above[other] |= call.bit();
            }
            earlier |= call.bit();
        }
        inversions
    }

    /// The maximum antichain within `set` whose ids, ascending, are lexicographically smallest: each variable in the
    /// order of ids is taken if some maximum antichain contains it together with those already taken.
    fn first_maximum_antichain(&self, set: u64) -> u64 {
        let mut taken = 0;
        // The remaining compatible variables, and the required size of their largest antichain.
        let mut open = set;
        let mut missing = self.width(set);
        for index in indexes_in(set) {
            if open & 1 << index == 0 {
                continue;
            }
            let rest = open & !(1 << index);
            let beside = rest & !self.above[index] & !self.below[index];
            if self.width(beside) + 1 == missing {
                taken |= 1 << index;
                open = beside;
                missing -= 1;
            } else {
                open = rest;
            }
        }
        taken
    }

    /// The size of a maximum antichain within `set`: its size minus a maximum matching of `⊏`.
    fn width(&self, set: u64) -> usize {
        let mut matching = Matching { above: &self.above, lower_of: [None; VARIABLES_MAX], unvisited: set };
        let mut width = set.count_ones() as usize;
        for lower in indexes_in(set) {
            matching.unvisited = set;
            if matching.augment(lower) {
                width -= 1;
            }
        }
        width
    }
}

/// A matching between the lower and the upper ends of pairs, grown by one augmenting path at a time (Kuhn, "The
/// Hungarian method for the assignment problem", 1955).
struct Matching<'a> {
    above: &'a [u64; VARIABLES_MAX],
    /// The lower end each upper end is matched with.
    lower_of: [Option<usize>; VARIABLES_MAX],
    /// The upper ends that the present search has not visited.
    unvisited: u64,
}

impl Matching<'_> {
    /// Matches `lower`, moving others out of the way, if that is possible. Each call visits an upper end that was
    /// unvisited, so the recursion is at most [`VARIABLES_MAX`] deep.
    fn augment(&mut self, lower: usize) -> bool {
        loop {
            let candidates = self.above[lower] & self.unvisited;
            if candidates == 0 {
                return false;
            }
            let upper = candidates.trailing_zeros() as usize;
            self.unvisited &= !(1 << upper);
            if self.lower_of[upper].is_none_or(|other| self.augment(other)) {
                self.lower_of[upper] = Some(lower);
                return true;
            }
        }
    }
}
