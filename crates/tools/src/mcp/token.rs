//! The secret part of a run's URL.

use std::fmt;

/// Random bytes in a token: 80 bits, far beyond guessing over the minutes a run lives.
pub const TOKEN_BYTES: usize = 10;

/// Letters in a token, 5 bits in each.
const TOKEN_LETTERS: usize = TOKEN_BYTES * 8 / 5;

/// The alphabet. Lower case only and without punctuation: a framework that derives tool names from the URL and cuts
/// them at 64 characters splits up everything else and makes it longer.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Its holder may call the tools of one run.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct AccessToken(String);

impl AccessToken {
    /// A token made of bytes from a source that nobody else can predict (the operating system's).
    pub fn from_random(bytes: [u8; TOKEN_BYTES]) -> Self {
        let bits = bytes.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        let letter = |place: usize| char::from(ALPHABET[(bits >> (place * 5) & 31) as usize]);
        Self((0..TOKEN_LETTERS).rev().map(letter).collect())
    }

    /// The token in a URL's path, if it is a valid one; a slash may follow it.
    pub(super) fn from_path(path: &str) -> Option<Self> {
        let text = path.strip_prefix('/')?;
        let text = text.strip_suffix('/').unwrap_or(text);
        // Only the length is checked: a text that is not a token of an open run is simply not found.
        (text.len() == TOKEN_LETTERS).then(|| Self(text.to_owned()))
    }

    /// The 16 letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_the_bytes_is_in_the_token() {
        assert_eq!(AccessToken::from_random([0; TOKEN_BYTES]).as_str(), "a".repeat(16));
        assert_eq!(AccessToken::from_random([255; TOKEN_BYTES]).as_str(), "7".repeat(16));
        let mut seen = std::collections::HashSet::new();
        for bit in 0..TOKEN_BYTES * 8 {
            let mut bytes = [0; TOKEN_BYTES];
            bytes[bit / 8] = 1 << (bit % 8);
            assert!(seen.insert(AccessToken::from_random(bytes).as_str().to_owned()));
        }
    }

    #[test]
    fn the_token_does_not_show_in_debug_output() {
        assert_eq!(format!("{:?}", AccessToken::from_random([1; TOKEN_BYTES])), "AccessToken(..)");
    }
}
