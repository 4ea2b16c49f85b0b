//! The proof that a user began a campaign: an HMAC with a secret that only the user has, and that no store contains.

use std::fmt;

use ring::hmac;

/// Length of the secret, in bytes.
pub const OWN_KEY_BYTES: usize = 32;

/// The secret of a user. Unlike the keys that seal a campaign, it is kept from one process to the next.
pub struct OwnKey(hmac::Key);

impl OwnKey {
    /// The secret from its bytes.
    pub fn new(bytes: &[u8; OWN_KEY_BYTES]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// The proof for these texts in this order, in hexadecimal digits.
    pub fn proof(&self, texts: &[&str]) -> String {
        hmac::sign(&self.0, &joined(texts)).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a proof is that for these texts. Takes as long for any proof of the right length.
    pub fn has_proved(&self, texts: &[&str], proof: &str) -> bool {
        let bytes = (0..proof.len())
            .step_by(2)
            .map(|place| proof.get(place..place + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()));
        let Some(bytes) = bytes.collect::<Option<Vec<u8>>>() else { return false };
        hmac::verify(&self.0, &joined(texts), &bytes).is_ok()
    }
}

impl fmt::Debug for OwnKey {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnKey")
    }
}

/// Each text after its length, so that no two lists make the same bytes.
fn joined(texts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_these_texts_and_this_secret() {
        let key = OwnKey::new(&[7; OWN_KEY_BYTES]);
        let proof = key.proof(&["a", "bc"]);
        assert!(key.has_proved(&["a", "bc"], &proof));
        for texts in [&["ab", "c"][..], &["a", "bc", ""], &["a", "bd"], &[]] {
            assert!(!key.has_proved(texts, &proof), "{texts:?}");
        }
        assert!(!OwnKey::new(&[8; OWN_KEY_BYTES]).has_proved(&["a", "bc"], &proof));
        for wrong in ["", "zz", "é", &proof[..2], &proof[1..], &format!("{proof}00")] {
            assert!(!key.has_proved(&["a", "bc"], wrong), "{wrong}");
        }
        assert!(!format!("{key:?}").contains('7'));
    }
}
