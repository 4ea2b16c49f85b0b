//! The chain of a campaign and the keys that seal it.
//!
//! Each process that runs a campaign draws a key pair, keeps the private key in memory and writes the public key to
//! the store. Each finished run, and each run deleted in order to be run again, is a link of the campaign's chain;
//! the head of the chain is a digest over the previous head and the new link. The last link of each transaction
//! carries a signature of the head. At its end the process signs the number of links. A later change to the file
//! can produce new digests, but no signature that verifies with the public key, whose fingerprint was printed. When
//! the campaign is resumed, the first thing that the new key signs is the old head.

use std::fmt;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::digest::{DIGEST_BYTES, Digest, Fields};

/// Length of the seed of a key pair, in bytes.
pub const SEAL_SEED_BYTES: usize = 32;

/// Length of a fingerprint in bytes: enough that nobody can find another key with the same fingerprint.
const FINGERPRINT_BYTES: usize = 10;

/// Hexadecimal digits per group of a fingerprint.
const GROUP_DIGITS: usize = 4;

/// Bytes of a signature.
const SIGNATURE_BYTES: usize = 64;

/// A key pair that seals campaigns. It is never written anywhere.
pub struct SealKey(Ed25519KeyPair);

impl SealKey {
    /// Derives the key pair from a seed, which must be secret; `None` if the library rejects the seed.
    pub fn from_seed(seed: &[u8; SEAL_SEED_BYTES]) -> Option<Self> {
        Ed25519KeyPair::from_seed_unchecked(seed).ok().map(Self)
    }

    /// The fingerprint that identifies its seals.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.public())
    }

    pub(crate) fn public(&self) -> &[u8] {
        self.0.public_key().as_ref()
    }

    pub(crate) fn sign(&self, digest: &Digest) -> Vec<u8> {
        self.0.sign(digest).as_ref().to_vec()
    }
}

impl fmt::Debug for SealKey {
    /// Prints the fingerprint, not the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({})", self.fingerprint())
    }
}

/// Identifies the seals of a key: 20 hexadecimal digits in groups of four, such as `3f2a-91bc-0d17-66e0-b2c4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; FINGERPRINT_BYTES]);

impl Fingerprint {
    pub(crate) fn of(public_key: &[u8]) -> Self {
        let digest = Fields::new("public key").bytes(public_key).finish();
        let mut first = [0; FINGERPRINT_BYTES];
        first.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(first)
    }

    /// Parses a fingerprint in upper or lower case, with or without dashes; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.chars().filter(|c| *c != '-').map(|c| c.to_digit(16));
        let digits: Vec<u8> =
            digits.map(|digit| digit.and_then(|digit| u8::try_from(digit).ok())).collect::<Option<_>>()?;
        let bytes = digits.chunks(2).map(|pair| match pair {
            // Each digit is below 16, so this cannot overflow.
            [high, low] => Some(high * 16 + low),
            _ => None,
        });
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: Vec<char> =
            self.0.iter().flat_map(|byte| format!("{byte:02x}").chars().collect::<Vec<_>>()).collect();
        let groups: Vec<String> = digits.chunks(GROUP_DIGITS).map(|group| group.iter().collect()).collect();
        f.write_str(&groups.join("-"))
    }
}

/// Whether the signature of this digest verifies with this public key.
pub(crate) fn is_signed(public_key: &[u8], digest: &Digest, signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public_key).verify(digest, signature).is_ok()
}

/// The chain of a campaign, as far as it has been read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) head: Digest,
    pub(crate) links: i64,
}

impl Chain {
    pub(crate) fn new() -> Self {
        Self { head: [0; DIGEST_BYTES], links: 0 }
    }

    /// Starts sealing with a new key. `campaign` is the digest of the campaign's row.
    pub(crate) fn begin(&mut self, campaign: &Digest, public_key: &[u8]) {
        self.head = Fields::new("seal").bytes(&self.head).bytes(campaign).bytes(public_key).finish();
    }

    pub(crate) fn link(&mut self, run: i64, ordinal: i64, repeat: i64, digest: Option<&[u8]>) {
        let fields = Fields::new("link").bytes(&self.head).number(self.links);
        self.head = fields.number(run).number(ordinal).number(repeat).optional(digest).finish();
        // A changed file may contain any number.
        self.links = self.links.saturating_add(1);
    }

    /// The end of a seal: what a key signs when its process stops using it, the length of the chain and, apart from
    /// that, what the campaign then says of itself. A later process changes that, and seals it anew.
    pub(crate) fn end(&self, key: &SealKey, state: &Digest) -> Vec<u8> {
        [key.sign(&self.length("end of a process")), key.sign(&self.state(state))].concat()
    }

    /// Whether this is the end of a seal. Those of older versions say nothing of the campaign.
    pub(crate) fn is_end(&self, end: &[u8], is_signed: impl Fn(&Digest, &[u8]) -> bool) -> bool {
        match end.split_at_checked(SIGNATURE_BYTES) {
            Some((length, [])) => is_signed(&self.length("end"), length),
            Some((length, _)) => is_signed(&self.length("end of a process"), length),
            None => false,
        }
    }

    /// What of the end of a seal is about the campaign; `None` in those of older versions.
    pub(crate) fn state_of(end: &[u8]) -> Option<&[u8]> {
        end.get(SIGNATURE_BYTES..).filter(|state| !state.is_empty())
    }

    /// The digest of what a campaign says of itself when a process stops.
    pub(crate) fn state(&self, state: &Digest) -> Digest {
        Fields::new("state").bytes(&self.head).number(self.links).bytes(state).finish()
    }

    fn length(&self, kind: &str) -> Digest {
        Fields::new(kind).bytes(&self.head).number(self.links).finish()
    }
}

/// What a writer sealed of a campaign, and what the file must therefore contain as long as nobody else writes to
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    pub campaign: String,
    pub(crate) chain: Chain,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_it_is_written() {
        let key = SealKey::from_seed(&[7; SEAL_SEED_BYTES]).unwrap();
        let fingerprint = key.fingerprint();
        let text = fingerprint.to_string();
        assert_eq!(text.len(), 24);
        assert_eq!(Fingerprint::parse(&text), Some(fingerprint));
        assert_eq!(Fingerprint::parse(&text.to_uppercase().replace('-', "")), Some(fingerprint));
        for wrong in
            ["", "3f2a", "3f2a-91bc-0d17-66e0-b2c", "3f2a-91bc-0d17-66e0-b2cg", "3f2a-91bc-0d17-66e0-b2c4-00"]
        {
            assert_eq!(Fingerprint::parse(wrong), None, "{wrong}");
        }
        assert_ne!(SealKey::from_seed(&[8; SEAL_SEED_BYTES]).unwrap().fingerprint(), fingerprint);
    }

    #[test]
    fn only_the_key_signs() {
        let (key, other) = (SealKey::from_seed(&[7; 32]).unwrap(), SealKey::from_seed(&[8; 32]).unwrap());
        let digest = Fields::new("x").finish();
        assert!(is_signed(key.public(), &digest, &key.sign(&digest)));
        assert!(!is_signed(key.public(), &digest, &other.sign(&digest)));
        assert!(!is_signed(key.public(), &Fields::new("y").finish(), &key.sign(&digest)));
        assert!(!is_signed(b"short", &digest, b""));
    }
}
