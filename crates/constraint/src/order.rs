//! A strict partial order that grows one constraint at a time: the reachability of the graph of order constraints.
//!
//! Both directions of the transitive closure are stored as one row of bits for each variable. A new pair `first`
//! before `second` then joins everything at or above `first` to everything at or below `second`, which is the
//! incremental closure of Italiano ("Amortized efficiency of a path retrieval data structure", 1986) with its inner
//! loop working on whole machine words.

use crate::variable::{VARIABLES_MAX, Variable, first_variables, indexes_in};

/// The pair would close a cycle: the second variable already has to come before the first, or they are the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "variable {} cannot come before variable {}: the order already has it the other way round",
    first.index(),
    second.index()
)]
pub struct Cycle {
    /// The variable that was to come first.
    pub first: Variable,
    /// The variable that was to come second.
    pub second: Variable,
}

/// The precedences between variables: a strict partial order, always transitively closed.
///
/// Two orders are equal if exactly the same sequences are correct for them, however they were stated.
///
/// It is a little over 1 KiB without any heap memory, so a clone is a plain copy of a few tens of nanoseconds,
/// whatever the number of variables, and [`clone_from`](Clone::clone_from) copies only the rows in use: trying a
/// constraint on a copy and dropping it is cheap. Methods that take variables accept any: one out of range is
/// unrelated to all others, unless stated otherwise.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// The successors of each variable. The rows at `len` and above are empty.
    successors: [u64; VARIABLES_MAX],
    /// The predecessors of each variable: the transpose.
    predecessors: [u64; VARIABLES_MAX],
    len: usize,
}

impl Clone for Order {
    fn clone(&self) -> Self {
        Self { ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        // Including the rows that only `self` uses: they have to become empty, because equality compares all rows.
        let rows = self.len.max(source.len);
        self.successors[..rows].copy_from_slice(&source.successors[..rows]);
        self.predecessors[..rows].copy_from_slice(&source.predecessors[..rows]);
        self.len = source.len;
    }
}

impl Order {
    /// The order of `variables` unconstrained variables; `None` if they are more than [`VARIABLES_MAX`].
    pub fn new(variables: usize) -> Option<Self> {
        (variables <= VARIABLES_MAX).then(|| Self::of_checked(variables))
    }

    /// [`new`](Self::new) for a number of variables that is known to be small enough.
    pub(crate) fn of_checked(variables: usize) -> Self {
        Self { successors: [0; VARIABLES_MAX], predecessors: [0; VARIABLES_MAX], len: variables }
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no variables at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The set of all variables.
    pub(crate) fn all(&self) -> u64 {
        first_variables(self.len)
    }

    /// Whether `first` has to come before `second`, by one constraint or by several together.
    pub fn is_before(&self, first: Variable, second: Variable) -> bool {
        self.successors(first) & second.bit() != 0
    }

    /// Everything that has to come before `variable`, as a set (see [`variables_in`](crate::variables_in)).
    pub fn predecessors(&self, variable: Variable) -> u64 {
        self.predecessors.get(variable.index()).copied().unwrap_or_default()
    }

    /// Everything that has to come after `variable`, as a set (see [`variables_in`](crate::variables_in)).
    pub fn successors(&self, variable: Variable) -> u64 {
        self.successors.get(variable.index()).copied().unwrap_or_default()
    }

    /// Adds "`first` comes before `second`" and returns whether that is new. At most two words are written for each
    /// variable.
    ///
    /// # Errors
    ///
    /// [`Cycle`] if `second` already has to come before `first`, or is `first`; the order is then unchanged.
    ///
    /// # Panics
    ///
    /// If a variable is out of range, as indexing a slice does: otherwise the order would be silently incomplete.
    /// [`Problem::new`](crate::Problem::new) checks the range of constraints that come from outside.
    pub fn try_before(&mut self, first: Variable, second: Variable) -> Result<bool, Cycle> {
        let n = self.len;
        assert!(first.index() < n && second.index() < n, "{first:?} or {second:?} is not below {n}");
        // `first` is included, so a pair of a variable with itself is a cycle, too.
        let earlier = self.predecessors(first) | first.bit();
        if earlier & second.bit() != 0 {
            return Err(Cycle { first, second });
        }
        if self.is_before(first, second) {
            return Ok(false);
        }
        let later = self.successors(second) | second.bit();
        // Everything up to `first` now comes before everything from `second` on, which keeps the relation
        // transitively closed (Italiano, 1986).
        for index in indexes_in(earlier) {
            self.successors[index] |= later;
        }
        for index in indexes_in(later) {
            self.predecessors[index] |= earlier;
        }
        Ok(true)
    }

    /// The variables that may be executed next after those in `done`: not done, but all their predecessors are. Empty
    /// if all are done, or if `done` itself is wrong and leaves no variable free.
    pub fn correct_next(&self, done: u64) -> u64 {
        let waiting = self.all() & !done;
        let mut next = 0;
        for index in indexes_in(waiting) {
            if self.predecessors[index] & waiting == 0 {
                next |= 1 << index;
            }
        }
        next
    }

    /// The number of variables in the longest chain: the fewest rounds in which everything can be executed if no
    /// variable shares a round with one of its predecessors. 0 without variables, at most their number.
    pub fn depth(&self) -> usize {
        let (mut done, mut rounds) = (0, 0);
        // A strict order always leaves a variable free until all are done.
        while done != self.all() {
            done |= self.correct_next(done);
            rounds += 1;
        }
        rounds
    }

    /// The lexicographically smallest correct sequence: always the smallest id that is free. Takes O(n²) word
    /// operations.
    pub fn first_sequence(&self) -> Vec<Variable> {
        let mut waiting = self.all();
        let mut sequence = Vec::with_capacity(self.len);
        while let Some(next) = indexes_in(waiting).find(|&index| self.predecessors[index] & waiting == 0) {
            sequence.push(Variable::new(next));
            waiting &= !(1 << next);
        }
        sequence
    }

    /// The index of the first call after which no correct continuation exists, that is, of the first one that
    /// executes a variable before one of its predecessors; `None` if the calls can still become a correct sequence.
    /// Repeats of an executed variable and variables out of range have no effect and are ignored.
    ///
    /// Until that call the executed set contains all predecessors of each of its members, and such a set can always
    /// be continued: by the first sequence of the rest.
    pub fn first_wrong(&self, calls: &[Variable]) -> Option<usize> {
        let mut done = 0;
        calls.iter().position(|&call| {
            let wrong = self.predecessors(call) & !done != 0;
            done |= call.bit();
            wrong
        })
    }
}
