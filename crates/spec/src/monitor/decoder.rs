//! Decodes bytes that come in pieces, with U+FFFD for invalid UTF-8, like [`String::from_utf8_lossy`] for the whole.

/// Holds the bytes of an incomplete character.
#[derive(Debug, Clone, Default)]
pub(super) struct Decoder {
    held: [u8; 4],
    length: usize,
}

impl Decoder {
    /// Decodes a piece; `take` gets its text, in one or several parts.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(&str)) {
        while self.length > 0 {
            let Some((first, rest)) = bytes.split_first() else { return };
            // An incomplete character has at most three bytes, so there is room for another one.
            self.held[self.length] = *first;
            let length = self.length + 1;
            match std::str::from_utf8(&self.held[..length]) {
                Ok(text) => {
                    take(text);
                    self.length = 0;
                    bytes = rest;
                }
                Err(error) if error.error_len().is_none() => {
                    self.length = length;
                    bytes = rest;
                }
                // The byte does not continue the character; it may begin another one.
                Err(_) => {
                    take("\u{fffd}");
                    self.length = 0;
                }
            }
        }
        loop {
            match std::str::from_utf8(bytes) {
                Ok(text) => return take(text),
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    take(std::str::from_utf8(valid).unwrap_or_default());
                    match error.error_len() {
                        Some(length) => {
                            take("\u{fffd}");
                            bytes = &rest[length..];
                        }
                        None => {
                            self.held[..rest.len()].copy_from_slice(rest);
                            self.length = rest.len();
                            return;
                        }
                    }
                }
            }
        }
    }

    /// The input has ended: an incomplete character is invalid. The decoder is ready for other input.
    pub(super) fn end(&mut self, mut take: impl FnMut(&str)) {
        if std::mem::take(&mut self.length) > 0 {
            take("\u{fffd}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for piece in pieces {
            decoder.push(piece, |part| text.push_str(part));
        }
        decoder.end(|part| text.push_str(part));
        text
    }

    fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            prop::sample::select(
                &[0x00_u8, 0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xa0, 0xf0, 0x9f, 0xf4, 0x90, 0xff][..]
            )
            .prop_map(|byte| vec![byte]),
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_do_not_matter(bytes in any_bytes(), cuts in prop::collection::vec(0..40_usize, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= bytes.len()).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(decode(&pieces), String::from_utf8_lossy(&bytes));
        }
    }
}
