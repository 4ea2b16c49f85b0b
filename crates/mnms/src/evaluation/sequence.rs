//! The similarity of two sequences.

use std::collections::HashMap;
use std::hash::Hash;

/// The length of the longest common subsequence. Bit-parallel after Hyyrö (Bit-parallel LCS-length computation
/// revisited, 2004): time is the product of the lengths over 64, memory that of one of them for each distinct
/// element.
pub(super) fn longest_common<T: Eq + Hash>(first: &[T], second: &[T]) -> u32 {
    /// Bits per word.
    const BITS: usize = 64;
    let (short, long) = if first.len() <= second.len() { (first, second) } else { (second, first) };
    let words = short.len().div_ceil(BITS);
    let mut places: HashMap<&T, Vec<u64>> = HashMap::new();
    for (place, element) in short.iter().enumerate() {
        places.entry(element).or_insert_with(|| vec![0; words])[place / BITS] |= 1 << (place % BITS);
    }
    // A bit is off if the element at its index is part of the sequence so far. Bits past the end of `short` match
    // nothing, so they stay on.
    let mut rest = vec![u64::MAX; words];
    for element in long {
        let Some(matches) = places.get(element) else { continue };
        let mut carry = false;
        for (rest, matches) in rest.iter_mut().zip(matches) {
            let taken = *rest & matches;
            let (sum, first_carry) = rest.overflowing_add(taken);
            // The words are one long number. At most one of the two additions overflows.
            let (sum, second_carry) = sum.overflowing_add(u64::from(carry));
            carry = first_carry || second_carry;
            *rest = sum | (*rest & !matches);
        }
    }
    rest.iter().map(|word| word.count_zeros()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::longest_common;

    fn by_table(first: &[u8], second: &[u8]) -> u32 {
        let mut row = vec![0_u32; second.len() + 1];
        for one in first {
            let mut diagonal = 0;
            for (place, other) in second.iter().enumerate() {
                let above = row[place + 1];
                row[place + 1] = if one == other { diagonal + 1 } else { above.max(row[place]) };
                diagonal = above;
            }
        }
        row[second.len()]
    }

    proptest! {
        #[test]
        fn bits_agree_with_the_table(
            first in prop::collection::vec(0_u8..4, 0..200),
            second in prop::collection::vec(0_u8..4, 0..200),
        ) {
            prop_assert_eq!(longest_common(&first, &second), by_table(&first, &second));
        }
    }

    #[test]
    fn long_sequences_take_little_time() {
        let one: Vec<u32> = (0..10_000).map(|place| place % 33).collect();
        let other: Vec<u32> = (0..10_000).map(|place| place * 7 % 33).collect();
        assert_eq!(longest_common(&one, &one), 10_000);
        assert!(longest_common(&one, &other) < 10_000);
    }
}
