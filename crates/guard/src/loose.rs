//! Texts in JSON that cannot be read: where a value nests too deeply, has a number that nobody can hold, was cut off or
//! is not JSON at all, the session and the event that it was about may still stand there.

/// The texts at a place (a JSON Pointer of object keys), in the order in which they stand.
pub(crate) fn texts_at(bytes: &[u8], place: &str) -> Vec<String> {
    found_at(bytes, place).into_iter().filter_map(text_of).collect()
}

/// The whole numbers at a place.
pub(crate) fn numbers_at(bytes: &[u8], place: &str) -> Vec<u64> {
    let digits = found_at(bytes, place).into_iter().filter_map(|found| std::str::from_utf8(found).ok());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

/// The texts, with their quotation marks, and the digits at a place. Nothing but brackets, texts, colons and commas is
/// looked at beside them, so they are found however broken the rest is. Takes time in the length, and no memory in the
/// depth.
fn found_at<'b>(bytes: &'b [u8], place: &str) -> Vec<&'b [u8]> {
    let keys: Vec<&str> = place.split('/').skip(1).collect();
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    // How many of the containers that are open lie on the way to the place, and whether the next value does.
    let (mut on_way, mut is_next) = (0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(bytes, at);
                let text = bytes.get(at..end).unwrap_or_default();
                at = end;
                if depth != on_way || depth == 0 {
                    continue;
                }
                if is_before_colon(bytes, end) {
                    is_next = keys.get(depth - 1).is_some_and(|key| text_of(text).as_deref() == Some(key));
                } else if is_next && depth == keys.len() {
                    found.push(text);
                }
                continue;
            }
            b'{' => {
                let is_way = depth == on_way && (depth == 0 || is_next && depth < keys.len());
                depth += 1;
                on_way += usize::from(is_way);
                is_next = false;
            }
            b'[' => {
                depth += 1;
                is_next = false;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                on_way = on_way.min(depth);
                is_next = false;
            }
            b',' if depth == on_way => is_next = false,
            b'0'..=b'9' if is_next && depth == on_way && depth == keys.len() => {
                let rest = bytes.get(at..).unwrap_or_default();
                let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                found.push(rest.get(..length).unwrap_or_default());
                is_next = false;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Where a text ends that begins here: behind its quotation mark, or at the end of all.
pub(crate) fn end_of_text(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn is_before_colon(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// A text without its quotation marks; `None` if it was cut off or has an escape that nobody knows.
fn text_of(quoted: &[u8]) -> Option<String> {
    planproof_trace::json::read(quoted).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_what_is_broken() {
        let deep = format!("{{\"a\":{}1{},\"s\":\"x\"}}", "[".repeat(100_000), "]".repeat(100_000));
        for (text, place, expected) in [
            (&*deep, "/s", &["x"][..]),
            ("{\"a\":{\"s\":\"no\"},\"s\":\"x\"}", "/s", &["x"]),
            ("{\"a\":{\"s\":\"no\",\"b\":{\"s\":\"yes\"}},\"s\":{\"b\":1}}", "/a/b/s", &["yes"]),
            ("{\"s\":\"x\",\"s\":\"y\"}", "/s", &["x", "y"]),
            ("{\"n\":1e999,\"o\":NaN,\"\\u0073\":\"x\\\"y\"}", "/s", &["x\"y"]),
            ("{\"a\":\"\n\u{1}\\\"{\",\"s\" : \"x\",\"c\":\"cut", "/s", &["x"]),
            ("{\"s\":[\"no\"],\"t\":\"s\",\"a\":\"no\"}", "/s", &[]),
            ("{\"s\":1,\"t\":\"no\"}", "/s", &[]),
            ("{\"s\":\"cu", "/s", &[]),
            ("[{\"s\":\"no\"}]", "/s", &[]),
            ("}}]]{\"s\":\"x\"}", "/s", &["x"]),
            ("\"s\":\"no\"", "/s", &[]),
            ("", "/s", &[]),
            ("{\"s\":\"7\",\"a\":{\"s\":8},\"s\":17,", "/s", &["7"]),
        ] {
            assert_eq!(texts_at(text.as_bytes(), place), expected, "{:?}", text.get(..40));
        }
        for (text, expected) in
            [("{\"n\":17,\"a\":[18],\"n\":\"x\"", &[17][..]), ("{\"n\":[1]}", &[]), ("{\"n\": 1.5", &[1])]
        {
            assert_eq!(numbers_at(text.as_bytes(), "/n"), expected, "{text}");
        }
    }
}
