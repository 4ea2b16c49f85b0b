//! The chain of a campaign and the keys that seal it.
//!
//! Each process that runs a campaign draws a key pair, keeps the private half in memory, and writes the public half. A
//! run that ends, and a run that is deleted to be run again, is a link of the campaign's chain; the head of the chain
//! is a digest over the head before it and the link, and the last link of each transaction comes with a signature of
//! the head. At its end the process signs how many links there are. Whoever changes the file later can make new
//! digests, but no signature that fits the public key, whose fingerprint was printed; and when the campaign is resumed,
//! the first thing that the new key signs is the old head.

use std::fmt;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::digest::{DIGEST_BYTES, Digest, Fields};

/// Bytes of what a key pair is drawn from.
pub const SEAL_SEED_BYTES: usize = 32;

/// Bytes of a fingerprint: nobody finds another key with the same ones.
const FINGERPRINT_BYTES: usize = 10;

/// Hexadecimal digits of a group of a fingerprint.
const GROUP_DIGITS: usize = 4;

/// A key pair that seals campaigns. It is written nowhere.
pub struct SealKey(Ed25519KeyPair);

impl SealKey {
    /// The key pair that is drawn from these bytes, which nobody else may know: `None` where the library refuses them.
    pub fn from_seed(seed: &[u8; SEAL_SEED_BYTES]) -> Option<Self> {
        Ed25519KeyPair::from_seed_unchecked(seed).ok().map(Self)
    }

    /// By what its seals are known.
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
    /// The fingerprint, not the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({})", self.fingerprint())
    }
}

/// By what the seals of a key are known: 20 hexadecimal digits in groups of four, as `3f2a-91bc-0d17-66e0-b2c4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; FINGERPRINT_BYTES]);

impl Fingerprint {
    pub(crate) fn of(public_key: &[u8]) -> Self {
        let digest = Fields::new("public key").bytes(public_key).finish();
        let mut first = [0; FINGERPRINT_BYTES];
        first.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(first)
    }

    /// The fingerprint that somebody wrote, in capitals or small letters, with or without its dashes; `None` where it
    /// is none.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.chars().filter(|c| *c != '-').map(|c| c.to_digit(16));
        let digits: Vec<u8> =
            digits.map(|digit| digit.and_then(|digit| u8::try_from(digit).ok())).collect::<Option<_>>()?;
        let bytes = digits.chunks(2).map(|pair| match pair {
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

/// Whether somebody with the private half of that key signed that digest.
pub(crate) fn is_signed(public_key: &[u8], digest: &Digest, signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public_key).verify(digest, signature).is_ok()
}

/// The chain of a campaign, as far as it was read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) head: Digest,
    pub(crate) links: i64,
}

impl Chain {
    pub(crate) fn new() -> Self {
        Self { head: [0; DIGEST_BYTES], links: 0 }
    }

    /// A key takes over. `campaign` is the digest of the campaign's row.
    pub(crate) fn begin(&mut self, campaign: &Digest, public_key: &[u8]) {
        self.head = Fields::new("seal").bytes(&self.head).bytes(campaign).bytes(public_key).finish();
    }

    pub(crate) fn link(&mut self, run: i64, ordinal: i64, repeat: i64, digest: Option<&[u8]>) {
        let fields = Fields::new("link").bytes(&self.head).number(self.links);
        self.head = fields.number(run).number(ordinal).number(repeat).optional(digest).finish();
        self.links += 1;
    }

    /// What is signed when the key is given up.
    pub(crate) fn end(&self) -> Digest {
        Fields::new("end").bytes(&self.head).number(self.links).finish()
    }
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
