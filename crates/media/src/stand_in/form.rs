//! Forms with files, in the form that our own client writes.

use std::collections::BTreeMap;

/// The contents of the fields by their names.
pub(super) type Fields = BTreeMap<String, Vec<u8>>;

/// The fields of a form; `None` if it is none.
pub(super) fn fields(content_type: &str, body: &[u8]) -> Option<Fields> {
    let boundary =
        content_type.strip_prefix("multipart/form-data")?.split_once("boundary=")?.1.trim_matches('"');
    let mark = format!("--{boundary}");
    let mut fields = Fields::new();
    let (mut rest, _) = after(body, mark.as_bytes())?;
    while !rest.starts_with(b"--") {
        let (content, head) = after(rest, b"\r\n\r\n")?;
        let name = std::str::from_utf8(head).ok()?.split_once(" name=\"")?.1.split_once('"')?.0;
        let (next, content) = after(content, format!("\r\n{mark}").as_bytes())?;
        fields.insert(name.to_owned(), content.to_vec());
        rest = next;
    }
    Some(fields)
}

/// What comes behind the first occurrence of `mark`, and what comes before it.
fn after<'b>(bytes: &'b [u8], mark: &[u8]) -> Option<(&'b [u8], &'b [u8])> {
    let place = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some((&bytes[place + mark.len()..], &bytes[..place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multipart::{Form, Part};

    #[test]
    fn what_our_client_writes_is_read() {
        let file = b"\r\n--planproof-5f0c2f6b8a8f4f0e--\r\n\x00\xff".to_vec();
        let parts = [
            Part::text("prompt", "more \"red\"\r\n"),
            Part { name: "image", file: Some(("image.png", "image/png")), content: &file },
        ];
        let form = Form::new(&parts).expect("a boundary is free");
        let found = fields(&form.content_type(), &form.into_body()).expect("a form");
        assert_eq!(found["prompt"], b"more \"red\"\r\n");
        assert_eq!(found["image"], file);
        for (content_type, body) in [
            ("application/json", "{}"),
            ("multipart/form-data; boundary=x", "--x"),
            ("multipart/form-data", ""),
        ] {
            assert_eq!(fields(content_type, body.as_bytes()), None, "{content_type}");
        }
    }
}
