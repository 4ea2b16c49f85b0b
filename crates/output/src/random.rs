//! Randomness for secrets.

/// Random bytes from the operating system, for tokens and keys.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without the system's randomness no secret can be created.
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
