//! Multipart bodies, as forms with files send them (RFC 7578).

pub(crate) struct Form {
    boundary: &'static str,
    body: Vec<u8>,
}

/// Possible boundaries, tried in this order until one does not occur in the parts. All of them are constant, so that
/// the same call sends the same bytes.
const BOUNDARIES: [&str; 4] = [
    "planproof-5f0c2f6b8a8f4f0e",
    "planproof-9d1e7c3ba4064d5c",
    "planproof-27c9a15d03be4a97",
    "planproof-e86b40fd7a2c4c11",
];

pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    /// The name and the type of a file; a field of text has neither.
    pub(crate) file: Option<(&'a str, &'a str)>,
    pub(crate) content: &'a [u8],
}

impl<'a> Part<'a> {
    pub(crate) fn text(name: &'a str, content: &'a str) -> Self {
        Self { name, file: None, content: content.as_bytes() }
    }
}

impl Form {
    /// The form of these parts. Their names and those of files are ours. `None` if every boundary occurs in a part,
    /// which requires a deliberately made file.
    pub(crate) fn new(parts: &[Part<'_>]) -> Option<Self> {
        let is_in = |content: &[u8], text: &str| content.windows(text.len()).any(|it| it == text.as_bytes());
        let is_free = |boundary: &&str| !parts.iter().any(|part| is_in(part.content, boundary));
        let boundary = BOUNDARIES.into_iter().find(is_free)?;
        let mut body = Vec::new();
        for Part { name, file, content } in parts {
            body.extend_from_slice(
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").as_bytes(),
            );
            if let Some((file, media_type)) = file {
                body.extend_from_slice(
                    format!("; filename=\"{file}\"\r\nContent-Type: {media_type}").as_bytes(),
                );
            }
            body.extend_from_slice(b"\r\n\r\n");
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        Some(Self { boundary, body })
    }

    pub(crate) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    pub(crate) fn into_body(self) -> Vec<u8> {
        self.body
    }
}
