//! Seeds as they are sent to servers.

/// A seed as it is sent. Some servers accept signed 32 bits, some unsigned, and some read a seed with all bits set as
/// "draw one"; values from 0 to 2^31 - 1 are accepted everywhere. Smaller seeds stay unchanged; larger ones are
/// folded, here and nowhere else, so that traces and recordings have the seed of the run.
pub(crate) fn wire_seed(seed: u64) -> u32 {
    const BITS: u32 = 31;
    let folded = seed ^ (seed >> BITS) ^ (seed >> (2 * BITS));
    // The mask leaves 31 bits.
    (folded & ((1 << BITS) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::wire_seed;

    #[test]
    fn seeds_are_folded_into_31_bits() {
        for (seed, expected) in
            [(0, 0), (7, 7), (i32::MAX as u64, i32::MAX as u32), (1 << 31, 1), (u64::MAX, 3)]
        {
            assert_eq!(wire_seed(seed), expected, "{seed}");
        }
    }
}
