//! Variables, and sets of them in one machine word.

/// The most variables of a problem. With 64, a set of variables is one machine word, and so is the reachability of
/// each variable: every set operation of this crate is a handful of instructions.
pub const VARIABLES_MAX: usize = u64::BITS as usize;

/// One action of a plan, by its index in the problem (from 0). The order of the indices is the *order of ids* by
/// which this crate breaks every tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(u8);

impl Variable {
    /// The variable with this index. An index above 255 is replaced by 255, which is equally out of the range of
    /// every problem.
    pub const fn new(index: usize) -> Self {
        Self(if index < u8::MAX as usize { index as u8 } else { u8::MAX })
    }

    /// The index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The set with this variable alone; empty if the index is out of the range of every problem.
    pub const fn bit(self) -> u64 {
        match 1_u64.checked_shl(self.0 as u32) {
            Some(bit) => bit,
            None => 0,
        }
    }
}

/// The variables of a set (bit `i` stands for the variable with index `i`), in the order of ids.
///
/// ```
/// # use planproof_constraint::{Variable, variables_in};
/// assert!(variables_in(0b101).eq([Variable::new(0), Variable::new(2)]));
/// ```
pub fn variables_in(set: u64) -> impl Iterator<Item = Variable> + Clone {
    indexes_in(set).map(Variable::new)
}

/// The indices of the bits of a set, ascending.
pub(crate) fn indexes_in(mut set: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros() as usize;
        // Drops the lowest bit; the empty set stays empty.
        set &= set.wrapping_sub(1);
        (index < VARIABLES_MAX).then_some(index)
    })
}

/// The set of the first `count` variables; `count` is at most [`VARIABLES_MAX`].
pub(crate) const fn first_variables(count: usize) -> u64 {
    match u64::MAX.checked_shr((VARIABLES_MAX - count) as u32) {
        Some(set) => set,
        None => 0,
    }
}
