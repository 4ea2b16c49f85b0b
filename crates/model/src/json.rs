//! Fast writing of JSON texts: conversations are written anew with every turn.

/// Bytes that are looked at together.
const CHUNK_BYTES: usize = 32;

/// Appends `text` as a JSON string, with the same bytes as serde_json. It checks many bytes at once, because most
/// need no escape.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    // The bytes between `start` and `at` are plain and not written yet.
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let chunk = &bytes[at..bytes.len().min(at + CHUNK_BYTES)];
        // No early exit from the loop, so that the compiler can vectorise it.
        let is_all_plain = chunk.iter().fold(true, |plain, byte| plain & is_plain(*byte));
        let special = if is_all_plain { None } else { chunk.iter().position(|byte| !is_plain(*byte)) };
        let Some(place) = special else {
            at += chunk.len();
            continue;
        };
        out.extend_from_slice(&bytes[start..at + place]);
        write_escape(out, chunk[place]);
        at += place + 1;
        start = at;
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

fn is_plain(byte: u8) -> bool {
    (byte >= b' ') & (byte != b'"') & (byte != b'\\')
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&digits);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = b"before".to_vec();
        write_text(&mut out, text);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    #[test]
    fn every_character_is_written_as_serde_json_writes_it() {
        for character in (0..0x800).filter_map(char::from_u32) {
            for before in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES] {
                let text = format!("{}{character}{character}x", "a".repeat(before));
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
        assert_eq!(written(""), "\"\"");
    }

    proptest! {
        #[test]
        fn texts_are_written_as_serde_json_writes_them(text in "(?s)([ -~]|[\\x00-\\x7f]|.){0,200}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
