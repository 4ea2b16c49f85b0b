//! Random draws that are the same for ever.
//!
//! The generator (ChaCha with 8 rounds) and every conversion of its words into a choice are fixed here, because a
//! case must be the same bytes for the same seed in every later version. Distributions of the `rand` crate may change
//! between versions, so none is used.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded source of choices.
#[derive(Debug, Clone)]
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// The source for item `index` of the stream named by `purpose` under `seed`. Two purposes or two indices never
    /// share a stream. Only the first 16 bytes of `purpose` count.
    #[inline]
    pub fn new(seed: u64, index: u64, purpose: &str) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&index.to_le_bytes());
        for (slot, byte) in key[16..].iter_mut().zip(purpose.bytes()) {
            *slot = byte;
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Any 64-bit number, for example as the seed of something else.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..bound`, each equally likely (Lemire's multiplication method, with rejection).
    ///
    /// # Panics
    /// If `bound` is 0, which no caller may pass.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a draw needs at least one choice");
        loop {
            let product = u64::from(self.0.next_u32()) * u64::from(bound);
            let [low, high] = [product as u32, (product >> 32) as u32];
            // The threshold of rejection is below `bound`, so most draws avoid the division.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return high;
            }
        }
    }

    /// True with probability `numerator` / `denominator`.
    #[inline]
    pub fn chance(&mut self, numerator: u32, denominator: u32) -> bool {
        self.below(denominator) < numerator
    }

    /// A number in 0.0..1.0 with 32 bits of resolution.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// A place in a slice of `length` items.
    #[inline]
    pub fn place(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap_or(u32::MAX)) as usize
    }

    /// One of the set bits of `set`, each equally likely; `None` if there is none.
    pub fn bit(&mut self, set: u64) -> Option<u8> {
        if set == 0 {
            return None;
        }
        let mut rest = set;
        // Each step clears the lowest set bit.
        for _ in 0..self.below(set.count_ones()) {
            rest &= rest - 1;
        }
        Some(rest.trailing_zeros() as u8)
    }

    /// Shuffles in place (Fisher and Yates).
    #[inline]
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.place(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut draw = Draw::new(7, 3, "test");
        let first: Vec<u32> = (0..8).map(|_| draw.below(1000)).collect();
        assert_eq!(first, EXPECTED);
        let mut other = Draw::new(7, 4, "test");
        assert_ne!(first, (0..8).map(|_| other.below(1000)).collect::<Vec<_>>());
    }

    const EXPECTED: [u32; 8] = [743, 177, 443, 96, 908, 42, 434, 744];

    #[test]
    fn bits_come_from_the_set() {
        let mut draw = Draw::new(1, 0, "bits");
        let mut seen = 0u64;
        for _ in 0..200 {
            seen |= 1 << draw.bit(0b1011_0001).expect("the set is not empty");
        }
        assert_eq!(seen, 0b1011_0001);
        assert_eq!(draw.bit(0), None);
    }
}
